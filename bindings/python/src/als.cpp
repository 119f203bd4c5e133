// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "stepwell/als.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "module.hpp"
#include "run.hpp"
#include "stepwell/error.hpp"

namespace stepwell::python {
namespace {

// The rows of a contiguous (count, k) array are the columns of the library's k x count matrix.
template <class T>
MatrixView<T> vectors_of(const nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>& v) {
  const auto count = static_cast<std::int64_t>(v.shape(0));
  return view(v.data(), static_cast<std::int64_t>(v.shape(1)), count);
}

using Items = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Users = nb::ndarray<float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

nb::dict als_step_of(std::int64_t cols, const Vector<const std::int64_t>& starts,
                     const Vector<const std::int32_t>& columns, const Vector<const float>& values,
                     const Items& items, const Users& users, bool counts, float ridge,
                     bool weighted, float alpha, int threads, const nb::object& progress) {
  const auto rows = static_cast<std::int64_t>(starts.shape(0)) - 1;
  if (rows < 0 || columns.shape(0) != values.shape(0) ||
      starts.data()[rows] != static_cast<std::int64_t>(values.shape(0))) {
    throw Error(
        ErrorCode::shape,
        "als_step: the arrays of the sparse matrix do not match: the last element of indptr "
        "must be the length of indices and data");
  }
  Progress state;
  AlsOptions options;
  options.feedback = counts ? Feedback::implicit_counts : Feedback::explicit_ratings;
  options.lambda = ridge;
  options.weighted = weighted;
  options.alpha = alpha;
  options.engine.context = context(threads);
  options.engine.progress = &state;
  const SparseRows ratings{rows, cols, starts.data(), columns.data(), values.data()};
  AlsReport report;
  run(state, progress, false,
      [&] { report = als_step(ratings, vectors_of(items), vectors_of(users), options); });
  nb::dict d;
  d["failures"] = nb::cast(report.failures);
  d["threads"] = report.threads;
  return d;
}

}  // namespace

void bind_als(nb::module_& m) {
  m.def("als_step", &als_step_of, nb::arg("cols"), nb::arg("starts").noconvert(),
        nb::arg("columns").noconvert(), nb::arg("values").noconvert(), nb::arg("items").noconvert(),
        nb::arg("users").noconvert(), nb::arg("counts"), nb::arg("ridge"), nb::arg("weighted"),
        nb::arg("alpha"), nb::arg("threads"), nb::arg("progress").none(),
        "Computes one half step into users; returns the report.");
}

}  // namespace stepwell::python
