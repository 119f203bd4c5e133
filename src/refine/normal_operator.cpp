// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "refine/normal_operator.hpp"

#include <algorithm>
#include <cmath>

#include "refine/inner.hpp"
#include "refine/vectors.hpp"

namespace stepwell::refine {
namespace {

class NormalOperator : public Operator {
 public:
  NormalOperator(NormalProduct& h, const RightHandSides& right, LeastSquaresState& state)
      : h_(h), right_(right), squares_(state.squares) {}

  std::int64_t order() const override { return h_.order(); }
  void set_systems(const std::vector<std::int64_t>& systems) override {
    systems_.assign(systems.begin(), systems.end());
  }
  void apply(MatrixView<const double> x, MatrixView<double> y, Sums sums, Reads) override {
    h_.apply(x, y, sums);
  }
  /// The argument b is not read: H'b is rounded, and refinement cannot recover what that loses.
  void residual(MatrixView<const double>, MatrixView<const double> x, MatrixView<double> r,
                Sums sums) override {
    std::vector<double> squares(systems_.size());
    h_.residual(right_.part(systems_), x, r, squares, sums);
    for (std::size_t k = 0; k < squares.size(); ++k) squares_[systems_[k]] = squares[k];
  }
  double square(std::int64_t system) const { return squares_[static_cast<std::size_t>(system)]; }

 private:
  NormalProduct& h_;
  const RightHandSides& right_;
  std::vector<std::size_t> systems_;
  std::vector<double> squares_;  ///< ||r||^2 of the last residual of each system
};

}  // namespace

Outcome refine_normal(NormalProduct& h, Preconditioner& m, const RightHandSides& right,
                      LeastSquaresState& state, double norm, double inverse, Request request) {
  const std::int64_t n = state.x.rows;
  const std::int64_t columns = state.x.cols;
  NormalOperator a(h, right, state);
  const Vectors z(n, 1), sum(n, 1);
  std::fill(state.projects.begin(), state.projects.end(), inverse == 0);
  const auto error_at = [&](std::int64_t k, const double* g, const double* x, const double* d) {
    std::copy_n(x, n, sum[0]);
    if (d != nullptr) axpy(n, 1, d, sum[0]);
    const auto e = static_cast<std::size_t>(k);
    double projected = 0;
    if (state.projects[e]) {
      m.apply(view(g, n, 1), z.view());
      projected = dot(n, g, z[0]);
    }
    return least_squares_error(n, g, sum[0], a.square(k), projected, norm);
  };
  request.norm = 1;
  request.residuals = request.sums;
  request.error_of = [&](std::int64_t k, const double* g, const double* x, const double* d) {
    return error_at(k, g, x, d).value;
  };
  // H'b, used for norms only: the operator computes residuals itself.
  const Vectors right_side(n, columns);
  std::vector<double> squares(static_cast<std::size_t>(columns));
  h.residual(right, {}, right_side.view(), squares, request.sums);
  // Estimate once how far M is from H'H, as normal_cg() does in every iteration: M^-1 H'b is its
  // first step.
  for (std::int64_t c = 0; c < columns && inverse > 0; ++c) {
    const auto e = static_cast<std::size_t>(c);
    m.apply(view(right_side[e], n, 1), z.view());
    const Vectors q(n, 1);
    h.apply(z.view(), q.view(), request.sums);
    axpy(n, -1, right_side[e], q[0]);
    state.projects[e] = 2 * norm2(n, q[0]) / norm2(n, z[0]) * inverse < 0.125;  // false for NaN
  }
  const Outcome outcome = refine(a, m, right_side.view(), state.x, state.g, request);
  // The reported errors are those of the final x.
  const Sums last = std::max(request.sums, Sums::split);
  h.residual(right, state.x, state.g, state.squares, last);
  state.sums.assign(state.sums.size(), last);
  measure(m, norm, state);
  return outcome;
}

}  // namespace stepwell::refine
