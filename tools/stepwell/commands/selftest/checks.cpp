// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <bit>
#include <cfenv>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "commands/selftest/selftest.hpp"
#include "kernels/self_test.hpp"
#include "stepwell/batch.hpp"
#include "stepwell/lstsq.hpp"
#include "stepwell/solve.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace stepwell::tool::selftest {
namespace {

constexpr double kMissed = std::numeric_limits<double>::infinity();

struct System {
  std::int64_t rows = 0, cols = 0;
  std::vector<double> a, b;

  MatrixView<const double> matrix() const { return view(a.data(), rows, cols); }
  MatrixView<const double> right_side() const { return view(b.data(), rows, 1); }
};

/// Elements in (-1, 1), the same on every machine; 'diagonal' is added to the diagonal of a square
/// matrix.
System random_system(std::int64_t rows, std::int64_t cols, double diagonal, bool symmetric) {
  System s{rows, cols, std::vector<double>(rows * cols), std::vector<double>(rows)};
  std::uint64_t state = 1;
  const auto number = [&state] {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<double>(static_cast<std::int64_t>(state) >> 11) * 0x1p-52;
  };
  for (double& e : s.a) e = number();
  for (double& e : s.b) e = number();
  for (std::int64_t j = 0; symmetric && j < cols; ++j) {
    for (std::int64_t i = 0; i < j; ++i) s.a[i + j * rows] = s.a[j + i * rows];
  }
  if (rows == cols) {
    for (std::int64_t i = 0; i < rows; ++i) s.a[i + i * rows] += diagonal;
  }
  return s;
}

System scaled(System s, int power) {
  for (double& e : s.a) e = std::ldexp(e, power);
  for (double& e : s.b) e = std::ldexp(e, power);
  return s;
}

/// A matrix for which all partial sums of a row are rounded the same way.
System equal_off_diagonals() {
  constexpr std::int64_t n = 890;
  System s{n, n, std::vector<double>(n * n, 0.6), std::vector<double>(n, 1.0)};
  for (std::int64_t i = 0; i < n; ++i) s.a[i + i * n] = 1000;
  return s;
}

/// An answer, and the tolerance that was promised for it.
struct Answer {
  std::vector<double> x;
  bool converged = false;
  double tolerance = 0;
};

Answer solved(const System& s, Structure structure, const SolveOptions& options = {}) {
  Answer answer;
  answer.x.resize(s.cols);
  const Certificate c =
      solve(s.matrix(), s.right_side(), view(answer.x.data(), s.cols, 1), options, structure);
  answer.converged = c.ok();
  answer.tolerance = c.tolerance;
  return answer;
}

Answer fitted(const System& s, Context* context = nullptr) {
  Answer answer;
  answer.x.resize(s.cols);
  LeastSquaresOptions options;
  options.engine.context = context;
  const Certificate c =
      lstsq(s.matrix(), s.right_side(), view(answer.x.data(), s.cols, 1), options);
  answer.converged = c.ok();
  answer.tolerance = c.tolerance;
  return answer;
}

/// The true error divided by the tolerance.
Check judged(const std::string& name, const System& s, const Answer& answer, bool tall) {
  Check check{name, kMissed, 1, "true error / tolerance", ""};
  if (!answer.converged) {
    check.remark = "not converged";
    return check;
  }
  const double error = tall ? least_squares_error(s.matrix(), s.b, answer.x)
                            : backward_error(s.matrix(), s.b, answer.x);
  check.measured = error / answer.tolerance;
  return check;
}

/// The worst error of a batch that has the same system at many scales.
Check check_batch() {
  constexpr std::int64_t n = 24, count = 50;
  std::vector<double> a, x;
  System s = random_system(n, n, n, true);
  for (std::int64_t k = 0; k < count; ++k) {
    const System one = scaled(s, static_cast<int>(k - count / 2));
    a.insert(a.end(), one.a.begin(), one.a.end());
    x.insert(x.end(), one.b.begin(), one.b.end());
  }
  const std::vector<double> b(x);
  BatchOptions options;
  options.mixed = true;
  const BatchReport report = batch_solve(batch<const double>(a.data(), count, n, n),
                                         batch(x.data(), count, n, 1), options);
  Check check{"batch of 50, mixed", 0, 1, "true error / tolerance", ""};
  if (!report.ok()) check.measured = kMissed;
  for (std::int64_t k = 0; k < count; ++k) {
    const auto part = [&](const std::vector<double>& all) {
      return std::vector<double>(all.begin() + k * n, all.begin() + (k + 1) * n);
    };
    const double error =
        backward_error(view(std::as_const(a).data() + k * n * n, n, n), part(b), part(x));
    check.measured = std::max(check.measured, error / report.tolerance);
  }
  return check;
}

double different(const std::vector<double>& x, const std::vector<double>& y) {
  double count = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    count += std::bit_cast<std::uint64_t>(x[i]) != std::bit_cast<std::uint64_t>(y[i]) ? 1 : 0;
  }
  return count;
}

/// Sets the floating-point flags that a library with fast math, or interval arithmetic, leaves
/// behind.
void disturb_environment() {
  std::fesetround(FE_UPWARD);
#if defined(__x86_64__)
  _mm_setcsr(_mm_getcsr() | 0x8040);  // flush to zero, denormals are zero
#endif
}

unsigned environment() {
#if defined(__x86_64__)
  return _mm_getcsr();
#else
  return static_cast<unsigned>(std::fegetround());
#endif
}

using Solve = std::function<std::vector<double>(Context* context)>;

/// The systems are made here, because sums in another rounding mode would give other systems.
std::vector<std::pair<std::string, Solve>> solvers() {
  const auto square = [](bool spd) {
    return [spd, s = random_system(400, 400, 400, spd)](Context* context) {
      SolveOptions options;
      options.map = parse_map("bf16x2");
      options.tile = 128;
      options.engine.context = context;
      return solved(s, spd ? Structure::spd : Structure::general, options).x;
    };
  };
  const auto tall = [s = random_system(3000, 60, 0, false)](Context* context) {
    return fitted(s, context).x;
  };
  return {{"spd", square(true)}, {"general", square(false)}, {"lstsq", tall}};
}

}  // namespace

std::vector<Check> check_kernels() {
  std::vector<Check> checks;
  for (const core::Isa isa : core::all_isas) {
    const core::Usable& usable = kernels::usable()[static_cast<unsigned>(isa)];
    std::string wrong;
    if (usable.yes) {
      wrong = kernels::self_test(kernels::make_table(isa));
    } else if (usable.reason.find("self-test") != std::string::npos) {
      wrong = usable.reason;
    } else {
      continue;  // not available, according to the CPU, the system or STEPWELL_ISA
    }
    checks.push_back({"kernels " + std::string(to_string(isa)), wrong.empty() ? 0.0 : 1.0, 0,
                      "wrong products", wrong});
  }
  return checks;
}

std::vector<Check> check_answers() {
  std::vector<Check> checks;
  const auto square = [&](const std::string& name, const System& s, Structure structure,
                          const SolveOptions& options = {}) {
    checks.push_back(judged(name, s, solved(s, structure, options), false));
  };
  const System spd = random_system(300, 300, 300, true);
  const System general = random_system(300, 300, 0, false);
  square("spd", spd, Structure::spd);
  for (const char* const map : {"bf16", "fp32", "fp64"}) {
    SolveOptions options;
    options.map = parse_map(map);
    square(std::string("spd at ") + map, spd, Structure::spd, options);
  }
  square("general", general, Structure::general);
  const System tall = random_system(500, 40, 0, false);
  checks.push_back(judged("least squares", tall, fitted(tall), true));
  checks.push_back(check_batch());
  const System equal = equal_off_diagonals();
  square("equal off-diagonals, spd", equal, Structure::spd);
  square("equal off-diagonals, general", equal, Structure::general);
  const System small = random_system(30, 30, 30, true);
  square("denormal elements, spd", scaled(small, -1050), Structure::spd);
  square("denormal elements, general", scaled(random_system(30, 30, 0, false), -1050),
         Structure::general);
  const System tiny = scaled(random_system(100, 8, 0, false), -1050);
  checks.push_back(judged("denormal elements, lstsq", tiny, fitted(tiny), true));
  return checks;
}

std::vector<Check> check_bits() {
  std::vector<Check> checks;
  Context one(1), all(0);
  for (const auto& [name, solve_it] : solvers()) {
    const std::vector<double> expected = solve_it(&one);
    checks.push_back({name + ", 1 and all threads", different(expected, solve_it(&all)), 0,
                      "elements that differ", ""});
    std::fenv_t saved;
    std::fegetenv(&saved);
    disturb_environment();
    const unsigned before = environment();
    const std::vector<double> got = solve_it(&all);
    const unsigned after = environment();
    std::fesetenv(&saved);
    checks.push_back(
        {name + ", rounding upward", different(expected, got), 0, "elements that differ", ""});
    checks.push_back({name + ", environment", after == before ? 0.0 : 1.0, 0, "not restored", ""});
  }
  return checks;
}

}  // namespace stepwell::tool::selftest
