// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <limits>

#include "attack/random.hpp"
#include "attack/seeds.hpp"
#include "lapack/fixture.hpp"

/// Sequences of LAPACK calls through the drop-in, with right and wrong arguments, and the same
/// calls through the LAPACK behind it: the drop-in returns the same info, an answer that is no
/// worse, and writes nothing else. STEPWELL_LAPACK_MIN_N=2 and STEPWELL_LAPACK=all, or factor, make
/// the drop-in handle every call that it can.
namespace stepwell::attack {
namespace {

using test::Matrix;

struct Problem {
  bool spd = false;
  char uplo = 'L';
  int n = 0, columns = 0;
  Matrix a{0, 0}, whole{0, 0}, b{0, 0};  ///< 'whole' is the matrix that 'a' stands for
  bool wrong = false;                    ///< an argument is wrong
  int n_passed = 0, columns_passed = 0, lda_passed = 0, ldb_passed = 0;
  char uplo_passed = 'L';
};

constexpr double kNotRead = -4444.5;  ///< stored in the triangle that must not be read

void make_hostile(Problem& p, Random& random) {
  const int n = p.n;
  if (n < 2) return;
  const int row = static_cast<int>(random.integer(0, n - 1));
  switch (random.integer(0, 7)) {
    case 0:  // a failing pivot
      if (p.spd) {
        p.whole(row, row) = -1;
      } else {
        for (int i = 0; i < n; ++i) p.whole(i, row) = 0;
      }
      break;
    case 1: {
      const double none = random.chance(0.5) ? std::numeric_limits<double>::quiet_NaN()
                                             : std::numeric_limits<double>::infinity();
      p.whole(row, row) = none;
      break;
    }
    case 2: {
      const double scale = random.power_of_ten(-280, 280);
      for (int j = 0; j < n; ++j) {
        for (int i = 0; i < n; ++i) p.whole(i, j) *= scale;
      }
      break;
    }
    default:
      break;
  }
}

void make_wrong(Problem& p, Random& random) {
  switch (random.integer(0, 4)) {
    case 0:
      p.n_passed = -1;
      break;
    case 1:
      p.columns_passed = -2;
      break;
    case 2:
      p.lda_passed = std::max(0, p.n - 1);
      break;
    case 3:
      p.ldb_passed = std::max(0, p.n - 1);
      break;
    default:
      p.uplo_passed = 'X';
  }
  p.wrong = true;
}

Problem random_problem(Random& random) {
  Problem p;
  p.spd = random.chance(0.5);
  p.n = random.chance(0.05)  ? 0
        : random.chance(0.3) ? static_cast<int>(random.integer(1, 5))
                             : static_cast<int>(random.integer(2, 140));
  p.columns = random.chance(0.07) ? 0 : static_cast<int>(random.integer(1, 4));
  constexpr char kTriangles[] = {'L', 'U', 'l', 'u'};
  p.uplo = random.one_of(kTriangles);
  const auto padding = [&] { return std::max(1 - p.n, static_cast<int>(random.integer(0, 7))); };
  const auto seed = static_cast<unsigned>(random.next());
  p.a = Matrix(p.n, p.n, padding());
  p.whole = p.spd || random.chance(0.2) ? test::random_spd(p.n, seed)
                                        : test::random_matrix(p.n, p.n, seed);
  make_hostile(p, random);
  const bool lower = (p.uplo | 0x20) == 'l';
  for (int j = 0; j < p.n; ++j) {
    for (int i = 0; i < p.n; ++i) {
      const bool read = !p.spd || (lower ? i >= j : i <= j);
      p.a(i, j) = read ? p.whole(i, j) : kNotRead;
    }
  }
  p.b = test::random_matrix(p.n, p.columns, seed + 1, padding());
  p.n_passed = p.n;
  p.columns_passed = p.columns;
  p.lda_passed = p.a.ld;
  p.ldb_passed = p.b.ld;
  p.uplo_passed = p.uplo;
  if (random.chance(0.1)) make_wrong(p, random);
  return p;
}

/// The results of one call of a solver, of the drop-in or of LAPACK.
struct Outcome {
  Matrix a, b, x;
  std::vector<int> pivots;
  int info = 99, iterations = 0;
  test::Xerbla complaint;
};

enum class Routine { solve, mixed };

template <class F>
F* chosen(F* dropin, const char* name, bool behind) {
  return behind ? test::real(dropin, name) : dropin;
}

Outcome call(const Problem& p, Routine routine, bool behind) {
  Outcome o{p.a, p.b, p.b, std::vector<int>(p.n + 4, -7), 99, 0, {}};
  const std::size_t wide = static_cast<std::size_t>(std::max(1, p.n));
  std::vector<double> work(wide * (p.columns + 1));
  std::vector<float> swork(wide * (wide + p.columns + 1));
  test::take_xerbla();
  if (routine == Routine::solve && p.spd) {
    chosen(dposv_, "dposv_", behind)(&p.uplo_passed, &p.n_passed, &p.columns_passed, o.a.get(),
                                     &p.lda_passed, o.x.get(), &p.ldb_passed, &o.info);
  } else if (routine == Routine::solve) {
    chosen(dgesv_, "dgesv_", behind)(&p.n_passed, &p.columns_passed, o.a.get(), &p.lda_passed,
                                     o.pivots.data(), o.x.get(), &p.ldb_passed, &o.info);
  } else if (p.spd) {
    chosen(dsposv_, "dsposv_", behind)(
        &p.uplo_passed, &p.n_passed, &p.columns_passed, o.a.get(), &p.lda_passed, o.b.get(),
        &p.ldb_passed, o.x.get(), &p.ldb_passed, work.data(), swork.data(), &o.iterations, &o.info);
  } else {
    chosen(dsgesv_, "dsgesv_", behind)(
        &p.n_passed, &p.columns_passed, o.a.get(), &p.lda_passed, o.pivots.data(), o.b.get(),
        &p.ldb_passed, o.x.get(), &p.ldb_passed, work.data(), swork.data(), &o.iterations, &o.info);
  }
  o.complaint = test::take_xerbla();
  return o;
}

/// No worse than a backward stable solver, or than LAPACK on this system.
bool no_worse(double ours, double lapack, int n) {
  return ours <= test::allowed(n) || std::isnan(lapack) || ours <= 10 * lapack;
}

void judge_memory(const Problem& p, Routine routine, const Outcome& got, Report& report) {
  if (!got.a.padding_is_intact() || !got.x.padding_is_intact()) {
    report.found(Finding::memory, "padding was written");
  }
  if (p.spd && routine == Routine::solve) {
    const bool lower = (p.uplo | 0x20) == 'l';
    bool intact = true;
    for (int j = 0; j < p.n; ++j) {
      for (int i = 0; i < p.n; ++i) {
        if (lower ? i < j : i > j) intact = intact && got.a(i, j) == kNotRead;
      }
    }
    if (!intact) report.found(Finding::memory, "the other triangle was written");
  }
  if (routine == Routine::mixed && !test::same_bits(got.b, p.b)) {
    report.found(Finding::memory, "b was written");
  }
  if (!p.spd && got.pivots[static_cast<std::size_t>(p.n)] != -7) {
    report.found(Finding::memory, "ipiv was written beyond its end");
  }
}

/// dpotrs and dpocon, or dgetrs and dgecon, with the factor that the solver returned.
void follow_up(const Problem& p, Outcome& ours, Outcome& lapack, Random& random, Report& report) {
  const Matrix b = test::random_matrix(p.n, 3, static_cast<unsigned>(random.next()), 2);
  const char trans = !p.spd && random.chance(0.5) ? 'T' : 'N';
  const double norm = test::norm_one(p.whole);
  Matrix x[] = {b, b};
  double rcond[] = {-1, -1};
  int info[2] = {99, 99}, info_of_condition[2] = {99, 99};
  std::vector<double> work(4 * p.n + 4);
  std::vector<int> iwork(p.n + 4);
  for (const bool behind : {false, true}) {
    Outcome& o = behind ? lapack : ours;
    Matrix& y = x[behind];
    if (p.spd) {
      chosen(dpotrs_, "dpotrs_", behind)(&p.uplo, &p.n, &b.cols, o.a.get(), &o.a.ld, y.get(), &y.ld,
                                         &info[behind]);
      chosen(dpocon_, "dpocon_", behind)(&p.uplo, &p.n, o.a.get(), &o.a.ld, &norm, &rcond[behind],
                                         work.data(), iwork.data(), &info_of_condition[behind]);
    } else {
      chosen(dgetrs_, "dgetrs_", behind)(&trans, &p.n, &b.cols, o.a.get(), &o.a.ld, o.pivots.data(),
                                         y.get(), &y.ld, &info[behind]);
      chosen(dgecon_, "dgecon_", behind)("1", &p.n, o.a.get(), &o.a.ld, &norm, &rcond[behind],
                                         work.data(), iwork.data(), &info_of_condition[behind]);
    }
  }
  report.count("follow_ups");
  if (info[0] != info[1] || info_of_condition[0] != info_of_condition[1]) {
    report.found(Finding::certificate, text("follow-ups have info %d, %d; LAPACK's %d, %d", info[0],
                                            info_of_condition[0], info[1], info_of_condition[1]));
    return;
  }
  const Matrix a = trans == 'T' ? test::transposed(p.whole) : p.whole;
  const double e = test::backward_error(a, x[0], b), f = test::backward_error(a, x[1], b);
  if (!no_worse(e, f, p.n)) {
    report.found(Finding::above_tolerance, text("trs: backward error %.3g, LAPACK's %.3g", e, f));
  }
  if (!x[0].padding_is_intact()) report.found(Finding::memory, "padding was written by trs");
  const bool both_tiny = rcond[0] < 1e-14 && rcond[1] < 1e-14;
  if (std::isfinite(norm) && !both_tiny &&
      !(rcond[0] <= 10 * rcond[1] && rcond[0] >= rcond[1] / 10)) {
    report.found(Finding::forward_low, text("rcond %.3g, LAPACK's %.3g", rcond[0], rcond[1]));
  }
}

void attack_dropin(std::uint64_t seed, Report& report) {
  Random random(seed, "dropin");
  const Problem p = random_problem(random);
  const Routine routine = random.chance(0.6) ? Routine::solve : Routine::mixed;
  report.describe(text("%s%s, n %d, %d columns, uplo %c, lda %d, ldb %d%s",
                       routine == Routine::solve ? "d" : "ds", p.spd ? "posv" : "gesv", p.n_passed,
                       p.columns_passed, p.uplo_passed, p.lda_passed, p.ldb_passed,
                       p.wrong ? ", wrong" : ""));
  Outcome ours = call(p, routine, false), lapack = call(p, routine, true);
  if (ours.info != lapack.info || !(ours.complaint == lapack.complaint)) {
    report.found(Finding::certificate,
                 text("info %d and %d complaints, LAPACK's %d and %d", ours.info,
                      ours.complaint.calls, lapack.info, lapack.complaint.calls));
    return;
  }
  judge_memory(p, routine, ours, report);
  if (ours.info != 0 || p.wrong || p.n == 0 || p.columns == 0) {
    report.count("refused");
    return;
  }
  report.count("solved");
  const double e = test::backward_error(p.whole, ours.x, p.b);
  const double f = test::backward_error(p.whole, lapack.x, p.b);
  if (!no_worse(e, f, p.n)) {
    report.found(Finding::above_tolerance, text("backward error %.3g, LAPACK's %.3g", e, f));
  }
  if (routine == Routine::solve) follow_up(p, ours, lapack, random, report);
}

}  // namespace
}  // namespace stepwell::attack

int main(int argc, char** argv) {
  using namespace stepwell::attack;
  return attack_seeds("dropin_attack", argc, argv, {}, 600, [](const Request&, std::uint64_t seed) {
    return Attack{"", [seed](Report& report) { attack_dropin(seed, report); }};
  });
}
