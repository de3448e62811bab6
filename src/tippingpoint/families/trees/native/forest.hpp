// A forest on cells: what the trees can tell apart of a row, and what each cell of a variable costs it.
//
// A variable is a raw column, or several that change together. A *line* is a number: its cuts divide it into cells
// (cuts[k-1], cuts[k]]. A *menu* is a list of options, in cells of those that no tree tells apart. Where cells are *ordered* (of
// lines, and of menus of numbers) nodes cut between two of them, and the last cell stands for what is missing; elsewhere nodes
// send any set of cells to the left.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace tippingpoint {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Variable {
    bool ordered = false;
    int cells = 0;
    const double *costs = nullptr;  // of a menu: (options, cells), from an option to the cheapest option of a cell
    const double *cuts = nullptr;   // of a line, one fewer than it has cells of numbers
    double price = kInfinity;       // of a squared distance of one; infinite where the variable stays
    double step = 0.0;              // of a lattice; zero for all numbers
    double vanishing = kInfinity;   // what it costs to go missing

    int missing() const { return cells - 1; }  // where cells are ordered
    bool line() const { return costs == nullptr; }
};

struct Node {
    int32_t variable;      // -1: a leaf
    int32_t cut;           // the last cell that goes left; of sets: where the mask begins; of a leaf: its row of values
    int32_t left, right;
    bool missing_left;
};

struct Forest {
    std::vector<Variable> variables;
    std::vector<Node> nodes;
    std::vector<int32_t> roots;
    const uint64_t *masks = nullptr;   // sets of cells that go left, a bit each
    const double *values = nullptr;    // (leaves, outputs)
    int outputs = 1;

    bool goes_left(const Node &node, int cell) const {
        const Variable &variable = variables[node.variable];
        if (!variable.ordered) return masks[node.cut + (cell >> 6)] >> (cell & 63) & 1u;
        return cell == variable.missing() ? node.missing_left : cell <= node.cut;
    }

    // The leaf of a tree that a row of cells falls into, by its row of values.
    int32_t leaf(int32_t root, const int32_t *cells) const {
        int32_t at = root;
        while (nodes[at].variable >= 0) at = goes_left(nodes[at], cells[nodes[at].variable]) ? nodes[at].left : nodes[at].right;
        return nodes[at].cut;
    }
};

// One row: where it is, and within which bounds it may move.
struct Row {
    const double *x;        // of lines: the number; of menus unused
    const double *low, *high;
    const int32_t *home;    // the cell of every variable
    const int32_t *option;  // of menus: which it holds
};

// The number of a lattice through x that is the first beyond an edge, upwards: the least that is > edge.
inline double lattice_above(double x, double step, double edge) {
    double count = std::floor((edge - x) / step);
    while (x + count * step > edge) count -= 1.0;
    while (x + count * step <= edge) count += 1.0;
    return x + count * step;
}

// The same downwards: the largest that is <= edge.
inline double lattice_below(double x, double step, double edge) {
    double count = std::ceil((edge - x) / step);
    while (x + count * step <= edge) count += 1.0;
    while (x + count * step > edge) count -= 1.0;
    return x + count * step;
}

// What it costs a row to enter a cell, by the nearest value in it that the row may take; infinite where there is none.
inline double cell_cost(const Variable &variable, const Row &row, int v, int cell) {
    const int home = row.home[v];
    if (cell == home) return 0.0;
    if (!variable.line()) return variable.costs[static_cast<std::size_t>(row.option[v]) * variable.cells + cell];
    if (home == variable.missing()) return kInfinity;
    if (cell == variable.missing()) return variable.vanishing;
    if (std::isinf(variable.price)) return kInfinity;
    const int cuts = variable.cells - 2;
    const double x = row.x[v];
    double value;
    if (cell > home) {
        const double edge = variable.cuts[cell - 1];
        value = variable.step > 0.0 ? lattice_above(x, variable.step, edge) : std::nextafter(edge, kInfinity);
        if (value > row.high[v] || (cell < cuts && value > variable.cuts[cell])) return kInfinity;
    } else {
        const double edge = variable.cuts[cell];
        value = variable.step > 0.0 ? lattice_below(x, variable.step, edge) : edge;
        if (value < row.low[v] || (cell > 0 && value <= variable.cuts[cell - 1])) return kInfinity;
    }
    return variable.price * ((value - x) * (value - x));
}

}  // namespace tippingpoint
