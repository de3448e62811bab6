// The Lagrangian bound of a local problem, and the messages that tighten it.
//
// Over a box of cells, for any mu >= 0 and any messages m from trees to the cells of columns,
//
//   max mu * score - cost  <=  E(mu) = mu * offset - spent + sum_columns max_cell u(cell) + sum_trees max_leaf total(leaf),
//   u(cell) = mu * unary - cost - sum_slots m,      total(leaf) = mu * value + sum_columns max_{cell in leaf} m:
//
// at any place the messages cancel, and each term is maximised by itself. A column in turn pulls the max-marginals of its trees
// and shares the sum among those that go on to a further column (TRW-S with columns as nodes); that never raises E. Since all
// slots of a column are updated together, a message is m(cell) = share * pulled(cell) - marginal(block): one vector a column, and
// one number a block.
#pragma once

#include "forest.hpp"
#include "slots.hpp"

namespace tippingpoint {

constexpr double kNone = -1e300;  // of what has no place: low enough to lose, high enough to be added up

inline bool none(double value) { return value < 0.5 * kNone; }

// The largest of any run of values, two comparisons each.
class RunMaximum {
  public:
    void build(const std::vector<double> &values) {
        size_ = values.size();
        for (std::size_t n = level_of_.size(); n <= size_; ++n) level_of_.push_back(n < 2 ? 0 : level_of_[n / 2] + 1);
        const std::size_t levels = level_of_[size_] + 1;
        table_.resize(levels * size_);
        std::copy(values.begin(), values.end(), table_.begin());
        for (std::size_t level = 1; level < levels; ++level) {
            const std::size_t half = std::size_t{1} << (level - 1);
            const double *below = &table_[(level - 1) * size_];
            double *here = &table_[level * size_];
            for (std::size_t i = 0; i + 2 * half <= size_; ++i) here[i] = std::max(below[i], below[i + half]);
        }
    }

    double operator()(int from, int end) const {
        const std::size_t level = level_of_[end - from];
        const double *row = &table_[level * size_];
        return std::max(row[from], row[end - (std::ptrdiff_t{1} << level)]);
    }

  private:
    std::size_t size_ = 0;
    std::vector<double> table_;           // level by level: the largest of runs of 1, 2, 4, ... values
    std::vector<std::size_t> level_of_;   // the level of the longest such run within a length
};

class Messages {
  public:
    const Leaves *leaves = nullptr;
    const Slots *slots = nullptr;
    std::vector<uint8_t> alive;       // of cells: whether they are in the box
    std::vector<uint8_t> alive_leaf;  // fixing kills leaves too
    double mu = 0.0;

    // Begin with no messages, in the box of all cells.
    void begin(const Leaves &of, const Slots &index, double price) {
        leaves = &of;
        slots = &index;
        mu = price;
        const std::size_t cells = of.cost.size(), columns = of.columns.size();
        alive.resize(cells);
        pulled_.resize(cells);
        for (std::size_t k = 0; k < cells; ++k) {
            alive[k] = of.cost[k] < kInfinity;
            pulled_[k] = bare(static_cast<int>(k));
        }
        alive_leaf.assign(of.leaf_count(), 1);
        kept_.assign(columns, 1.0);
        at_.assign(columns, mu);
        share_.assign(index.slots.size(), 0.0);
        marginal_.assign(index.blocks, 0.0);
        block_best_.resize(index.blocks);
        block_cost_.resize(index.blocks);
        slot_best_.resize(index.slots.size());
        entry_best_.resize(index.entries.size());
        total_.resize(of.leaf_count());
        tree_slots_best_.resize(of.tree_count());
        tree_best_.resize(of.tree_count());
        column_best_.resize(columns);
        column_cost_.resize(columns);
        uses_.resize(columns);
        for (std::size_t c = 0; c < columns; ++c) {
            uses_[c] = {0, 0};
            for (int s = index.column_slots[c]; s < index.column_slots[c + 1]; ++s) {
                uses_[c].before += index.slots[s].before;
                uses_[c].after += index.slots[s].after;
            }
        }
        refresh();
    }

    // Everything that follows from the messages in the present box, at the present mu.
    void refresh() {
        refresh_costs();
        infeasible_ = false;
        for (int c = 0; c < column_count(); ++c) {
            refresh_column(c);
            mask(c);
            for (int s = slots->column_slots[c]; s < slots->column_slots[c + 1]; ++s) {
                set_messages(s);
                for (int i = slots->slots[s].first_entry; i < slots->slots[s].last_entry; ++i) entry_best_[i] = best_of(s, i);
            }
        }
        for (int t = 0; t < leaves->tree_count(); ++t) refresh_tree(t);
        add_up();
    }

    // What the cheapest cells of the box cost, by columns and by blocks; stale once cells have died, and too low then.
    void refresh_costs() {
        least_cost_ = leaves->spent;
        for (int c = 0; c < column_count(); ++c) {
            const Column &column = leaves->columns[c];
            masked_.resize(column.cells);
            double least = kInfinity;
            for (int k = 0; k < column.cells; ++k) {
                masked_[k] = alive[column.first + k] ? -leaves->cost[column.first + k] : -kInfinity;
                least = std::min(least, -masked_[k]);
            }
            column_cost_[c] = least;
            least_cost_ += least;
            if (column.ordered) maximum_.build(masked_);
            for (int s = slots->column_slots[c]; s < slots->column_slots[c + 1]; ++s)
                each_block_maximum(s, -kInfinity, [&](int b, double best) { block_cost_[b] = -best; });
        }
    }

    // One turn of every column, in their order or backwards. Cells that no place of a value above `target` can be in are dead.
    void sweep(bool forward, double target) {
        const int columns = column_count();
        for (int i = 0; i < columns && !infeasible_; ++i) update(forward ? i : columns - 1 - i, forward, target);
        if (!infeasible_) add_up();
    }

    double bound() const { return bound_; }            // E(mu)
    double least_cost() const { return least_cost_; }  // of the box
    bool infeasible() const { return infeasible_; }    // whether the box has no place of interest

    // E at another mu with these messages, and its slope there: the relaxed score.
    std::pair<double, double> at(double other) const {
        const Leaves &of = *leaves;
        const double change = other - mu;
        double value = other * of.offset - of.spent, slope = of.offset;
        for (int c = 0; c < column_count(); ++c) {
            const Column &column = of.columns[c];
            double best = kNone, score = 0.0;
            for (int k = column.first; k < column.first + column.cells; ++k) {
                if (!alive[k]) continue;
                const double here = own(c, k) + change * of.unary[k];
                if (here > best) {
                    best = here;
                    score = of.unary[k];
                }
            }
            value += best;
            slope += score;
        }
        for (int t = 0; t < of.tree_count(); ++t) {
            double best = kNone, score = 0.0;
            for (int leaf = of.trees[t]; leaf < of.trees[t + 1]; ++leaf) {
                const double here = total_[leaf] + change * of.value[leaf];
                if (here > best) {
                    best = here;
                    score = of.value[leaf];
                }
            }
            value += best + tree_slots_best_[t];
            slope += score;
        }
        return {value, slope};
    }

    // Another mu with the same messages, in the same box.
    void move_to(double other) {
        const double change = other - mu;
        mu = other;
        for (int c = 0; c < column_count(); ++c) refresh_column(c);
        for (int t = 0; t < leaves->tree_count(); ++t) {
            double best = kNone;
            for (int leaf = leaves->trees[t]; leaf < leaves->trees[t + 1]; ++leaf) {
                if (none(total_[leaf])) continue;
                total_[leaf] += change * leaves->value[leaf];
                best = std::max(best, total_[leaf]);
            }
            tree_best_[t] = best + tree_slots_best_[t];
        }
        add_up();
    }

    // Kill leaves that no place of a value above `target` can be in.
    void fix_leaves(double target) {
        const double slack = bound_ - target;
        for (int t = 0; t < leaves->tree_count(); ++t) {
            const double least = tree_best_[t] - tree_slots_best_[t] - slack;
            for (int leaf = leaves->trees[t]; leaf < leaves->trees[t + 1]; ++leaf) {
                if (total_[leaf] >= least) continue;
                alive_leaf[leaf] = 0;
                total_[leaf] = kNone;
            }
        }
    }

    // The largest score of any place in the box that costs no more than a budget, tree by tree.
    double interval(double budget) const {
        const Leaves &of = *leaves;
        double score = of.offset;
        for (const Column &column : of.columns) {
            double best = kNone;
            for (int k = column.first; k < column.first + column.cells; ++k)
                if (alive[k]) best = std::max(best, of.unary[k]);
            score += best;
        }
        for (int t = 0; t < of.tree_count(); ++t) {
            double best = kNone;
            for (int leaf = of.trees[t]; leaf < of.trees[t + 1]; ++leaf)
                if (of.value[leaf] > best && !none(total_[leaf]) && leaf_cost(leaf) <= budget) best = of.value[leaf];
            score += best;
        }
        return score;
    }

    // The same of every rival's score, and the least of each.
    void rival_intervals(double budget, std::vector<double> &low, std::vector<double> &high) const {
        const Leaves &of = *leaves;
        low = high = of.rival_offset;
        std::vector<double> least(of.rivals), most(of.rivals);
        const auto begin = [&] {
            std::fill(least.begin(), least.end(), kInfinity);
            std::fill(most.begin(), most.end(), -kInfinity);
        };
        const auto see = [&](const double *scores) {
            for (int r = 0; r < of.rivals; ++r) {
                least[r] = std::min(least[r], scores[r]);
                most[r] = std::max(most[r], scores[r]);
            }
        };
        const auto end = [&] {
            for (int r = 0; r < of.rivals; ++r) {
                low[r] += least[r];
                high[r] += most[r];
            }
        };
        for (const Column &column : of.columns) {
            begin();
            for (int k = column.first; k < column.first + column.cells; ++k)
                if (alive[k]) see(&of.rival_unary[k * of.rivals]);
            end();
        }
        for (int t = 0; t < of.tree_count(); ++t) {
            begin();
            for (int leaf = of.trees[t]; leaf < of.trees[t + 1]; ++leaf)
                if (!none(total_[leaf]) && leaf_cost(leaf) <= budget) see(&of.rival_value[leaf * of.rivals]);
            end();
        }
    }

    // Kill cells that no place within the budget can be in; whether there are any.
    bool trim(double budget) {
        bool killed = false;
        for (int c = 0; c < column_count(); ++c) {
            const Column &column = leaves->columns[c];
            const double most = budget - (least_cost_ - column_cost_[c]);
            for (int k = column.first; k < column.first + column.cells; ++k) {
                if (!alive[k] || leaves->cost[k] <= most) continue;
                alive[k] = 0;
                killed = true;
            }
        }
        return killed;
    }

    // The cell of every column that its trees together like best.
    void decode(std::vector<int> &place) const {
        place.resize(leaves->columns.size());
        for (int c = 0; c < column_count(); ++c) {
            const Column &column = leaves->columns[c];
            int best = -1;
            for (int k = column.first; k < column.first + column.cells; ++k)
                if (alive[k] && (best < 0 || pulled_[k] > pulled_[best])) best = k;
            place[c] = best - column.first;
        }
    }

    // The leaf of a tree within the budget that raises the score most, or that of a rival; -1 where there is none.
    int highest_leaf(int tree, double budget, int rival = -1) const {
        const auto value = [&](int leaf) {
            return rival < 0 ? leaves->value[leaf] : leaves->rival_value[leaf * leaves->rivals + rival];
        };
        int best = -1;
        for (int leaf = leaves->trees[tree]; leaf < leaves->trees[tree + 1]; ++leaf)
            if (!none(total_[leaf]) && (best < 0 || value(leaf) > value(best)) && leaf_cost(leaf) <= budget) best = leaf;
        return best;
    }

    // The leaf of a tree that is best now.
    int best_leaf(int tree) const {
        int best = leaves->trees[tree];
        for (int leaf = best + 1; leaf < leaves->trees[tree + 1]; ++leaf)
            if (total_[leaf] > total_[best]) best = leaf;
        return best;
    }

  private:
    struct Uses {
        int before, after;
    };

    int column_count() const { return static_cast<int>(leaves->columns.size()); }

    // A cell by itself, without any message.
    double bare(int cell) const {
        return leaves->cost[cell] < kInfinity ? mu * leaves->unary[cell] - leaves->cost[cell] : kNone;
    }

    // What a column keeps for itself of a cell.
    double own(int c, int cell) const { return kept_[c] * pulled_[cell] + (mu - at_[c]) * leaves->unary[cell]; }

    void refresh_column(int c) {
        const Column &column = leaves->columns[c];
        double best = kNone;
        for (int k = column.first; k < column.first + column.cells; ++k)
            if (alive[k]) best = std::max(best, own(c, k));
        infeasible_ |= none(best);
        column_best_[c] = best;
    }

    // Make ready for the best cells of the blocks of a column's slots: what was pulled, in the box.
    void mask(int c) {
        const Column &column = leaves->columns[c];
        masked_.resize(column.cells);
        for (int k = 0; k < column.cells; ++k) masked_[k] = alive[column.first + k] ? pulled_[column.first + k] : kNone;
        if (column.ordered) maximum_.build(masked_);
    }

    // The largest masked value of every block of a slot.
    template <typename Visit> void each_block_maximum(int s, double lowest, Visit visit) {
        const Slot &slot = slots->slots[s];
        const int first = slot.first_block, end = slot.first_block + slot.blocks;
        if (slot.ordered) {
            for (int b = first; b < end; ++b) visit(b, maximum_(slots->block_start[b], slots->block_end[b]));
            return;
        }
        found_.assign(slot.blocks, lowest);
        const int32_t *of = &slots->block_of[slot.first_map];
        for (std::size_t k = 0; k < masked_.size(); ++k) found_[of[k]] = std::max(found_[of[k]], masked_[k]);
        for (int b = first; b < end; ++b) visit(b, found_[b - first]);
    }

    // The best message of every block of a slot, from what its masked column pulled.
    void set_messages(int s) {
        double best = kNone;
        each_block_maximum(s, kNone, [&](int b, double pulled) {
            block_best_[b] = none(pulled) ? kNone : share_[s] * pulled - marginal_[b];
            best = std::max(best, block_best_[b]);
        });
        slot_best_[s] = best;
    }

    double best_of(int s, int i) const {
        double best = kNone;
        slots->each_block(slots->slots[s], slots->entries[i], [&](int b) { best = std::max(best, block_best_[b]); });
        return best;
    }

    void refresh_tree(int t) {
        double sum = 0.0, best = kNone;
        for (int i = slots->tree_begins[t]; i < slots->tree_begins[t + 1]; ++i) sum += slot_best_[slots->tree_slots[i]];
        for (int leaf = leaves->trees[t]; leaf < leaves->trees[t + 1]; ++leaf) {
            total_[leaf] = alive_leaf[leaf] ? sum_up(leaf) : kNone;
            best = std::max(best, total_[leaf]);
        }
        infeasible_ |= none(best);
        tree_slots_best_[t] = sum;
        tree_best_[t] = best + sum;
    }

    double sum_up(int leaf) const {
        double total = mu * leaves->value[leaf];
        for (int e = leaves->begins[leaf]; e < leaves->begins[leaf + 1]; ++e) {
            const int i = slots->of_leaf[e];
            if (none(entry_best_[i])) return kNone;
            total += entry_best_[i] - slot_best_[slots->entry_slot[i]];
        }
        return total;
    }

    // What it costs to enter a leaf within the box.
    double leaf_cost(int leaf) const {
        double cost = least_cost_;
        for (int e = leaves->begins[leaf]; e < leaves->begins[leaf + 1]; ++e) {
            const int i = slots->of_leaf[e];
            const Slot &slot = slots->slots[slots->entry_slot[i]];
            double least = kInfinity;
            slots->each_block(slot, slots->entries[i], [&](int b) { least = std::min(least, block_cost_[b]); });
            cost += least - column_cost_[slot.column];
        }
        return cost;
    }

    void add_up() {
        bound_ = mu * leaves->offset - leaves->spent;
        for (double best : column_best_) bound_ += best;
        for (double best : tree_best_) bound_ += best;
    }

    // Pull the max-marginals of all trees of a column, and share their sum with those that have a column further on.
    void update(int c, bool forward, double target) {
        const Column &column = leaves->columns[c];
        const int first = slots->column_slots[c], last = slots->column_slots[c + 1];
        double others = bound_ - column_best_[c];  // the bound without what is pulled here
        for (int s = first; s < last; ++s) others -= tree_best_[slots->slots[s].tree];
        for (int s = first; s < last; ++s) pull(s, column);
        gather(c);
        at_[c] = mu;
        double best = kNone;
        for (int k = column.first; k < column.first + column.cells; ++k)
            if (alive[k]) best = std::max(best, pulled_[k]);
        if (none(best) || others + best < target) {  // what was pulled stays: with the shares as they were these are messages too
            infeasible_ = true;
            return;
        }
        for (int k = column.first; k < column.first + column.cells; ++k)
            if (alive[k] && others + pulled_[k] < target) alive[k] = 0;
        bound_ = others + best;
        const int heirs = forward ? uses_[c].after : uses_[c].before;
        const double share = heirs > 0 ? 1.0 / std::max(uses_[c].before, uses_[c].after) : 0.0;
        kept_[c] = 1.0 - share * heirs;
        column_best_[c] = kept_[c] * best;
        mask(c);
        for (int s = first; s < last; ++s) {
            const Slot &slot = slots->slots[s];
            share_[s] = (forward ? slot.after : slot.before) ? share : 0.0;
            push(s);
            tree_best_[slot.tree] = share_[s] * best;
        }
    }

    // The sum of what a column's cells are by themselves and of the marginals of all its slots.
    void gather(int c) {
        const Column &column = leaves->columns[c];
        double *pulled = &pulled_[column.first];
        if (column.ordered) {  // marginals are steps: add up where they rise and fall, once
            rises_.assign(column.cells, 0.0);
            for (int s = slots->column_slots[c]; s < slots->column_slots[c + 1]; ++s) {
                const Slot &slot = slots->slots[s];
                double before = 0.0;
                for (int b = slot.first_block; b < slot.first_block + slot.blocks; ++b) {
                    rises_[slots->block_start[b]] += marginal_[b] - before;
                    before = marginal_[b];
                }
            }
            double sum = 0.0;
            for (int k = 0; k < column.cells; ++k) {
                sum += rises_[k];
                pulled[k] = bare(column.first + k) + sum;
            }
            return;
        }
        for (int k = 0; k < column.cells; ++k) pulled[k] = bare(column.first + k);
        for (int s = slots->column_slots[c]; s < slots->column_slots[c + 1]; ++s) {
            const Slot &slot = slots->slots[s];
            const int32_t *of = &slots->block_of[slot.first_map];
            for (int k = 0; k < column.cells; ++k) pulled[k] += marginal_[slot.first_block + of[k]];
        }
    }

    // The max-marginal of a tree for every block of a slot: the best of its leaves there, without the column's own message.
    // Cells of blocks for which no leaf is left in the box are dead. Messages to them may be any number that is one, since other
    // boxes read them too.
    void pull(int s, const Column &column) {
        const Slot &slot = slots->slots[s];
        const double others = tree_slots_best_[slot.tree] - slot_best_[s];
        double free = kNone;
        for (int i = slot.first_free; i < slot.last_free; ++i) free = std::max(free, total_[slots->free_leaves[i]]);
        double *marginal = &marginal_[slot.first_block];
        std::fill_n(marginal, slot.blocks, free);
        for (int i = slot.first_entry; i < slot.last_entry; ++i) {
            const SlotEntry &entry = slots->entries[i];
            if (none(total_[entry.leaf])) continue;
            const double rest = total_[entry.leaf] - entry_best_[i] + slot_best_[s];
            slots->each_block(slot, entry, [&](int b) { marginal_[b] = std::max(marginal_[b], rest); });
        }
        double least = kInfinity;
        bool vacant = false;
        for (int b = 0; b < slot.blocks; ++b) {
            if (none(marginal[b])) vacant = true;
            else least = std::min(least, marginal[b]);
        }
        if (vacant) {
            const int32_t *of = &slots->block_of[slot.first_map];
            for (int k = 0; k < column.cells; ++k)
                if (none(marginal[of[k]])) alive[column.first + k] = 0;
            for (int b = 0; b < slot.blocks; ++b)
                if (none(marginal[b])) marginal[b] = least < kInfinity ? least : 0.0;
        }
        for (int b = 0; b < slot.blocks; ++b) marginal[b] += others;
    }

    // The new messages of a slot, and what follows for its leaves.
    void push(int s) {
        const Slot &slot = slots->slots[s];
        const double before = slot_best_[s];
        set_messages(s);
        const double after = slot_best_[s];
        for (int i = slot.first_entry; i < slot.last_entry; ++i) {
            const double best = best_of(s, i);
            double &total = total_[slots->entries[i].leaf];
            if (none(best)) total = kNone;
            else if (!none(total)) total += (best - after) - (entry_best_[i] - before);
            entry_best_[i] = best;
        }
        tree_slots_best_[slot.tree] += after - before;
    }

    std::vector<double> pulled_;           // of cells: the sum that a column pulled last
    std::vector<double> kept_, at_;        // of columns: the part of it that stayed, and the mu of that time
    std::vector<double> share_;            // of slots: the part that a tree got
    std::vector<double> marginal_;         // of blocks: what was pulled from a tree
    std::vector<double> block_best_;       // of blocks: their best message in the box
    std::vector<double> block_cost_;       // of blocks: their cheapest cell in the box
    std::vector<double> slot_best_, entry_best_, total_, tree_slots_best_, tree_best_, column_best_, column_cost_;
    std::vector<Uses> uses_;               // of columns: how many trees have a column before it, and after it
    std::vector<double> masked_, rises_, found_;
    RunMaximum maximum_;
    double bound_ = 0.0, least_cost_ = 0.0;
    bool infeasible_ = false;
};

}  // namespace tippingpoint
