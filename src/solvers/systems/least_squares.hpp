// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/buffer.hpp"
#include "core/row_block.hpp"
#include "engine/threads/thread_pool.hpp"
#include "factor/tall/gram.hpp"
#include "factor/tall/qr.hpp"
#include "refine/normal_cg.hpp"
#include "refine/operators/normal_product.hpp"
#include "refine/operators/operator.hpp"
#include "solvers/certify/verdict.hpp"
#include "solvers/ladder/climb.hpp"
#include "stepwell/factor.hpp"
#include "stepwell/lstsq.hpp"

namespace stepwell::solvers {

/// Bytes that a step needs in addition to A, B and X.
std::int64_t step_bytes(const Step& step, std::int64_t m, std::int64_t n, std::int64_t columns,
                        bool in_memory);

/// Whether products of two values of such a size neither overflow nor lose digits to underflow.
bool is_tame(double size);

/// Solves one problem, from the caller's A and B to the certificate. It computes in the scale of H,
/// which is A with its columns multiplied by powers of two that bring their norms into [1, 2), and
/// multiplies b by a power of two.
class LeastSquares {
 public:
  LeastSquares(const TallMatrix& a, MatrixView<const double> b, MatrixView<double> x,
               const LeastSquaresOptions& options);
  Certificate solve();

 private:
  /// A bound on the backward error of a column.
  struct Proof {
    Measured measured;
    Measure measure = Measure::residual;
  };
  /// Some right-hand sides, and what has been reached for them.
  struct Batch {
    refine::RightHandSides right;
    core::Buffer<double> x, g;
    refine::LeastSquaresState state;  ///< its errors steer refinement; they prove nothing
    bool measured = false;            ///< g and squares are those of x
    std::vector<Proof> proof;         ///< one per column; empty until x is examined
  };

  // analysis/least_squares.cpp: the scale of the computation
  double penalty(std::size_t column) const;
  bool rescale(const std::vector<kernels::Scan>& column);
  bool analyze(const std::vector<kernels::Scan>& column);
  void set_tail();
  void scan_columns();
  std::vector<std::int64_t> empty_columns() const;

  // least_squares.cpp: from the caller's A and B to the certificate
  void make_batches();
  void certify(Batch& batch);
  void note_changes();
  void conclude();

  // least_squares_steps.cpp: the steps of the ladder
  System system();
  Factored factorize(const Step& step, std::string& reason);
  LadderStep refine(const Step& step, double alternative);
  void settle_all(const std::vector<core::Buffer<double>>& direct, LadderStep& tried);
  refine::Outcome refine_batch(Batch& batch, const Step& step, double alternative);
  void estimate_condition();
  void skip_rungs();

  // least_squares_factor.cpp
  bool make_gram(Rung rung);
  bool factor_gram(Rung rung);
  bool make_qr();
  double sample_inverse();

  // certify/least_squares_proof.cpp: how good x is
  void examine(Batch& batch);
  bool proven(const Batch& batch) const;
  std::vector<std::size_t> unproven(const Batch& batch) const;
  void evaluate_bounds(Batch& batch) const;
  void read_again(Batch& batch, const std::vector<std::size_t>& columns, refine::Sums sums);
  void offer(Proof& proof, double value, double most, Measure measure) const;
  void prove_projection(Batch& batch, refine::Sums sums);
  void prove_weighted(Batch& batch);
  void offer_small_corrections(Batch& batch, const std::vector<std::size_t>& columns,
                               const Batch& part) const;
  bool needs_triple_sums(const Batch& batch, std::size_t column) const;
  core::Buffer<double> damped_triangle(double root) const;
  void offer_corrections(Batch& batch, const std::vector<std::size_t>& columns, const Batch& part,
                         const std::vector<const double*>& low, Measure measure);

  // least_squares_norm.cpp
  bool take_least_norm();

  // least_squares_repair.cpp: what is done about an x that is not good enough
  Batch part_of(const Batch& batch, const std::vector<std::size_t>& columns) const;
  void take(Batch& batch, std::size_t k, const Batch& part, std::size_t e) const;
  void put(Batch& batch, const Batch& part, const std::vector<std::size_t>& columns) const;
  core::Buffer<double> polish(Batch& batch);
  void settle(Batch& batch, bool good, const core::Buffer<double>& direct);
  void try_instead(Batch& batch, const core::Buffer<double>& x);
  void repair(Batch& batch);

  // certify/least_squares_rank.cpp: whether x is the only answer
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
  core::RowReader a_;  ///< reads A, rescaled if its elements are not tame, see is_tame()
  engine::ThreadPool pool_;
  Certificate c_;
  Refiner refiner_;

  bool known_ = false;               ///< analyze() has succeeded
  std::vector<double> column_norm_;  ///< 2-norms of the columns of a_
  std::vector<int> exponent_;        ///< column j of a_ is column j of A times 2^exponent_[j]
  std::vector<double> power_;        ///< column j of H is column j of a_ times power_[j]
  std::vector<double> tail_;  ///< diagonal of lambda D in the scale of H; empty if lambda = 0
  double tail_doubt_ = 0;     ///< change of H caused by rounding the tail, relative to norm_
  double norm_ = 0;           ///< ||H||_F, the tail included
  std::unique_ptr<refine::NormalProduct> h_;
  std::vector<Batch> batch_;
  bool tame_b_ = true;  ///< no sum of B's elements overflows

  Ladder ladder_;
  factor::Gram gram_;
  std::optional<Factor> factor_;
  std::optional<factor::TallQr> qr_;
  std::unique_ptr<refine::Preconditioner> preconditioner_;
  std::vector<double> ones_;  ///< scale of the preconditioner, which is in the scale of H already
  double inverse_ = 0;        ///< estimate of ||M^-1||, M the matrix of the preconditioner
  bool rank_known_ = false;   ///< columns not reported as dependent are known to be independent
};

/// R of a QR factorization as a preconditioner of the normal equations, whose matrix is R'R.
/// Columns beyond the rank are left out: their unknowns are zero.
class QrPreconditioner : public refine::Preconditioner {
 public:
  explicit QrPreconditioner(const factor::TallQr& qr) : qr_(qr) {}
  void apply(MatrixView<const double> r, MatrixView<double> z) override;

 private:
  const factor::TallQr& qr_;
};

}  // namespace stepwell::solvers
