// The Lagrangian bound of a local problem, and the messages that tighten it.
//
// Over a box of cells, for any mu >= 0 and any messages m from trees to the cells of columns,
//
//   max mu * score - cost  <=  E(mu) = mu * offset - spent + sum_columns max_cell u(cell) + sum_trees max_leaf total(leaf),
//   u(cell) = mu * unary - cost - sum_slots m,      total(leaf) = mu * value + sum_columns max_{cell in leaf} m:
//
// at any place the messages cancel, and each term is maximised by itself. A column in turn pulls the max-marginals of its trees and
// shares the sum among those that go on to a further column (TRW-S with columns as nodes); that never raises E. Since all slots
// of a column are updated together, a message is m(cell) = share * pulled(cell) - marginal(block): one vector a column, and one
// number a block.
#pragma once

#include "forest.hpp"
#include "slots.hpp"

namespace tippingpoint {

constexpr double kNone = -1e300;  // of what has no place: low enough to lose, high enough to be added up

inline bool none(double value) { return value < 0.5 * kNone; }

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
        alive.resize(of.cost.size());
        for (std::size_t k = 0; k < of.cost.size(); ++k) alive[k] = of.cost[k] < kInfinity;
        alive_leaf.assign(of.leaf_count(), 1);
        pulled_.resize(of.cost.size());
        for (std::size_t k = 0; k < of.cost.size(); ++k) pulled_[k] = of.cost[k] < kInfinity ? mu * of.unary[k] - of.cost[k] : kNone;
        kept_.assign(of.columns.size(), 1.0);
        at_.assign(of.columns.size(), mu);
        share_.assign(index.slots.size(), 0.0);
        marginal_.assign(index.blocks, 0.0);
        block_best_.resize(index.blocks);
        block_cost_.resize(index.blocks);
        slot_best_.resize(index.slots.size());
        entry_best_.resize(index.by_leaf.size());
        total_.resize(of.leaf_count());
        tree_slots_best_.resize(of.tree_count());
        tree_best_.resize(of.tree_count());
        column_best_.resize(of.columns.size());
        column_cost_.resize(of.columns.size());
        forward_.resize(of.columns.size());
        for (std::size_t c = 0; c < of.columns.size(); ++c) {
            int before = 0, after = 0;
            for (int s = index.column_slots[c]; s < index.column_slots[c + 1]; ++s) {
                before += index.slots[s].before;
                after += index.slots[s].after;
            }
            forward_[c] = {before, after};
        }
        refresh();
    }

    // Everything that follows from the messages in the present box, at the present mu.
    void refresh() {
        const Leaves &of = *leaves;
        infeasible_ = false;
        least_cost_ = of.spent;
        for (std::size_t c = 0; c < of.columns.size(); ++c) {
            const Column &column = of.columns[c];
            double best = kNone, cost = kInfinity;
            for (int k = column.first; k < column.first + column.cells; ++k) {
                if (!alive[k]) continue;
                best = std::max(best, own(static_cast<int>(c), k));
                cost = std::min(cost, of.cost[k]);
            }
            infeasible_ |= none(best);
            column_best_[c] = best;
            column_cost_[c] = cost;
            least_cost_ += cost;
        }
        for (std::size_t s = 0; s < slots->slots.size(); ++s) refresh_slot(static_cast<int>(s));
        for (int t = 0; t < of.tree_count(); ++t) refresh_tree(t);
        add_up();
    }

    // One turn of every column, in their order or backwards. Cells that no place of a value above `target` can be in are dead.
    void sweep(bool forward, double target) {
        const int columns = static_cast<int>(leaves->columns.size());
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
        for (std::size_t c = 0; c < of.columns.size(); ++c) {
            const Column &column = of.columns[c];
            double best = kNone, score = 0.0;
            for (int k = column.first; k < column.first + column.cells; ++k) {
                if (!alive[k]) continue;
                const double here = own(static_cast<int>(c), k) + change * of.unary[k];
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

    void move_to(double other) {
        mu = other;
        refresh();
    }

    // Kill leaves that no place of a value above `target` can be in.
    int fix_leaves(double target) {
        int killed = 0;
        const double slack = bound_ - target;
        for (int t = 0; t < leaves->tree_count(); ++t) {
            double best = kNone;
            for (int leaf = leaves->trees[t]; leaf < leaves->trees[t + 1]; ++leaf) best = std::max(best, total_[leaf]);
            for (int leaf = leaves->trees[t]; leaf < leaves->trees[t + 1]; ++leaf) {
                if (!alive_leaf[leaf] || total_[leaf] >= best - slack) continue;
                alive_leaf[leaf] = 0;
                total_[leaf] = kNone;
                ++killed;
            }
        }
        return killed;
    }

    // The largest score of any place in the box that costs no more than a budget, tree by tree.
    double interval(double budget) const {
        const Leaves &of = *leaves;
        double score = of.offset;
        for (std::size_t c = 0; c < of.columns.size(); ++c) {
            const Column &column = of.columns[c];
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

    // What it costs to enter a leaf within the box.
    double leaf_cost(int leaf) const {
        double cost = least_cost_;
        for (int e = leaves->begins[leaf]; e < leaves->begins[leaf + 1]; ++e) {
            const BlockEntry &entry = slots->by_leaf[e];
            double least = kInfinity;
            slots->each_block(*leaves, entry, [&](int b) { least = std::min(least, block_cost_[b]); });
            cost += least - column_cost_[slots->slots[entry.slot].column];
        }
        return cost;
    }

    // Kill cells that no place within the budget can be in.
    int trim(double budget) {
        int killed = 0;
        for (std::size_t c = 0; c < leaves->columns.size(); ++c) {
            const Column &column = leaves->columns[c];
            const double most = budget - (least_cost_ - column_cost_[c]);
            for (int k = column.first; k < column.first + column.cells; ++k) {
                if (!alive[k] || leaves->cost[k] <= most) continue;
                alive[k] = 0;
                ++killed;
            }
        }
        return killed;
    }

    // The cell of every column that its trees together like best.
    void decode(std::vector<int> &place) const {
        place.resize(leaves->columns.size());
        for (std::size_t c = 0; c < leaves->columns.size(); ++c) {
            const Column &column = leaves->columns[c];
            int best = -1;
            for (int k = column.first; k < column.first + column.cells; ++k)
                if (alive[k] && (best < 0 || pulled_[k] > pulled_[best])) best = k;
            place[c] = best - column.first;
        }
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

    // What a column keeps for itself of a cell.
    double own(int c, int cell) const {
        return kept_[c] * pulled_[cell] + (mu - at_[c]) * leaves->unary[cell];
    }

    void refresh_slot(int s) {
        const Slot &slot = slots->slots[s];
        const Column &column = leaves->columns[slot.column];
        const int32_t *of = &slots->block_of[slot.first_map];
        std::fill_n(&block_best_[slot.first_block], slot.blocks, kNone);
        std::fill_n(&block_cost_[slot.first_block], slot.blocks, kInfinity);
        for (int k = 0; k < column.cells; ++k) {
            if (!alive[column.first + k]) continue;
            double &best = block_best_[slot.first_block + of[k]], &cost = block_cost_[slot.first_block + of[k]];
            best = std::max(best, pulled_[column.first + k]);
            cost = std::min(cost, leaves->cost[column.first + k]);
        }
        set_block_bests(s);
        for (int i = slot.first_entry; i < slot.last_entry; ++i) {
            const int e = slots->entries[i];
            entry_best_[e] = best_of(slots->by_leaf[e]);
        }
    }

    // From the best pulled cell of every block to the best message.
    void set_block_bests(int s) {
        const Slot &slot = slots->slots[s];
        double best = kNone;
        for (int b = slot.first_block; b < slot.first_block + slot.blocks; ++b) {
            if (!none(block_best_[b])) block_best_[b] = share_[s] * block_best_[b] - marginal_[b];
            best = std::max(best, block_best_[b]);
        }
        slot_best_[s] = best;
    }

    double best_of(const BlockEntry &entry) const {
        double best = kNone;
        slots->each_block(*leaves, entry, [&](int b) { best = std::max(best, block_best_[b]); });
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
            if (none(entry_best_[e])) return kNone;
            total += entry_best_[e] - slot_best_[slots->by_leaf[e].slot];
        }
        return total;
    }

    void add_up() {
        bound_ = mu * leaves->offset - leaves->spent;
        for (double best : column_best_) bound_ += best;
        for (double best : tree_best_) bound_ += best;
    }

    // Pull the max-marginals of all trees of a column, and share their sum with those that have a column further on.
    void update(int c, bool forward, double target) {
        const Leaves &of = *leaves;
        const Column &column = of.columns[c];
        const int first = slots->column_slots[c], last = slots->column_slots[c + 1];
        double others = bound_ - column_best_[c];  // the bound without what is pulled here
        for (int s = first; s < last; ++s) others -= tree_best_[slots->slots[s].tree];
        for (int k = column.first; k < column.first + column.cells; ++k)
            pulled_[k] = of.cost[k] < kInfinity ? mu * of.unary[k] - of.cost[k] : kNone;
        for (int s = first; s < last; ++s) {
            const bool vacant = pull(s);
            const Slot &slot = slots->slots[s];
            const int32_t *block = &slots->block_of[slot.first_map];
            for (int k = 0; k < column.cells; ++k) pulled_[column.first + k] += marginal_[slot.first_block + block[k]];
            for (int k = 0; vacant && k < column.cells; ++k)
                if (vacant_[block[k]]) alive[column.first + k] = 0;
        }
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
        const Uses uses = forward_[c];
        const int heirs = forward ? uses.after : uses.before;
        const double share = heirs > 0 ? 1.0 / std::max(uses.before, uses.after) : 0.0;
        kept_[c] = 1.0 - share * heirs;
        column_best_[c] = kept_[c] * best;
        for (int s = first; s < last; ++s) {
            const Slot &slot = slots->slots[s];
            share_[s] = (forward ? slot.after : slot.before) ? share : 0.0;
            push(s);
            tree_best_[slot.tree] = share_[s] * best;
        }
    }

    // The max-marginal of a tree for every block of a slot: the best of its leaves there, without the column's own message.
    // True where blocks are `vacant_`: no leaf is left for them in the box. Messages to them may be any number that is one, since
    // other boxes read them too.
    bool pull(int s) {
        const Slot &slot = slots->slots[s];
        const double others = tree_slots_best_[slot.tree] - slot_best_[s];
        double free = kNone;
        for (int i = slot.first_free; i < slot.last_free; ++i) free = std::max(free, total_[slots->free_leaves[i]]);
        double *marginal = &marginal_[slot.first_block];
        std::fill_n(marginal, slot.blocks, free);
        for (int i = slot.first_entry; i < slot.last_entry; ++i) {
            const int e = slots->entries[i];
            const BlockEntry &entry = slots->by_leaf[e];
            if (none(total_[entry.leaf])) continue;
            const double rest = total_[entry.leaf] - entry_best_[e] + slot_best_[s];
            slots->each_block(*leaves, entry, [&](int b) { marginal_[b] = std::max(marginal_[b], rest); });
        }
        bool vacant = false;
        for (int b = 0; b < slot.blocks; ++b) vacant |= none(marginal[b]);
        if (vacant) {
            vacant_.assign(slot.blocks, 0);
            double least = kInfinity;
            for (int b = 0; b < slot.blocks; ++b)
                if (!none(marginal[b])) least = std::min(least, marginal[b]);
            for (int b = 0; b < slot.blocks; ++b) {
                if (!none(marginal[b])) continue;
                vacant_[b] = 1;
                marginal[b] = least < kInfinity ? least : 0.0;
            }
        }
        for (int b = 0; b < slot.blocks; ++b) marginal[b] += others;
        return vacant;
    }

    // The new messages of a slot, and what follows for its leaves.
    void push(int s) {
        const Slot &slot = slots->slots[s];
        const Column &column = leaves->columns[slot.column];
        const int32_t *of = &slots->block_of[slot.first_map];
        std::fill_n(&block_best_[slot.first_block], slot.blocks, kNone);
        for (int k = 0; k < column.cells; ++k) {
            if (!alive[column.first + k]) continue;
            double &best = block_best_[slot.first_block + of[k]];
            best = std::max(best, pulled_[column.first + k]);
        }
        const double before = slot_best_[s];
        set_block_bests(s);
        const double after = slot_best_[s];
        for (int i = slot.first_entry; i < slot.last_entry; ++i) {
            const int e = slots->entries[i];
            const BlockEntry &entry = slots->by_leaf[e];
            const double best = best_of(entry);
            double &total = total_[entry.leaf];
            if (none(best)) total = kNone;
            else if (!none(total)) total += (best - after) - (entry_best_[e] - before);
            entry_best_[e] = best;
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
    std::vector<Uses> forward_;            // of columns: how many trees have a column before it, and after it
    std::vector<uint8_t> vacant_;          // of the blocks of the slot that was pulled last
    double bound_ = 0.0, least_cost_ = 0.0;
    bool infeasible_ = false;
};

}  // namespace tippingpoint
