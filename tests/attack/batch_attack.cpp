// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "attack/attacks.hpp"
#include "attack/oracle/oracle.hpp"
#include "stepwell/batch.hpp"

/// batch_solve(), batch_factor_solve() and batch_substitute().
namespace stepwell::attack {
namespace {

enum class Way { solve, mixed, factor_solve, factor_then_substitute };

struct Batch {
  std::int64_t count = 0, n = 0, columns = 0;
  std::vector<Named> matrices;
  std::vector<double> a, b;
};

bool same_bits(const double* x, const double* y, std::int64_t count) {
  return std::equal(x, x + count, y, [](double p, double q) {
    return std::bit_cast<std::uint64_t>(p) == std::bit_cast<std::uint64_t>(q);
  });
}

/// The systems of a batch are of any kind; a few have a NaN or an infinity, which must not spread.
Batch random_batch(Size size, bool upper, Random& random) {
  Batch batch;
  batch.n = size != Size::small  ? random.integer(64, 128)
            : random.chance(0.9) ? random.integer(1, 24)
                                 : random.integer(25, 64);
  batch.count = random.integer(1, batch.n < 30 ? 20 : 9);
  batch.columns = random.integer(1, 3);
  for (std::int64_t c = 0; c < batch.count; ++c) {
    Named named = random_spd(batch.n, random);
    scale_at_random(named, true, random);
    if (random.chance(0.03)) {
      const double none = random.chance(0.5) ? std::numeric_limits<double>::quiet_NaN()
                                             : std::numeric_limits<double>::infinity();
      const std::int64_t i = random.integer(0, batch.n - 1), j = random.integer(0, i);
      named.a(i, j) = named.a(j, i) = none;
    }
    // NaN in the triangle that must not be read.
    Matrix stored = named.a;
    for (std::int64_t j = 0; j < batch.n; ++j) {
      for (std::int64_t i = 0; i < batch.n; ++i) {
        if (upper ? i > j : i < j) stored(i, j) = std::numeric_limits<double>::quiet_NaN();
      }
    }
    batch.a.insert(batch.a.end(), stored.data.begin(), stored.data.end());
    std::vector<double> column(batch.n);
    for (std::int64_t k = 0; k < batch.columns; ++k) {
      fill_right_side(named.a, column.data(), random);
      batch.b.insert(batch.b.end(), column.begin(), column.end());
    }
    batch.matrices.push_back(std::move(named));
  }
  return batch;
}

/// The outputs of a call.
struct Answer {
  std::vector<double> a, x, errors;
  std::vector<std::int32_t> pivots, iterations;
  BatchReport report;
};

Answer run(Way way, const Batch& batch, const BatchOptions& options) {
  Answer answer{batch.a,
                batch.b,
                std::vector<double>(batch.count),
                std::vector<std::int32_t>(batch.count),
                std::vector<std::int32_t>(batch.count),
                {}};
  const auto a = stepwell::batch(answer.a.data(), batch.count, batch.n, batch.n);
  const auto x = stepwell::batch(answer.x.data(), batch.count, batch.n, batch.columns);
  BatchOutputs outputs;
  outputs.pivots = answer.pivots;
  if (way != Way::factor_then_substitute) outputs.backward_errors = answer.errors;
  if (way == Way::mixed) outputs.iterations = answer.iterations;
  switch (way) {
    case Way::solve:
    case Way::mixed:
      answer.report = batch_solve(a, x, options, outputs);
      break;
    case Way::factor_solve:
      answer.report = batch_factor_solve(a, x, options, outputs);
      break;
    case Way::factor_then_substitute: {
      answer.report = batch_cholesky(a, options, outputs);
      // A matrix without a factor is left unchanged, and its diagonal may well be positive.
      for (const std::int64_t failed : answer.report.failures) {
        answer.a[failed * batch.n * batch.n] = -1;
      }
      (void)batch_substitute(a, x, options);
    }
  }
  return answer;
}

void judge_system(std::int64_t c, Way way, const Batch& batch, const Answer& answer,
                  Report& report) {
  const std::int64_t size = batch.n * batch.n, columns = batch.n * batch.columns;
  const double* const x = answer.x.data() + c * columns;
  const double* const b = batch.b.data() + c * columns;
  const std::string where =
      text("matrix %lld (%s)", static_cast<long long>(c), batch.matrices[c].name.c_str());
  if (answer.pivots[c] >= 0) {
    report.count("batch_failed");
    const bool whole = way == Way::factor_then_substitute ||
                       same_bits(answer.a.data() + c * size, batch.a.data() + c * size, size);
    if (!whole || !same_bits(x, b, columns)) {
      report.found(Finding::memory, where + " failed, but its A or b was written");
    }
    return;
  }
  report.count("batch_solved");
  if (way == Way::factor_then_substitute) return;  // its bits are compared instead
  const SquareOracle oracle(batch.matrices[c].a, false);
  const double reported = answer.errors[c];
  const bool promised = way == Way::mixed && answer.iterations[c] >= 0;
  for (std::int64_t k = 0; k < batch.columns; ++k) {
    ColumnTruth truth(oracle, b + k * batch.n, x + k * batch.n);
    if (promised && truth.above(answer.report.tolerance)) {
      report.found(Finding::above_tolerance,
                   where + text(" column %lld: true %.4g, reported %.4g, tolerance %.4g, %.3g "
                                "times it",
                                static_cast<long long>(k), truth.value(), reported,
                                answer.report.tolerance, truth.value() / answer.report.tolerance));
    }
    // The reported value was computed in FP64, whose rounding may hide n units. If x is not
    // representable in FP64, the error is NaN.
    const double allowed = reported + static_cast<double>(batch.n + 3) * 0x1p-53;
    if (!std::isnan(reported) && truth.above(allowed)) {
      report.found(Finding::certificate,
                   where + text(" column %lld: true %.4g, reported %.4g", static_cast<long long>(k),
                                truth.value(), reported));
    }
  }
}

}  // namespace

void attack_batch(std::uint64_t seed, Size size, Report& report) {
  Random random(seed, "batch");
  constexpr Way kWays[] = {Way::solve, Way::mixed, Way::mixed, Way::factor_solve,
                           Way::factor_then_substitute};
  constexpr const char* kNames[] = {"solve", "mixed", "factor-solve", "factor-then-substitute"};
  const Way way = random.one_of(kWays);
  BatchOptions options;
  options.mixed = way == Way::mixed;
  options.engine.context = &random_context(random);
  options.fast = random.chance(0.1);
  if (random.chance(0.3)) options.triangle = Triangle::upper;
  const Batch batch = random_batch(size, options.triangle == Triangle::upper, random);
  report.describe(text("%lld of n %lld, %lld columns, %s%s%s", static_cast<long long>(batch.count),
                       static_cast<long long>(batch.n), static_cast<long long>(batch.columns),
                       kNames[static_cast<int>(way)], options.fast ? " fast" : "",
                       options.triangle == Triangle::upper ? " upper" : ""));
  Answer answer;
  if (!survives([&] { answer = run(way, batch, options); }, report)) return;
  report.count("columns", batch.count * batch.columns);
  if ((way == Way::solve || way == Way::mixed) &&
      !same_bits(answer.a.data(), batch.a.data(), std::ssize(batch.a))) {
    report.found(Finding::memory, "A was written");
  }
  for (std::int64_t c = 0; c < batch.count; ++c) judge_system(c, way, batch, answer, report);

  // With approximate roots, factoring once and reusing the factor need not give the bits of one
  // pass.
  if (options.fast && way == Way::factor_then_substitute) return;
  // Any system alone, factored and solved in one pass, gives the same bits.
  const std::int64_t c = random.integer(0, batch.count - 1);
  const std::int64_t square = batch.n * batch.n, columns = batch.n * batch.columns;
  const double* const a = batch.a.data() + c * square;
  const double* const b = batch.b.data() + c * columns;
  const Batch alone{1, batch.n, batch.columns, {}, {a, a + square}, {b, b + columns}};
  const Way again = way == Way::factor_then_substitute ? Way::factor_solve : way;
  const Answer expected = run(again, alone, options);
  if (!same_bits(expected.x.data(), answer.x.data() + c * columns, columns)) {
    report.found(Finding::bits,
                 text("matrix %lld alone has other bits", static_cast<long long>(c)));
  }
}

}  // namespace stepwell::attack
