// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "certificate.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace stepwell::python {
namespace {

namespace nb = nanobind;

nb::dict fields_of(const ColumnCertificate& column) {
  nb::dict d;
  d["outcome"] = to_string(column.outcome);
  d["backward_error"] = column.backward_error;
  d["measure"] = column.measure == Measure::normwise ? "" : to_string(column.measure);
  d["residual_norm"] = column.residual_norm;
  d["proven_backward_error"] = column.proven_backward_error;
  d["forward_error"] = column.forward_error;
  d["iterations"] = column.iterations;
  d["history"] = nb::tuple(nb::cast(column.history));
  return d;
}

nb::dict fields_of(const LadderStep& step) {
  nb::dict d;
  d["map"] = map_text(step.method);
  d["refiner"] = refiner_text(step.method);
  d["factored"] = step.factored;
  d["iterations"] = step.iterations;
  d["error"] = step.error;
  d["reason"] = step.reason;
  d["seconds"] = step.seconds;
  return d;
}

nb::dict fields_of(const SolveTimes& times) {
  nb::dict d;
  d["analysis"] = times.analysis;
  d["factor"] = times.factor;
  d["refine"] = times.refine;
  d["certify"] = times.certify;
  d["wall"] = times.wall;
  return d;
}

template <class T>
nb::list list_of(const std::vector<T>& values) {
  nb::list list;
  for (const T& value : values) list.append(fields_of(value));
  return list;
}

}  // namespace

nb::dict to_dict(const Certificate& c) {
  nb::dict d;
  d["outcome"] = to_string(c.outcome);
  d["structure"] = to_string(c.structure);
  d["reason"] = c.reason;
  d["backward_error"] = c.backward_error;
  d["tolerance"] = c.tolerance;
  d["iterations"] = c.iterations;
  d["map"] = map_text(c.method);
  d["refiner"] = refiner_text(c.method);
  d["shift"] = c.shift;
  d["norm"] = c.norm;
  d["condition"] = c.condition;
  d["pivot"] = c.pivot;
  d["pivot_value"] = c.pivot_value;
  d["row"] = c.row;
  d["col"] = c.col;
  d["in_b"] = c.in_b;
  d["rank"] = c.rank;
  d["dependent"] = nb::tuple(nb::cast(c.dependent));
  d["minimum_norm"] = c.minimum_norm;
  d["columns"] = list_of(c.columns);
  d["rungs"] = list_of(c.rungs);
  d["times"] = fields_of(c.times);
  d["peak_bytes"] = c.peak_bytes;
  d["threads"] = c.threads;
  d["threads_reason"] = c.threads_reason;
  return d;
}

nb::dict to_dict(const Plan& plan) {
  nb::dict d;
  d["map"] = map_text(plan.method);
  d["refiner"] = refiner_text(plan.method);
  d["iterations"] = plan.iterations;
  d["seconds"] = plan.seconds;
  d["bytes"] = plan.bytes;
  d["top_bytes"] = plan.top_bytes;
  return d;
}

}  // namespace stepwell::python
