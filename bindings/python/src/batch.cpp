// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "stepwell/batch.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <span>

#include "arrays.hpp"
#include "module.hpp"
#include "run.hpp"

namespace stepwell::python {
namespace {

template <class T>
std::span<T> span_of(const std::optional<Vector<T>>& v) {
  return v ? std::span<T>(v->data(), v->shape(0)) : std::span<T>();
}

/// Arrays for the results of single systems; Python allocates those that it wants filled.
struct Outputs {
  std::optional<Vector<std::int32_t>> pivots;
  std::optional<Vector<double>> log_determinants;
  std::optional<Vector<double>> backward_errors;
  std::optional<Vector<std::int32_t>> iterations;

  BatchOutputs spans() const {
    return {span_of(pivots), span_of(log_determinants), span_of(backward_errors),
            span_of(iterations)};
  }
};

/// Python's arguments for a batch. 'upper' refers to the column-major view.
struct BatchArguments {
  bool upper = false;
  bool mixed = false;
  bool fast = false;
  double tolerance = 0;
  int threads = 0;

  BatchOptions options(Progress* progress) const {
    BatchOptions o;
    o.triangle = upper ? Triangle::upper : Triangle::lower;
    o.mixed = mixed;
    o.fast = fast;
    o.tolerance = tolerance;
    o.engine.context = context(threads);
    o.engine.progress = progress;
    return o;
  }
};

nb::dict report_fields(const BatchReport& report) {
  nb::dict d;
  d["failures"] = nb::cast(report.failures);
  d["solved_in_fp64"] = report.solved_in_fp64;
  d["backward_error"] = report.backward_error;
  d["tolerance"] = report.tolerance;
  d["threads"] = report.threads;
  d["bytes"] = report.bytes;
  return d;
}

template <class Work>
nb::dict report_of(const BatchArguments& arguments, const nb::object& progress, std::int64_t count,
                   std::int64_t n, const Work& work) {
  Progress state;
  const BatchOptions options = arguments.options(&state);
  const auto order = static_cast<double>(n);
  BatchReport report;
  run(state, progress, brief(static_cast<double>(count) * order * order * order),
      [&] { report = work(options); });
  return report_fields(report);
}

template <class T>
nb::dict batch_cholesky_of(const Matrices<T>& a, const BatchArguments& arguments,
                           const Outputs& outputs, const nb::object& progress) {
  const BatchView<T> view = batch_of(a);
  return report_of(arguments, progress, view.count, view.rows, [&](const BatchOptions& options) {
    return batch_cholesky(view, options, outputs.spans());
  });
}

template <class T>
nb::dict batch_solve_of(const Matrices<const T>& a, const Matrices<T>& b,
                        const BatchArguments& arguments, const Outputs& outputs,
                        const nb::object& progress) {
  const BatchView<const T> view = batch_of(a);
  return report_of(arguments, progress, view.count, view.rows, [&](const BatchOptions& options) {
    return batch_solve(view, batch_of(b), options, outputs.spans());
  });
}

template <class T>
nb::dict batch_factor_solve_of(const Matrices<T>& a, const Matrices<T>& b,
                               const BatchArguments& arguments, const Outputs& outputs,
                               const nb::object& progress) {
  const BatchView<T> view = batch_of(a);
  return report_of(arguments, progress, view.count, view.rows, [&](const BatchOptions& options) {
    return batch_factor_solve(view, batch_of(b), options, outputs.spans());
  });
}

template <class T>
nb::dict batch_substitute_of(const Matrices<const T>& factor, const Matrices<T>& b,
                             const BatchArguments& arguments, const Outputs& outputs,
                             const nb::object& progress) {
  const BatchView<const T> view = batch_of(factor);
  return report_of(arguments, progress, view.count, view.rows, [&](const BatchOptions& options) {
    return batch_substitute(view, batch_of(b), options, outputs.spans());
  });
}

template <class T>
void bind_type(nb::module_& m) {
  m.def("batch_cholesky", &batch_cholesky_of<T>, nb::arg("a").noconvert(), nb::arg("arguments"),
        nb::arg("outputs"), nb::arg("progress").none(), "Factors in place; returns the report.");
  m.def("batch_solve", &batch_solve_of<T>, nb::arg("a").noconvert(), nb::arg("b").noconvert(),
        nb::arg("arguments"), nb::arg("outputs"), nb::arg("progress").none(),
        "Solves in place of b; returns the report.");
  m.def("batch_factor_solve", &batch_factor_solve_of<T>, nb::arg("a").noconvert(),
        nb::arg("b").noconvert(), nb::arg("arguments"), nb::arg("outputs"),
        nb::arg("progress").none(),
        "Factors in place of a, solves in place of b; returns the report.");
  m.def("batch_substitute", &batch_substitute_of<T>, nb::arg("factor").noconvert(),
        nb::arg("b").noconvert(), nb::arg("arguments"), nb::arg("outputs"),
        nb::arg("progress").none(), "Solves in place of b with factors; returns the report.");
}

}  // namespace

void bind_batch(nb::module_& m) {
  nb::class_<BatchArguments>(m, "BatchArguments", "The keyword arguments of a batch.")
      .def(nb::init<>())
      .def_rw("upper", &BatchArguments::upper)
      .def_rw("mixed", &BatchArguments::mixed)
      .def_rw("fast", &BatchArguments::fast)
      .def_rw("tolerance", &BatchArguments::tolerance)
      .def_rw("threads", &BatchArguments::threads);
  nb::class_<Outputs>(m, "BatchOutputs", "Arrays for the results of single systems.")
      .def(nb::init<>())
      .def("pivots", [](Outputs& o, const Vector<std::int32_t>& v) { o.pivots = v; })
      .def("log_determinants", [](Outputs& o, const Vector<double>& v) { o.log_determinants = v; })
      .def("backward_errors", [](Outputs& o, const Vector<double>& v) { o.backward_errors = v; })
      .def("iterations", [](Outputs& o, const Vector<std::int32_t>& v) { o.iterations = v; });
  m.attr("batch_order") = kBatchOrder;
  bind_type<double>(m);
  bind_type<float>(m);
}

}  // namespace stepwell::python
