// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include "attack/factor_attacks.hpp"
#include "attack/oracle/exact_factor.hpp"
#include "solvers/uses/changed_matrix.hpp"

/// Random sequences of changes to a factor.
namespace stepwell::attack {
namespace {

constexpr double kU = 0x1p-53;

using test::ChangedMatrix;

/// A sequence of changes of a factor and of the matrix that it belongs to.
class Sequence {
 public:
  Sequence(const Named& named, Factor factor, Random& random, Report& report)
      : a_(named.a.view()), factor_(std::move(factor)), random_(random), report_(report) {}

  void run(std::int64_t steps) {
    check("cholesky");
    for (std::int64_t step = 0; step < steps; ++step) {
      const std::int64_t kind = random_.integer(0, 3);
      if (kind == 0) append();
      if (kind == 1) update();
      if (kind == 2) downdate();
      if (kind == 3) drop();
      if (failed_) return;
    }
    check_determinant();
  }

 private:
  EngineOptions with() {
    EngineOptions options;
    options.context = &random_context(random_);
    return options;
  }

  void check(const char* change) {
    const double error = a_.error(factor_), allowed = a_.allowance();
    report_.count(change);
    report_.count(error <= 0.01 * allowed  ? "error up to 1 % of the bound"
                  : error <= 0.1 * allowed ? "error up to 10 % of the bound"
                                           : "error above 10 % of the bound");
    if (error <= allowed) return;
    failed_ = true;
    report_.found(Finding::inaccurate,
                  text("after %s, n = %lld: error %.3g u, allowed %.3g u", change,
                       static_cast<long long>(a_.order()), error, allowed));
  }

  /// log_det() is within its bound, which counts the changes.
  void check_determinant() {
    const ExactFactor exact = exact_factor(a_, a_.order());
    if (exact.info >= 0) return report_.count("determinant: not definite in 113 bits");
    const double error =
        static_cast<double>(std::abs(static_cast<long double>(factor_.log_det()) - exact.log_det));
    const double bound = factor_.log_det_error();
    report_.count(std::isinf(bound)      ? "determinant: bound infinite"
                  : bound <= 3 * error   ? "determinant: bound up to 3 times the error"
                  : bound <= 100 * error ? "determinant: bound up to 100 times the error"
                                         : "determinant: bound above 100 times the error");
    if (error <= bound) return;
    report_.found(Finding::inaccurate, text("log_det's error %.3g, bound %.3g", error, bound));
  }

  /// The smallest l_ii^2, relative to what a_ii has been.
  double least_pivot() const {
    const std::int64_t n = a_.order();
    Matrix l(n, n);
    factor_.copy_to(view(l.data.data(), n, n));
    const std::vector<std::int64_t>& order = factor_.permutation();
    double least = 1;
    for (std::int64_t i = 0; i < n; ++i) {
      const double size = a_.size(order.empty() ? i : order[static_cast<std::size_t>(i)]);
      least = std::min(least, (l(i, i) / size) * (l(i, i) / size));
    }
    return least;
  }

  /// 'margin': by how much a matrix is positive definite, or not, relative to the square of 'size',
  /// in which the backward error of the factor counts. True if rounding cannot decide it: errors of
  /// the first order are smaller, and those of the second order are smaller than these.
  bool decided(double margin, double size) const {
    const double error = 4 * a_.allowance() * kU;
    return std::abs(margin) > error * size * size && least_pivot() > 100 * error;
  }

  /// The verdict on a change, and what it has to be if that is decided.
  bool agreed(const char* change, bool accepted, bool decided, bool expected) {
    if (!decided) {
      report_.count(text("%s: undecided", change));
    } else if (accepted != expected) {
      failed_ = true;
      report_.found(Finding::info, text("%s %s", change, accepted ? "accepted" : "refused"));
    }
    if (!accepted) {
      report_.count(text("%s: refused", change));
      check("a refusal");
    }
    return accepted && !failed_;
  }

  /// w of random size, and the sum of |w_i| size_i.
  struct Combination {
    std::vector<double> w;
    double size = 0;
    std::vector<long double> product;  ///< A w
    long double form = 0;              ///< w'A w
  };
  Combination combination() {
    Combination c;
    const std::int64_t n = a_.order();
    for (std::int64_t i = 0; i < n; ++i) {
      const double weight = random_.chance(0.5) ? random_.normal() : 0;
      c.w.push_back(weight / a_.size(i));
      c.size += std::abs(weight);
    }
    for (std::int64_t i = 0; i < n; ++i) {
      long double sum = 0;
      for (std::int64_t j = 0; j < n; ++j) sum += a_(i, j) * c.w[static_cast<std::size_t>(j)];
      c.product.push_back(sum);
      c.form += sum * c.w[static_cast<std::size_t>(i)];
    }
    return c;
  }

  /// A row that is a combination of A's rows, except for its diagonal element.
  void append() {
    const std::int64_t n = a_.order();
    if (n >= kMost) return;
    const Combination c = combination();
    const double part = random_.sign() * random_.power_of_ten(-14, 1);
    const auto diagonal = static_cast<double>(c.form * (1 + static_cast<long double>(part)));
    if (!(diagonal > 0)) return;
    Matrix row(1, n + 1);
    for (std::int64_t j = 0; j < n; ++j) {
      row(0, j) = static_cast<double>(c.product[static_cast<std::size_t>(j)]);
    }
    row(0, n) = diagonal;
    const bool clear = decided(part * static_cast<double>(c.form), c.size + std::sqrt(diagonal));
    const bool accepted = factor_.append(row.view(), with());
    if (!agreed("append", accepted, clear, part > 0)) return;
    a_.append(row.view());
    check("append");
  }

  void update() {
    Matrix v(a_.order(), random_.integer(1, random_.chance(0.1) ? 70 : 4));
    const double large = random_.power_of_ten(-6, 2);
    const std::int64_t zeros = random_.chance(0.3) ? random_.integer(0, a_.order()) : 0;
    for (std::int64_t c = 0; c < v.cols; ++c) {
      for (std::int64_t i = zeros; i < v.rows; ++i) v(i, c) = large * random_.normal() * a_.size(i);
    }
    factor_.update(v.view(), with());
    a_.add(v.view(), 1);
    check("update");
  }

  /// Columns A w, of which each takes a part of A away: v'A^-1 v = the part.
  void downdate() {
    Matrix v(a_.order(), random_.integer(1, 3));
    const double part = 1 + random_.sign() * random_.power_of_ten(-14, 1);
    if (!(part > 0)) return;
    double margin = 0, size = 0;
    for (std::int64_t c = 0; c < v.cols; ++c) {
      // The last column is the only one that can take too much: the others take a hundredth.
      const Combination w = combination();
      if (!(w.form > 0)) return;
      const bool last = c == v.cols - 1;
      const double share = last ? part : 0.01;
      if (last && v.cols > 1 && std::abs(1 - part) < 0.1) return;
      const long double root = std::sqrt(share / w.form);
      for (std::int64_t i = 0; i < v.rows; ++i) {
        v(i, c) = static_cast<double>(root * w.product[static_cast<std::size_t>(i)]);
      }
      margin = (1 - part) * static_cast<double>(w.form);
      size = w.size;
    }
    // With others the last one's margin is smaller.
    if (v.cols > 1 && margin > 0) size *= 1e3;
    const bool clear = decided(margin, size);
    const bool accepted = factor_.downdate(v.view(), with());
    if (!agreed("downdate", accepted, clear, margin > 0)) return;
    a_.add(v.view(), -1);
    check("downdate");
  }

  void drop() {
    std::vector<std::int64_t> rows;
    const double part = random_.chance(0.8) ? 0.02 : 0.5;
    for (std::int64_t i = 0; i < a_.order(); ++i) {
      if (random_.chance(part)) rows.push_back(i);
    }
    if (static_cast<std::int64_t>(rows.size()) == a_.order()) return;
    factor_.drop(rows, with());
    a_.drop(rows);
    check("drop");
  }

  static constexpr std::int64_t kMost = 200;

  ChangedMatrix a_;
  Factor factor_;
  Random& random_;
  Report& report_;
  bool failed_ = false;
};

}  // namespace

void attack_changes(std::uint64_t seed, Report& report) {
  Random random(seed, "changes");
  const std::int64_t n = random.integer(1, 130);
  const Named named = random_spd(n, random);
  FactorOptions options = random_options(random.chance(0.5) ? "int8x14" : "fp64", random);
  options.spread = random.chance(0.3);
  report.describe(text("%s, n = %lld", named.name.c_str(), static_cast<long long>(n)));
  Factor factor = cholesky(named.a.view(), options);
  if (!factor.ok()) return report.count("not positive definite");
  Sequence(named, std::move(factor), random, report).run(20);
}

}  // namespace stepwell::attack
