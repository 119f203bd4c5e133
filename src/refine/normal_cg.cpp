// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "refine/normal_cg.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

#include "refine/inner.hpp"
#include "refine/vectors.hpp"

namespace stepwell::refine {

LeastSquaresError least_squares_error(std::int64_t n, const double* g, const double* x,
                                      double square, double projected, double norm) {
  const double r_norm = std::sqrt(square);
  const double x_norm = norm2(n, x);
  const double g_norm = norm2(n, g);
  LeastSquaresError e;
  e.value = HUGE_VAL;
  if (std::isnan(r_norm) || std::isnan(x_norm) || std::isnan(g_norm)) {
    e.value = std::nan("");
    return e;
  }
  if (g_norm == 0 || r_norm == 0) {
    e.value = 0;
    e.measure = r_norm == 0 ? Measure::residual : Measure::gradient;
    return e;
  }
  const auto offer = [&](double value, Measure measure) {
    if (value < e.value) e = {value, measure};
  };
  offer(g_norm / r_norm / norm, Measure::gradient);
  if (x_norm > 0) {
    offer(r_norm / x_norm / norm, Measure::residual);
    // The factor of a different matrix may give any value.
    if (projected > 0) offer(std::sqrt(projected) / x_norm / norm, Measure::projection);
  }
  return e;
}

namespace {

/// ||P r||^2 is at most this multiple of g'M^-1 g if ||E|| ||M^-1|| < 1/8.
constexpr double kProjected = 8.0 / 7;

}  // namespace

void measure(Preconditioner& m, double norm, LeastSquaresState& state) {
  const std::int64_t n = state.x.rows;
  const Vectors z(n, state.x.cols);
  m.apply(state.g, z.view());
  for (std::int64_t c = 0; c < state.x.cols; ++c) {
    const auto k = static_cast<std::size_t>(c);
    const double projected = state.projects[k] ? kProjected * dot(n, state.g.column(c), z[k]) : 0;
    state.error[k] = least_squares_error(n, state.g.column(c), state.x.column(c), state.squares[k],
                                         projected, norm);
  }
}

namespace {

/// Iterations without progress that are accepted below the tolerance, and above it.
constexpr int kPatience = 2;
constexpr int kLongPatience = 100;

/// The coefficients of one column.
struct Line {
  double gz = 0;      ///< g'M^-1 g
  double length = 1;  ///< length of the last step
  double drift = 0;   ///< the largest ||E p|| / ||p|| seen
  double milestone = HUGE_VAL;
  int misses = 0;
};

class NormalCg {
 public:
  NormalCg(NormalProduct& h, Preconditioner& m, const RightHandSides& right,
           LeastSquaresState& state, const NormalRequest& request)
      : h_(h),
        m_(m),
        right_(right),
        state_(state),
        request_(request),
        n_(state.x.rows),
        line_(static_cast<std::size_t>(state.x.cols)) {
    outcome_.system.resize(line_.size());
  }

  Outcome run();

 private:
  struct Slots {                         ///< vectors of the running columns
    Vectors x, g, z, p, mp, x2, g2, z2;  ///< mp is M p
    Slots(std::int64_t n, std::int64_t k)
        : x(n, k), g(n, k), z(n, k), p(n, k), mp(n, k), x2(n, k), g2(n, k), z2(n, k) {}
  };
  void start();
  bool advance(std::size_t slot, std::size_t column, double square);
  void compact(const std::vector<std::size_t>& keep);
  double correction(const double* z, const double* x) const { return norm2(n_, z) / norm2(n_, x); }
  void keep_if_better(std::size_t slot, std::size_t column, double square);
  double expected_error(std::size_t column) const;
  Sums next_sums() const;

  NormalProduct& h_;
  Preconditioner& m_;
  const RightHandSides& right_;
  LeastSquaresState& state_;
  const NormalRequest& request_;
  std::int64_t n_;
  std::vector<Line> line_;
  std::vector<std::size_t> live_;  ///< the column of each slot
  Sums sums_ = Sums::fp64;         ///< summation of this iteration's residuals
  std::unique_ptr<Slots> at_;
  Outcome outcome_;
};

void NormalCg::start() {
  for (std::size_t c = 0; c < line_.size(); ++c) {
    if (norm2(n_, state_.g.column(static_cast<std::int64_t>(c))) == 0) {
      state_.error[c] = {0, Measure::gradient};
      outcome_.system[c].error = 0;
      outcome_.system[c].status = Status::done;
    } else {
      live_.push_back(c);
    }
  }
  at_ = std::make_unique<Slots>(n_, static_cast<std::int64_t>(live_.size()));
  for (std::size_t s = 0; s < live_.size(); ++s) {
    std::copy_n(state_.x.column(static_cast<std::int64_t>(live_[s])), n_, at_->x[s]);
    std::copy_n(state_.g.column(static_cast<std::int64_t>(live_[s])), n_, at_->g[s]);
  }
  if (live_.empty()) return;
  m_.apply(at_->g.view(), at_->z.view());
  ++outcome_.solves;
  std::vector<std::size_t> keep;
  for (std::size_t s = 0; s < live_.size(); ++s) {
    const std::size_t c = live_[s];
    line_[c].gz = dot(n_, at_->g[s], at_->z[s]);
    std::copy_n(at_->z[s], n_, at_->p[s]);
    std::copy_n(at_->g[s], n_, at_->mp[s]);
    state_.projects[c] = request_.inverse == 0;
    const double x_norm = norm2(n_, at_->x[s]);
    state_.error[c] =
        x_norm == 0
            ? LeastSquaresError{}
            : least_squares_error(n_, at_->g[s], at_->x[s], state_.squares[c],
                                  state_.projects[c] ? kProjected * line_[c].gz : 0, request_.norm);
    if (request_.corrections) state_.error[c].value = correction(at_->z[s], at_->x[s]);
    System& system = outcome_.system[c];
    system.error = state_.error[c].value;
    if (system.error <= request_.goal) {
      system.status = Status::done;
    } else if (!(line_[c].gz > 0)) {
      system.status = line_[c].gz <= 0 ? Status::indefinite : Status::non_finite;
    } else {
      keep.push_back(s);
    }
  }
  compact(keep);
}

/// Keeps only the slots in 'keep'.
void NormalCg::compact(const std::vector<std::size_t>& keep) {
  if (keep.size() == live_.size()) return;
  auto fewer = std::make_unique<Slots>(n_, static_cast<std::int64_t>(keep.size()));
  std::vector<std::size_t> live;
  for (std::size_t s = 0; s < keep.size(); ++s) {
    std::copy_n(at_->x[keep[s]], n_, fewer->x[s]);
    std::copy_n(at_->g[keep[s]], n_, fewer->g[s]);
    std::copy_n(at_->z[keep[s]], n_, fewer->z[s]);
    std::copy_n(at_->p[keep[s]], n_, fewer->p[s]);
    std::copy_n(at_->mp[keep[s]], n_, fewer->mp[s]);
    live.push_back(live_[keep[s]]);
  }
  at_ = std::move(fewer);
  live_ = std::move(live);
}

void NormalCg::keep_if_better(std::size_t slot, std::size_t column, double square) {
  const double projected =
      state_.projects[column] ? kProjected * dot(n_, at_->g2[slot], at_->z2[slot]) : 0;
  LeastSquaresError error =
      least_squares_error(n_, at_->g2[slot], at_->x2[slot], square, projected, request_.norm);
  if (request_.corrections) error.value = correction(at_->z2[slot], at_->x2[slot]);
  System& system = outcome_.system[column];
  ++system.iterations;
  system.history.push_back(error.value);
  if (!(error.value < state_.error[column].value)) return;
  state_.error[column] = error;
  state_.squares[column] = square;
  state_.sums[column] = sums_;
  system.error = error.value;
  const auto c = static_cast<std::int64_t>(column);
  std::copy_n(at_->x2[slot], n_, state_.x.column(c));
  std::copy_n(at_->g2[slot], n_, state_.g.column(c));
}

/// Corrects the trial step to the right length and computes the next direction. False: the column
/// is finished.
bool NormalCg::advance(std::size_t slot, std::size_t column, double square) {
  Line& line = line_[column];
  System& system = outcome_.system[column];
  double* const g = at_->g[slot];
  double* const z = at_->z[slot];
  double* const p = at_->p[slot];
  // q = H'H p = (g - g2) / length, and E p = M p - q.
  double pq = 0, pp = 0, ee = 0;
  for (std::int64_t i = 0; i < n_; ++i) {
    const double q = (g[i] - at_->g2[slot][i]) / line.length;
    const double e = at_->mp[slot][i] - q;
    pq += p[i] * q;
    pp += p[i] * p[i];
    ee += e * e;
  }
  // g is a sum of rounded terms: rounding errors up to this size are not attributed to E.
  const double noise =
      4 * 0x1p-53 * request_.norm * (request_.norm * norm2(n_, at_->x2[slot]) + std::sqrt(square));
  line.drift = std::max(line.drift, (std::sqrt(ee) - noise / line.length) / std::sqrt(pp));
  if (request_.inverse > 0) {
    state_.projects[column] = 2 * line.drift * request_.inverse < 0.125;  // false for NaN
  }
  keep_if_better(slot, column, square);
  if (!std::isfinite(system.history.back())) {
    system.status = Status::non_finite;
    return false;
  }
  if (system.error <= request_.goal) {
    system.status = Status::done;
    return false;
  }
  if (system.error <= line.milestone / 2) {
    line.milestone = system.error;
    line.misses = 0;
  } else if (++line.misses > (system.error <= request_.tolerance ? kPatience : kLongPatience)) {
    system.status = Status::stagnated;
    return false;
  }
  if (!(pq > 0)) {
    system.status = pq <= 0 ? Status::indefinite : Status::non_finite;
    return false;
  }
  const double right = line.gz / pq;
  const double part = right / line.length;
  axpy(n_, right, p, at_->x[slot]);
  for (std::int64_t i = 0; i < n_; ++i) {
    g[i] += part * (at_->g2[slot][i] - g[i]);
    z[i] += part * (at_->z2[slot][i] - z[i]);
  }
  const double gz = dot(n_, g, z);
  if (!(gz > 0)) {
    system.status = gz <= 0 ? Status::stagnated : Status::non_finite;
    return false;
  }
  xpby(n_, z, gz / line.gz, p);
  xpby(n_, g, gz / line.gz, at_->mp[slot]);
  line.gz = gz;
  line.length = std::clamp(right, 0.25, 1e3);
  return true;
}

/// The next step is expected to reduce the error by the same factor as the last one. The first step
/// gains more: it reduces the error from 1 to e, the second step from e to 100 e^2 or more (fp32,
/// condition numbers of 20 to 300).
double NormalCg::expected_error(std::size_t column) const {
  constexpr double kFirstGain = 0.01;
  const std::vector<double>& history = outcome_.system[column].history;
  const std::size_t steps = history.size();
  if (steps == 0) return request_.first_error;
  const double before = steps == 1 ? kFirstGain : history[steps - 2];
  return history.back() / before * history.back();
}

Sums NormalCg::next_sums() const {
  const bool last = std::all_of(live_.begin(), live_.end(),
                                [&](std::size_t c) { return expected_error(c) <= request_.goal; });
  return last ? std::max(request_.sums, request_.last_sums) : request_.sums;
}

Outcome NormalCg::run() {
  start();
  for (int i = 0; !live_.empty() && i < request_.iterations; ++i) {
    for (std::size_t s = 0; s < live_.size(); ++s) {
      std::copy_n(at_->x[s], n_, at_->x2[s]);
      axpy(n_, line_[live_[s]].length, at_->p[s], at_->x2[s]);
    }
    std::vector<double> squares(live_.size());
    sums_ = next_sums();
    h_.residual(right_.part(live_), at_->x2.view(), at_->g2.view(), squares, sums_);
    m_.apply(at_->g2.view(), at_->z2.view());
    ++outcome_.products;
    ++outcome_.solves;
    std::vector<std::size_t> keep;
    double worst = 0;
    for (std::size_t s = 0; s < live_.size(); ++s) {
      if (!advance(s, live_[s], squares[s])) continue;
      keep.push_back(s);
      worst = std::max(worst, outcome_.system[live_[s]].history.back());
    }
    compact(keep);
    if (!live_.empty() && request_.go_on && !request_.go_on(i + 1, worst)) break;
  }
  for (System& s : outcome_.system) {
    if (s.status == Status::running) s.status = Status::stopped;
  }
  return std::move(outcome_);
}

}  // namespace

Outcome normal_cg(NormalProduct& h, Preconditioner& m, const RightHandSides& right,
                  LeastSquaresState& state, const NormalRequest& request) {
  return NormalCg(h, m, right, state, request).run();
}

}  // namespace stepwell::refine
