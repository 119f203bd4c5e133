// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "stepwell/lstsq.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <vector>

#include "arrays.hpp"
#include "certificate.hpp"
#include "module.hpp"
#include "run.hpp"
#include "stepwell/error.hpp"

namespace stepwell::python {
namespace {

nb::dict lstsq_of(const Matrix<const double>& a, const Matrix<const double>& b,
                  const Matrix<double>& x, double ridge, const std::vector<double>& weights,
                  bool qr, bool minimum_norm, double tolerance, int iterations, bool climb,
                  int threads, const nb::object& progress) {
  Progress state;
  LeastSquaresOptions options;
  options.lambda = ridge;
  options.weights = weights;
  options.qr = qr;
  options.minimum_norm = minimum_norm;
  options.tolerance = tolerance;
  options.refine.iterations = iterations;
  options.climb = climb;
  options.engine.context = context(threads);
  options.engine.progress = &state;
  const TallMatrix tall = tall_of(a);
  const double n = static_cast<double>(tall.cols);
  const double products = static_cast<double>(tall.rows) * n * (n + 20.0 * double(b.shape(1)));
  Certificate c;
  run(state, progress, brief(products),
      [&] { c = lstsq(tall, columns_of(b), columns_of(x), options); });
  return to_dict(c);
}

nb::dict plan_lstsq_of(std::int64_t m, std::int64_t n, std::int64_t columns, double ridge,
                       bool qr) {
  LeastSquaresOptions options;
  options.lambda = ridge;
  options.qr = qr;
  return to_dict(plan_lstsq(m, n, columns, options));
}

}  // namespace

void bind_lstsq(nb::module_& m) {
  m.def("lstsq", &lstsq_of, nb::arg("a").noconvert(), nb::arg("b").noconvert(),
        nb::arg("x").noconvert(), nb::arg("ridge"), nb::arg("weights"), nb::arg("qr"),
        nb::arg("minimum_norm"), nb::arg("tolerance"), nb::arg("iterations"), nb::arg("climb"),
        nb::arg("threads"), nb::arg("progress").none(),
        "Solves least squares into x; returns the certificate as a dict.");
  m.def("plan_lstsq", &plan_lstsq_of, nb::arg("m"), nb::arg("n"), nb::arg("columns"),
        nb::arg("ridge"), nb::arg("qr"), "Returns the plan as a dict.");
}

}  // namespace stepwell::python
