// The window of a row: the cells and the leaves that it can reach at a cost. Costs add up over variables, so nothing beyond the
// window can be part of a cheaper change.
#pragma once

#include "forest.hpp"
#include "leaves.hpp"

namespace tippingpoint {

class Window {
  public:
    explicit Window(const Forest &forest) : forest_(forest), column_of_(forest.variables.size(), -1) {}

    // Cut the leaves within a budget out of the forest; their values are weighted sums of the outputs. Where a class is given,
    // they tell too how far each other one is ahead of it.
    void open(const Row &row, double budget, const double *weights, int own, Leaves &leaves) {
        row_ = &row;
        own_ = own;
        budget_ = budget;
        weights_ = weights;
        leaves_ = &leaves;
        leaves.clear();
        leaves.rivals = own < 0 ? 0 : forest_.outputs - 1;
        ranks_.clear();
        rank_begins_.clear();
        for (std::size_t v = 0; v < forest_.variables.size(); ++v) column_of_[v] = add_column(static_cast<int>(v));
        run_.resize(leaves.columns.size());
        path_bits_.clear();
        for (std::size_t c = 0; c < leaves.columns.size(); ++c) {
            const Column &column = leaves.columns[c];
            run_[c] = {0, column.cells - 1, 0.0, 0};
            if (column.ordered) continue;
            run_[c].from = static_cast<int>(path_bits_.size());
            for (int w = 0; w < column.words(); ++w) path_bits_.push_back(all_bits(column.cells - 64 * w));
        }
        leaves.unary.assign(leaves.cost.size(), 0.0);
        leaves.rival_unary.assign(leaves.cost.size() * leaves.rivals, 0.0);
        leaves.rival_offset.assign(leaves.rivals, 0.0);
        for (int32_t root : forest_.roots) {
            touched_.clear();
            visit(root, 0.0);
            leaves.trees.push_back(leaves.leaf_count());
        }
    }

  private:
    struct Run {
        int from, to;  // of an ordered column the cells left; of a set: where its bits begin on the path
        double cost;   // of the cheapest of them
        int depth;     // how often the column was cut on the path
    };

    // The cells of a variable within the budget: a column of the window, or -1 where there is but one.
    int add_column(int v) {
        const Variable &variable = forest_.variables[v];
        Leaves &leaves = *leaves_;
        reached_.clear();
        if (variable.line()) reach_line(variable, v);
        else reach_menu(variable, v);
        rank_begins_.push_back(static_cast<int>(ranks_.size()));
        if (reached_.size() <= 1) return -1;
        const bool ordered = variable.ordered && reached_.back().first != variable.missing();
        const int first = static_cast<int>(leaves.cost.size());
        for (const auto &[cell, cost] : reached_) {
            const int gap = leaves.cost.size() > static_cast<std::size_t>(first) ? cell - leaves.model_cell.back() : 1;
            for (int k = 1; ordered && k < gap; ++k) ranks_.push_back(static_cast<int>(leaves.cost.size()) - first);
            leaves.cost.push_back(cost);
            leaves.model_cell.push_back(cell);
            if (ordered) ranks_.push_back(static_cast<int>(leaves.cost.size()) - first);
        }
        leaves.columns.push_back({v, ordered, first, static_cast<int>(reached_.size())});
        return static_cast<int>(leaves.columns.size()) - 1;
    }

    // Along a line costs grow with the distance: beyond the first cell that is too dear there is none.
    void reach_line(const Variable &variable, int v) {
        const int home = row_->home[v];
        if (home == variable.missing() || std::isinf(variable.price)) return;
        const double x = row_->x[v], price = variable.price;
        int low = home, high = home;
        for (; low > 0; --low) {
            const double edge = variable.cuts[low - 1];
            if (edge < row_->low[v] || price * ((edge - x) * (edge - x)) > budget_) break;
        }
        for (; high + 1 < variable.missing(); ++high) {
            const double edge = variable.cuts[high];
            if (edge >= row_->high[v] || price * ((edge - x) * (edge - x)) > budget_) break;
        }
        for (int k = low; k <= high; ++k) reach(variable, v, k);
        reach(variable, v, variable.missing());
    }

    void reach_menu(const Variable &variable, int v) {
        for (int k = 0; k < variable.cells; ++k) reach(variable, v, k);
    }

    void reach(const Variable &variable, int v, int cell) {
        const double cost = cell_cost(variable, *row_, v, cell);
        if (cost <= budget_) reached_.push_back({cell, cost});
    }

    void visit(int32_t at, double cost) {
        const Node &node = forest_.nodes[at];
        if (node.variable < 0) {
            emit(node, cost);
            return;
        }
        const int c = column_of_[node.variable];
        if (c < 0) {
            visit(forest_.goes_left(node, row_->home[node.variable]) ? node.left : node.right, cost);
            return;
        }
        if (leaves_->columns[c].ordered) split_run(node, c, cost);
        else split_set(node, c, cost);
    }

    void split_run(const Node &node, int c, double cost) {
        const Column &column = leaves_->columns[c];
        const int32_t *cells = &leaves_->model_cell[column.first];
        int last;  // of the column's cells that goes left
        if (node.cut < cells[0]) last = -1;
        else if (node.cut >= cells[column.cells - 1]) last = column.cells - 1;
        else last = ranks_[rank_begins_[node.variable] + node.cut - cells[0]] - 1;
        const Run now = run_[c];
        if (now.to <= last) {
            visit(node.left, cost);
        } else if (now.from > last) {
            visit(node.right, cost);
        } else {
            enter(node.left, c, {now.from, last, run_cost(column, now.from, last), now.depth + 1}, now, cost);
            enter(node.right, c, {last + 1, now.to, run_cost(column, last + 1, now.to), now.depth + 1}, now, cost);
        }
    }

    // Costs fall towards the cell where the row is, and rise beyond it.
    double run_cost(const Column &column, int from, int to) const {
        const double *cost = &leaves_->cost[column.first];
        const int32_t home = row_->home[column.variable];
        const int32_t *cells = &leaves_->model_cell[column.first];
        if (cells[from] > home) return cost[from];
        return cells[to] < home ? cost[to] : 0.0;
    }

    void split_set(const Node &node, int c, double cost) {
        const Column column = leaves_->columns[c];
        const int words = column.words();
        const Run now = run_[c];
        const std::size_t top = path_bits_.size();
        path_bits_.resize(top + 2 * words, 0);
        int cheapest[2] = {-1, -1};
        for (int k = 0; k < column.cells; ++k) {
            if (!(path_bits_[now.from + (k >> 6)] >> (k & 63) & 1u)) continue;
            const int side = forest_.goes_left(node, leaves_->model_cell[column.first + k]) ? 0 : 1;
            path_bits_[top + side * words + (k >> 6)] |= uint64_t{1} << (k & 63);
            if (cheapest[side] < 0 || leaves_->cost[column.first + k] < leaves_->cost[column.first + cheapest[side]])
                cheapest[side] = k;
        }
        for (int side = 0; side < 2; ++side) {
            const int32_t child = side == 0 ? node.left : node.right;
            if (cheapest[side] < 0) continue;
            if (cheapest[1 - side] < 0) {
                visit(child, cost);
            } else {
                const int begins = static_cast<int>(top) + side * words;
                enter(child, c, {begins, 0, leaves_->cost[column.first + cheapest[side]], now.depth + 1}, now, cost);
            }
        }
        path_bits_.resize(top);
    }

    void enter(int32_t child, int c, const Run &next, const Run &now, double cost) {
        const double there = cost - now.cost + next.cost;
        if (there > budget_) return;
        run_[c] = next;
        if (now.depth == 0) touched_.push_back(c);
        visit(child, there);
        if (now.depth == 0) touched_.pop_back();
        run_[c] = now;
    }

    void emit(const Node &node, double cost) {
        Leaves &leaves = *leaves_;
        const double *outputs = forest_.values + static_cast<std::size_t>(node.cut) * forest_.outputs;
        double value = 0.0;
        for (int k = 0; k < forest_.outputs; ++k) value += weights_[k] * outputs[k];
        leaves.value.push_back(value);
        for (int k = 0; leaves.rivals > 0 && k < forest_.outputs; ++k)
            if (k != own_) leaves.rival_value.push_back(outputs[k] - outputs[own_]);
        leaves.least.push_back(cost);
        for (int c : touched_) {
            const Run &run = run_[c];
            if (leaves.columns[c].ordered) {
                leaves.entries.push_back({c, run.from, run.to});
            } else {
                leaves.entries.push_back({c, static_cast<int32_t>(leaves.bits.size()), 0});
                for (int w = 0; w < leaves.columns[c].words(); ++w) leaves.bits.push_back(path_bits_[run.from + w]);
            }
        }
        leaves.begins.push_back(static_cast<int32_t>(leaves.entries.size()));
    }

    const Forest &forest_;
    const Row *row_ = nullptr;
    double budget_ = 0.0;
    int own_ = -1;
    const double *weights_ = nullptr;
    Leaves *leaves_ = nullptr;
    std::vector<int> column_of_;
    std::vector<int> ranks_;        // of ordered columns: how many of their cells are not beyond a cell of the model
    std::vector<int> rank_begins_;  // by variable
    std::vector<Run> run_;          // by column, on the path
    std::vector<int> touched_;      // columns that were cut on the path
    std::vector<uint64_t> path_bits_;    // sets of cells on the path
    std::vector<std::pair<int, double>> reached_;  // cells of a variable, and their costs
};

}  // namespace tippingpoint
