// The index of a local problem: which trees use which columns, and into which blocks of cells each of them divides a column.
#pragma once

#include "leaves.hpp"

namespace tippingpoint {

// A tree and a column that it uses.
struct Slot {
    int tree, column;
    bool ordered;                  // as the column is
    bool before, after;            // whether the tree uses a column before this one, or after it
    int first_block, blocks;
    int first_map;                 // where the block of every cell of the column stands
    int first_entry, last_entry;   // the leaves that constrain the column
    int first_free, last_free;     // in `Slots::free_leaves`: those that do not
};

// What a leaf allows of a slot: a run of its blocks; where these have no order, a run of `Slots::lists`.
struct SlotEntry {
    int leaf;
    int from, to;
};

struct Slots {
    std::vector<Slot> slots;               // in the order of their columns
    std::vector<int> column_slots;         // where the slots of every column begin, and the end
    std::vector<int> tree_slots;           // the slots of every tree, and ...
    std::vector<int> tree_begins;          // ... where they begin
    std::vector<int32_t> block_of;         // of every cell of every slot
    std::vector<int32_t> block_start, block_end;  // of ordered slots: the cells of every block
    std::vector<SlotEntry> entries;        // slot by slot
    std::vector<int> entry_slot;           // of every entry
    std::vector<int> of_leaf;              // in the order of `Leaves::entries`: which entry that is
    std::vector<int> free_leaves;
    std::vector<int32_t> lists;
    int blocks = 0;

    void build(const Leaves &leaves) {
        number(leaves);
        divide(leaves);
        index(leaves);
    }

    // The blocks of an entry of a slot, one after the other.
    template <typename Visit> void each_block(const Slot &slot, const SlotEntry &entry, Visit visit) const {
        if (slot.ordered) {
            for (int b = slot.first_block + entry.from; b <= slot.first_block + entry.to; ++b) visit(b);
        } else {
            for (int i = entry.from; i <= entry.to; ++i) visit(slot.first_block + lists[i]);
        }
    }

  private:
    // Give every pair of a tree and a column that it uses a number, by columns first.
    void number(const Leaves &leaves) {
        pairs_.clear();
        last_.assign(leaves.columns.size(), -1);
        for (int t = 0; t < leaves.tree_count(); ++t) {
            for (int e = leaves.begins[leaves.trees[t]]; e < leaves.begins[leaves.trees[t + 1]]; ++e) {
                const int c = leaves.entries[e].column;
                if (last_[c] == t) continue;
                last_[c] = t;
                pairs_.push_back({c, t});
            }
        }
        std::stable_sort(pairs_.begin(), pairs_.end(), [](const auto &a, const auto &b) { return a.first < b.first; });
        slots.resize(pairs_.size());
        column_slots.assign(leaves.columns.size() + 1, 0);
        tree_begins.assign(leaves.tree_count() + 1, 0);
        for (const auto &[c, t] : pairs_) {
            ++column_slots[c + 1];
            ++tree_begins[t + 1];
        }
        for (std::size_t c = 0; c < leaves.columns.size(); ++c) column_slots[c + 1] += column_slots[c];
        for (int t = 0; t < leaves.tree_count(); ++t) tree_begins[t + 1] += tree_begins[t];
        tree_slots.resize(pairs_.size());
        filled_.assign(tree_begins.begin(), tree_begins.end() - 1);
        for (std::size_t s = 0; s < pairs_.size(); ++s) {
            slots[s].column = pairs_[s].first;
            slots[s].tree = pairs_[s].second;
            slots[s].ordered = leaves.columns[slots[s].column].ordered;
            tree_slots[filled_[slots[s].tree]++] = static_cast<int>(s);
        }
        for (int t = 0; t < leaves.tree_count(); ++t) {
            for (int i = tree_begins[t]; i < tree_begins[t + 1]; ++i) {
                slots[tree_slots[i]].before = i > tree_begins[t];
                slots[tree_slots[i]].after = i + 1 < tree_begins[t + 1];
            }
        }
    }

    // Divide the cells of every slot into blocks that no leaf of the tree tells apart.
    void divide(const Leaves &leaves) {
        entry_slot_of_leaf_.resize(leaves.entries.size());
        block_of.clear();
        block_start.clear();
        block_end.clear();
        slot_of_.assign(leaves.columns.size(), -1);
        for (int t = 0; t < leaves.tree_count(); ++t) {
            const int first = leaves.begins[leaves.trees[t]], last = leaves.begins[leaves.trees[t + 1]];
            for (int i = tree_begins[t]; i < tree_begins[t + 1]; ++i) {
                Slot &slot = slots[tree_slots[i]];
                const Column &column = leaves.columns[slot.column];
                slot_of_[slot.column] = tree_slots[i];
                slot.first_map = static_cast<int>(block_of.size());
                block_of.resize(block_of.size() + column.cells, 0);
                int32_t *of = &block_of[slot.first_map];
                slot.first_block = static_cast<int>(block_start.size());
                slot.blocks = column.ordered ? divide_runs(leaves, slot.column, first, last, of)
                                             : divide_sets(leaves, slot.column, first, last, of);
                block_start.resize(slot.first_block + slot.blocks, 0);
                block_end.resize(slot.first_block + slot.blocks, 0);
                for (int k = column.cells - 1; k >= 0; --k) block_start[slot.first_block + of[k]] = k;
                for (int k = 0; k < column.cells; ++k) block_end[slot.first_block + of[k]] = k + 1;
            }
            for (int e = first; e < last; ++e) entry_slot_of_leaf_[e] = slot_of_[leaves.entries[e].column];
        }
        blocks = static_cast<int>(block_start.size());
    }

    int divide_runs(const Leaves &leaves, int c, int first, int last, int32_t *of) {
        const int cells = leaves.columns[c].cells;
        for (int e = first; e < last; ++e) {
            const Entry &entry = leaves.entries[e];
            if (entry.column != c) continue;
            of[entry.from] = 1;
            if (entry.to + 1 < cells) of[entry.to + 1] = 1;
        }
        int32_t block = 0;
        of[0] = 0;
        for (int k = 1; k < cells; ++k) {
            block += of[k];
            of[k] = block;
        }
        return block + 1;
    }

    int divide_sets(const Leaves &leaves, int c, int first, int last, int32_t *of) {
        const Column &column = leaves.columns[c];
        int count = 1;
        for (int e = first; e < last; ++e) {
            const Entry &entry = leaves.entries[e];
            if (entry.column != c) continue;
            inside_.assign(count, -1);
            outside_.assign(count, -1);
            count = 0;
            for (int k = 0; k < column.cells; ++k) {
                int32_t &now = leaves.contains(entry, k) ? inside_[of[k]] : outside_[of[k]];
                if (now < 0) now = count++;
                of[k] = now;
            }
        }
        return count;
    }

    // The entries slot by slot, in blocks, and the leaves of every slot's tree that have none.
    void index(const Leaves &leaves) {
        for (Slot &slot : slots) slot.last_entry = 0;
        for (int s : entry_slot_of_leaf_) ++slots[s].last_entry;
        int begin = 0;
        for (Slot &slot : slots) {
            slot.first_entry = begin;
            begin += slot.last_entry;
            slot.last_entry = slot.first_entry;
        }
        entries.resize(leaves.entries.size());
        entry_slot.resize(leaves.entries.size());
        of_leaf.resize(leaves.entries.size());
        lists.clear();
        for (int leaf = 0; leaf < leaves.leaf_count(); ++leaf) {
            for (int e = leaves.begins[leaf]; e < leaves.begins[leaf + 1]; ++e) {
                const int s = entry_slot_of_leaf_[e], at = slots[s].last_entry++;
                entries[at] = in_blocks(leaves, slots[s], leaf, leaves.entries[e]);
                entry_slot[at] = s;
                of_leaf[e] = at;
            }
        }
        free_leaves.clear();
        for (Slot &slot : slots) {
            slot.first_free = static_cast<int>(free_leaves.size());
            int e = slot.first_entry;  // the leaves of its entries are in order
            for (int leaf = leaves.trees[slot.tree]; leaf < leaves.trees[slot.tree + 1]; ++leaf) {
                if (e < slot.last_entry && entries[e].leaf == leaf) ++e;
                else free_leaves.push_back(leaf);
            }
            slot.last_free = static_cast<int>(free_leaves.size());
        }
    }

    SlotEntry in_blocks(const Leaves &leaves, const Slot &slot, int leaf, const Entry &entry) {
        const int32_t *of = &block_of[slot.first_map];
        if (slot.ordered) return {leaf, of[entry.from], of[entry.to]};
        const int from = static_cast<int>(lists.size());
        seen_.assign(slot.blocks, 0);
        for (int k = 0; k < leaves.columns[slot.column].cells; ++k) {
            if (!leaves.contains(entry, k) || seen_[of[k]]) continue;
            seen_[of[k]] = 1;
            lists.push_back(of[k]);
        }
        return {leaf, from, static_cast<int>(lists.size()) - 1};
    }

    std::vector<std::pair<int, int>> pairs_;
    std::vector<int> last_, filled_, slot_of_, entry_slot_of_leaf_;
    std::vector<int32_t> inside_, outside_;
    std::vector<uint8_t> seen_;
};

}  // namespace tippingpoint
