// The index of a local problem: which trees use which columns, and into which blocks of cells each of them divides a column.
#pragma once

#include "leaves.hpp"

namespace tippingpoint {

// A tree and a column that it uses.
struct Slot {
    int tree, column;
    int first_block, blocks;
    int first_map;                 // where the block of every cell of the column stands
    int first_entry, last_entry;   // in `Slots::entries`: the leaves that constrain the column
    int first_free, last_free;     // in `Slots::free_leaves`: those that do not
    bool before, after;            // whether the tree uses a column before this one, or after it
};

// An entry of a leaf, by blocks: a run of them, or of sets a run of a list of them.
struct BlockEntry {
    int leaf, slot;
    int from, to;
};

struct Slots {
    std::vector<Slot> slots;               // in the order of their columns
    std::vector<int> column_slots;         // where the slots of every column begin, and the end
    std::vector<int> tree_slots;           // the slots of every tree, and ...
    std::vector<int> tree_begins;          // ... where they begin
    std::vector<int32_t> block_of;         // of every cell of every slot
    std::vector<int> entries;              // of every slot: positions in `by_leaf`
    std::vector<BlockEntry> by_leaf;       // as `Leaves::begins` has them
    std::vector<int> free_leaves;
    std::vector<int32_t> lists;            // blocks of sets
    int blocks = 0;

    void build(const Leaves &leaves) {
        number(leaves);
        divide(leaves);
        index(leaves);
    }

    // The blocks of an entry, one after the other.
    template <typename Visit> void each_block(const Leaves &leaves, const BlockEntry &entry, Visit visit) const {
        const Slot &slot = slots[entry.slot];
        if (leaves.columns[slot.column].ordered) {
            for (int b = slot.first_block + entry.from; b <= slot.first_block + entry.to; ++b) visit(b);
        } else {
            for (int i = entry.from; i < entry.to; ++i) visit(slot.first_block + lists[i]);
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
            tree_slots[filled_[slots[s].tree]++] = static_cast<int>(s);
        }
        for (int t = 0; t < leaves.tree_count(); ++t) {
            for (int i = tree_begins[t]; i < tree_begins[t + 1]; ++i) {
                slots[tree_slots[i]].before = i > tree_begins[t];
                slots[tree_slots[i]].after = i + 1 < tree_begins[t + 1];
            }
        }
    }

    // Divide the cells of every slot into blocks that no leaf of the tree tells apart, and write entries in blocks.
    void divide(const Leaves &leaves) {
        by_leaf.resize(leaves.entries.size());
        block_of.clear();
        lists.clear();
        blocks = 0;
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
                slot.first_block = blocks;
                slot.blocks = column.ordered ? divide_runs(leaves, slot.column, first, last, of)
                                             : divide_sets(leaves, slot.column, first, last, of);
                blocks += slot.blocks;
            }
            for (int leaf = leaves.trees[t]; leaf < leaves.trees[t + 1]; ++leaf)
                for (int e = leaves.begins[leaf]; e < leaves.begins[leaf + 1]; ++e) write_entry(leaves, leaf, e);
        }
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

    void write_entry(const Leaves &leaves, int leaf, int e) {
        const Entry &entry = leaves.entries[e];
        const Slot &slot = slots[slot_of_[entry.column]];
        const int32_t *of = &block_of[slot.first_map];
        if (leaves.columns[entry.column].ordered) {
            by_leaf[e] = {leaf, slot_of_[entry.column], of[entry.from], of[entry.to]};
            return;
        }
        const int from = static_cast<int>(lists.size());
        seen_.assign(slot.blocks, 0);
        for (int k = 0; k < leaves.columns[entry.column].cells; ++k) {
            if (!leaves.contains(entry, k) || seen_[of[k]]) continue;
            seen_[of[k]] = 1;
            lists.push_back(of[k]);
        }
        by_leaf[e] = {leaf, slot_of_[entry.column], from, static_cast<int>(lists.size())};
    }

    // The entries of every slot, and the leaves of its tree that have none.
    void index(const Leaves &leaves) {
        for (Slot &slot : slots) slot.last_entry = 0;
        for (const BlockEntry &entry : by_leaf) ++slots[entry.slot].last_entry;
        int begin = 0;
        for (Slot &slot : slots) {
            slot.first_entry = begin;
            begin += slot.last_entry;
            slot.last_entry = slot.first_entry;
        }
        entries.resize(by_leaf.size());
        for (std::size_t e = 0; e < by_leaf.size(); ++e) entries[slots[by_leaf[e].slot].last_entry++] = static_cast<int>(e);
        free_leaves.clear();
        for (Slot &slot : slots) {
            slot.first_free = static_cast<int>(free_leaves.size());
            int e = slot.first_entry;  // the leaves of its entries are in order
            for (int leaf = leaves.trees[slot.tree]; leaf < leaves.trees[slot.tree + 1]; ++leaf) {
                if (e < slot.last_entry && by_leaf[entries[e]].leaf == leaf) ++e;
                else free_leaves.push_back(leaf);
            }
            slot.last_free = static_cast<int>(free_leaves.size());
        }
    }

    std::vector<std::pair<int, int>> pairs_;
    std::vector<int> last_, filled_, slot_of_;
    std::vector<int32_t> inside_, outside_;
    std::vector<uint8_t> seen_;
};

}  // namespace tippingpoint
