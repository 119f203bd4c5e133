// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "convert.hpp"

#include <cmath>

namespace stepwell::c {
namespace {

// The values in the C header are those of the enums.
static_assert(static_cast<int>(SolveOutcome::converged) == STEPWELL_CONVERGED);
static_assert(static_cast<int>(SolveOutcome::not_converged) == STEPWELL_NOT_CONVERGED);
static_assert(static_cast<int>(SolveOutcome::not_positive_definite) ==
              STEPWELL_NOT_POSITIVE_DEFINITE);
static_assert(static_cast<int>(SolveOutcome::singular) == STEPWELL_SINGULAR);
static_assert(static_cast<int>(SolveOutcome::rank_deficient) == STEPWELL_RANK_DEFICIENT);
static_assert(static_cast<int>(SolveOutcome::non_finite) == STEPWELL_NON_FINITE);
static_assert(static_cast<int>(SolveOutcome::asymmetric) == STEPWELL_ASYMMETRIC);
static_assert(static_cast<int>(SolveOutcome::overflow) == STEPWELL_OVERFLOW);
static_assert(static_cast<int>(SolveOutcome::cancelled) == STEPWELL_CANCELLED);
static_assert(static_cast<int>(SolveOutcome::changed) == STEPWELL_CHANGED);
static_assert(static_cast<int>(SolveOutcome::not_attempted) == STEPWELL_NOT_ATTEMPTED);
static_assert(static_cast<int>(Structure::automatic) == STEPWELL_AUTOMATIC);
static_assert(static_cast<int>(Structure::spd) == STEPWELL_SPD);
static_assert(static_cast<int>(Structure::general) == STEPWELL_GENERAL);
static_assert(static_cast<int>(Structure::least_squares) == STEPWELL_LEAST_SQUARES);
static_assert(static_cast<int>(Triangle::lower) == STEPWELL_LOWER);
static_assert(static_cast<int>(Triangle::upper) == STEPWELL_UPPER);
static_assert(static_cast<int>(Phase::idle) == STEPWELL_IDLE);
static_assert(static_cast<int>(Phase::writing) == STEPWELL_WRITING);
static_assert(static_cast<int>(ErrorCode::invalid_argument) == STEPWELL_INVALID_ARGUMENT);
static_assert(static_cast<int>(ErrorCode::too_large) == STEPWELL_TOO_LARGE);
static_assert(static_cast<int>(ErrorCode::unsupported) == STEPWELL_UNSUPPORTED);
static_assert(static_cast<int>(ErrorCode::shape) == STEPWELL_SHAPE);
static_assert(static_cast<int>(ErrorCode::out_of_memory) == STEPWELL_OUT_OF_MEMORY);
static_assert(static_cast<int>(ErrorCode::internal) == STEPWELL_INTERNAL);

/// An array instead of a string: storing the text can't fail.
thread_local char last_error[1024] = "";

/// The larger of x and y; NaN counts as larger than any number.
double largest(double x, double y) {
  return std::isnan(x) || x > y ? x : y;
}

}  // namespace

int refuse(int code, const char* what) noexcept {
  put(last_error, what);
  return -code;
}

std::optional<Refiner> refiner_of(const char* name) {
  if (name == nullptr) return std::nullopt;
  const std::optional<Refiner> refiner = refiner_from_string(name);
  if (!refiner) {
    std::string known;
    for (const Refiner r : all_refiners) known += " " + std::string(to_string(r));
    misuse("there is no refiner '" + std::string(name) + "'; the refiners are" + known);
  }
  return refiner;
}

void check_certificate(const stepwell_certificate* to) {
  if (to == nullptr) return;
  check_size(to->size, offsetof(stepwell_certificate, outcome), "stepwell_certificate");
}

int deliver(const Certificate& c, stepwell_certificate* to) {
  const int outcome = static_cast<int>(c.outcome);
  if (to == nullptr) return outcome;
  stepwell_certificate out{};
  out.backward_errors = to->backward_errors;
  out.outcomes = to->outcomes;
  out.outcome = outcome;
  out.structure = static_cast<int>(c.structure);
  out.backward_error = c.backward_error;
  for (std::size_t k = 0; k < c.columns.size(); ++k) {
    const ColumnCertificate& column = c.columns[k];
    out.proven_backward_error = largest(column.proven_backward_error, out.proven_backward_error);
    out.forward_error = largest(column.forward_error, out.forward_error);
    out.residual_norm = largest(column.residual_norm, out.residual_norm);
    if (out.backward_errors != nullptr) out.backward_errors[k] = column.backward_error;
    if (out.outcomes != nullptr) out.outcomes[k] = static_cast<int>(column.outcome);
  }
  out.tolerance = c.tolerance;
  out.norm = c.norm;
  out.condition = c.condition;
  out.shift = c.shift;
  out.pivot_value = c.pivot_value;
  out.pivot = c.pivot;
  out.row = c.row;
  out.col = c.col;
  out.rank = c.rank;
  out.peak_bytes = c.peak_bytes;
  out.in_b = c.in_b;
  out.iterations = c.iterations;
  out.analysis_seconds = c.times.analysis;
  out.factor_seconds = c.times.factor;
  out.refine_seconds = c.times.refine;
  out.certify_seconds = c.times.certify;
  out.seconds = c.times.wall;
  put(out.map, map_text(c.method));
  put(out.refiner, refiner_text(c.method));
  put(out.reason, c.reason);
  const std::size_t room = std::size(out.rungs);
  const std::size_t first = c.rungs.size() > room ? c.rungs.size() - room : 0;
  out.rung_count = static_cast<std::int32_t>(c.rungs.size() - first);
  for (std::size_t k = first; k < c.rungs.size(); ++k) {
    const LadderStep& from = c.rungs[k];
    stepwell_rung& rung = out.rungs[k - first];
    put(rung.map, map_text(from.method));
    put(rung.refiner, refiner_text(from.method));
    put(rung.reason, from.reason);
    rung.factored = from.factored;
    rung.iterations = from.iterations;
    rung.error = from.error;
    rung.seconds = from.seconds;
  }
  out.threads = c.threads;
  put(out.threads_reason, c.threads_reason);
  write_struct(out, to);
  return outcome;
}

int deliver(const Plan& plan, stepwell_plan* to) {
  stepwell_plan out{};
  put(out.map, map_text(plan.method));
  put(out.refiner, refiner_text(plan.method));
  out.iterations = plan.iterations;
  out.seconds = plan.seconds;
  out.bytes = plan.bytes;
  out.top_bytes = plan.top_bytes;
  write_struct(out, to);
  return 0;
}

}  // namespace stepwell::c

using namespace stepwell;

const char* stepwell_version(void) {
  return version();
}

const char* stepwell_last_error(void) {
  return c::last_error;
}

const char* stepwell_outcome_name(int outcome) {
  if (outcome == STEPWELL_FAILURES) return "failures";
  if (outcome < 0 || outcome > STEPWELL_NOT_ATTEMPTED) return "no outcome";
  return to_string(static_cast<SolveOutcome>(outcome));
}

int stepwell_num_threads(void) {
  return c::guarded([] { return num_threads(); });
}

int stepwell_set_num_threads(int threads) {
  return c::guarded([&] {
    set_num_threads(threads);
    return 0;
  });
}

int stepwell_set_memory_cache(int64_t bytes) {
  return c::guarded([&] {
    set_memory_cache(bytes);
    return 0;
  });
}

void stepwell_release_memory(void) {
  release_memory();
}

int stepwell_context_create(int threads, stepwell_context** context) {
  return c::guarded([&] {
    c::require(context, "stepwell_context_create: context");
    if (threads < 0) c::misuse("stepwell_context_create: threads can't be negative; 0 means all");
    *context = new stepwell_context{Context(threads)};
    return 0;
  });
}

int stepwell_context_threads(const stepwell_context* context) {
  return c::guarded([&] {
    c::require(context, "stepwell_context_threads: context");
    return context->context.threads();
  });
}

void stepwell_context_destroy(stepwell_context* context) {
  delete context;
}

int stepwell_progress_create(stepwell_progress** progress) {
  return c::guarded([&] {
    c::require(progress, "stepwell_progress_create: progress");
    *progress = new stepwell_progress{};
    return 0;
  });
}

void stepwell_progress_read(const stepwell_progress* progress, int* phase, int64_t* done,
                            int64_t* total) {
  if (progress == nullptr) return;
  if (phase != nullptr) *phase = static_cast<int>(progress->progress.phase.load());
  if (done != nullptr) *done = progress->progress.done;
  if (total != nullptr) *total = progress->progress.total;
}

void stepwell_progress_cancel(stepwell_progress* progress) {
  if (progress != nullptr) progress->progress.cancel = true;
}

void stepwell_progress_reset(stepwell_progress* progress) {
  if (progress == nullptr) return;
  progress->progress.enter(Phase::idle);
  progress->progress.cancel = false;
}

void stepwell_progress_destroy(stepwell_progress* progress) {
  delete progress;
}
