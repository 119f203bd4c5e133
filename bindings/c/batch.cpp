// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "stepwell/stepwell_batch.h"

#include <span>

#include "convert.hpp"

/// Batches of small systems, and alternating least squares.
namespace stepwell::c {
namespace {

template <class T>
BatchView<T> batch_of(const stepwell_batch& from) {
  BatchView<T> view;
  view.data = static_cast<T*>(from.data);
  view.pointers = reinterpret_cast<T* const*>(from.pointers);
  view.count = from.count;
  view.rows = from.rows;
  view.cols = from.cols;
  view.ld = from.ld;
  view.stride = from.stride;
  view.lanes = from.lanes;
  return view;
}

BatchOptions options_of(const stepwell_batch_options* from) {
  stepwell_batch_options defaults{};
  defaults.size = sizeof defaults;
  const stepwell_batch_options o = read_struct(from, defaults, "stepwell_batch_options");
  BatchOptions s;
  s.triangle = choice<Triangle>(o.triangle, 2, "stepwell_batch_options.triangle");
  s.both_triangles = o.both_triangles != 0;
  s.mixed = o.mixed != 0;
  s.fast = o.fast != 0;
  s.tolerance = o.tolerance;
  s.engine.context = context_of(o.context);
  s.engine.progress = progress_of(o.progress);
  return s;
}

template <class T>
std::span<T> room(T* data, std::int64_t count) {
  return data == nullptr || count <= 0 ? std::span<T>{}
                                       : std::span<T>(data, static_cast<std::size_t>(count));
}

/// Runs call(T{}, options, outputs) with the type of the batch and copies its report to 'to'.
template <class Call>
int run(const stepwell_batch* a, const stepwell_batch* b, const stepwell_batch_options* options,
        stepwell_batch_report* to, Call call) {
  return guarded([&] {
    require(a, "stepwell_batch: a");
    if (b != nullptr && b->format != a->format) {
      misuse("the batches of matrices and right-hand sides have different formats");
    }
    stepwell_batch_report out = read_struct(to, {}, "stepwell_batch_report");
    BatchOutputs outputs;
    outputs.pivots = room(out.pivots, a->count);
    outputs.log_determinants = room(out.log_determinants, a->count);
    outputs.backward_errors = room(out.backward_errors, a->count);
    outputs.iterations = room(out.iterations, a->count);
    const BatchOptions with = options_of(options);
    const bool fp64 = choice<int>(a->format, 2, "stepwell_batch.format") == STEPWELL_FP64;
    const BatchReport report = fp64 ? call(double{}, with, outputs) : call(float{}, with, outputs);
    out.failures = static_cast<std::int64_t>(report.failures.size());
    out.first_failure = report.failures.empty() ? -1 : report.failures.front();
    out.solved_in_fp64 = report.solved_in_fp64;
    out.backward_error = report.backward_error;
    out.threads = report.threads;
    if (to != nullptr) write_struct(out, to);
    return report.cancelled          ? STEPWELL_CANCELLED
           : report.failures.empty() ? STEPWELL_CONVERGED
                                     : STEPWELL_FAILURES;
  });
}

SparseRows sparse_of(const stepwell_sparse* from) {
  require(from, "stepwell_sparse");
  return {from->rows, from->cols, from->starts, from->columns, from->values};
}

stepwell_als_options default_als_options() {
  stepwell_als_options o{};
  o.size = sizeof o;
  o.lambda = 0.1f;
  o.alpha = 40;
  return o;
}

AlsOptions options_of(const stepwell_als_options* from) {
  const stepwell_als_options o = read_struct(from, default_als_options(), "stepwell_als_options");
  AlsOptions s;
  s.feedback = o.implicit_counts != 0 ? Feedback::implicit_counts : Feedback::explicit_ratings;
  s.weighted = o.weighted != 0;
  s.lambda = o.lambda;
  s.alpha = o.alpha;
  s.engine.context = context_of(o.context);
  s.engine.progress = progress_of(o.progress);
  return s;
}

}  // namespace
}  // namespace stepwell::c

using namespace stepwell;

void stepwell_batch_options_defaults(stepwell_batch_options* options, size_t size) {
  c::set_defaults(options, size, stepwell_batch_options{});
}

void stepwell_batch_report_defaults(stepwell_batch_report* report, size_t size) {
  c::set_defaults(report, size, stepwell_batch_report{});
}

int stepwell_batch_cholesky(const stepwell_batch* a, const stepwell_batch_options* options,
                            stepwell_batch_report* report) {
  return c::run(a, nullptr, options, report, [&](auto t, const auto& with, const auto& outputs) {
    return batch_cholesky(c::batch_of<decltype(t)>(*a), with, outputs);
  });
}

int stepwell_batch_solve(const stepwell_batch* a, const stepwell_batch* b,
                         const stepwell_batch_options* options, stepwell_batch_report* report) {
  return c::run(a, b, options, report, [&](auto t, const auto& with, const auto& outputs) {
    c::require(b, "stepwell_batch_solve: b");
    return batch_solve(c::batch_of<const decltype(t)>(*a), c::batch_of<decltype(t)>(*b), with,
                       outputs);
  });
}

int stepwell_batch_factor_solve(const stepwell_batch* a, const stepwell_batch* b,
                                const stepwell_batch_options* options,
                                stepwell_batch_report* report) {
  return c::run(a, b, options, report, [&](auto t, const auto& with, const auto& outputs) {
    c::require(b, "stepwell_batch_factor_solve: b");
    return batch_factor_solve(c::batch_of<decltype(t)>(*a), c::batch_of<decltype(t)>(*b), with,
                              outputs);
  });
}

int stepwell_batch_substitute(const stepwell_batch* factor, const stepwell_batch* b,
                              const stepwell_batch_options* options,
                              stepwell_batch_report* report) {
  return c::run(factor, b, options, report, [&](auto t, const auto& with, const auto& outputs) {
    c::require(b, "stepwell_batch_substitute: b");
    return batch_substitute(c::batch_of<const decltype(t)>(*factor), c::batch_of<decltype(t)>(*b),
                            with, outputs);
  });
}

int stepwell_batch_lanes(int format) {
  return c::guarded([&] {
    const bool fp64 = c::choice<int>(format, 2, "format") == STEPWELL_FP64;
    return batch_lanes(fp64 ? Format::fp64 : Format::fp32);
  });
}

void stepwell_als_options_defaults(stepwell_als_options* options, size_t size) {
  c::set_defaults(options, size, c::default_als_options());
}

int stepwell_als_step(const stepwell_sparse* ratings, int64_t factors, const float* items,
                      int64_t ld_items, float* users, int64_t ld_users,
                      const stepwell_als_options* options, int32_t* failed) {
  return c::guarded([&] {
    const SparseRows rows = c::sparse_of(ratings);
    const AlsReport report =
        als_step(rows, view(items, factors, rows.cols, ld_items),
                 view(users, factors, rows.rows, ld_users), c::options_of(options));
    if (failed != nullptr) {
      std::fill_n(failed, rows.rows, 0);
      for (const std::int64_t u : report.failures) failed[u] = 1;
    }
    return report.cancelled          ? STEPWELL_CANCELLED
           : report.failures.empty() ? STEPWELL_CONVERGED
                                     : STEPWELL_FAILURES;
  });
}

int stepwell_als_loss(const stepwell_sparse* ratings, int64_t factors, const float* users,
                      int64_t ld_users, const float* items, int64_t ld_items,
                      const stepwell_als_options* options, double* loss) {
  return c::guarded([&] {
    c::require(loss, "stepwell_als_loss: loss");
    const SparseRows rows = c::sparse_of(ratings);
    *loss = als_loss(rows, view(users, factors, rows.rows, ld_users),
                     view(items, factors, rows.cols, ld_items), c::options_of(options));
    return 0;
  });
}

int stepwell_sparse_transpose(const stepwell_sparse* a, int64_t* starts, int32_t* columns,
                              float* values) {
  return c::guarded([&] {
    const SparseRows rows = c::sparse_of(a);
    c::require(starts, "stepwell_sparse_transpose: starts");
    const OwnedSparseRows t = transpose(rows);
    if (!t.values.empty()) {
      c::require(columns, "stepwell_sparse_transpose: columns");
      c::require(values, "stepwell_sparse_transpose: values");
    }
    std::copy(t.starts.begin(), t.starts.end(), starts);
    std::copy(t.columns.begin(), t.columns.end(), columns);
    std::copy(t.values.begin(), t.values.end(), values);
    return 0;
  });
}
