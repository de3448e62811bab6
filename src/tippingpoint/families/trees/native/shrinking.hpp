// Making a local problem smaller: drop what is dead, merge cells that no leaf tells apart, settle columns of one cell, and fold
// trees of one column into what its cells add to the score.
#pragma once

#include "forest.hpp"
#include "leaves.hpp"

namespace tippingpoint {

struct Settled {
    int variable;
    int32_t model_cell;
};

class Shrinking {
  public:
    // `alive_leaf` and `alive_cell` may be empty: then all are.
    void operator()(const Leaves &in, const std::vector<uint8_t> &alive_leaf, const std::vector<uint8_t> &alive_cell,
                    Leaves &out, std::vector<Settled> &settled) {
        in_ = &in;
        out.clear();
        out.offset = in.offset;
        out.spent = in.spent;
        out.rivals = in.rivals;
        out.rival_offset = in.rival_offset;
        keep_leaves(alive_leaf);
        keep_cells(alive_cell);
        merge(out, settled);
        copy_trees(out);
    }

  private:
    void keep_leaves(const std::vector<uint8_t> &alive_leaf) {
        kept_leaves_.clear();
        kept_trees_.assign(1, 0);
        for (int t = 0; t < in_->tree_count(); ++t) {
            for (int leaf = in_->trees[t]; leaf < in_->trees[t + 1]; ++leaf)
                if (alive_leaf.empty() || alive_leaf[leaf]) kept_leaves_.push_back(leaf);
            kept_trees_.push_back(static_cast<int>(kept_leaves_.size()));
        }
    }

    void keep_cells(const std::vector<uint8_t> &alive_cell) {
        alive_.assign(in_->cost.size(), 1);
        for (std::size_t k = 0; k < alive_.size(); ++k)
            alive_[k] = (alive_cell.empty() || alive_cell[k]) && in_->cost[k] < kInfinity;
    }

    // New cells: groups of old ones that every leaf that is left treats alike, each at the cost of its cheapest.
    void merge(Leaves &out, std::vector<Settled> &settled) {
        group_.assign(in_->cost.size(), -1);
        mark_boundaries();
        look_for_neighbours();
        new_column_.assign(in_->columns.size(), -1);
        for (std::size_t c = 0; c < in_->columns.size(); ++c) {
            const Column &column = in_->columns[c];
            const int groups = column.ordered ? group_runs(column) : group_sets(static_cast<int>(c));
            const int first = static_cast<int>(out.cost.size());
            out.empty |= groups == 0;
            out.cost.resize(first + groups, kInfinity);
            out.unary.resize(first + groups, 0.0);
            out.model_cell.resize(first + groups, -1);
            out.rival_unary.resize((first + groups) * out.rivals, 0.0);
            for (int k = column.first; k < column.first + column.cells; ++k) {
                if (group_[k] < 0) continue;
                const int g = first + group_[k];
                out.unary[g] = in_->unary[k];
                std::copy_n(in_->rival_unary.data() + k * out.rivals, out.rivals, out.rival_unary.data() + g * out.rivals);
                if (in_->cost[k] < out.cost[g]) {
                    out.cost[g] = in_->cost[k];
                    out.model_cell[g] = in_->model_cell[k];
                }
            }
            if (groups == 1) {
                out.spent += out.cost[first];
                out.offset += out.unary[first];
                add(out.rival_unary.data() + first * out.rivals, out.rival_offset.data());
                out.rival_unary.resize(first * out.rivals);
                settled.push_back({column.variable, out.model_cell[first]});
                out.cost.resize(first);
                out.unary.resize(first);
                out.model_cell.resize(first);
            } else {
                new_column_[c] = static_cast<int>(out.columns.size());
                out.columns.push_back({column.variable, column.ordered, first, groups});
            }
        }
    }

    void mark_boundaries() {
        boundary_.assign(in_->cost.size(), 0);  // whether a leaf begins at a cell, or ends before it
        for (int leaf : kept_leaves_) {
            for (int e = in_->begins[leaf]; e < in_->begins[leaf + 1]; ++e) {
                const Entry &entry = in_->entries[e];
                const Column &column = in_->columns[entry.column];
                if (!column.ordered) continue;
                boundary_[column.first + entry.from] = 1;
                if (entry.to + 1 < column.cells) boundary_[column.first + entry.to + 1] = 1;
            }
        }
    }

    // The nearest living cells from every cell on, in both directions; cells of other columns where a column has none.
    void look_for_neighbours() {
        const int cells = static_cast<int>(alive_.size());
        next_.resize(cells);
        previous_.resize(cells);
        for (int k = 0, last = -1; k < cells; ++k) previous_[k] = last = alive_[k] ? k : last;
        for (int k = cells - 1, next = cells; k >= 0; --k) next_[k] = next = alive_[k] ? k : next;
    }

    int group_runs(const Column &column) {
        int groups = 0, last = -1;
        bool between = false;
        for (int k = column.first; k < column.first + column.cells; ++k) {
            between |= boundary_[k] != 0;
            if (!alive_[k]) continue;
            if (last < 0 || between || !same_unary(k, last)) ++groups;
            group_[k] = groups - 1;
            last = k;
            between = false;
        }
        return groups;
    }

    bool same_unary(int a, int b) const {
        const double *rivals = in_->rival_unary.data();
        return in_->unary[a] == in_->unary[b] &&
               std::equal(rivals + a * in_->rivals, rivals + (a + 1) * in_->rivals, rivals + b * in_->rivals);
    }

    void add(const double *rivals, double *sum) const {
        for (int r = 0; r < in_->rivals; ++r) sum[r] += rivals[r];
    }

    int group_sets(int c) {
        const Column &column = in_->columns[c];
        firsts_.clear();  // of cells that add the same to the score
        for (int k = column.first; k < column.first + column.cells; ++k) {
            if (!alive_[k]) continue;
            std::size_t g = 0;
            while (g < firsts_.size() && !same_unary(k, firsts_[g])) ++g;
            if (g == firsts_.size()) firsts_.push_back(k);
            group_[k] = static_cast<int>(g);
        }
        int groups = static_cast<int>(firsts_.size());
        const uint64_t *before = nullptr;
        for (int leaf : kept_leaves_) {
            for (int e = in_->begins[leaf]; e < in_->begins[leaf + 1]; ++e) {
                const Entry &entry = in_->entries[e];
                if (entry.column != c) continue;
                const uint64_t *bits = &in_->bits[entry.from];
                if (before == nullptr || !std::equal(bits, bits + column.words(), before)) groups = refine(column, entry, groups);
                before = bits;
            }
        }
        return groups;
    }

    int refine(const Column &column, const Entry &entry, int groups) {
        inside_.assign(groups, -1);
        outside_.assign(groups, -1);
        int refined = 0;
        for (int k = 0; k < column.cells; ++k) {
            int &group = group_[column.first + k];
            if (group < 0) continue;
            int &now = in_->contains(entry, k) ? inside_[group] : outside_[group];
            if (now < 0) now = refined++;
            group = now;
        }
        return refined;
    }

    void copy_trees(Leaves &out) {
        for (int t = 0; t + 1 < static_cast<int>(kept_trees_.size()); ++t) {
            const int first_leaf = out.leaf_count(), first_entry = static_cast<int>(out.entries.size());
            int only = -1;  // the one column of the tree, if there is one
            bool several = false;
            for (int i = kept_trees_[t]; i < kept_trees_[t + 1]; ++i) {
                const int leaf = kept_leaves_[i];
                if (!copy_entries(leaf, out)) continue;
                for (std::size_t e = out.begins.back(); e < out.entries.size(); ++e) {
                    several |= only >= 0 && only != out.entries[e].column;
                    only = out.entries[e].column;
                }
                out.value.push_back(in_->value[leaf]);
                const double *rivals = in_->rival_value.data() + leaf * in_->rivals;
                out.rival_value.insert(out.rival_value.end(), rivals, rivals + in_->rivals);
                out.least.push_back(in_->least[leaf]);
                out.begins.push_back(static_cast<int32_t>(out.entries.size()));
            }
            out.empty |= out.leaf_count() == first_leaf;
            if (several) {
                out.trees.push_back(out.leaf_count());
                continue;
            }
            if (only >= 0) fold(out, only, first_leaf);
            else if (out.leaf_count() > first_leaf) {
                out.offset += out.value[first_leaf];
                add(out.rival_value.data() + first_leaf * in_->rivals, out.rival_offset.data());
            }
            out.value.resize(first_leaf);
            out.rival_value.resize(first_leaf * in_->rivals);
            out.least.resize(first_leaf);
            out.begins.resize(first_leaf + 1);
            out.entries.resize(first_entry);
        }
    }

    // The entries of a leaf in new cells, but for those that leave their column free; false where one leaves no cell at all.
    bool copy_entries(int leaf, Leaves &out) {
        const std::size_t first_entry = out.entries.size(), first_bits = out.bits.size();
        for (int e = in_->begins[leaf]; e < in_->begins[leaf + 1]; ++e) {
            const Entry &entry = in_->entries[e];
            const Column &column = in_->columns[entry.column];
            const int c = new_column_[entry.column];
            const int groups = c < 0 ? 1 : out.columns[c].cells;
            std::vector<uint64_t> &bits = out.bits;
            const std::size_t at = bits.size();
            if (!column.ordered) bits.resize(at + ((groups + 63) >> 6), 0);
            int least = 0, most = -1, count = 0;
            if (column.ordered) {  // groups are in the order of cells
                const int from = next_[column.first + entry.from], to = previous_[column.first + entry.to];
                if (from <= to) {
                    least = group_[from];
                    most = group_[to];
                    count = most - least + 1;
                }
            }
            for (int k = 0; !column.ordered && k < column.cells; ++k) {
                const int g = group_[column.first + k];
                if (g < 0 || !in_->contains(entry, k)) continue;
                uint64_t &word = bits[at + (g >> 6)];
                count += !(word >> (g & 63) & 1u);
                word |= uint64_t{1} << (g & 63);
            }
            if (count == 0) {
                out.entries.resize(first_entry);
                bits.resize(first_bits);
                return false;
            }
            if (count == groups) bits.resize(at);
            else if (column.ordered) out.entries.push_back({c, least, most});
            else out.entries.push_back({c, static_cast<int32_t>(at), 0});
        }
        return true;
    }

    // A tree of one column adds to each of its cells; a cell that it has no leaf for any more is dead.
    void fold(Leaves &out, int c, int first_leaf) {
        const Column &column = out.columns[c];
        for (int k = 0; k < column.cells; ++k) {
            bool found = false;
            for (int leaf = first_leaf; leaf < out.leaf_count() && !found; ++leaf) {
                const int e = out.begins[leaf];
                if (e < out.begins[leaf + 1] && !out.contains(out.entries[e], k)) continue;
                out.unary[column.first + k] += out.value[leaf];
                add(out.rival_value.data() + leaf * in_->rivals, out.rival_unary.data() + (column.first + k) * in_->rivals);
                found = true;
            }
            if (!found) out.cost[column.first + k] = kInfinity;
        }
    }

    const Leaves *in_ = nullptr;
    std::vector<int> kept_leaves_, kept_trees_, group_, new_column_, inside_, outside_, firsts_, next_, previous_;
    std::vector<uint8_t> alive_, boundary_;
};

}  // namespace tippingpoint
