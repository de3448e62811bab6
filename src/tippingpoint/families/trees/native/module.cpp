// The compiled kernels of tree ensembles, as Python sees them (`_kernels.pyi`). Arrays are checked and kept by who calls.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include "rows.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace tippingpoint {

constexpr int kVersion = 3;  // of these calls; `VERSION` in kernels.py

template <typename T> using In = nb::ndarray<const T, nb::c_contig, nb::device::cpu>;
template <typename T> using Out = nb::ndarray<T, nb::c_contig, nb::device::cpu>;

// A forest on cells, and the rows of a data set.
class Ensemble {
  public:
    Ensemble(In<uint8_t> ordered, In<int32_t> cells, In<double> cuts, In<int64_t> cut_begins, In<double> price, In<double> step,
             In<double> vanishing, In<double> costs, In<int64_t> cost_begins, In<int32_t> variable, In<int32_t> cut,
             In<int32_t> left, In<int32_t> right, In<uint8_t> missing_left, In<int32_t> roots, In<uint64_t> masks,
             In<double> values, In<double> x, In<double> low, In<double> high, In<int32_t> home, In<int32_t> option)
        : forest_(forest(ordered, cells, cuts, cut_begins, price, step, vanishing, costs, cost_begins, variable, cut, left, right,
                         missing_left, roots, masks, values)),
          highest_(forest_),
          table_{x.data(), low.data(), high.data(), home.data(), option.data(), static_cast<int>(cells.shape(0))} {
        for (const auto &array : {cuts, costs, values, x, low, high}) numbers_.push_back(array);
        for (const auto &array : {home, option}) positions_.push_back(array);
        masks_ = masks;
    }

    // Search rows for their best places; true where a signal ended it early. Rows that were not reached are marked as cut.
    bool search(In<int32_t> rows, In<int32_t> begins, In<double> weights, In<double> offset, In<int32_t> loss, In<double> price,
                In<double> now, const std::vector<std::pair<int, std::vector<double>>> &losses, In<double> known,
                In<int32_t> refused_begins, In<int32_t> refused, int budget, double seconds, int threads, Out<double> profit, Out<double> bound, Out<uint8_t> found, Out<uint8_t> cut,
                Out<int32_t> cells, Out<int32_t> passes) const {
        std::vector<Loss> kinds;
        for (const auto &[kind, numbers] : losses) kinds.push_back(Loss::of(static_cast<Loss::Kind>(kind), numbers));
        const Request request{rows.data(), rows.shape(0), {begins.data(), weights.data(), offset.data(), loss.data()}, &kinds,
                              price.data(), now.data(), known.data(), refused_begins.data(), refused.data(), budget,
                              deadline(seconds), threads};
        const Reply reply{profit.data(), bound.data(), found.data(), cut.data(), cells.data(), passes.data()};
        std::copy_n(known.data(), rows.shape(0), reply.profit);
        std::fill_n(reply.bound, rows.shape(0), kInfinity);
        std::fill_n(reply.found, rows.shape(0), 0);
        std::fill_n(reply.cut, rows.shape(0), 1);
        return parallel<RowSearch>(rows.shape(0), threads, [&] { return RowSearch(forest_, table_, highest_, request, reply); });
    }

    // The outputs of rows, without the base, in every cell of one variable; true where a signal ended it early.
    bool along(In<int32_t> rows, int variable, int threads, Out<double> outputs) const {
        return parallel<RowAlong>(rows.shape(0), threads,
                                  [&] { return RowAlong(forest_, table_, rows.data(), variable, outputs.data()); });
    }

    // The outputs of the forest, without the base, at rows of cells.
    void scores(In<int32_t> cells, Out<double> outputs) const {
        nb::gil_scoped_release released;
        for (std::size_t i = 0; i < cells.shape(0); ++i) {
            double *sum = outputs.data() + i * forest_.outputs;
            std::fill_n(sum, forest_.outputs, 0.0);
            for (int32_t root : forest_.roots) {
                const int32_t leaf = forest_.leaf(root, cells.data() + i * table_.variables);
                for (int k = 0; k < forest_.outputs; ++k)
                    sum[k] += forest_.values[static_cast<std::size_t>(leaf) * forest_.outputs + k];
            }
        }
    }

  private:
    static Forest forest(const In<uint8_t> &ordered, const In<int32_t> &cells, const In<double> &cuts, const In<int64_t> &cut_begins,
                         const In<double> &price, const In<double> &step, const In<double> &vanishing, const In<double> &costs,
                         const In<int64_t> &cost_begins, const In<int32_t> &variable, const In<int32_t> &cut,
                         const In<int32_t> &left, const In<int32_t> &right, const In<uint8_t> &missing_left,
                         const In<int32_t> &roots, const In<uint64_t> &masks, const In<double> &values) {
        Forest made;
        for (std::size_t v = 0; v < cells.shape(0); ++v) {
            Variable each;
            each.ordered = ordered.data()[v] != 0;
            each.cells = cells.data()[v];
            if (cost_begins.data()[v + 1] > cost_begins.data()[v]) each.costs = costs.data() + cost_begins.data()[v];
            each.cuts = cuts.data() + cut_begins.data()[v];
            each.price = price.data()[v];
            each.step = step.data()[v];
            each.vanishing = vanishing.data()[v];
            made.variables.push_back(each);
        }
        for (std::size_t i = 0; i < variable.shape(0); ++i)
            made.nodes.push_back({variable.data()[i], cut.data()[i], left.data()[i], right.data()[i], missing_left.data()[i] != 0});
        made.roots.assign(roots.data(), roots.data() + roots.shape(0));
        made.masks = masks.data();
        made.values = values.data();
        made.outputs = static_cast<int>(values.shape(1));
        return made;
    }

    static Clock::time_point deadline(double seconds) {
        constexpr double kFar = 1e8;  // seconds, three years: as good as never, and no overflow
        return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(std::min(seconds, kFar)));
    }

    template <typename Worker>
    static bool parallel(std::size_t count, int threads, const std::function<Worker()> &worker) {
        nb::gil_scoped_release released;
        return in_parallel<Worker>(count, threads, worker, [] {
            nb::gil_scoped_acquire held;
            if (PyErr_CheckSignals() == 0) return false;
            PyErr_Clear();
            return true;
        });
    }

    Forest forest_;
    Highest highest_;
    Table table_;
    std::vector<In<double>> numbers_;
    std::vector<In<int32_t>> positions_;
    In<uint64_t> masks_;
};

// The leaves that rows of numbers fall into, tree by tree, before there are any cells: nodes as of `forest.Forest`.
void leaves(In<int32_t> feature, In<double> threshold, In<uint8_t> missing_left, In<int32_t> members, In<int32_t> left,
            In<int32_t> right, In<int32_t> leaf, In<int32_t> roots, In<double> sets, In<int32_t> set_begins, In<double> x,
            Out<int32_t> found) {
    nb::gil_scoped_release released;
    const std::size_t width = x.shape(1), trees = roots.shape(0);
    const auto goes_left = [&](int32_t node, double value) {
        if (std::isnan(value)) return missing_left.data()[node] != 0;
        const int32_t set = members.data()[node];
        if (set < 0) return value <= threshold.data()[node];
        return std::binary_search(sets.data() + set_begins.data()[set], sets.data() + set_begins.data()[set + 1], value);
    };
    for (std::size_t t = 0; t < trees; ++t) {
        for (std::size_t i = 0; i < x.shape(0); ++i) {
            int32_t at = roots.data()[t];
            while (feature.data()[at] >= 0)
                at = goes_left(at, x.data()[i * width + feature.data()[at]]) ? left.data()[at] : right.data()[at];
            found.data()[i * trees + t] = leaf.data()[at];
        }
    }
}

}  // namespace tippingpoint

NB_MODULE(_kernels, module) {
    using tippingpoint::Ensemble;
    nb::set_leak_warnings(false);  // of profiles that a session still holds when it ends
    module.def("version", [] { return tippingpoint::kVersion; });
    module.def("leaves", &tippingpoint::leaves);
    nb::class_<Ensemble>(module, "Ensemble")
        .def(nb::init<tippingpoint::In<uint8_t>, tippingpoint::In<int32_t>, tippingpoint::In<double>, tippingpoint::In<int64_t>,
                      tippingpoint::In<double>, tippingpoint::In<double>, tippingpoint::In<double>, tippingpoint::In<double>,
                      tippingpoint::In<int64_t>, tippingpoint::In<int32_t>, tippingpoint::In<int32_t>, tippingpoint::In<int32_t>,
                      tippingpoint::In<int32_t>, tippingpoint::In<uint8_t>, tippingpoint::In<int32_t>, tippingpoint::In<uint64_t>,
                      tippingpoint::In<double>, tippingpoint::In<double>, tippingpoint::In<double>, tippingpoint::In<double>,
                      tippingpoint::In<int32_t>, tippingpoint::In<int32_t>>())
        .def("search", &Ensemble::search)
        .def("along", &Ensemble::along)
        .def("scores", &Ensemble::scores);
}
