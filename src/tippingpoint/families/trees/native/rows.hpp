// Many rows at once, each by itself: the same bytes whatever the number of threads.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "search.hpp"

namespace tippingpoint {

// All rows of a data set, `variables` numbers each.
struct Table {
    const double *x, *low, *high;
    const int32_t *home, *option;
    int variables;

    Row row(std::size_t i) const {
        const std::size_t at = i * variables;
        return {x + at, low + at, high + at, home + at, option + at};
    }
};

// Directions in which a row is pushed: those from `begins[i]` to `begins[i + 1]`.
struct Sides {
    const int32_t *begins;
    const double *weights;  // (sides, outputs)
    const double *offset;   // (sides,)
    const int32_t *loss;    // (sides,), by number
};

struct Request {
    const int32_t *rows;
    std::size_t count;
    Sides sides;                 // of every row that is asked about
    const std::vector<Loss> *losses;
    const double *price;         // of a unit of loss; of the 0/1 loss unused
    const double *now;           // the losses as they are
    const double *profit;        // that a place must exceed
    const int32_t *refused_begins;  // where the places of every row begin that do not count, and the end
    const int32_t *refused;         // their cells
    int budget;                  // passes a row
    Clock::time_point deadline;
    int threads;
};

struct Reply {
    double *profit, *bound;
    uint8_t *found, *cut;
    int32_t *cells;   // (rows, variables) of what was found
    int32_t *passes;
};

// Call `work` with every number below `count`, in so many threads; `worker` makes what a thread works with. While they work,
// `stop` is asked now and then whether to give up.
template <typename Worker>
bool in_parallel(std::size_t count, int threads, const std::function<Worker()> &worker, const std::function<bool()> &stop) {
    std::atomic<std::size_t> next{0};
    std::atomic<bool> stopped{false};
    std::mutex mutex;
    std::condition_variable ready;
    int running = std::max(1, std::min<int>(threads, static_cast<int>(std::max<std::size_t>(count, 1))));
    std::vector<std::thread> pool;
    std::exception_ptr failure;
    const int workers = running;
    for (int t = 0; t < workers; ++t) {
        pool.emplace_back([&] {
            try {
                Worker work = worker();
                for (std::size_t i = next++; i < count && !stopped; i = next++) work(i);
            } catch (...) {
                const std::lock_guard<std::mutex> lock(mutex);
                failure = std::current_exception();
            }
            const std::lock_guard<std::mutex> lock(mutex);
            --running;
            ready.notify_one();
        });
    }
    {
        std::unique_lock<std::mutex> lock(mutex);
        while (running > 0) {
            if (ready.wait_for(lock, std::chrono::milliseconds(50), [&] { return running == 0; })) break;
            lock.unlock();
            if (!stopped && stop()) stopped = true;
            lock.lock();
        }
    }
    for (std::thread &thread : pool) thread.join();
    if (failure) std::rethrow_exception(failure);
    return stopped;
}

// The scores that no place of a side exceeds, tree by tree.
class Highest {
  public:
    explicit Highest(const Forest &forest) : outputs_(forest.outputs) {
        for (int32_t root : forest.roots) {
            const std::size_t at = least_.size();
            least_.resize(at + outputs_, kInfinity);
            most_.resize(at + outputs_, -kInfinity);
            std::vector<int32_t> stack{root};
            while (!stack.empty()) {
                const Node &node = forest.nodes[stack.back()];
                stack.pop_back();
                if (node.variable >= 0) {
                    stack.push_back(node.left);
                    stack.push_back(node.right);
                    continue;
                }
                for (int k = 0; k < outputs_; ++k) {
                    const double value = forest.values[static_cast<std::size_t>(node.cut) * outputs_ + k];
                    least_[at + k] = std::min(least_[at + k], value);
                    most_[at + k] = std::max(most_[at + k], value);
                }
            }
        }
    }

    ScoreRange operator()(const double *weights, double offset, const Objective &objective) const {
        ScoreRange range;
        range.to = offset;
        for (std::size_t at = 0; at < least_.size(); at += outputs_)
            for (int k = 0; k < outputs_; ++k) range.to += weights[k] * (weights[k] > 0.0 ? most_[at + k] : least_[at + k]);
        const int own = objective.own_class();
        for (int k = 0; own >= 0 && k < outputs_; ++k) {
            if (k == own) continue;
            double highest = objective.loss->numbers[1 + range.high.size()];
            for (std::size_t at = 0; at < least_.size(); at += outputs_) highest += most_[at + k] - least_[at + own];
            range.high.push_back(highest);
        }
        return range;
    }

  private:
    int outputs_;
    std::vector<double> least_, most_;
};

// Searches rows one after the other.
class RowSearch {
  public:
    RowSearch(const Forest &forest, const Table &table, const Highest &highest, const Request &request, const Reply &reply)
        : forest_(forest), table_(table), highest_(highest), request_(request), reply_(reply), search_(forest) {}

    void operator()(std::size_t i) {
        if (Clock::now() >= request_.deadline) return;  // it stays marked as cut
        const Row row = table_.row(request_.rows[i]);
        const int32_t first = request_.refused_begins[i];
        Best best{request_.profit[i], false, {}, request_.refused + static_cast<std::size_t>(first) * table_.variables,
                  request_.refused_begins[i + 1] - first};
        double bound = best.profit;
        search_.cut = false;
        const int before = search_.passes;
        for (int s = request_.sides.begins[i]; s < request_.sides.begins[i + 1]; ++s) {
            const double *weights = request_.sides.weights + static_cast<std::size_t>(s) * forest_.outputs;
            const double offset = request_.sides.offset[s];
            const Loss &loss = (*request_.losses)[request_.sides.loss[s]];
            const Objective objective{&loss, request_.price[i], request_.now[i]};
            const Side side{weights, offset, highest_(weights, offset, objective), present(row, weights, offset), objective};
            bound = std::max(bound, search_.run(row, side, best, request_.budget, request_.deadline));
        }
        reply_.profit[i] = best.profit;
        reply_.bound[i] = std::max(bound, best.profit);
        reply_.found[i] = best.found;
        reply_.cut[i] = search_.cut;
        reply_.passes[i] = search_.passes - before;
        if (best.found) std::copy(best.cells.begin(), best.cells.end(), reply_.cells + i * table_.variables);
    }

  private:
    double present(const Row &row, const double *weights, double offset) const {
        double score = offset;
        for (int32_t root : forest_.roots) {
            const double *outputs = forest_.values + static_cast<std::size_t>(forest_.leaf(root, row.home)) * forest_.outputs;
            for (int k = 0; k < forest_.outputs; ++k) score += weights[k] * outputs[k];
        }
        return score;
    }

    const Forest &forest_;
    const Table &table_;
    const Highest &highest_;
    const Request &request_;
    const Reply &reply_;
    Search search_;
};

// The outputs of rows in every cell of one variable, all others as they are; summed in the order of the trees.
class RowAlong {
  public:
    RowAlong(const Forest &forest, const Table &table, const int32_t *rows, int variable, double *outputs)
        : forest_(forest), table_(table), rows_(rows), variable_(variable), outputs_(outputs), cells_(table.variables) {}

    void operator()(std::size_t i) {
        const Variable &variable = forest_.variables[variable_];
        const int32_t *home = table_.row(rows_[i]).home;
        std::copy(home, home + table_.variables, cells_.begin());
        row_ = outputs_ + i * static_cast<std::size_t>(variable.cells) * forest_.outputs;
        std::fill_n(row_, static_cast<std::size_t>(variable.cells) * forest_.outputs, 0.0);
        for (int32_t root : forest_.roots) {
            if (variable.ordered) visit(root, 0, variable.missing() - 1);
            for (int cell = variable.ordered ? variable.missing() : 0; cell < variable.cells; ++cell) {
                cells_[variable_] = cell;
                add(forest_.leaf(root, cells_.data()), cell, cell);
            }
        }
    }

  private:
    void visit(int32_t at, int from, int to) {
        const Node &node = forest_.nodes[at];
        if (node.variable < 0) add(node.cut, from, to);
        else if (node.variable != variable_) visit(forest_.goes_left(node, cells_[node.variable]) ? node.left : node.right, from, to);
        else {
            if (from <= node.cut) visit(node.left, from, std::min(to, node.cut));
            if (to > node.cut) visit(node.right, std::max(from, node.cut + 1), to);
        }
    }

    void add(int32_t leaf, int from, int to) {
        const double *values = forest_.values + static_cast<std::size_t>(leaf) * forest_.outputs;
        for (int cell = from; cell <= to; ++cell)
            for (int k = 0; k < forest_.outputs; ++k) row_[static_cast<std::size_t>(cell) * forest_.outputs + k] += values[k];
    }

    const Forest &forest_;
    const Table &table_;
    const int32_t *rows_;
    int variable_;
    double *outputs_;
    double *row_ = nullptr;
    std::vector<int32_t> cells_;
};

}  // namespace tippingpoint
