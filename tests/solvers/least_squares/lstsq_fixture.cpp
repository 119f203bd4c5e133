// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/least_squares/lstsq_fixture.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

extern "C" void dgels_(const char* trans, const int* m, const int* n, const int* nrhs, double* a,
                       const int* lda, double* b, const int* ldb, double* work, const int* lwork,
                       int* info, std::size_t);

namespace stepwell::solvers::test {
namespace {

/// A <- (I - 2 v v' / v'v) A with a random v.
void reflect(Dense<double>& a, Random& random) {
  std::vector<double> v(static_cast<std::size_t>(a.rows));
  double size = 0;
  for (double& e : v) {
    e = random.gaussian();
    size += e * e;
  }
  for (std::int64_t j = 0; j < a.cols; ++j) {
    double sum = 0;
    for (std::int64_t i = 0; i < a.rows; ++i) sum += v[i] * a(i, j);
    for (std::int64_t i = 0; i < a.rows; ++i) a(i, j) -= 2 * sum / size * v[i];
  }
}

}  // namespace

Dense<double> tall_matrix(std::int64_t m, std::int64_t n, double condition, std::uint64_t seed) {
  Random random(seed);
  Dense<double> right(n, n);
  for (std::int64_t j = 0; j < n; ++j) {
    const double t = n > 1 ? static_cast<double>(j) / static_cast<double>(n - 1) : 0;
    right(j, j) = std::pow(condition, -t);
  }
  for (int k = 0; k < 3; ++k) reflect(right, random);
  Dense<double> a(std::max(m, n), n);
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = 0; i < n; ++i) a(i, j) = right(j, i);
  }
  for (int k = 0; k < 3; ++k) reflect(a, random);
  if (m >= n) return a;
  Dense<double> top(m, n);
  for (std::int64_t j = 0; j < n; ++j) std::copy_n(&a(0, j), m, &top(0, j));
  return top;
}

Dense<double> right_hand_sides(const Dense<double>& a, std::int64_t columns, double size,
                               std::uint64_t seed) {
  Random random(seed + 500);
  Dense<double> noise = kernels::test::gaussian(a.rows, columns, random);
  if (a.rows < a.cols) return noise;
  const Dense<double> fit = lapack_lstsq(a, noise);
  Dense<double> b(a.rows, columns);
  for (std::int64_t c = 0; c < columns; ++c) {
    double of_b = 0, of_noise = 0;
    std::vector<double> x(static_cast<std::size_t>(a.cols));
    for (double& e : x) e = random.gaussian();
    for (std::int64_t i = 0; i < a.rows; ++i) {
      for (std::int64_t j = 0; j < a.cols; ++j) {
        b(i, c) += a(i, j) * x[j];
        noise(i, c) -= a(i, j) * fit(j, c);
      }
      of_b = std::hypot(of_b, b(i, c));
      of_noise = std::hypot(of_noise, noise(i, c));
    }
    if (size == 0 || of_noise == 0) continue;
    for (std::int64_t i = 0; i < a.rows; ++i) b(i, c) += size * of_b / of_noise * noise(i, c);
  }
  return b;
}

Stored::Stored(const Dense<double>& a, Storage storage, std::int64_t pad)
    : storage_(storage),
      m_(a.rows),
      n_(a.cols),
      memory_(storage == Storage::columns ? m_ : n_, storage == Storage::columns ? n_ : m_, pad) {
  for (std::int64_t j = 0; j < n_; ++j) {
    for (std::int64_t i = 0; i < m_; ++i) {
      (storage == Storage::columns ? memory_(i, j) : memory_(j, i)) = a(i, j);
    }
  }
  memory_.seal();
}

TallMatrix Stored::matrix() const {
  const MatrixView<const double> stored = memory_.view();
  if (storage_ == Storage::columns) return stored;
  if (storage_ == Storage::rows) return by_rows(stored.data, m_, n_, stored.ld);
  return from_function(m_, n_, [stored](auto first, auto count, double* out) {
    for (std::int64_t i = 0; i < count; ++i) {
      std::copy_n(stored.column(first + i), stored.rows, out + i * stored.rows);
    }
  });
}

std::vector<double> tail_of(const LeastSquaresOptions& options, std::int64_t n) {
  std::vector<double> tail;
  for (std::int64_t j = 0; options.lambda > 0 && j < n; ++j) {
    const double weight = options.weights.empty() ? 1 : options.weights[j];
    tail.push_back(std::sqrt(options.lambda) * std::sqrt(weight));
  }
  return tail;
}

Solved lstsq_of(const Dense<double>& a, const Dense<double>& b,
                const LeastSquaresOptions& options) {
  Solved s{Dense<double>(a.cols, b.cols), {}};
  s.certificate = lstsq(a.view(), b.view(), s.x.view(), options);
  EXPECT_TRUE(consistent_lstsq(s.certificate, a.cols, b.cols)) << path_of(s.certificate);
  return s;
}

LeastSquaresOptions at_rung(Rung rung) {
  LeastSquaresOptions options;
  options.map = uniform(rung);
  return options;
}

LeastSquaresOptions LeastSquaresPath::options() const {
  LeastSquaresOptions o;
  if (rung) o.map = uniform(*rung);
  o.qr = qr;
  o.lambda = lambda;
  return o;
}

void PrintTo(const LeastSquaresPath& p, std::ostream* out) {
  *out << p.m << " x " << p.n << " "
       << (p.qr     ? "qr"
           : p.rung ? to_string(*p.rung)
                    : "default")
       << " lambda " << p.lambda;
}

::testing::AssertionResult consistent_lstsq(const Certificate& c, std::int64_t n,
                                            std::int64_t columns) {
  const auto wrong = [](const char* what) { return ::testing::AssertionFailure() << what; };
  const ::testing::AssertionResult plain = consistent(c, columns);
  if (!plain) return plain;
  if (c.structure != Structure::least_squares) return wrong("another structure");
  for (const LadderStep& rung : c.rungs) {
    if (map_text(rung.method) != "qr" && !rung_from_string(map_text(rung.method)))
      return wrong("no such rung");
  }
  if (!std::is_sorted(c.dependent.begin(), c.dependent.end())) return wrong("not ascending");
  if (c.dependent.empty() == (c.outcome == SolveOutcome::rank_deficient)) {
    return wrong("dependent columns, or none, against the outcome");
  }
  if (c.outcome == SolveOutcome::rank_deficient && c.rank != -1 &&
      c.rank + static_cast<std::int64_t>(c.dependent.size()) != n) {
    return wrong("rank and dependent columns are not all columns");
  }
  for (const ColumnCertificate& column : c.columns) {
    const bool known = column.measure != Measure::normwise;
    if (c.ok() && column.backward_error > 0 && !known) return wrong("measured by what?");
    if (c.ok() && !(column.residual_norm >= 0)) return wrong("no residual");
  }
  return ::testing::AssertionSuccess();
}

Dense<double> lapack_lstsq(const Dense<double>& a, const Dense<double>& b) {
  Dense<double> qr(a), y(b), x(a.cols, b.cols);
  const int m = static_cast<int>(a.rows), n = static_cast<int>(a.cols);
  const int columns = static_cast<int>(b.cols), size = 64 * (n + columns) + 4160;
  std::vector<double> work(static_cast<std::size_t>(size));
  int info = 0;
  dgels_("N", &m, &n, &columns, qr.data.data(), &m, y.data.data(), &m, work.data(), &size, &info,
         1);
  EXPECT_EQ(info, 0) << "dgels finds no full rank";
  for (std::int64_t c = 0; c < b.cols; ++c) std::copy_n(&y(0, c), a.cols, &x(0, c));
  return x;
}

double forward_bound(const ExactLeastSquares& exact, const double* b, const double* x,
                     double error) {
  const double condition = exact.condition() * std::sqrt(static_cast<double>(exact.cols()));
  const double fit = exact.norm() * exact.size(x);
  const double bound = condition * (1 + condition * exact.residual_norm(b, x) / fit) * error;
  return bound < 0.1 ? bound : std::numeric_limits<double>::infinity();
}

std::string path_of(const Certificate& c) {
  std::ostringstream out;
  out << to_string(c.outcome) << ": " << c.reason;
  for (const LadderStep& r : c.rungs) {
    out << "; " << map_text(r.method) << " " << refiner_text(r.method) << " " << r.iterations
        << " error " << r.error << " " << r.reason;
  }
  return out.str();
}

}  // namespace stepwell::solvers::test
