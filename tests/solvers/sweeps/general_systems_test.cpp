// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <sstream>

#include "solvers/general_fixture.hpp"
#include "solvers/sweeps/systems.hpp"

/// Never silently wrong: ten thousand general systems of all kinds, scales, sizes, maps and
/// refiners, with A and with A'. A system called converged is so by the test's own arithmetic, one
/// called singular is so for LAPACK; all others have a reason.
namespace stepwell::solvers::test {
namespace {

using gallery::Kind;

enum class Sides { plain, rows, columns, both };  ///< D1 A D2 with 10^-150 .. 10^150

/// All parameters of a system: printed, they are the recipe to make it again.
struct GeneralVariant {
  Kind kind{};
  std::int64_t n = 1;
  double condition = 1;
  std::uint64_t seed = 1;
  int scale_a = 0, scale_b = 0;  ///< powers of two
  Sides sides = Sides::plain;
  bool matched = true;  ///< b = D1 b0, so that x stays near D2^-1
  std::int64_t columns = 1;
  const char* map = "default";
  std::optional<Refiner> refiner;
  std::int64_t tile = 0;
  bool transposed = false, butterfly = false, in_place = false, careful = false;

  std::string text() const {
    std::ostringstream out;
    out << gallery::to_string(kind) << " n " << n << " condition " << condition << " seed " << seed
        << ", A 2^" << scale_a << ", b 2^" << scale_b << ", sides " << static_cast<int>(sides)
        << ", matched " << matched << ", columns " << columns << ", map " << map << ", "
        << (refiner ? to_string(*refiner) : "default") << ", tile " << tile << ", transposed "
        << transposed << ", butterfly " << butterfly << ", in place " << in_place
        << ", condition and proof " << careful;
    return out.str();
  }
};

std::vector<double> diagonal_of(const GeneralVariant& v, bool of_rows) {
  Random random(v.seed * 7 + (of_rows ? 1 : 2));
  std::vector<double> d(static_cast<std::size_t>(v.n), 1.0);
  const Sides one = of_rows ? Sides::rows : Sides::columns;
  if (v.sides != one && v.sides != Sides::both) return d;
  for (double& e : d) e = std::pow(10, static_cast<double>(random.integer(-150, 150)));
  return d;
}

/// A system scaled on all sides, and its scale factors.
struct GeneralSystem {
  Padded a, b;
  bool representable = true;  ///< all elements are in the normal range
  std::vector<double> left, right;

  GeneralSystem(const GeneralVariant& v, const Dense<double>& base, const Dense<double>& rhs)
      : a(v.n, v.n, static_cast<std::int64_t>(v.seed % 4)), b(v.n, v.columns, 2) {
    const std::vector<double> row = diagonal_of(v, true), col = diagonal_of(v, false);
    left = v.transposed ? col : row;
    right = v.transposed ? row : col;
    const auto keep = [&](double x, double from) {
      if (from != 0 && !(std::abs(x) >= kNormal && std::isfinite(x))) representable = false;
      return x;
    };
    for (std::int64_t j = 0; j < v.n; ++j) {
      for (std::int64_t i = 0; i < v.n; ++i) {
        a(i, j) = keep(std::ldexp(row[i] * base(i, j) * col[j], v.scale_a), base(i, j));
      }
    }
    for (std::int64_t c = 0; c < v.columns; ++c) {
      for (std::int64_t i = 0; i < v.n; ++i) {
        b(i, c) = keep(std::ldexp(rhs(i, c) * (v.matched ? left[i] : 1), v.scale_b), rhs(i, c));
      }
    }
    a.seal();
    b.seal();
  }

  /// Whether an element of the solution leaves FP64's range, according to LAPACK's solution of the
  /// unscaled system.
  bool out_of_range(const GeneralVariant& v, const Dense<double>& base,
                    const Dense<double>& rhs) const {
    Dense<double> b0(v.n, v.columns), x(v.n, v.columns);
    for (std::int64_t c = 0; c < v.columns; ++c) {
      for (std::int64_t i = 0; i < v.n; ++i) b0(i, c) = rhs(i, c) / (v.matched ? 1 : left[i]);
    }
    if (lapack_general(base.view(), b0.view(), x.view(), v.transposed) >= 0) return true;
    for (std::int64_t c = 0; c < v.columns; ++c) {
      for (std::int64_t i = 0; i < v.n; ++i) {
        const double size =
            std::log2(std::abs(x(i, c))) + v.scale_b - v.scale_a - std::log2(right[i]);
        if (!(size < 1022 && size > -960)) return true;
      }
    }
    return false;
  }
};

SolveOptions options_of(const GeneralVariant& v) {
  SolveOptions options = with_map(v.map);
  options.refine.refiner = v.refiner;
  options.tile = v.tile;
  options.transposed = v.transposed;
  if (v.butterfly) options.lu.pivoting = Pivoting::butterfly;
  options.lu.seed = v.seed;
  options.condition = options.prove = v.careful;
  return options;
}

/// The systems that FP64 can solve on every path: those with a condition number well below 1/u.
bool must_converge(const GeneralVariant& v) {
  if (gallery::has_spectrum(v.kind)) return v.condition <= 1e10;
  switch (v.kind) {
    case Kind::randb:
      return false;  // may be singular
    case Kind::frank:
      return v.n <= 8;
    case Kind::triw:
      return v.n <= 33;
    default:
      return true;
  }
}

void compare_with_lapack(const GeneralVariant& v, MatrixView<const double> a,
                         MatrixView<const double> b, double error, Tally& tally) {
  Dense<double> x(v.n, v.columns);
  if (lapack_general(a, b, x.view(), v.transposed) >= 0) return;
  const double theirs = general_error(a, b, x.view(), v.transposed);
  if (std::isnan(theirs)) return;
  ++tally.compared;
  if (error <= std::max(3 * kU64, 1.5 * theirs)) ++tally.as_good;
}

std::string path_of(const Certificate& c) {
  std::ostringstream out;
  for (const LadderStep& r : c.rungs) {
    out << "; " << map_text(r.method) << " " << refiner_text(r.method) << " " << r.iterations
        << " error " << r.error << " " << r.reason;
  }
  return out.str();
}

bool lapack_solves(const GeneralVariant& v, MatrixView<const double> a,
                   MatrixView<const double> b) {
  Dense<double> x(v.n, v.columns);
  return lapack_general(a, b, x.view(), v.transposed) < 0 &&
         general_error(a, b, x.view(), v.transposed) < std::sqrt(static_cast<double>(v.n)) * kU64;
}

void check_singular(const GeneralVariant& v, const Certificate& c, const GeneralSystem& s) {
  Dense<double> b(v.n, 1), x(v.n, 1);
  const std::int64_t theirs = lapack_general(s.a.view(), b.view(), x.view());
  if (v.sides == Sides::plain) {
    ASSERT_EQ(c.pivot, theirs) << c.reason;
    return;
  }
  // With rows of very different sizes it depends on rounding which pivot is zero, and in gfpp even
  // whether one is. LAPACK's solution is then as good as none.
  ASSERT_TRUE(theirs >= 0 || !lapack_solves(v, s.a.view(), s.b.view()))
      << "LAPACK says it is not: " << c.reason;
}

void check(const GeneralVariant& v, const Dense<double>& base, const Dense<double>& rhs,
           Tally& tally) {
  GeneralSystem s(v, base, rhs);
  if (!s.representable) {
    ++tally.skipped;
    return;
  }
  ++tally.systems;
  SCOPED_TRACE(v.text());
  Padded x(v.n, v.columns, 3);
  x.seal();
  const Padded b = s.b;
  const SolveOptions options = options_of(v);
  const Certificate c = v.in_place
                            ? stepwell::solve_general(s.a.view(), s.b.view(), s.b.view(), options)
                            : stepwell::solve_general(s.a.view(), s.b.view(), x.view(), options);
  ASSERT_TRUE(s.a.unchanged()) << "A was written to";
  ASSERT_TRUE(v.in_place ? s.b.padding_unchanged() : s.b.unchanged()) << "b was written to";
  ASSERT_TRUE(x.padding_unchanged()) << "wrote outside x";
  ASSERT_TRUE(consistent(c, v.columns)) << to_string(c.outcome) << ": " << c.reason;
  const Padded& got = v.in_place ? s.b : x;
  if (!c.ok()) {
    ASSERT_FALSE(c.reason.empty());
    if (c.outcome == SolveOutcome::singular) {
      ++tally.singular;
      check_singular(v, c, s);
    } else {
      ASSERT_TRUE(c.outcome == SolveOutcome::overflow || c.outcome == SolveOutcome::not_converged)
          << to_string(c.outcome);
    }
    if (!must_converge(v)) return;
    // A failure is acceptable only if the solution leaves FP64's range or LAPACK fails, too: a
    // triangular matrix that is scaled from both sides may have no scaling that undoes it.
    ASSERT_TRUE(s.out_of_range(v, base, rhs) || !lapack_solves(v, s.a.view(), b.view()))
        << to_string(c.outcome) << ": " << c.reason << path_of(c);
    return;
  }
  ++tally.converged;
  const std::vector<double> errors = general_errors(s.a.view(), b.view(), got.view(), v.transposed);
  for (std::int64_t k = 0; k < v.columns; ++k) {
    const double error = errors[static_cast<std::size_t>(k)];
    expect_certified(c.columns[static_cast<std::size_t>(k)], error, v.n, v.careful);
    if (::testing::Test::HasFatalFailure()) return;
  }
  // Subnormal solutions do not have enough digits for a comparison.
  if (v.n > 257 || (v.scale_b - v.scale_a < -900)) return;
  compare_with_lapack(v, s.a.view(), b.view(), *std::max_element(errors.begin(), errors.end()),
                      tally);
}

constexpr std::array<const char*, 9> kGeneralMaps = {
    "default", "default", "default", "bf16", "fp16", "bf16x2", "bf16x3", "fp32", "fp64"};

GeneralVariant draw_general(Kind kind, std::int64_t n, double condition, std::uint64_t seed) {
  Random random(seed);
  const auto any = [&](const auto& list) { return any_of(list, random); };
  GeneralVariant v;
  v.kind = kind;
  v.n = n;
  v.condition = condition;
  v.seed = seed;
  v.scale_a = any(kScales);
  v.scale_b = any(kScales);
  const auto sides = random.integer(0, 5);
  if (sides <= 3 && std::abs(v.scale_a) <= 30) v.sides = static_cast<Sides>(sides);
  if (v.sides != Sides::plain && random.integer(0, 2) == 0) {
    v.matched = false;
    v.scale_b = 0;
  }
  v.columns = std::array<std::int64_t, 6>{1, 1, 1, 2, 2, 17}[random.integer(0, 5)];
  v.map = any(kGeneralMaps);
  if (random.integer(0, 1) == 0) v.refiner = any(kGeneralRefiners);
  v.tile = random.integer(0, 2) == 0 ? 64 : 0;
  v.transposed = random.integer(0, 1) == 0;
  v.butterfly = random.integer(0, 3) == 0;
  v.in_place = random.integer(0, 3) == 0;
  v.careful = random.integer(0, 9) == 0;
  return v;
}

class GeneralSystems : public ::testing::TestWithParam<Kind> {
 protected:
  /// Checks all kinds that this process has run.
  static void TearDownTestSuite() {
    if (all_.compared < 500) return;  // one in a hundred of fewer is not significant
    EXPECT_GE(all_.as_good, 0.99 * all_.compared) << "as accurate as dgesv's";
  }
  inline static Tally all_;
};
INSTANTIATE_TEST_SUITE_P(Solve, GeneralSystems, ::testing::ValuesIn(gallery::general_kinds),
                         kind_name);

TEST_P(GeneralSystems, AreSolvedOrRefusedButNeverWrong) {
  Tally tally;
  const int matrices = kSanitized ? 20 : 51;
  const std::uint64_t first = 100000 * static_cast<std::uint64_t>(GetParam());
  for (int m = 0; m < matrices; ++m) {
    const auto index = static_cast<std::size_t>(m);
    std::int64_t n = kOrders[(index * 7 + 3) % kOrders.size()];
    const double condition = std::pow(10, (m * 5) % 17);
    if (!kSanitized && m == 50) n = 900 + static_cast<std::int64_t>(GetParam());
    const Dense<double> base = gallery_matrix(GetParam(), n, condition, index + 1);
    const Dense<double> rhs = gaussian_columns(n, 17, index);
    const int variants = kSanitized ? (n > 300 ? 1 : 3) : n > 600 ? 1 : n > 300 ? 4 : 10;
    for (int k = 0; k < variants; ++k) {
      GeneralVariant v = draw_general(GetParam(), n, condition,
                                      first + index * 100 + static_cast<std::uint64_t>(k));
      if (n > 128) v.columns = std::min<std::int64_t>(v.columns, n > 300 ? 2 : 5);
      if (n > 600) v.map = "default";  // the whole ladder
      check(v, base, rhs, tally);
      if (HasFailure()) return;
    }
  }
  RecordProperty("systems", tally.systems);
  RecordProperty("converged", tally.converged);
  RecordProperty("singular", tally.singular);
  RecordProperty("compared", tally.compared);
  RecordProperty("as_good", tally.as_good);
  all_.compared += tally.compared;
  all_.as_good += tally.as_good;
  EXPECT_GE(tally.systems, kSanitized ? 30 : 410) << tally.skipped << " not representable";
}

}  // namespace
}  // namespace stepwell::solvers::test
