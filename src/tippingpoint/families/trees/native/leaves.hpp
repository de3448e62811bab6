// Leaves as boxes of cells: what the bounds and the search work with, whether cut out of a forest or made smaller later.
//
// Columns are the variables that still matter, each with a few cells. A leaf constrains some columns, to a run of cells (of
// columns whose cells have an order) or to any set of them; a column that it does not name it leaves free.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace tippingpoint {

// The lowest bits of a word, as many as there are cells.
inline uint64_t all_bits(int cells) { return cells >= 64 ? ~uint64_t{0} : (uint64_t{1} << cells) - 1; }

struct Column {
    int variable;  // of the forest
    bool ordered;  // whether leaves take runs of cells; otherwise sets, a bit each
    int first;     // of its cells
    int cells;

    int words() const { return (cells + 63) >> 6; }
};

struct Entry {
    int32_t column;
    int32_t from, to;  // a run of the column's cells; of a set: `from` is where its bits begin
};

struct Leaves {
    std::vector<Column> columns;
    std::vector<double> cost;        // of every cell of every column
    std::vector<double> unary;       // what a cell adds to the score by itself
    std::vector<int32_t> model_cell; // that a cell stands for
    std::vector<int32_t> trees;      // where the leaves of every tree begin, and the end
    std::vector<double> value;       // of every leaf
    std::vector<double> least;       // what it costs to enter the leaf, at least
    std::vector<int32_t> begins;     // where the entries of every leaf begin, and the end
    std::vector<Entry> entries;
    std::vector<uint64_t> bits;
    int rivals = 0;                  // other classes, of a loss of all their scores at once; each score by itself:
    std::vector<double> rival_value, rival_unary;  // of every leaf, and of every cell
    std::vector<double> rival_offset;
    double offset = 0.0;             // of the score: what does not depend on the cells
    double spent = 0.0;              // of the cost, on columns that are settled
    bool empty = false;              // whether there is no place left at all

    void clear() {
        columns.clear();
        cost.clear();
        unary.clear();
        model_cell.clear();
        trees.assign(1, 0);
        value.clear();
        least.clear();
        begins.assign(1, 0);
        entries.clear();
        bits.clear();
        rivals = 0;
        rival_value.clear();
        rival_unary.clear();
        rival_offset.clear();
        offset = spent = 0.0;
        empty = false;
    }

    int tree_count() const { return static_cast<int>(trees.size()) - 1; }
    int leaf_count() const { return static_cast<int>(value.size()); }

    bool contains(const Entry &entry, int cell) const {
        if (columns[entry.column].ordered) return entry.from <= cell && cell <= entry.to;
        return bits[entry.from + (cell >> 6)] >> (cell & 63) & 1u;
    }
};

}  // namespace tippingpoint
