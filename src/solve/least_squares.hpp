// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/buffer.hpp"
#include "core/row_block.hpp"
#include "engine/team.hpp"
#include "factor/gram.hpp"
#include "factor/tall_qr.hpp"
#include "refine/normal_cg.hpp"
#include "refine/normal_product.hpp"
#include "refine/operator.hpp"
#include "stepwell/factor.hpp"
#include "stepwell/lstsq.hpp"

namespace stepwell::driver {

/// A step of the ladder of least squares: the Gram matrix at a rung, or, without one, QR in FP64.
using Step = std::optional<Rung>;
std::string name_of(Step step);

/// The steps that are tried, cheap to dear.
std::vector<Step> steps_for(std::int64_t m, std::int64_t n, std::int64_t columns,
                            const LeastSquaresOptions& options);

/// What a step costs on the machine the library was developed on, see cost.hpp: the Gram matrix and
/// its factor, or QR; an iteration; all of it, for columns that are not nearly dependent.
double step_seconds(Step step, std::int64_t m, std::int64_t n);
double pass_seconds(std::int64_t m, std::int64_t n, std::int64_t columns);
double price_of(Step step, std::int64_t m, std::int64_t n, std::int64_t columns);

/// The rung at which the Gram matrix is factored: it is n^3/3 products beside m n^2, and costs
/// little where it is better.
Rung factor_rung(Rung gram, std::int64_t n);

/// Bytes beside A, B and X.
std::int64_t step_bytes(Step step, std::int64_t m, std::int64_t n, std::int64_t columns,
                        bool in_memory);

/// One problem from the caller's numbers to the certificate. In the scale of H = A diag(power),
/// whose columns have a norm near 1, and of b times a power of two: x = diag(power) y / factor.
class LeastSquares {
 public:
  LeastSquares(const TallMatrix& a, MatrixView<const double> b, MatrixView<double> x,
               const LeastSquaresOptions& options);
  Certificate solve();

 private:
  /// Some right-hand sides, and what has been reached for them.
  struct Batch {
    refine::RightHandSides right;
    core::Buffer<double> x, g;
    refine::LeastSquaresState state;
    bool measured = false;  ///< g and squares are those of x
  };

  // least_squares.cpp: from the caller's numbers and back
  bool learn(const std::vector<kernels::Scan>& column);
  void survey();
  void make_batches();
  void write();
  void certify(Batch& batch);
  void conclude();
  std::vector<std::int64_t> empty_columns() const;

  // least_squares_ladder.cpp: what is tried
  bool climb(Step step, double alternative, bool last);
  bool make_gram(Rung rung);
  bool factor_gram(Rung rung);
  bool make_qr();
  bool refine(Step step, double alternative);
  refine::Outcome refine_batch(Batch& batch, bool direct, double alternative);
  void estimate_condition();
  double sample_inverse();
  void skip_rungs(std::vector<Step>& left);

  // least_squares_error.cpp: how good x is, by R
  double weighted_error(const double* x, const double* g, double square);
  void sharpen(Batch& batch);
  void polish(Batch& batch);
  void restore(Batch& batch, core::Buffer<double> x);

  // least_squares_rank.cpp: whether x is the only answer
  double inverse_by_power();
  bool factor_shows_rank(Rung rung) const;
  bool shows_rank(Rung rung, int iterations);
  bool projects_well(const std::vector<double>& w, const std::vector<double>& p,
                     const std::vector<double>& q) const;

  bool cancelled() const;
  double tolerance() const;
  refine::Sums sums() const;

  std::int64_t m_, n_;
  MatrixView<const double> b_;
  MatrixView<double> x_;
  const LeastSquaresOptions& options_;
  core::RowReader a_;
  engine::Team team_;
  Certificate c_;
  Refiner refiner_;

  bool known_ = false;               ///< what A holds
  std::vector<double> column_norm_;  ///< of A
  std::vector<double> power_;
  std::vector<double> tail_;  ///< lambda D in the scale of H; empty: none
  double max_abs_ = 0;
  double norm_ = 0;  ///< ||H||_F, the tail included
  std::unique_ptr<refine::NormalProduct> h_;
  std::vector<Batch> batch_;
  bool tame_b_ = true;  ///< no sum of B's numbers overflows

  factor::Gram gram_;
  std::optional<Factor> factor_;
  std::optional<factor::TallQr> qr_;
  std::unique_ptr<refine::Preconditioner> preconditioner_;
  std::vector<double> ones_;  ///< the preconditioner's scale: it is in that of H already
  double inverse_ = 0;        ///< estimate of ||M^-1||
  bool rank_known_ = false;   ///< that columns other than the dependent ones are independent
};

/// R of a QR factorization as a preconditioner of the normal equations: R'R is their matrix.
/// Columns beyond the rank are left out: their unknowns are zero.
class QrPreconditioner : public refine::Preconditioner {
 public:
  explicit QrPreconditioner(const factor::TallQr& qr) : qr_(qr) {}
  void apply(MatrixView<const double> r, MatrixView<double> z) override;

 private:
  const factor::TallQr& qr_;
};

}  // namespace stepwell::driver
