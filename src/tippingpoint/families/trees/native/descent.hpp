// Local search: one pass over the leaves tells what every move of a single column would do, exactly.
#pragma once

#include "losses.hpp"
#include "messages.hpp"

namespace tippingpoint {

constexpr int kMaxMoves = 200;  // of one local search; each raises the score, or saves cost, so none goes in a circle

class Descent {
  public:
    std::vector<int> place;  // the cell of every column
    double score = 0.0, cost = 0.0;

    // From a place to the best that single moves lead to; false where a tree has no leaf for the place.
    // While no place is worth anything yet, moves are rated by `mu` a unit of score, or by score a unit of cost where that is 0.
    bool improve(const Leaves &leaves, const Slots &slots, const Objective &objective, double mu) {
        for (int moves = 0; moves < kMaxMoves; ++moves) {
            if (!scan(leaves, slots)) return false;
            const auto [column, cell] = objective.crossing() ? move_across(leaves, mu) : move_up(leaves, objective);
            if (column < 0) return true;
            place[column] = cell;
        }
        return scan(leaves, slots);
    }

  private:
    using Move = std::pair<int, int>;

    // The score of the place, and by how much each single move would change it.
    bool scan(const Leaves &leaves, const Slots &slots) {
        block_gain_.assign(slots.blocks, kNone);
        score = leaves.offset;
        cost = leaves.spent;
        for (std::size_t c = 0; c < leaves.columns.size(); ++c) {
            score += leaves.unary[leaves.columns[c].first + place[c]];
            cost += leaves.cost[leaves.columns[c].first + place[c]];
        }
        for (int t = 0; t < leaves.tree_count(); ++t) {
            const int here = leaf_here(leaves, t);
            if (here < 0) return false;
            const double value = leaves.value[here];
            score += value;
            for (const auto &[leaf, missed] : beside_) {
                const double gain = leaves.value[leaf] - value;
                const int i = slots.of_leaf[missed];
                slots.each_block(slots.slots[slots.entry_slot[i]], slots.entries[i], [&](int b) { block_gain_[b] = gain; });
            }
            for (int i = slots.tree_begins[t]; i < slots.tree_begins[t + 1]; ++i) {
                const Slot &slot = slots.slots[slots.tree_slots[i]];
                int e = leaves.begins[here];
                while (e < leaves.begins[here + 1] && slots.entry_slot[slots.of_leaf[e]] != slots.tree_slots[i]) ++e;
                if (e < leaves.begins[here + 1])
                    slots.each_block(slot, slots.entries[slots.of_leaf[e]], [&](int b) { block_gain_[b] = 0.0; });
                else std::fill_n(&block_gain_[slot.first_block], slot.blocks, 0.0);
            }
        }
        gain_.resize(leaves.cost.size());
        for (std::size_t c = 0; c < leaves.columns.size(); ++c) {
            const Column &column = leaves.columns[c];
            const double own = leaves.unary[column.first + place[c]];
            for (int k = column.first; k < column.first + column.cells; ++k)
                gain_[k] = leaves.cost[k] < kInfinity ? leaves.unary[k] - own : kNone;
            for (int s = slots.column_slots[c]; s < slots.column_slots[c + 1]; ++s) {
                const Slot &slot = slots.slots[s];
                const int32_t *of = &slots.block_of[slot.first_map];
                for (int k = 0; k < column.cells; ++k) gain_[column.first + k] += block_gain_[slot.first_block + of[k]];
            }
        }
        return true;
    }

    // The leaf of a tree that the place is in, and those (`beside_`) that it misses in one column only, with the entry missed.
    int leaf_here(const Leaves &leaves, int t) {
        beside_.clear();
        int here = -1;
        for (int leaf = leaves.trees[t]; leaf < leaves.trees[t + 1]; ++leaf) {
            int missed = -1, misses = 0;
            for (int e = leaves.begins[leaf]; e < leaves.begins[leaf + 1] && misses < 2; ++e) {
                if (leaves.contains(leaves.entries[e], place[leaves.entries[e].column])) continue;
                missed = e;
                ++misses;
            }
            if (misses == 0) here = leaf;
            else if (misses == 1) beside_.push_back({leaf, missed});
        }
        return here;
    }

    // Across the boundary: the cheapest move that crosses, else the one that promises most; once across, what saves most.
    Move move_across(const Leaves &leaves, double mu) const {
        Move best{-1, -1}, crossing{-1, -1};
        double most = 0.0, least = kInfinity;
        for (std::size_t c = 0; c < leaves.columns.size(); ++c) {
            const Column &column = leaves.columns[c];
            const double own = leaves.cost[column.first + place[c]];
            for (int k = 0; k < column.cells; ++k) {
                const double gain = gain_[column.first + k], extra = leaves.cost[column.first + k] - own;
                if (k == place[c] || none(gain)) continue;
                if (score + gain >= 0.0 && extra < least && (score < 0.0 || extra < 0.0)) {
                    least = extra;
                    crossing = {static_cast<int>(c), k};
                }
                if (score >= 0.0 || gain <= 0.0) continue;
                const double rate = extra <= 0.0 ? kInfinity : mu > 0.0 ? mu * gain - extra : gain / extra;
                if (rate > most) {
                    most = rate;
                    best = {static_cast<int>(c), k};
                }
            }
        }
        return crossing.first >= 0 ? crossing : best;
    }

    Move move_up(const Leaves &leaves, const Objective &objective) const {
        Move best{-1, -1};
        const double now = objective.profit(score, cost);
        double most = now + 1e-12 * std::abs(now);
        for (std::size_t c = 0; c < leaves.columns.size(); ++c) {
            const Column &column = leaves.columns[c];
            const double own = leaves.cost[column.first + place[c]];
            for (int k = 0; k < column.cells; ++k) {
                const double gain = gain_[column.first + k];
                if (k == place[c] || none(gain)) continue;
                const double there = objective.profit(score + gain, cost + leaves.cost[column.first + k] - own);
                if (there > most) {
                    most = there;
                    best = {static_cast<int>(c), k};
                }
            }
        }
        return best;
    }

    std::vector<double> block_gain_, gain_;
    std::vector<std::pair<int, int>> beside_;
};

}  // namespace tippingpoint
