// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/buffer.hpp"
#include "refine/preconditioner.hpp"
#include "refine/refine.hpp"
#include "solvers/analysis/scaled.hpp"
#include "solvers/certify/verdict.hpp"
#include "solvers/certify/verified_inverse.hpp"
#include "solvers/ladder/climb.hpp"
#include "solvers/systems/square_matrix.hpp"
#include "stepwell/solve.hpp"

namespace stepwell::solvers {

/// Some right-hand sides in the scale of H, and what has been reached for them.
struct Batch {
  std::int64_t first = 0;  ///< column of B
  std::int64_t count = 0;
  std::vector<ScaledColumn> column;
  core::Buffer<double> b, y, r;    ///< n x count each
  std::vector<Measured> measured;  ///< backward errors in the caller's norm, computed from r
  bool direct = false;             ///< refine only columns that miss the tolerance

  MatrixView<double> view_of(const core::Buffer<double>& x) const {
    return view(x.data(), count > 0 ? x.size() / count : 0, count);
  }
};

/// Copies some columns of a batch into a new batch.
Batch part_of(const Batch& batch, const std::vector<std::int64_t>& which);

/// A, or A' where that is solved with: the product, the scale in which vectors stay near 1, and the
/// factor as a preconditioner, when there is one.
struct Side {
  Side(refine::Product& of, const std::vector<double>& row, const std::vector<double>& col)
      : product(of), scaled(of, row, col), exponents(row, col) {}

  /// Bound on the error of residuals with exact sums, relative to ||A|| ||x|| + ||b||.
  double exact_error() { return product.exact_error(norm); }

  refine::Product& product;
  refine::ScaledOperator scaled;
  Exponents exponents;
  bool transposed = false;
  double norm = 0;           ///< ||A||_inf in the caller's scale
  double scaled_norm = 0;    ///< of H, from below
  InverseNorm inverse_norm;  ///< ||A^-1||_inf in the caller's scale, times 2^-exponents.largest()
  std::optional<VerifiedInverse> inverse;  ///< of a small A whose condition was asked for
  std::unique_ptr<refine::Preconditioner> preconditioner;
};

/// Solves systems with a square matrix: analysis, ladder, certificate. It keeps what was found out
/// about A, and the factor of the highest step that was needed so far, for the systems that follow.
class SquareSolver {
 public:
  /// 'cost_order', if not 0: decides as if A had this order, to predict with a small matrix what a
  /// large one like it will take.
  SquareSolver(std::unique_ptr<SquareMatrix> a, const SolveOptions& options,
               std::int64_t cost_order = 0);
  SquareSolver(const SquareSolver&) = delete;
  SquareSolver& operator=(const SquareSolver&) = delete;

  std::int64_t order() const { return a_->order(); }
  /// Whether the next call is about A'. At first, options.transposed. A symmetric matrix ignores
  /// it.
  void transpose(bool transposed) { transposed_ = transposed; }

  /// Analyzes A and factors it at the first step that succeeds.
  Certificate factorize();
  Certificate solve(MatrixView<const double> b, MatrixView<double> x);
  /// ||A^-1||_inf, estimated from below; NaN if it is not known.
  double inverse_norm();
  KeptFactor kept() const { return a_->kept(); }

 private:
  // square_solver.cpp: from the caller's B to the certificate
  bool analyze(Certificate& c);
  Certificate blank_certificate(std::int64_t columns) const;
  Batch make_batch(MatrixView<const double> b, std::int64_t first, std::int64_t count);
  bool solve_batch(Batch& batch, MatrixView<double> x, Certificate& c);
  void write(Batch& batch, MatrixView<double> x, Certificate& c);
  void conclude(Climbed climbed, Certificate& c) const;

  // square_columns.cpp: many right-hand sides
  bool solve_many(MatrixView<const double> b, MatrixView<double> x, Certificate& c);
  bool solve_many_general(MatrixView<const double> b, MatrixView<double> x, Certificate& c);
  bool factorize_for_columns(Certificate& c);
  std::vector<char> apply_factor(MatrixView<const double> b, MatrixView<double> x);
  std::vector<std::int64_t> certify_by_projections(MatrixView<const double> b,
                                                   MatrixView<const double> x,
                                                   const std::vector<char>& finite,
                                                   std::span<ColumnCertificate> to,
                                                   refine::Checksums& read);
  bool solve_open(const std::vector<std::int64_t>& open, std::int64_t first,
                  MatrixView<const double> b, MatrixView<double> x, Certificate& c);

  // square_steps.cpp: what the ladder asks of it
  System factor_steps();
  System system_for(Batch& batch);
  Factored factorize_step(const Step& step, Certificate& c, std::string& reason);
  void forget_factor();
  std::size_t next_step();
  LadderStep refine_unpreconditioned(Batch& batch, Certificate& c);
  LadderStep refine_with_factor(Batch& batch, const Step& step, double alternative, Certificate& c);
  LadderStep refine_from_zero(Batch& batch, const Step& step, double alternative, Certificate& c);
  refine::Request request_for(const Batch& batch);
  bool lapack_is_above() const;
  std::string doubt_about(const Batch& batch);

  // certify/residuals.cpp: how good x is
  refine::Sums residuals(const Batch& batch);
  void measure(Batch& batch, refine::Sums sums);
  void measure_again(Batch& batch, const std::vector<std::int64_t>& which, refine::Sums sums);
  bool all_met(const Batch& batch) const;
  refine::Outcome refine_and_measure(refine::Preconditioner& m, refine::Request q, Batch& batch,
                                     Certificate& c);
  void check_unchanged(Certificate& c);
  void scan_again(const Batch& batch, Certificate& c);

  // certify/condition.cpp
  void estimate_inverse_norm(Certificate& c);
  const VerifiedInverse& inverse_of(Side& side);
  void expect_condition(Certificate& c) const;
  void estimate_condition(Certificate& c);
  void bound_errors(const Batch& batch, Certificate& c);

  bool general() const { return a_->structure() == Structure::general; }
  Side& side() { return *side_[general() && transposed_ ? 1 : 0]; }
  Side& other_side() { return *side_[general() && !transposed_ ? 1 : 0]; }
  double tolerance() const;
  refine::Sums sums() const;

  std::unique_ptr<SquareMatrix> a_;
  SolveOptions options_;
  Refiner refiner_;
  std::int64_t cost_order_;
  bool transposed_;
  std::optional<Analysis> analysis_;
  bool analyzed_ = false;  ///< everything that follows from A is there, not only the analysis
  Ladder ladder_;
  std::optional<Side> side_[2];  ///< with A, and for a general matrix with A'
  std::optional<MadeFactor> made_;
  std::int64_t zero_pivot_ = -1;  ///< found by LAPACK
  bool may_be_singular_ = false;  ///< LAPACK's factor is next
};

/// Whether so many columns are solved with an FP64 factor from the start, without refinement: it
/// depends only on the sizes, the options and the instruction set.
bool many_columns(std::int64_t n, std::int64_t columns, const SolveOptions& options,
                  Structure structure);
/// Bytes that this takes in addition to the factor and to what refinement takes.
std::int64_t many_columns_bytes(std::int64_t n, std::int64_t columns, Structure structure,
                                int threads);

/// Columns of a general system that an FP64 factor is applied to at once, instead of kBatch: enough
/// for the BLAS's matrix products, or for those with exact sums.
std::int64_t wide_batch(std::int64_t n);

/// From this number of columns on residuals with exact sums are faster than those with blocked
/// ones. A is converted for each of them, so that they gain nothing at 100 columns (n = 8000).
inline constexpr std::int64_t kForExactSums = 256;

/// How residuals are summed: by blocks in FP64, unless its own rounding leaves no room below the
/// tolerance for a solution of a few units.
refine::Sums residuals_for(const refine::ScaledOperator& a, double tolerance);

/// The largest; a NaN is the worst of all.
double worst_of(const std::vector<double>& error);
double worst_of(const std::vector<Measured>& measured);

/// The certificates of so many columns, with nothing in them. Throws Error(out_of_memory).
std::vector<ColumnCertificate> blank_columns(std::int64_t columns);

/// What the right-hand sides held when they were first read.
class RightHandSums {
 public:
  explicit RightHandSums(MatrixView<const double> b);
  /// The certificate's outcome is 'changed' if they no longer hold it. Not for an x that has
  /// overwritten b.
  void check(MatrixView<const double> b, MatrixView<double> x, Certificate& c) const;

 private:
  std::vector<std::uint64_t> sums_;
};

/// False, and the certificate says where, if b has an infinity or a NaN.
bool scan_b(MatrixView<const double> b, Certificate& c);

/// Says what went wrong, in a sentence.
void explain(Certificate& c);

}  // namespace stepwell::solvers
