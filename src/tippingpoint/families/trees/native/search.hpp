// The best place of one row, pushed in one direction: a window, local search, the Lagrangian bound, and branching where that is
// not enough. Whenever it ends, `bound` is certified and `profit` is attained.
#pragma once

#include <chrono>
#include <queue>
#include <utility>

#include "descent.hpp"
#include "shrinking.hpp"
#include "window.hpp"

namespace tippingpoint {

using Clock = std::chrono::steady_clock;

constexpr double kRoundOff = 1e-9;       // relative: bounds this close to what is attained are equal to it; ...
constexpr double kNoise = 1e-12;         // ... so are those within this part of what the dearest cell costs
constexpr double kWindowSlack = 1e-12;   // relative: costs are added up in different orders
constexpr int kRootRounds = 3;           // at the root, each of ...
constexpr int kRootPasses = 4;           // ... so many passes, and then a smaller problem if ...
constexpr double kWorthShrinking = 0.1;  // ... at least this part of its cells or leaves has died
constexpr int kNodePasses = 1;           // at every other box: to divide it again is worth more than another
constexpr int kDescents = 100;           // boxes from each of which local search begins; of those after them ...
constexpr int kSeldom = 8;               // ... one in so many
constexpr int kWindows = 3;              // how often the window is narrowed by what local search finds, while that ...
constexpr double kWorthNarrowing = 0.7;  // ... makes the budget at least this much smaller
constexpr double kVeryCurved = 0.125;     // of a loss: at half its scores less than this part of its rise
constexpr double kTooCurved = 0.5;        // the part of an open bound that is due to the line over a curved loss, for it to be divided
constexpr int kMuSteps = 8;              // bisections for the best mu
constexpr double kMuRange = 64.0;        // how far from the present mu it is looked for

// One direction in which a row is pushed: score = offset + sum of weighted outputs.
struct Side {
    const double *weights;
    double offset;
    ScoreRange range;  // of the scores of any place
    double now;        // the score as it is
    Objective objective;
};

struct Best {
    double profit;               // what a place must exceed; attained by `cells` if `found`
    bool found = false;
    std::vector<int32_t> cells;  // of every variable
    const int32_t *refused = nullptr;  // places that do not count, a row of cells each, nor any in the same leaves
    int refused_count = 0;
};

class Search {
  public:
    explicit Search(const Forest &forest) : forest_(forest), window_(forest) {}

    int passes = 0;     // made so far
    bool cut = false;   // whether time ended a search

    // Improve `best` and return an upper bound on the profit of any place on this side (`best.profit` where nothing exceeds it).
    // `budget` counts passes; at 0 only the window and local search are tried.
    double run(const Row &row, const Side &side, Best &best, int budget, Clock::time_point deadline) {
        row_ = &row;
        side_ = &side;
        best_ = &best;
        deadline_ = deadline;
        allowed_ = passes + budget;
        mixture_.clear();
        for (int k = 0; objective().of_rivals() && k < forest_.outputs; ++k)
            if (k != objective().own_class()) mixture_.push_back(side.weights[k]);
        return std::max(search_bands(budget == 0), best.profit);
    }

  private:
    const Objective &objective() const { return side_->objective; }

    // Whether rounding is all that keeps a bound above the best place. That is measured by what is attained and by what cells
    // cost, never by what places might be worth: of a steep loss that is bounded many orders of magnitude too high at first.
    bool closed(double bound) const { return bound <= best_->profit + kRoundOff * std::abs(best_->profit) + noise_; }

    // What a place may cost and be better than the best, if its worth is no more than this.
    double budget(double worth) const { return worth - best_->profit; }

    // A bound on the worth of places in the band and in the window.
    double top_worth() const {
        return objective().of_rivals() ? window_worth_ : objective().worth(std::min(highest_, band_.high));
    }

    // Scores from `low` to `high`, and a bound on the profit of places with such scores.
    struct Band {
        double low, high, bound;
        bool operator<(const Band &other) const { return bound < other.bound; }
    };

    // One band of scores after the other, the one of the highest bound first: all scores at once, unless the loss is so curved
    // that the line over it bounds nothing; then the band is divided, and the lower part has a narrower window.
    double search_bands(bool quick) {
        const double most = objective().most_worth(side_->range), widest = budget(most);
        if (!(widest > 0.0)) return best_->profit;
        window_.open(*row_, widest * (1.0 + kWindowSlack), side_->weights, objective().own_class(), raw_);
        raw_.offset = side_->offset;
        for (int r = 0; r < raw_.rivals; ++r) raw_.rival_offset[r] += objective().loss->numbers[1 + r];
        noise_ = 0.0;
        for (double cost : raw_.cost)  // where an error is all that counts, none has to be told from staying at no cost
            if (cost < kInfinity && !objective().crossing()) noise_ = std::max(noise_, kNoise * cost);
        std::priority_queue<Band> bands;
        double high = side_->range.to;
        for (double low = below_the_curve(high); low > -kInfinity; low = below_the_curve(high)) {
            bands.push({low, high, objective().worth(high)});
            high = low;
        }
        bands.push({-kInfinity, high, objective().of_rivals() ? most : objective().worth(high)});
        bool first = true;
        while (!bands.empty()) {
            band_ = bands.top();
            if (closed(band_.bound)) return best_->profit;
            if (!std::exchange(first, false) && (passes >= allowed_ || out_of_time())) return band_.bound;
            bands.pop();
            const double bound = std::min(band_.bound, search_band(quick));
            if (closed(bound)) continue;
            if (quick) return bound;
            if (divide_at_ > band_.low && divide_at_ < band_.high) {
                bands.push({band_.low, divide_at_, std::min(bound, objective().worth(divide_at_))});
                bands.push({divide_at_, band_.high, bound});
            } else {
                bands.push({band_.low, band_.high, bound});  // it ended for want of passes, or of time
            }
        }
        return best_->profit;
    }

    // Where to divide the scores up to one, if the loss is so curved there that a line above it says nothing.
    double below_the_curve(double high) const {
        if (objective().crossing() || objective().of_rivals()) return -kInfinity;
        const double from = objective().least_score(best_->profit, 0.0);
        if (!(high > from) || std::isinf(from)) return -kInfinity;
        const double low = objective().worth(from), most = objective().worth(high);
        if (objective().worth(0.5 * (from + high)) - low >= kVeryCurved * (most - low)) return -kInfinity;
        const double divided = objective().score_of(low + 0.25 * (most - low));
        return divided > from && divided < high ? divided : -kInfinity;
    }

    double search_band(bool quick) {
        divide_at_ = kInfinity;
        double bound = open_window();
        if (closed(bound) || quick) return bound;
        bound = std::min(bound, root());
        if (closed(bound) || divide_at_ < kInfinity) return bound;
        return branch(bound);
    }

    // Whether the line above the worth of scores is what keeps the bound up; then a score at which to divide the band is noted.
    bool too_curved(double bound) {
        if (objective().crossing() || objective().of_rivals()) return false;
        const double relaxed = messages_.at(messages_.mu).second;
        const double from = std::max(objective().least_score(best_->profit, messages_.least_cost()), band_.low);
        const double to = std::min(highest_, band_.high);
        if (!(relaxed > from && relaxed < to)) return false;
        const double low = objective().worth(from), high = objective().worth(to);
        const double line = low + (high - low) * (relaxed - from) / (to - from);
        if (line - objective().worth(relaxed) < kTooCurved * (bound - best_->profit)) return false;
        const double middle = std::min(std::max(objective().worth(relaxed), low + 0.25 * (high - low)), low + 0.75 * (high - low));
        divide_at_ = objective().score_of(middle);
        return divide_at_ > from && divide_at_ < to;
    }

    // Make the window as narrow as the band allows, and narrower as local search finds better places; the bound that costs of
    // single leaves give.
    double open_window() {
        highest_ = side_->range.to;
        window_worth_ = objective().most_worth(side_->range);
        double within = budget(top_worth()), bound = best_->profit;
        for (int round = 0; round < kWindows && within > 0.0; ++round) {
            narrow(within);
            if (local_.empty) return best_->profit;
            bound = staircase(within);
            if (bound <= best_->profit || highest_ < band_.low) return best_->profit;
            slots_.build(local_);
            const bool fresh = objective().crossing() && search_locally_from_home();
            const double narrower = std::min(budget(top_worth()), within);
            if (!fresh && narrower > kWorthNarrowing * within) return bound;
            within = narrower;
        }
        return within > 0.0 ? bound : best_->profit;
    }

    // The local problem of all leaves and cells within a cost.
    void narrow(double within) {
        const double most = within * (1.0 + kWindowSlack);
        keep_leaf_.resize(raw_.leaf_count());
        keep_cell_.resize(raw_.cost.size());
        for (int leaf = 0; leaf < raw_.leaf_count(); ++leaf) keep_leaf_[leaf] = raw_.least[leaf] <= most;
        for (std::size_t k = 0; k < raw_.cost.size(); ++k) keep_cell_[k] = raw_.cost[k] <= most;
        settled_.clear();
        shrinking_(raw_, keep_leaf_, keep_cell_, local_, settled_);
    }

    // What a budget can buy, tree by tree: the score rises in steps as the budget does, and a place is worth no more than the best
    // of the steps. Sets `highest_`, the score within the budget.
    double staircase(double within) {
        if (objective().of_rivals()) return budget(window_worth_) + best_->profit;
        steps_.clear();
        const int columns = static_cast<int>(local_.columns.size());
        for (int c = 0; c < columns; ++c) {
            const Column &column = local_.columns[c];
            for (int k = column.first; k < column.first + column.cells; ++k)
                if (local_.cost[k] < kInfinity) steps_.push_back({local_.cost[k], local_.unary[k], c});
        }
        for (int t = 0; t < local_.tree_count(); ++t)
            for (int leaf = local_.trees[t]; leaf < local_.trees[t + 1]; ++leaf)
                steps_.push_back({local_.least[leaf], local_.value[leaf], columns + t});
        std::sort(steps_.begin(), steps_.end(), [](const Step &a, const Step &b) { return a.cost < b.cost; });
        reached_.assign(columns + local_.tree_count(), -kInfinity);
        int missing = static_cast<int>(reached_.size());
        double score = local_.offset, bound = best_->profit;
        highest_ = -kInfinity;
        for (std::size_t i = 0; i < steps_.size(); ++i) {
            const Step &step = steps_[i];
            if (step.cost > within * (1.0 + kWindowSlack)) break;
            double &now = reached_[step.group];
            if (step.score > now) {
                missing -= now == -kInfinity;
                score += now == -kInfinity ? step.score : step.score - now;
                now = step.score;
            }
            const bool last = i + 1 == steps_.size() || steps_[i + 1].cost > step.cost;
            if (missing > 0 || !last) continue;
            highest_ = score;
            bound = std::max(bound, objective().profit(score, std::max(step.cost, local_.spent)));
            if (objective().crossing() && score >= 0.0) break;  // no later step is cheaper
        }
        if (objective().crossing() && highest_ >= 0.0)
            highest_ = side_->range.to;  // not all steps were taken
        return bound;
    }

    // Whether a better place was found.
    bool search_locally_from_home() {
        const double before = best_->profit;
        home_place();
        start_ = descent_.place;
        for (double factor : {0.0, 0.5, 1.0, 4.0}) {
            descent_.place = start_;
            try_from_here(factor * first_mu());
        }
        return best_->profit > before;
    }

    void home_place() {
        descent_.place.resize(local_.columns.size());
        for (std::size_t c = 0; c < local_.columns.size(); ++c) {
            const Column &column = local_.columns[c];
            int cheapest = 0;
            for (int k = 1; k < column.cells; ++k)
                if (local_.cost[column.first + k] < local_.cost[column.first + cheapest]) cheapest = k;
            descent_.place[c] = cheapest;
        }
    }

    // Local search from the descent's place.
    void try_from_here(double mu) {
        // Local search does not know what a place of rivals is worth, nor which places are refused, and may leave it for one.
        if (objective().of_rivals() || best_->refused_count > 0) consider_place();
        if (!descent_.improve(local_, slots_, objective(), mu)) return;
        if (objective().of_rivals() || objective().profit(descent_.score, descent_.cost) > best_->profit) consider_place();
    }

    // The descent's place counts if it is better, once the forest itself has confirmed its score.
    void consider_place() {
        cells_.assign(row_->home, row_->home + forest_.variables.size());
        for (const Settled &each : settled_) cells_[each.variable] = each.model_cell;
        for (std::size_t c = 0; c < local_.columns.size(); ++c)
            cells_[local_.columns[c].variable] = local_.model_cell[local_.columns[c].first + descent_.place[c]];
        double cost = 0.0;
        for (std::size_t v = 0; v < cells_.size(); ++v)
            cost += cell_cost(forest_.variables[v], *row_, static_cast<int>(v), cells_[v]);
        const double profit = worth_of(cells_) - cost;
        if (profit <= best_->profit || is_refused()) return;
        best_->profit = profit;
        best_->cells = cells_;
        best_->found = true;
    }

    // Whether a refused place is in the same leaf of every tree as `cells_`: no model tells such places apart.
    bool is_refused() const {
        for (int r = 0; r < best_->refused_count; ++r) {
            const int32_t *other = best_->refused + static_cast<std::size_t>(r) * forest_.variables.size();
            if (std::all_of(forest_.roots.begin(), forest_.roots.end(),
                            [&](int32_t root) { return forest_.leaf(root, cells_.data()) == forest_.leaf(root, other); }))
                return true;
        }
        return false;
    }

    // By the forest itself.
    double worth_of(const std::vector<int32_t> &cells) {
        double score = side_->offset;
        sums_.assign(forest_.outputs, 0.0);
        for (int32_t root : forest_.roots) {
            const double *outputs = forest_.values + static_cast<std::size_t>(forest_.leaf(root, cells.data())) * forest_.outputs;
            for (int k = 0; k < forest_.outputs; ++k) {
                score += side_->weights[k] * outputs[k];
                sums_[k] += outputs[k];
            }
        }
        if (!objective().of_rivals()) return objective().worth(score);
        const int own = objective().own_class();
        rivals_.clear();
        for (int k = 0; k < forest_.outputs; ++k)
            if (k != own) rivals_.push_back(objective().loss->numbers[1 + rivals_.size()] + sums_[k] - sums_[own]);
        return objective().worth(rivals_);
    }

    // A price of score at which it pays to cross, or the slope of the worth between what is needed and what is possible.
    double first_mu() const {
        if (objective().crossing()) return 2.0 * -best_->profit / std::max(std::abs(side_->now), 1e-12);
        if (objective().of_rivals()) return objective().price;
        const double from = std::max(objective().least_score(best_->profit, local_.spent), band_.low);
        const double to = std::min(highest_, band_.high);
        if (!(to > from) || std::isinf(from)) return 1.0;
        return std::max((objective().worth(to) - objective().worth(from)) / (to - from), 1e-12);
    }

    // The bound at the root, in a problem that is made smaller as parts of it die.
    double root() {
        double bound = kInfinity;
        for (int round = 0; round < kRootRounds; ++round) {
            if (local_.columns.empty()) {  // one place is left
                descent_.place.clear();
                try_from_here(0.0);
                return best_->profit;
            }
            if (round == 0 || shrunk_) messages_.begin(local_, slots_, round == 0 ? first_mu() : messages_.mu);
            bound = std::min(bound, tighten(kRootPasses, true));
            if (closed(bound) || divide_at_ < kInfinity || out_of_time()) return bound;
            descend_from_messages();
            if (closed(bound)) return bound;
            shrink_if_worth_it();
            if (local_.empty) return best_->profit;
        }
        if (shrunk_) {
            messages_.begin(local_, slots_, messages_.mu);
            bound = std::min(bound, tighten(1));
        }
        return bound;
    }

    void descend_from_messages() {
        messages_.decode(descent_.place);
        try_from_here(messages_.mu);
    }

    void shrink_if_worth_it() {
        shrunk_ = false;
        // Cells that add the same become one there, though only one of them may be refused.
        if (best_->refused_count > 0) return;
        const auto dead = [](const std::vector<uint8_t> &alive) {
            return static_cast<double>(std::count(alive.begin(), alive.end(), 0));
        };
        if (dead(messages_.alive) < kWorthShrinking * static_cast<double>(messages_.alive.size()) &&
            dead(messages_.alive_leaf) < kWorthShrinking * static_cast<double>(messages_.alive_leaf.size()))
            return;
        shrinking_(local_, messages_.alive_leaf, messages_.alive, other_, settled_);
        std::swap(local_, other_);
        shrunk_ = true;
        if (!local_.empty) slots_.build(local_);
    }

    // Passes over the present box: the best bound on the profit of its places.
    double tighten(int rounds, bool at_root = false) {
        double bound = kInfinity;
        for (int round = 0; round < rounds; ++round) {
            if (round > 0) messages_.refresh_costs();
            double most = see_scores(top_worth());
            if (messages_.infeasible()) return -kInfinity;
            if (messages_.trim(budget(most) * (1.0 + kWindowSlack))) {
                messages_.refresh();
                if (messages_.infeasible()) return -kInfinity;
                most = see_scores(most);
            }
            bound = std::min(bound, most - messages_.least_cost());
            if (seen_.to < seen_.from || closed(bound)) return std::min(bound, best_->profit);
            double line = objective().above_line(messages_.mu, seen_, mixture_).first;
            messages_.sweep(true, best_->profit - line);
            if (!messages_.infeasible()) messages_.sweep(false, best_->profit - line);
            ++passes;
            if (messages_.infeasible()) return -kInfinity;
            bound = std::min(bound, line + messages_.bound());
            if (closed(bound)) return bound;
            bound = std::min(bound, move_mu());
            if (closed(bound) || (at_root && too_curved(bound))) return bound;
            line = objective().above_line(messages_.mu, seen_, mixture_).first;
            messages_.fix_leaves(best_->profit - line);
            if (passes >= allowed_ || out_of_time()) break;
        }
        return bound;
    }

    // The range of scores in the present box, and a bound on what they are worth; no more than `most`, which is known already.
    double see_scores(double most) {
        const double within = budget(most) * (1.0 + kWindowSlack);
        if (objective().of_rivals()) {
            seen_.from = -kInfinity;
            seen_.to = kInfinity;
            messages_.rival_intervals(within, seen_.low, seen_.high);
            for (double score : seen_.high)
                if (std::isinf(score)) return best_->profit;  // a tree has no leaf within the budget
            return std::min(most, objective().most_worth(seen_));
        }
        seen_.to = std::min(messages_.interval(within), std::min(highest_, band_.high));
        seen_.from = std::max(objective().least_score(best_->profit, messages_.least_cost()), band_.low);
        return std::min(most, objective().worth(seen_.to));
    }

    // Bisect for the mu at which the bound is best with these messages, and go halfway there; the best bound on the way.
    double move_mu() {
        const double start = messages_.mu;
        double low = start / kMuRange, high = start * kMuRange, best = kInfinity, best_mu = start, mu = start;
        for (int step = 0; step < kMuSteps; ++step) {
            const auto [line, at] = objective().above_line(mu, seen_, mixture_);
            const auto [value, slope] = messages_.at(mu);
            if (line + value < best) {
                best = line + value;
                best_mu = mu;
            }
            if (slope - at > 0.0) high = mu;  // the relaxed score is higher than it need be: a lower price will do
            else low = mu;
            mu = std::sqrt(low * high);
        }
        const double halfway = std::sqrt(start * best_mu);
        messages_.move_to(std::min(std::max(halfway, 0.5 * start), 2.0 * start));
        return best;
    }

    struct Box {
        double bound, mu;
        std::vector<uint64_t> alive;
        int column;                  // across which it is to be divided ...
        std::vector<uint8_t> second;  // ... into two, by the cells of the second part
        bool operator<(const Box &other) const { return bound < other.bound; }
    };

    // Best first: the box of the highest bound is what keeps the whole from being closed. Both parts of a box are bounded when it
    // is divided, and it is decided how to divide them while messages are theirs.
    double branch(double bound) {
        boxes_ = {};
        put_aside(bound);
        for (int count = 1; !boxes_.empty(); ++count) {
            if (closed(boxes_.top().bound)) return best_->profit;
            if (passes >= allowed_ || out_of_time()) return boxes_.top().bound;
            const Box whole = boxes_.top();
            boxes_.pop();
            for (uint8_t part : {0, 1}) {
                enter(whole, part);
                const double tighter = std::min(whole.bound, tighten(kNodePasses));
                if (closed(tighter)) continue;
                if (count <= kDescents || count % kSeldom == 0) descend_from_messages();
                if (!closed(tighter)) put_aside(tighter);
            }
        }
        return best_->profit;
    }

    // The present box, unless it is a single place.
    void put_aside(double bound) {
        choose_split();
        if (split_column_ < 0) {
            descend_from_messages();
            return;
        }
        Box made{bound, messages_.mu, std::vector<uint64_t>((messages_.alive.size() + 63) >> 6, 0), split_column_, in_part_};
        for (std::size_t k = 0; k < messages_.alive.size(); ++k)
            if (messages_.alive[k]) made.alive[k >> 6] |= uint64_t{1} << (k & 63);
        boxes_.push(std::move(made));
    }

    // One of the two parts of a box.
    void enter(const Box &whole, uint8_t part) {
        for (std::size_t k = 0; k < messages_.alive.size(); ++k) messages_.alive[k] = whole.alive[k >> 6] >> (k & 63) & 1u;
        const Column &column = local_.columns[whole.column];
        for (int k = 0; k < column.cells; ++k)
            if (whole.second[k] != part) messages_.alive[column.first + k] = 0;
        std::fill(messages_.alive_leaf.begin(), messages_.alive_leaf.end(), 1);
        messages_.mu = whole.mu;
        messages_.refresh();
    }

    // Across the cut that the best leaves of the trees dispute most. Where these agree on a place, the bound is above it because
    // scores might be higher: then the leaves that make them so join the dispute. Else the widest column is halved.
    void choose_split() {
        disputing_.clear();
        for (int t = 0; t < local_.tree_count(); ++t) disputing_.push_back(messages_.best_leaf(t));
        split_column_ = -1;
        dispute();
        if (split_column_ < 0) {
            if (!objective().of_rivals()) join_highest();
            for (int rival = 0; rival < local_.rivals; ++rival) join_highest(rival);
            dispute();
        }
        if (split_column_ < 0) halve_widest();
    }

    // Have the leaves join that make the score as high as the budget allows, or that of a rival.
    void join_highest(int rival = -1) {
        const double within = budget(top_worth()) * (1.0 + kWindowSlack);
        for (int t = 0; t < local_.tree_count(); ++t) {
            const int leaf = messages_.highest_leaf(t, within, rival);
            if (leaf >= 0) disputing_.push_back(leaf);
        }
    }

    void dispute() {
        double most = 0.0;
        for (std::size_t c = 0; c < local_.columns.size(); ++c) {
            if (local_.columns[c].ordered) dispute_runs(static_cast<int>(c), most);
            else dispute_sets(static_cast<int>(c), most);
        }
    }

    // For every cut of an ordered column: how many of the disputing leaves lie wholly on either side.
    void dispute_runs(int c, double &most) {
        const Column &column = local_.columns[c];
        ends_.assign(column.cells + 1, 0);
        starts_.assign(column.cells + 1, 0);
        for (int leaf : disputing_) {
            for (int e = local_.begins[leaf]; e < local_.begins[leaf + 1]; ++e) {
                const Entry &entry = local_.entries[e];
                if (entry.column != c) continue;
                ++ends_[entry.to];
                ++starts_[entry.from];
            }
        }
        for (int k = 1; k <= column.cells; ++k) ends_[k] += ends_[k - 1];
        for (int k = column.cells - 1; k >= 0; --k) starts_[k] += starts_[k + 1];
        bool below = false;  // whether a cell up to here is in the box
        int above = 0;
        for (int k = 0; k < column.cells; ++k) above += messages_.alive[column.first + k];
        for (int k = 0; k + 1 < column.cells; ++k) {
            below |= messages_.alive[column.first + k] != 0;
            above -= messages_.alive[column.first + k];
            if (!below || above == 0) continue;
            const double dispute = disputed(ends_[k], starts_[k + 1]);
            if (dispute <= most) continue;
            most = dispute;
            split_column_ = c;
            in_part_.assign(column.cells, 0);
            for (int i = k + 1; i < column.cells; ++i) in_part_[i] = 1;
        }
    }

    static double disputed(int left, int right) { return std::min(left, right) + (left && right ? 1e-3 * (left + right) : 0.0); }

    // Of a column of sets: the cell that most of the disputing leaves hold, against a leaf that does not.
    void dispute_sets(int c, double &most) {
        const Column &column = local_.columns[c];
        starts_.assign(column.cells, 0);
        int leaves = 0;
        const auto each = [&](auto visit) {
            for (int leaf : disputing_)
                for (int e = local_.begins[leaf]; e < local_.begins[leaf + 1]; ++e)
                    if (local_.entries[e].column == c) visit(local_.entries[e]);
        };
        each([&](const Entry &entry) {
            ++leaves;
            for (int k = 0; k < column.cells; ++k) starts_[k] += messages_.alive[column.first + k] && local_.contains(entry, k);
        });
        const int popular = static_cast<int>(std::max_element(starts_.begin(), starts_.end()) - starts_.begin());
        const double dispute = disputed(starts_[popular], leaves - starts_[popular]);
        if (dispute <= most) return;
        const Entry *other = nullptr;  // of a leaf that lacks the popular cell, but has another one in the box
        each([&](const Entry &entry) {
            if (other != nullptr || local_.contains(entry, popular)) return;
            for (int k = 0; k < column.cells; ++k)
                if (messages_.alive[column.first + k] && local_.contains(entry, k)) other = &entry;
        });
        if (other == nullptr) return;
        most = dispute;
        split_column_ = c;
        in_part_.assign(column.cells, 0);
        for (int k = 0; k < column.cells; ++k) in_part_[k] = local_.contains(*other, k);
    }

    void halve_widest() {
        int widest = 1;
        for (std::size_t c = 0; c < local_.columns.size(); ++c) {
            const Column &column = local_.columns[c];
            int count = 0;
            for (int k = 0; k < column.cells; ++k) count += messages_.alive[column.first + k];
            if (count <= widest) continue;
            widest = count;
            split_column_ = static_cast<int>(c);
        }
        if (split_column_ < 0) return;
        const Column &column = local_.columns[split_column_];
        in_part_.assign(column.cells, 0);
        int seen = 0;
        for (int k = 0; k < column.cells; ++k) {
            in_part_[k] = seen >= widest / 2;
            seen += messages_.alive[column.first + k];
        }
    }

    bool out_of_time() {
        cut |= Clock::now() >= deadline_;
        return cut;
    }

    struct Step {
        double cost, score;
        int group;
    };

    const Forest &forest_;
    Window window_;
    Shrinking shrinking_;
    Leaves raw_, local_, other_;
    Slots slots_;
    Messages messages_;
    Descent descent_;
    const Row *row_ = nullptr;
    const Side *side_ = nullptr;
    Best *best_ = nullptr;
    Clock::time_point deadline_;
    int allowed_ = 0;
    double noise_ = 0.0, highest_ = 0.0, window_worth_ = 0.0;
    ScoreRange seen_;               // of the present box
    std::vector<double> mixture_;   // of the scores of rivals, that make the one score
    std::vector<double> sums_, rivals_;
    bool shrunk_ = false;
    Band band_{-kInfinity, kInfinity, kInfinity};
    double divide_at_ = kInfinity;
    int split_column_ = -1;
    std::vector<Settled> settled_;
    std::vector<uint8_t> keep_leaf_, keep_cell_;
    std::vector<Step> steps_;
    std::vector<double> reached_;
    std::vector<int32_t> cells_;
    std::vector<int> start_, disputing_, ends_, starts_;
    std::vector<uint8_t> in_part_;
    std::priority_queue<Box> boxes_;
};

}  // namespace tippingpoint
