// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <bit>
#include <stdexcept>

#include "kernels/fixture/fixture.hpp"
#include "kernels/quad.hpp"
#include "refine/normal_cg.hpp"
#include "refine/normal_operator.hpp"
#include "refine/preconditioner.hpp"
#include "refine/vectors.hpp"
#include "stepwell/factor.hpp"

/// Products with the normal equations of least squares, and refinement with them: accurate to
/// rounding, the same bits for any number of threads, and the reported errors are those of the
/// returned x.
namespace stepwell::refine::test {
namespace {

using kernels::test::Dense;
using kernels::test::kSanitized;
using kernels::test::kU64;
using kernels::test::Random;
using stepwell::test::Quad;

Dense<double> random_matrix(std::int64_t m, std::int64_t n, std::uint64_t seed) {
  Random random(seed);
  return kernels::test::gaussian(m, n, random);
}

std::vector<double> rows_of(const Dense<double>& a) {
  std::vector<double> rows;
  for (std::int64_t i = 0; i < a.rows; ++i) {
    for (std::int64_t j = 0; j < a.cols; ++j) rows.push_back(a(i, j));
  }
  return rows;
}

/// A problem with columns scaled by powers of two and a penalty.
struct Problem {
  Dense<double> a, b;
  std::vector<double> rows, power, tail;
  RightHandSides right;

  Problem(std::int64_t m, std::int64_t n, std::int64_t columns)
      : a(random_matrix(m, n, 1)), b(random_matrix(m, columns, 2)), rows(rows_of(a)) {
    for (std::int64_t j = 0; j < n; ++j) {
      power.push_back(std::ldexp(1.0, static_cast<int>(j % 5) - 2));
      tail.push_back(0.25 * static_cast<double>(j % 3));
    }
    right.b = std::as_const(b).view();
    for (std::int64_t k = 0; k < columns; ++k) {
      right.column.push_back(columns - 1 - k);
      right.factor.push_back(k % 2 == 0 ? 1 : 0.5);
    }
  }
  double h(std::int64_t i, std::int64_t j) const {
    return a(i, j) * power[static_cast<std::size_t>(j)];
  }
  /// The results of a first scan of A.
  std::vector<kernels::Scan> scan() const {
    std::vector<kernels::Scan> columns(power.size());
    for (std::int64_t j = 0; j < a.cols; ++j) {
      kernels::Scan& column = columns[static_cast<std::size_t>(j)];
      for (std::int64_t i = 0; i < a.rows; ++i) {
        column.max_abs = std::max(column.max_abs, std::abs(a(i, j)));
        column.checksum += std::bit_cast<std::uint64_t>(a(i, j));
      }
    }
    return columns;
  }
  TallMatrix matrix(int layout) const {
    if (layout == 0) return a.view();
    if (layout == 1) return by_rows(rows.data(), a.rows, a.cols);
    return from_function(a.rows, a.cols,
                         [this](std::int64_t first, std::int64_t count, double* out) {
                           std::copy_n(rows.data() + first * a.cols, count * a.cols, out);
                         });
  }
};

TEST(NormalProduct, IsRightToRounding) {
  for (const auto& [m, n, k] :
       {std::tuple{1, 1, 1}, {20, 20, 2}, {300, 17, 1}, {1000, 130, 9}, {700, 40, 18}}) {
    const Problem p(m, n, k);
    const Dense<double> x = random_matrix(n, k, 3);
    for (int layout = 0; layout < 3; ++layout) {
      for (const Sums sums : {Sums::fp64, Sums::split, Sums::double_double}) {
        engine::ThreadPool pool(2);
        const TallMatrix matrix = p.matrix(layout);
        core::RowReader reader(matrix);
        NormalProduct h(pool, reader, p.power, p.tail, p.scan());
        Dense<double> g(n, k), y(n, k);
        std::vector<double> squares(static_cast<std::size_t>(k));
        h.residual(p.right, std::as_const(x).view(), g.view(), squares, sums);
        h.apply(std::as_const(x).view(), y.view(), sums);
        for (std::int64_t c = 0; c < k; ++c) {
          const auto e = static_cast<std::size_t>(c);
          std::vector<Quad> r(static_cast<std::size_t>(m)), hx(r.size());
          Quad square = 0;
          double r_size = 0;
          for (std::int64_t i = 0; i < m; ++i) {
            Quad sum = 0;
            double size = std::abs(p.b(i, p.right.column[e]));
            for (std::int64_t j = 0; j < n; ++j) {
              sum += Quad(p.h(i, j)) * Quad(x(j, c));
              size += std::abs(p.h(i, j) * x(j, c));
            }
            const auto row = static_cast<std::size_t>(i);
            hx[row] = sum;
            r[row] = Quad(p.b(i, p.right.column[e])) * Quad(p.right.factor[e]) - sum;
            square += r[row] * r[row];
            r_size = std::max(r_size, size);
          }
          for (std::int64_t j = 0; j < n; ++j) {
            const double t = p.tail[static_cast<std::size_t>(j)];
            square += Quad(t) * Quad(x(j, c)) * Quad(x(j, c));
            Quad from_r = -Quad(t) * Quad(x(j, c)), from_x = -from_r;
            double size = std::abs(t * x(j, c));
            for (std::int64_t i = 0; i < m; ++i) {
              from_r += Quad(p.h(i, j)) * r[static_cast<std::size_t>(i)];
              from_x += Quad(p.h(i, j)) * hx[static_cast<std::size_t>(i)];
              size += std::abs(p.h(i, j)) * r_size;
            }
            const double u = sums == Sums::fp64 ? static_cast<double>(m + n + 3) * kU64 : 4 * kU64;
            EXPECT_NEAR(g(j, c), static_cast<double>(from_r), u * size);
            EXPECT_NEAR(y(j, c), static_cast<double>(from_x), u * size);
          }
          EXPECT_NEAR(squares[e], static_cast<double>(square),
                      static_cast<double>(m + n) * kU64 * r_size * r_size * m);
        }
      }
    }
  }
}

/// rounding() bounds the error of a pass for all inputs: columns with one element far larger than
/// the others, a residual that is small compared with b, x with elements of very different
/// magnitudes.
TEST(NormalProduct, SaysWhatRoundingDoes) {
  const std::int64_t m = 900, n = 90, k = 2;
  for (int kind = 0; kind < 4; ++kind) {
    Problem p(m, n, k);
    std::fill(p.power.begin(), p.power.end(), 0x1p-5);
    std::fill(p.tail.begin(), p.tail.end(), 0.0);
    Dense<double> x = random_matrix(n, k, 3);
    for (std::int64_t j = 0; j < n; ++j) {
      if (kind == 1) p.a(j, j) *= 1e4;
      for (std::int64_t c = 0; c < k && kind == 2; ++c) x(j, c) *= std::pow(10, -(j % 12));
      for (std::int64_t i = 0; i < m && kind == 1; ++i) p.a(i, j) *= 1e-2;
    }
    if (kind == 3) {  // b is H x except for rounding
      for (std::int64_t c = 0; c < k; ++c) {
        for (std::int64_t i = 0; i < m; ++i) {
          const auto e = static_cast<std::size_t>(c);
          double& b = p.b(i, p.right.column[e]);
          b = 0;
          for (std::int64_t j = 0; j < n; ++j) b += p.h(i, j) * x(j, c) / p.right.factor[e];
        }
      }
    }
    double norm = 0;
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t i = 0; i < m; ++i) norm = std::hypot(norm, p.h(i, j));
    }
    engine::ThreadPool pool(2);
    const TallMatrix matrix = p.matrix(0);
    core::RowReader reader(matrix);
    NormalProduct h(pool, reader, p.power, p.tail, p.scan());
    for (const Sums sums : {Sums::fp64, Sums::split, Sums::double_double}) {
      Dense<double> g(n, k);
      std::vector<double> squares(static_cast<std::size_t>(k));
      h.residual(p.right, std::as_const(x).view(), g.view(), squares, sums);
      EXPECT_EQ(h.changed_column(), -1);
      for (std::int64_t c = 0; c < k; ++c) {
        const auto e = static_cast<std::size_t>(c);
        std::vector<Quad> exact(static_cast<std::size_t>(n));
        Quad square = 0;
        for (std::int64_t i = 0; i < m; ++i) {
          Quad r = Quad(p.b(i, p.right.column[e])) * Quad(p.right.factor[e]);
          for (std::int64_t j = 0; j < n; ++j) r -= Quad(p.h(i, j)) * Quad(x(j, c));
          square += r * r;
          for (std::int64_t j = 0; j < n; ++j)
            exact[static_cast<std::size_t>(j)] += Quad(p.h(i, j)) * r;
        }
        double lost = 0, size = 0;
        for (std::int64_t j = 0; j < n; ++j) {
          lost = std::hypot(
              lost, static_cast<double>(Quad(g(j, c)) - exact[static_cast<std::size_t>(j)]));
          size = std::hypot(size, g(j, c));
        }
        const double r = std::sqrt(squares[e]), length = norm2(n, x.view().column(c));
        const Rounding bound = h.rounding(sums, norm, r, length);
        // g itself is rounded; the norm of r is a plain sum.
        EXPECT_LE(lost, bound.gradient + kU64 * size) << kind;
        EXPECT_LE(std::abs(r - std::sqrt(static_cast<double>(square))),
                  bound.residual + kU64 * m * r)
            << kind;
        // The bound is also useful: it is below the smallest error of FP64 sums.
        if (sums != Sums::fp64 && kind != 3) {
          EXPECT_LT(bound.gradient, kU64 * norm * r) << kind;
        }
      }
    }
  }
}

/// A changed element is detected by every pass whose result may be accepted, in either half of the
/// pass.
TEST(NormalProduct, SeesThatAHasChanged) {
  for (int layout = 0; layout < 3; ++layout) {
    Problem p(600, 150, 2);
    const Dense<double> x = random_matrix(150, 2, 3);
    engine::ThreadPool pool(2);
    const TallMatrix matrix = p.matrix(layout);
    core::RowReader reader(matrix);
    const std::vector<kernels::Scan> before = p.scan();
    for (const Sums sums : {Sums::split, Sums::double_double}) {
      NormalProduct h(pool, reader, p.power, p.tail, before);
      Dense<double> g(150, 2);
      std::vector<double> squares(2);
      h.residual(p.right, std::as_const(x).view(), g.view(), squares, sums);
      EXPECT_EQ(h.changed_column(), -1);
      const double old = p.a(311, 70);
      p.a(311, 70) = p.rows[311 * 150 + 70] = old + 1;
      h.residual(p.right, std::as_const(x).view(), g.view(), squares, sums);
      EXPECT_EQ(h.changed_column(), 64) << layout;
      p.a(311, 70) = p.rows[311 * 150 + 70] = old;
      // Two elements of different columns are exchanged: the sum over all columns is the same.
      NormalProduct swapped(pool, reader, p.power, p.tail, before);
      std::swap(p.a(311, 70), p.a(17, 140));
      std::swap(p.rows[311 * 150 + 70], p.rows[17 * 150 + 140]);
      swapped.residual(p.right, std::as_const(x).view(), g.view(), squares, sums);
      EXPECT_EQ(swapped.changed_column(), 64) << layout;
      std::swap(p.a(311, 70), p.a(17, 140));
      std::swap(p.rows[311 * 150 + 70], p.rows[17 * 150 + 140]);
    }
  }
}

TEST(NormalProduct, HasTheSameBitsForAnyThreadsAndFromAFunction) {
  const std::int64_t m = kSanitized ? 3000 : 20011, n = 60, k = 3;
  const Problem p(m, n, k);
  const Dense<double> x = random_matrix(n, k, 3);
  const auto residual = [&](int layout, int threads, Sums sums) {
    engine::ThreadPool pool(threads);
    const TallMatrix matrix = p.matrix(layout);
    core::RowReader reader(matrix);
    NormalProduct h(pool, reader, p.power, p.tail, p.scan());
    Dense<double> g(n, k);
    std::vector<double> squares(static_cast<std::size_t>(k));
    h.residual(p.right, std::as_const(x).view(), g.view(), squares, sums);
    std::vector<double> all(g.data.begin(), g.data.end());
    all.insert(all.end(), squares.begin(), squares.end());
    return all;
  };
  for (const Sums sums : {Sums::fp64, Sums::split, Sums::double_double}) {
    const std::vector<double> by_columns = residual(0, 1, sums);
    const std::vector<double> by_rows = residual(1, 1, sums);
    for (int threads = 2; threads <= 4; ++threads) {
      EXPECT_EQ(residual(0, threads, sums), by_columns) << threads;
      EXPECT_EQ(residual(1, threads, sums), by_rows) << threads;
      EXPECT_EQ(residual(2, threads, sums), by_rows) << threads;
    }
  }
}

/// A problem and the factor of its normal equations, perturbed by 'noise'.
class Refinement {
 public:
  Refinement(std::int64_t m, std::int64_t n, std::int64_t columns, double noise)
      : p_(m, n, columns),
        matrix_(p_.matrix(0)),
        reader_(matrix_),
        pool_(2),
        h_(pool_, reader_, p_.power, p_.tail, p_.scan()),
        ones_(static_cast<std::size_t>(n), 1.0) {
    Random random(9);
    Dense<double> c(n, n);
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t i = j; i < n; ++i) {
        for (std::int64_t k = 0; k < m; ++k) c(i, j) += p_.h(k, i) * p_.h(k, j);
        if (i == j) c(i, j) += p_.tail[static_cast<std::size_t>(j)];
        norm_ += i == j ? c(i, j) : 0;
        c(i, j) *= 1 + noise * random.gaussian();
      }
    }
    norm_ = std::sqrt(norm_);
    FactorOptions f;
    f.map = uniform(Rung::fp64);
    factor_ = cholesky(std::as_const(c).view(), f);
    preconditioner_ =
        std::make_unique<FactorPreconditioner>(pool_, FactorData::of(factor_), ones_, ones_);
    x_ = Dense<double>(n, columns);
    g_ = Dense<double>(n, columns);
    state_.x = x_.view();
    state_.g = g_.view();
    state_.squares.resize(static_cast<std::size_t>(columns));
    state_.error.resize(state_.squares.size());
    state_.projects.resize(state_.squares.size());
    state_.sums.resize(state_.squares.size());
    h_.residual(p_.right, {}, state_.g, state_.squares);
  }

  Outcome cg(NormalRequest q) {
    q.norm = norm_;
    return normal_cg(h_, *preconditioner_, p_.right, state_, q);
  }
  Outcome with(Refiner refiner) {
    Request q;
    q.refiner = refiner;
    q.goal = 2 * kU64;
    return refine_normal(h_, *preconditioner_, p_.right, state_, norm_, 0, q);
  }
  /// Checks that g and the squares of the state belong to its x.
  void expect_true_residuals() {
    Dense<double> g(x_.rows, x_.cols);
    std::vector<double> squares(state_.squares.size());
    h_.residual(p_.right, std::as_const(x_).view(), g.view(), squares);
    for (std::int64_t c = 0; c < x_.cols; ++c) {
      const auto k = static_cast<std::size_t>(c);
      // The sums are in another order, with other columns in the same pass.
      const double size = std::sqrt(squares[k]) + norm_ * norm2(x_.rows, x_.view().column(c));
      const double u = 50 * kU64;
      EXPECT_NEAR(squares[k], state_.squares[k], u * size * size);
      for (std::int64_t j = 0; j < x_.rows; ++j) EXPECT_NEAR(g(j, c), g_(j, c), u * norm_ * size);
    }
  }
  const LeastSquaresState& state() const { return state_; }

 private:
  Problem p_;
  TallMatrix matrix_;
  core::RowReader reader_;
  engine::ThreadPool pool_;
  NormalProduct h_;
  std::vector<double> ones_;
  double norm_ = 0;
  Factor factor_;
  std::unique_ptr<FactorPreconditioner> preconditioner_;
  Dense<double> x_{0, 0}, g_{0, 0};
  LeastSquaresState state_;
};

TEST(NormalCg, GainsDigitsWithEveryPassAndCertifiesTheLast) {
  for (const auto& [noise, most] : {std::pair{0.0, 3}, {1e-6, 4}, {1e-3, 8}, {0.02, 20}}) {
    Refinement r(400, 50, 3, noise);
    NormalRequest q;
    q.goal = 2 * kU64;
    const Outcome outcome = r.cg(q);
    for (std::size_t k = 0; k < 3; ++k) {
      EXPECT_EQ(outcome.system[k].status, Status::done) << noise;
      EXPECT_LE(outcome.system[k].iterations, most) << noise;
      EXPECT_LE(r.state().error[k].value, q.goal);
      EXPECT_EQ(outcome.system[k].error, r.state().error[k].value);
      EXPECT_EQ(std::ssize(outcome.system[k].history), outcome.system[k].iterations);
    }
    r.expect_true_residuals();
  }
}

TEST(NormalCg, DoesNotTrustAFactorThatIsFarOff) {
  Refinement r(400, 50, 1, 1e-3);
  NormalRequest q;
  q.goal = 2 * kU64;
  q.inverse = 1e6;  // then an E of 1e-3 may hide anything
  r.cg(q);
  EXPECT_FALSE(r.state().projects[0]);
  EXPECT_NE(r.state().error[0].measure, Measure::projection);
  Refinement good(400, 50, 1, 1e-9);
  q.inverse = 1;
  good.cg(q);
  EXPECT_TRUE(good.state().projects[0]);
}

TEST(NormalCg, StopsWhenItIsToldTo) {
  Refinement r(400, 50, 2, 0.02);
  NormalRequest q;
  q.iterations = 2;
  EXPECT_EQ(r.cg(q).system[0].status, Status::stopped);
  r.expect_true_residuals();
  Refinement again(400, 50, 2, 0.02);
  q.iterations = 100;
  q.go_on = [](int k, double) { return k < 3; };
  EXPECT_EQ(again.cg(q).system[0].iterations, 3);
}

TEST(NormalOperator, ServesTheOtherRefiners) {
  for (const Refiner refiner :
       {Refiner::ir, Refiner::gmres, Refiner::fgmres, Refiner::ir_cg, Refiner::ir_gmres}) {
    Refinement r(400, 50, 3, 1e-3);
    r.with(refiner);
    for (const LeastSquaresError& e : r.state().error) {
      EXPECT_LE(e.value, 8 * kU64) << to_string(refiner);
    }
    r.expect_true_residuals();
  }
}

}  // namespace
}  // namespace stepwell::refine::test
