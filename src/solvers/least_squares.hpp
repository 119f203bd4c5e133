// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/buffer.hpp"
#include "core/row_block.hpp"
#include "engine/thread_pool.hpp"
#include "factor/tall/gram.hpp"
#include "factor/tall/qr.hpp"
#include "refine/normal_cg.hpp"
#include "refine/operators/normal_product.hpp"
#include "refine/operators/operator.hpp"
#include "solvers/verdict.hpp"
#include "stepwell/factor.hpp"
#include "stepwell/lstsq.hpp"

namespace stepwell::solvers {

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

/// Where products with another such number can't overflow, nor lose digits to underflow.
bool is_tame(double size);

/// One problem from the caller's numbers to the certificate. In the scale of H, A with its columns
/// times powers of two that bring their norms into [1, 2), and of b times a power of two.
class LeastSquares {
 public:
  LeastSquares(const TallMatrix& a, MatrixView<const double> b, MatrixView<double> x,
               const LeastSquaresOptions& options);
  Certificate solve();

 private:
  /// A bound on the backward error of a column.
  struct Proof {
    Measured measured;
    refine::Measure measure = refine::Measure::residual;
  };
  /// Some right-hand sides, and what has been reached for them.
  struct Batch {
    refine::RightHandSides right;
    core::Buffer<double> x, g;
    refine::LeastSquaresState state;  ///< its errors steer, and say nothing to the caller
    bool measured = false;            ///< g and squares are those of x
    std::vector<Proof> proof;         ///< of each column; empty: x has not been examined
  };

  // least_squares_scale.cpp: the scale in which all is computed
  double penalty(std::size_t column) const;
  bool rescale(const std::vector<kernels::Scan>& column);
  bool analyze(const std::vector<kernels::Scan>& column);
  void set_tail();
  void scan_columns();
  std::vector<std::int64_t> empty_columns() const;

  // least_squares.cpp: from the caller's numbers and back
  void make_batches();
  void certify(Batch& batch);
  void note_changes();
  void conclude();

  // least_squares_ladder.cpp: what is tried
  bool climb(Step step, double alternative, bool last);
  bool make_gram(Rung rung);
  bool factor_gram(Rung rung);
  bool make_qr();
  bool refine(Step step, double alternative, bool last);
  refine::Outcome refine_batch(Batch& batch, Step step, double alternative);
  void estimate_condition();
  double sample_inverse();
  void skip_rungs(std::vector<Step>& left);

  // least_squares_proof.cpp: how good x is
  void examine(Batch& batch);
  bool proven(const Batch& batch) const;
  std::vector<std::size_t> unproven(const Batch& batch) const;
  void evaluate_bounds(Batch& batch) const;
  void read_again(Batch& batch, const std::vector<std::size_t>& columns, refine::Sums sums);
  void offer(Proof& proof, double value, double most, refine::Measure measure) const;
  void project(Batch& batch, refine::Sums sums);
  void weigh(Batch& batch);
  void offer_small_corrections(Batch& batch, const std::vector<std::size_t>& columns,
                               const Batch& part) const;
  bool needs_care(const Batch& batch, std::size_t column) const;
  core::Buffer<double> damped_triangle(double root) const;
  void offer_corrections(Batch& batch, const std::vector<std::size_t>& columns, const Batch& part,
                         const std::vector<const double*>& low, refine::Measure measure);

  // least_squares_mend.cpp: what is done about an x that is not good enough
  Batch part_of(const Batch& batch, const std::vector<std::size_t>& columns) const;
  void take(Batch& batch, std::size_t k, const Batch& part, std::size_t e) const;
  void put(Batch& batch, const Batch& part, const std::vector<std::size_t>& columns) const;
  core::Buffer<double> polish(Batch& batch);
  void settle(Batch& batch, bool good, const core::Buffer<double>& direct);
  void try_instead(Batch& batch, const core::Buffer<double>& x);
  void repair(Batch& batch);

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
  core::RowReader a_;  ///< in another scale if its numbers are not tame
  engine::ThreadPool pool_;
  Certificate c_;
  Refiner refiner_;

  bool known_ = false;               ///< what A holds
  std::vector<double> column_norm_;  ///< of A
  std::vector<int> exponent_;        ///< column j of a_ is that of A times 2^exponent
  std::vector<double> power_;        ///< column j of H is that of a_ times it
  std::vector<double> tail_;         ///< lambda D in the scale of H; empty: none
  double tail_doubt_ = 0;            ///< the change of H that rounding the tail is, by norm_
  double norm_ = 0;                  ///< ||H||_F, the tail included
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

}  // namespace stepwell::solvers
