// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "refine/inner.hpp"
#include "refine/vectors.hpp"

namespace stepwell::refine {
namespace {

/// The Krylov space of one slot: an orthonormal basis, and the Hessenberg matrix reduced to
/// triangular form by Givens rotations (Saad, Iterative Methods, 6.5).
class Krylov {
 public:
  Krylov(std::int64_t n, int restart, bool flexible)
      : n_(n),
        restart_(restart),
        v_(n, restart + 1),
        z_(n, flexible ? restart : 0),
        h_(static_cast<std::size_t>(restart + 1) * static_cast<std::size_t>(restart)),
        cosine_(static_cast<std::size_t>(restart)),
        sine_(cosine_.size()),
        g_(cosine_.size() + 1) {}

  /// Starts from a residual and returns its norm.
  double start(const double* residual) {
    steps_ = 0;
    std::fill(g_.begin(), g_.end(), 0.0);
    g_[0] = norm2(n_, residual);
    std::copy_n(residual, n_, v_[0]);
    if (g_[0] > 0) scale(n_, 1 / g_[0], v_[0]);
    return g_[0];
  }

  const double* newest() const { return v_[steps_]; }
  double* preconditioned() const { return z_[steps_]; }
  bool full() const { return static_cast<int>(steps_) == restart_; }

  /// Extends the basis by w, which is A (or M^-1 A) times the newest vector and is overwritten.
  /// Returns the residual norm of the least squares solution.
  double add(double* w) {
    const std::size_t k = steps_;
    for (std::size_t i = 0; i <= k; ++i) {
      h(i, k) = dot(n_, v_[i], w);
      axpy(n_, -h(i, k), v_[i], w);
    }
    const double below = norm2(n_, w);
    for (std::size_t i = 0; i < k; ++i) {
      const double upper = h(i, k);
      h(i, k) = cosine_[i] * upper + sine_[i] * h(i + 1, k);
      h(i + 1, k) = cosine_[i] * h(i + 1, k) - sine_[i] * upper;
    }
    const double length = std::hypot(h(k, k), below);
    cosine_[k] = length > 0 ? h(k, k) / length : 1;
    sine_[k] = length > 0 ? below / length : 0;
    h(k, k) = length;
    g_[k + 1] = -sine_[k] * g_[k];
    g_[k] *= cosine_[k];
    std::copy_n(w, n_, v_[k + 1]);
    if (below > 0) scale(n_, 1 / below, v_[k + 1]);
    ++steps_;
    return std::abs(g_[k + 1]);
  }

  /// Coefficients of the least squares solution.
  std::vector<double> coefficients() const {
    std::vector<double> y(steps_);
    for (std::size_t i = steps_; i-- > 0;) {
      double sum = g_[i];
      for (std::size_t j = i + 1; j < steps_; ++j) sum -= h(i, j) * y[j];
      y[i] = h(i, i) != 0 ? sum / h(i, i) : 0;
    }
    return y;
  }

  /// d += the least squares solution, a combination of the basis (flexible: of the preconditioned
  /// vectors).
  void update(bool flexible, double* d) const {
    const std::vector<double> y = coefficients();
    for (std::size_t i = 0; i < y.size(); ++i) axpy(n_, y[i], flexible ? z_[i] : v_[i], d);
  }

 private:
  double& h(std::size_t i, std::size_t j) {
    return h_[i + j * static_cast<std::size_t>(restart_ + 1)];
  }
  double h(std::size_t i, std::size_t j) const {
    return h_[i + j * static_cast<std::size_t>(restart_ + 1)];
  }

  std::int64_t n_;
  int restart_;
  Vectors v_, z_;
  std::vector<double> h_, cosine_, sine_, g_;
  std::size_t steps_ = 0;
};

double size_of(const std::vector<double>& y) {
  return norm2(static_cast<std::int64_t>(y.size()), y.data());
}

class Gmres {
 public:
  Gmres(Work& work, Corrections& e, Side side)
      : work_(work),
        e_(e),
        side_(side),
        n_(e.r.rows),
        in_(n_, static_cast<std::int64_t>(e.column.size())),
        out_(n_, static_cast<std::int64_t>(e.column.size())),
        first_(e.column.size()),
        last_(e.column.size(), HUGE_VAL) {
    const int restart = std::max(1, std::min(work.request.restart, e.iterations));
    for (std::size_t s = 0; s < e.column.size(); ++s) {
      space_.emplace_back(n_, restart, side != Side::left);
      live_.push_back(s);
    }
  }

  void run() {
    bool first = true;
    while (!live_.empty() && done_ < e_.iterations && !work_.stopped) {
      begin_cycle(first);
      first = false;
      std::vector<std::size_t> again;
      const std::vector<std::size_t> cycle = live_;
      while (!live_.empty() && done_ < e_.iterations && !work_.stopped) {
        step(again);
        ++done_;
      }
      for (const std::size_t s : cycle) {
        space_[s].update(side_ != Side::left, slot(e_.d, s));
        work_.round(n_, slot(e_.d, s));
      }
      live_ = again;
    }
  }

 private:
  static double* slot(MatrixView<double> x, std::size_t s) {
    return x.column(static_cast<std::int64_t>(s));
  }

  /// Starts each Krylov space from the residual of the slot's correction so far.
  void begin_cycle(bool first) {
    MatrixView<double> r = e_.r;
    if (!first) {
      work_.multiply(e_, live_, e_.d, out_.view());
      for (const std::size_t s : live_) {
        xpby(n_, slot(e_.r, s), -1, out_[s]);
        std::copy_n(out_[s], n_, in_[s]);
      }
      r = in_.view();
    }
    if (side_ == Side::left) {
      work_.precondition(e_, live_, r, out_.view());
      r = out_.view();
    }
    for (const std::size_t s : live_) {
      const double norm = space_[s].start(slot(r, s));
      if (first) first_[s] = norm;
    }
  }

  /// out = M^-1 A (left) or A M^-1 (flexible, nested) times the newest vectors.
  void expand() {
    for (const std::size_t s : live_) std::copy_n(space_[s].newest(), n_, in_[s]);
    if (side_ == Side::left) {
      Vectors& product = product_ ? *product_ : product_.emplace(n_, in_.view().cols);
      work_.multiply(e_, live_, in_.view(), product.view());
      return work_.precondition(e_, live_, product.view(), out_.view());
    }
    if (side_ == Side::nested) {
      solve_nested();
    } else {
      work_.precondition(e_, live_, in_.view(), out_.view());
    }
    for (const std::size_t s : live_) {
      std::copy_n(out_[s], n_, space_[s].preconditioned());
      std::copy_n(out_[s], n_, in_[s]);
    }
    work_.multiply(e_, live_, in_.view(), out_.view());
  }

  /// out = A^-1 in to the inner tolerance, by a separate GMRES.
  void solve_nested() {
    const Vectors r(n_, static_cast<std::int64_t>(live_.size()));
    const Vectors d(n_, static_cast<std::int64_t>(live_.size()));
    Corrections inner;
    for (std::size_t k = 0; k < live_.size(); ++k) {
      inner.column.push_back(e_.column[live_[k]]);
      std::copy_n(in_[live_[k]], n_, r[k]);
    }
    inner.r = r.view();
    inner.d = d.view();
    inner.tolerance = work_.request.inner_tolerance;
    inner.iterations = work_.request.inner_iterations;
    inner.nested = true;
    Gmres(work_, inner, Side::left).run();
    for (std::size_t k = 0; k < live_.size(); ++k) std::copy_n(d[k], n_, out_[live_[k]]);
  }

  /// True at the goal, or so near to it that the basis grows by rounding errors only: a true
  /// residual then tells more than further basis vectors.
  bool is_done(std::size_t s, double error) {
    constexpr double kNear = 16;
    const double before = std::exchange(last_[s], error);
    const double goal = work_.request.goal;
    return error <= goal || (error <= kNear * goal && !(error <= before / 4));
  }

  void step(std::vector<std::size_t>& again) {
    expand();
    double worst = 0;
    for (const std::size_t s : std::vector(live_)) {
      work_.round(n_, out_[s]);
      const double residual = space_[s].add(out_[s]) / first_[s];
      const double error =
          e_.nested ? work_.count(e_.column[s])
                    : work_.record(e_.column[s], residual, size_of(space_[s].coefficients()));
      if (!std::isfinite(residual)) {
        work_.system(e_.column[s]).status = Status::non_finite;
        std::erase(live_, s);
      } else if (residual <= e_.tolerance || (!e_.nested && is_done(s, error))) {
        std::erase(live_, s);
      } else {
        worst = std::max(worst, error);
        if (space_[s].full()) {
          again.push_back(s);
          std::erase(live_, s);
        }
      }
    }
    if (!e_.nested && worst > 0) work_.go_on(worst);
  }

  Work& work_;
  Corrections& e_;
  Side side_;
  std::int64_t n_;
  Vectors in_, out_;
  std::optional<Vectors> product_;
  std::vector<double> first_;  ///< norm of the first residual of each slot
  std::vector<double> last_;   ///< error of the previous iteration
  std::vector<Krylov> space_;
  std::vector<std::size_t> live_;
  int done_ = 0;
};

}  // namespace

void gmres(Work& work, Corrections& e, Side side) {
  Gmres(work, e, side).run();
}

}  // namespace stepwell::refine
