// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "convert.hpp"

/// Least squares: solve and plan.
namespace stepwell::c {
namespace {

stepwell_lstsq_options default_lstsq_options() {
  stepwell_lstsq_options o{};
  o.size = sizeof o;
  o.climb = 1;
  return o;
}

LeastSquaresOptions options_of(const stepwell_lstsq_options* from, std::int64_t n) {
  const stepwell_lstsq_options o =
      read_struct(from, default_lstsq_options(), "stepwell_lstsq_options");
  LeastSquaresOptions s;
  if (o.map != nullptr) s.map = parse_map(o.map);
  s.refine.refiner = refiner_of(o.refiner);
  s.climb = o.climb != 0;
  s.qr = o.qr != 0;
  s.minimum_norm = o.minimum_norm != 0;
  s.tolerance = o.tolerance;
  s.refine.iterations = o.iterations;
  s.lambda = o.lambda;
  if (o.weights != nullptr && n > 0) s.weights.assign(o.weights, o.weights + n);
  s.engine.context = context_of(o.context);
  s.engine.progress = progress_of(o.progress);
  return s;
}

TallMatrix tall_of(const stepwell_tall& from) {
  TallMatrix a;
  a.rows = from.rows;
  a.cols = from.cols;
  a.data = from.data;
  a.row_stride = from.row_stride;
  a.col_stride = from.col_stride;
  if (from.read != nullptr) {
    if (from.data != nullptr)
      misuse("stepwell_tall has both data and a callback; set only one of them");
    a.row_stride = from.cols;
    a.col_stride = 1;
    a.read = [read = from.read, user = from.user](std::int64_t first, std::int64_t count,
                                                  double* out) {
      if (read(user, first, count, out) != 0) throw Refused{};
    };
  }
  return a;
}

}  // namespace
}  // namespace stepwell::c

using namespace stepwell;

void stepwell_lstsq_options_defaults(stepwell_lstsq_options* options, size_t size) {
  c::set_defaults(options, size, c::default_lstsq_options());
}

int stepwell_lstsq(const stepwell_tall* a, int64_t columns, const double* b, int64_t ldb, double* x,
                   int64_t ldx, const stepwell_lstsq_options* options,
                   stepwell_certificate* certificate, int32_t* dependent) {
  return c::guarded([&] {
    c::require(a, "stepwell_lstsq: a");
    c::check_certificate(certificate);
    const Certificate found =
        lstsq(c::tall_of(*a), view(b, a->rows, columns, ldb), view(x, a->cols, columns, ldx),
              c::options_of(options, a->cols));
    if (dependent != nullptr) {
      std::fill_n(dependent, a->cols, 0);
      for (const std::int64_t j : found.dependent) dependent[j] = 1;
    }
    return c::deliver(found, certificate);
  });
}

int stepwell_plan_lstsq(int64_t m, int64_t n, int64_t columns,
                        const stepwell_lstsq_options* options, stepwell_plan* plan) {
  return c::guarded([&] {
    c::require(plan, "stepwell_plan_lstsq: plan");
    c::check_size(plan->size, sizeof(size_t), "stepwell_plan");
    return c::deliver(plan_lstsq(m, n, columns, c::options_of(options, n)), plan);
  });
}
