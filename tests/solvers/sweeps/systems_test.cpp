// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <sstream>

#include "solvers/double_double_errors.hpp"
#include "solvers/sweeps/systems.hpp"

/// Never silently wrong: ten thousand systems of all kinds, scales, sizes, maps and refiners. A
/// system called converged is so by the test's own arithmetic; all others have a reason; the
/// caller's data are not touched.
namespace stepwell::solvers::test {
namespace {

enum class Rows { plain, smooth, random };  ///< D of D A D: ones, or 10^-150 .. 10^150

/// All parameters of a system: printed, they are the recipe to make it again.
struct Variant {
  gallery::Kind kind{};
  std::int64_t n = 1;
  double condition = 1;
  std::uint64_t seed = 1;
  int scale_a = 0, scale_b = 0;  ///< powers of two
  Rows rows = Rows::plain;
  bool matched = true;  ///< b = D b0, so that x stays near 1 where D A D is not
  std::int64_t columns = 1;
  const char* map = "default";
  Refiner refiner = Refiner::cg;
  std::int64_t tile = 0;
  bool in_place = false, poisoned = false, careful = false;

  std::string text() const {
    std::ostringstream out;
    out << gallery::to_string(kind) << " n " << n << " condition " << condition << " seed " << seed
        << ", A 2^" << scale_a << ", b 2^" << scale_b << ", rows " << static_cast<int>(rows)
        << ", matched " << matched << ", columns " << columns << ", map " << map << ", "
        << to_string(refiner) << ", tile " << tile << ", in place " << in_place << ", poisoned "
        << poisoned << ", condition and proof " << careful;
    return out.str();
  }
};

struct System {
  Padded a, b;
  bool representable = true;  ///< all elements are in the normal range
};

/// The diagonal of D.
std::vector<double> rows_of(const Variant& v) {
  Random random(v.seed * 7 + 1);
  std::vector<double> d(static_cast<std::size_t>(v.n), 1.0);
  for (std::int64_t i = 0; i < v.n && v.rows != Rows::plain; ++i) {
    const double place = v.n > 1 ? static_cast<double>(i) / static_cast<double>(v.n - 1) : 0.5;
    const double power =
        v.rows == Rows::smooth ? 300 * place - 150 : static_cast<double>(random.integer(-150, 150));
    d[i] = std::pow(10, power);
  }
  return d;
}

/// The powers of two between which the solution lies, from LAPACK's solution of the unscaled
/// system.
struct Range {
  double low = HUGE_VAL, high = -HUGE_VAL;
};
Range range_of(const Variant& v, const Dense<double>& base, const Dense<double>& right) {
  const std::vector<double> d = rows_of(v);
  Dense<double> b(v.n, v.columns), x(v.n, v.columns);
  for (std::int64_t c = 0; c < v.columns; ++c) {
    for (std::int64_t i = 0; i < v.n; ++i) b(i, c) = right(i, c) / (v.matched ? 1 : d[i]);
  }
  Range range;
  if (!lapack_solve(base.view(), b.view(), x.view())) return {-HUGE_VAL, HUGE_VAL};
  for (std::int64_t c = 0; c < v.columns; ++c) {
    for (std::int64_t i = 0; i < v.n; ++i) {
      const double size = std::log2(std::abs(x(i, c))) + v.scale_b - v.scale_a - std::log2(d[i]);
      range.low = std::min(range.low, size);
      range.high = std::max(range.high, size);
    }
  }
  return range;
}

System make_system(const Variant& v, const Dense<double>& base, const Dense<double>& right) {
  const std::vector<double> d = rows_of(v);
  System s{Padded(v.n, v.n, static_cast<std::int64_t>(v.seed % 4)), Padded(v.n, v.columns, 2)};
  const auto keep = [&](double x, double from) {
    if (from != 0 && !(std::abs(x) >= kNormal && std::isfinite(x))) s.representable = false;
    return x;
  };
  for (std::int64_t j = 0; j < v.n; ++j) {
    for (std::int64_t i = j; i < v.n; ++i) {
      s.a(i, j) = keep(std::ldexp(base(i, j) * d[i] * d[j], v.scale_a), base(i, j));
      if (!v.poisoned) s.a(j, i) = s.a(i, j);
    }
  }
  for (std::int64_t c = 0; c < v.columns; ++c) {
    for (std::int64_t i = 0; i < v.n; ++i) {
      const double b = right(i, c) * (v.matched ? d[i] : 1);
      s.b(i, c) = keep(std::ldexp(b, v.scale_b), right(i, c));
    }
  }
  s.a.seal();
  s.b.seal();
  return s;
}

SolveOptions options_of(const Variant& v) {
  SolveOptions options = with_map(v.map);
  options.refine.refiner = v.refiner;
  options.tile = v.tile;
  options.condition = options.prove = v.careful;
  return options;
}

/// The systems that FP64 can solve on every path: those with a condition number well below 1/u.
bool must_converge(const Variant& v) {
  using gallery::Kind;
  if (v.kind == Kind::hilbert) return v.n <= 6;
  return gallery::has_spectrum(v.kind) ? v.condition <= 1e10 : true;
}

void compare_with_lapack(const Variant& v, MatrixView<const double> a, MatrixView<const double> b,
                         double error, Tally& tally) {
  Dense<double> x(v.n, v.columns);
  if (!lapack_solve(a, b, x.view())) return;
  const double theirs = backward_error(a, b, x.view());
  if (std::isnan(theirs)) return;
  ++tally.compared;
  if (error <= std::max(2 * kU64, 1.5 * theirs)) ++tally.as_good;
}

void check(const Variant& v, const Dense<double>& base, const Dense<double>& right, Tally& tally) {
  System s = make_system(v, base, right);
  if (!s.representable) {
    ++tally.skipped;
    return;
  }
  ++tally.systems;
  SCOPED_TRACE(v.text());
  Padded x(v.n, v.columns, 3);
  x.seal();
  const Padded b = s.b;
  const Certificate c = v.in_place ? solve_spd(s.a.view(), s.b.view(), s.b.view(), options_of(v))
                                   : solve_spd(s.a.view(), s.b.view(), x.view(), options_of(v));
  ASSERT_TRUE(s.a.unchanged()) << "A was written to";
  ASSERT_TRUE(v.in_place ? s.b.padding_unchanged() : s.b.unchanged()) << "b was written to";
  ASSERT_TRUE(x.padding_unchanged()) << "wrote outside x";
  ASSERT_TRUE(consistent(c, v.columns)) << to_string(c.outcome) << ": " << c.reason;
  const Padded& got = v.in_place ? s.b : x;
  if (!c.ok()) {
    ASSERT_FALSE(c.reason.empty());
    if (!must_converge(v)) return;
    // A failure is acceptable only if the solution leaves FP64's range.
    const Range range = range_of(v, base, right);
    const bool too_large = range.high > 1022;
    const bool too_small = range.low < -960;
    ASSERT_TRUE(c.outcome == SolveOutcome::overflow        ? too_large
                : c.outcome == SolveOutcome::not_converged ? too_small || too_large
                                                           : false)
        << to_string(c.outcome) << ": " << c.reason << "; x from 2^" << range.low << " to 2^"
        << range.high;
    return;
  }
  ++tally.converged;
  const ScaledMatrix scaled(s.a.view(), true);
  double worst = 0;
  for (std::int64_t k = 0; k < v.columns; ++k) {
    const double error = backward_error(scaled, b.view().column(k), got.view().column(k));
    worst = std::max(worst, error);
    expect_certified(c.columns[static_cast<std::size_t>(k)], error, v.n, v.careful);
    if (::testing::Test::HasFatalFailure()) return;
  }
  // Subnormal solutions do not have enough digits for a comparison.
  if (v.n > 257 || (v.scale_b - v.scale_a < -900)) return;
  compare_with_lapack(v, s.a.view(), b.view(), worst, tally);
}

constexpr std::array<const char*, 9> kMaps = {"default", "default",       "bf16",
                                              "fp16",    "bf16x2",        "bf16x3",
                                              "fp32",    "adaptive:1e-4", "bf16,bf16x2,fp32"};

Variant draw(gallery::Kind kind, std::int64_t n, double condition, std::uint64_t seed) {
  Random random(seed);
  const auto any = [&](const auto& list) { return any_of(list, random); };
  Variant v;
  v.kind = kind;
  v.n = n;
  v.condition = condition;
  v.seed = seed;
  v.scale_a = any(kScales);
  v.scale_b = any(kScales);
  const auto rows = random.integer(0, 5);
  if (rows <= 2 && std::abs(v.scale_a) <= 30) v.rows = rows == 0 ? Rows::smooth : Rows::random;
  if (v.rows != Rows::plain && rows == 2) {
    v.matched = false;
    v.scale_b = 0;
  }
  v.columns = std::array<std::int64_t, 6>{1, 1, 1, 2, 2, 17}[random.integer(0, 5)];
  v.map = any(kMaps);
  v.refiner = random.integer(0, 1) == 0 ? Refiner::cg : any(all_refiners);
  if (std::string(v.map) == "default" && random.integer(0, 1) == 0) v.refiner = Refiner::cg;
  v.tile = random.integer(0, 2) == 0 ? 64 : 0;
  v.in_place = random.integer(0, 3) == 0;
  v.poisoned = random.integer(0, 1) == 0;
  v.careful = random.integer(0, 9) == 0;
  return v;
}

class Systems : public ::testing::TestWithParam<gallery::Kind> {
 protected:
  /// Checks all kinds that this process has run.
  static void TearDownTestSuite() {
    if (all_.compared < 500) return;  // one in a hundred of fewer is not significant
    EXPECT_GE(all_.as_good, 0.99 * all_.compared) << "as accurate as dposv's";
  }
  inline static Tally all_;
};
INSTANTIATE_TEST_SUITE_P(Solve, Systems, ::testing::ValuesIn(gallery::spd_kinds), kind_name);

TEST_P(Systems, AreSolvedOrRefusedButNeverWrong) {
  Tally tally;
  const int matrices = kSanitized ? 34 : 85;
  const std::uint64_t first = 100000 * static_cast<std::uint64_t>(GetParam());
  for (int m = 0; m < matrices; ++m) {
    const auto index = static_cast<std::size_t>(m);
    std::int64_t n = kOrders[(index * 7 + 3) % kOrders.size()];
    const double condition = std::pow(10, (m * 5) % 17);
    if (!kSanitized && m % 34 == 33) n = std::array<std::int64_t, 3>{768, 1024, 1025}[index / 34];
    const Dense<double> base = gallery_matrix(GetParam(), n, condition, index + 1);
    const Dense<double> right = gaussian_columns(n, 17, index);
    const int variants = kSanitized ? (n > 300 ? 1 : 3) : n > 600 ? 2 : n > 300 ? 4 : 12;
    for (int k = 0; k < variants; ++k) {
      Variant v =
          draw(GetParam(), n, condition, first + index * 100 + static_cast<std::uint64_t>(k));
      if (n > 300) v.columns = std::min<std::int64_t>(v.columns, k == 0 ? 17 : 2);
      check(v, base, right, tally);
      if (HasFailure()) return;
    }
  }
  RecordProperty("systems", tally.systems);
  RecordProperty("converged", tally.converged);
  RecordProperty("compared", tally.compared);
  RecordProperty("as_good", tally.as_good);
  all_.compared += tally.compared;
  all_.as_good += tally.as_good;
  EXPECT_GE(tally.systems, kSanitized ? 60 : 715);
}

}  // namespace
}  // namespace stepwell::solvers::test
