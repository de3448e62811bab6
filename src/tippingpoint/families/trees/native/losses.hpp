// What a score is worth: losses that never fall, of the score that is pushed up.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "forest.hpp"

namespace tippingpoint {

struct Loss {
    enum Kind : int {
        kStep = 0,      // 1 from zero on
        kPieces = 1,    // the largest of lines that do not fall: slopes, then as many offsets
        kLogistic = 2,  // log(1 + e^s)
        kSquare = 3,    // the square of s + numbers[0], where that is positive
        kHuber = 4,     // s^2/2 up to numbers[0], straight beyond, 0 below zero
        kOdds = 5,      // of s, a probability of being wrong: -log(1 - s), both kept numbers[0] away from 0
        kTable = 6,     // convex, given at points: scores that rise, then as many values
        kLinked = 7,    // a loss of a function of s: the link, a number a, the kind of the inner loss, and its numbers
        kSoftmax = 8,   // log(1 + sum of e^s_k) over the rivals of a class: the class, and how far each is ahead before any tree
    };
    enum Link : int {
        kExpUp = 0,         // e^s - a
        kExpDown = 1,       // a - e^-s
        kLogisticUp = 2,    // the same of 1/(1 + e^-s)
        kLogisticDown = 3,
        kLogit = 4,         // the log-odds of s, a probability, kept a away from 0 and 1
    };

    Kind kind = kStep;
    std::vector<double> numbers;
    Link link = kExpUp;           // of a linked loss ...
    double number = 0.0;          // ... and its number
    Kind inner_kind = kStep;

    static Loss of(Kind kind, const std::vector<double> &numbers) {
        if (kind != kLinked) return {kind, numbers};
        Loss made{kind, {numbers.begin() + 3, numbers.end()}};
        made.link = static_cast<Link>(static_cast<int>(numbers[0]));
        made.number = numbers[1];
        made.inner_kind = static_cast<Kind>(static_cast<int>(numbers[2]));
        return made;
    }

    double operator()(double s) const { return kind == kLinked ? value(inner_kind, linked(s)) : value(kind, s); }

    // The largest score whose loss is no larger than a value: every larger loss is beyond it.
    double last_score(double value) const {
        switch (kind) {
            case kStep: return value >= 1.0 ? kInfinity : 0.0;
            case kPieces: {
                const std::size_t pieces = numbers.size() / 2;
                double last = kInfinity;
                for (std::size_t k = 0; k < pieces; ++k) {
                    if (numbers[k] > 0.0) last = std::min(last, (value - numbers[pieces + k]) / numbers[k]);
                    else if (numbers[pieces + k] > value) return -kInfinity;
                }
                return last;
            }
            case kLogistic: return value <= 0.0 ? -kInfinity : value > 30.0 ? value : std::log(std::expm1(value));
            case kSquare: return value < 0.0 ? -kInfinity : std::sqrt(value) - numbers[0];
            case kHuber:
                if (value < 0.0) return -kInfinity;
                return value <= 0.5 * numbers[0] * numbers[0] ? std::sqrt(2.0 * value) : value / numbers[0] + 0.5 * numbers[0];
            case kOdds: return value < (*this)(0.0) ? -kInfinity : value >= (*this)(1.0) ? kInfinity : -std::expm1(-value);
            case kTable: return last_tabled(value);
            case kLinked: return last_linked(value);
            case kSoftmax: return -kInfinity;  // whatever one score is, others may be high
        }
        return -kInfinity;
    }

    // The largest of price * loss(s) - mu * s between two scores, or an upper bound of it, and the score it belongs to.
    std::pair<double, double> above_line(double price, double mu, double from, double to) const {
        if (kind == kLinked) return above_line_in_steps(price, mu, from, to);
        // Convex up to the bend: at one of the ends. Beyond it no loss is larger than at the right end.
        const double last = std::min(std::max(bend(), from), to);
        const double at_from = price * (*this)(from) - mu * from, at_last = price * (*this)(to) - mu * last;
        return at_from >= at_last ? std::make_pair(at_from, from) : std::make_pair(at_last, last);
    }

  private:
    double value(Kind of, double s) const {
        switch (of) {
            case kStep: return s >= 0.0 ? 1.0 : 0.0;
            case kPieces: {
                const std::size_t pieces = numbers.size() / 2;
                double best = -kInfinity;
                for (std::size_t k = 0; k < pieces; ++k) best = std::max(best, numbers[k] * s + numbers[pieces + k]);
                return best;
            }
            case kLogistic: return s > 0.0 ? s + std::log1p(std::exp(-s)) : std::log1p(std::exp(s));
            case kSquare: {
                const double root = std::max(s + numbers[0], 0.0);
                return root * root;
            }
            case kHuber: {
                const double inside = std::min(std::max(s, 0.0), numbers[0]);
                return inside * (std::max(s, 0.0) - 0.5 * inside);
            }
            case kOdds: return std::log1p(kept_away(s, numbers[0]) / kept_away(1.0 - s, numbers[0]));
            case kTable: return tabled(s);
            case kSoftmax: return s;  // no less than any mixture of the scores, if others are left out
            case kLinked: break;
        }
        return 0.0;
    }

    // The score up to which the loss is convex: some are kept from growing without end.
    double bend() const {
        if (kind == kOdds) return 1.0 - numbers[0];
        return kind == kTable ? numbers[points() - 1] : kInfinity;
    }

    static double kept_away(double probability, double least) { return std::min(std::max(probability, least), 1.0); }

    double linked(double s) const {
        switch (link) {
            case kExpUp: return std::exp(s) - number;
            case kExpDown: return number - std::exp(-s);
            case kLogisticUp: return 1.0 / (1.0 + std::exp(-s)) - number;
            case kLogisticDown: return number - 1.0 / (1.0 + std::exp(s));
            case kLogit: return std::log(kept_away(s, number)) - std::log(kept_away(1.0 - s, number));
        }
        return s;
    }

    std::size_t points() const { return numbers.size() / 2; }

    double tabled(double s) const {
        const double *at = numbers.data(), *value = at + points();
        if (s <= at[0]) return value[0];
        if (s >= at[points() - 1]) return value[points() - 1];
        const std::size_t k = std::upper_bound(at, at + points(), s) - at;
        return value[k - 1] + (value[k] - value[k - 1]) * ((s - at[k - 1]) / (at[k] - at[k - 1]));
    }

    double last_tabled(double loss) const {
        const double *at = numbers.data(), *value = at + points();
        const std::size_t k = std::upper_bound(value, value + points(), loss) - value;
        if (k == points()) return kInfinity;
        if (k == 0) return -kInfinity;
        return at[k - 1] + (at[k] - at[k - 1]) * ((loss - value[k - 1]) / (value[k] - value[k - 1]));
    }

    // By halving, from below: every score up to the one returned has a loss that is no larger.
    double last_linked(double loss) const {
        double low = -kFar, high = kFar;
        if ((*this)(low) > loss) return -kInfinity;
        if ((*this)(high) <= loss) return kInfinity;
        for (int step = 0; step < kHalvings; ++step) {
            const double middle = 0.5 * (low + high);
            ((*this)(middle) <= loss ? low : high) = middle;
        }
        return low;
    }

    // Where a loss is not convex: it never falls, so on a stretch of scores it is no larger than at the right end. The stretch of
    // the largest bound is halved, again and again.
    std::pair<double, double> above_line_in_steps(double price, double mu, double from, double to) const {
        struct Stretch {
            double bound, left, right;
        };
        Stretch stretches[kStretches];
        int count = 1;
        from = std::max(from, -kFar);
        stretches[0] = {price * (*this)(to) - mu * from, from, to};
        while (true) {
            int top = 0;
            for (int i = 1; i < count; ++i)
                if (stretches[i].bound > stretches[top].bound) top = i;
            const Stretch widest = stretches[top];
            if (count == kStretches) return {widest.bound, widest.left};
            const double middle = 0.5 * (widest.left + widest.right);
            stretches[top] = {price * (*this)(middle) - mu * widest.left, widest.left, middle};
            stretches[count++] = {widest.bound + mu * (widest.left - middle), middle, widest.right};
        }
    }

    static constexpr double kFar = 1e4;    // scores beyond which links are constant, or infinite
    static constexpr int kHalvings = 80;   // from there to the last digit
    static constexpr int kStretches = 48;
};

// What is known of the scores of places: one, or under a loss of several each rival's too.
struct ScoreRange {
    double from = -kInfinity, to = kInfinity;
    std::vector<double> low, high;
};

// What is maximised over places: the worth of their score, less their cost. For the 0/1 loss the worth of an error does not
// matter: the cheapest is wanted.
struct Objective {
    const Loss *loss;
    double price;  // what a unit of loss is worth
    double now;    // the loss as it is

    bool crossing() const { return loss->kind == Loss::kStep; }

    bool of_rivals() const { return loss->kind == Loss::kSoftmax; }

    int own_class() const { return of_rivals() ? static_cast<int>(loss->numbers[0]) : -1; }

    // Of one score; under a loss of several this is no more than they are worth.
    double worth(double score) const {
        if (crossing()) return score >= 0.0 ? 0.0 : -kInfinity;
        return price * ((*loss)(score) - now);
    }

    // Of the scores of rivals.
    double worth(const std::vector<double> &rivals) const {
        double top = 0.0, sum = 0.0;
        for (double score : rivals) top = std::max(top, score);
        for (double score : rivals) sum += std::exp(score - top);
        return price * (top + std::log(std::exp(-top) + sum) - now);
    }

    double profit(double score, double cost) const { return worth(score) - cost; }

    // That no place in a range exceeds.
    double most_worth(const ScoreRange &range) const { return of_rivals() ? worth(range.high) : worth(range.to); }

    // The score that a place must pass to be better than `best`, if it costs `least` or more.
    double least_score(double best, double least) const {
        return crossing() ? 0.0 : loss->last_score(now + (best + least) / price);
    }

    // The score of a worth.
    double score_of(double worth) const { return loss->last_score(now + worth / price); }

    // The largest of worth - mu * score in a range, and the score it belongs to.
    std::pair<double, double> above_line(double mu, const ScoreRange &range, const std::vector<double> &mixture) const {
        if (crossing()) return {-mu * range.from, range.from};
        if (of_rivals()) return above_plane(mu, range, mixture);
        const auto [value, score] = loss->above_line(price, mu, range.from, range.to);
        return {value - price * now, score};
    }

  private:
    // Of several scores, whose mixture is the one score. For any c > 0, log Z <= Z/c + log c - 1, and Z is a sum: then each
    // score is at one of its ends. The best c is found by golden sections.
    std::pair<double, double> above_plane(double mu, const ScoreRange &range, const std::vector<double> &mixture) const {
        double score = 0.0;
        const auto bound = [&](double log_c) {
            double value = price * (std::exp(-log_c) + log_c - 1.0);
            score = 0.0;
            for (std::size_t r = 0; r < mixture.size(); ++r) {
                const double slope = mu * mixture[r];
                const double low = price * std::exp(range.low[r] - log_c) - slope * range.low[r];
                const double high = price * std::exp(range.high[r] - log_c) - slope * range.high[r];
                value += std::max(low, high);
                score += mixture[r] * (low > high ? range.low[r] : range.high[r]);
            }
            return value;
        };
        double left = 0.0, right = std::log1p(static_cast<double>(mixture.size()));
        for (std::size_t r = 0; r < mixture.size(); ++r) right = std::max(right, range.high[r] + std::log1p(mixture.size()));
        constexpr double kGolden = 0.6180339887498949;
        double a = right - kGolden * (right - left), b = left + kGolden * (right - left), at_a = bound(a), at_b = bound(b);
        for (int step = 0; step < kGoldenSteps; ++step) {
            if (at_a < at_b) {
                right = b;
                b = a;
                at_b = at_a;
                a = right - kGolden * (right - left);
                at_a = bound(a);
            } else {
                left = a;
                a = b;
                at_a = at_b;
                b = left + kGolden * (right - left);
                at_b = bound(b);
            }
        }
        const double value = bound(at_a < at_b ? a : b);
        return {value - price * now, score};
    }

    static constexpr int kGoldenSteps = 24;
};

}  // namespace tippingpoint
