// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/buffer.hpp"
#include "engine/thread_pool.hpp"
#include "factor/scaling.hpp"
#include "factor/setup.hpp"
#include "refine/preconditioner.hpp"
#include "refine/refine.hpp"
#include "solvers/scaled.hpp"
#include "solvers/verdict.hpp"
#include "solvers/verified_inverse.hpp"
#include "stepwell/solve.hpp"

namespace stepwell::solvers {

/// Columns that are refined together: A and its factor are read once for all of them.
inline constexpr std::int64_t kBatch = 64;

/// Those that a product has at most: A is looked at with one and the sums of its rows.
constexpr std::int64_t product_columns(std::int64_t columns) {
  return std::clamp<std::int64_t>(columns, 2, kBatch);
}

/// Some right-hand sides in the scale of H, and what has been reached for them.
struct Batch {
  std::int64_t first = 0;  ///< column of B
  std::int64_t count = 0;
  std::vector<ScaledColumn> column;
  core::Buffer<double> b, y, r;    ///< n x count each
  std::vector<Measured> measured;  ///< backward errors in the caller's norm, by r

  MatrixView<double> view_of(const core::Buffer<double>& x) const {
    return view(x.data(), count > 0 ? x.size() / count : 0, count);
  }
};

/// A as systems see it, or A' where that is solved with: the product, the scale in which vectors
/// stay near 1, and the factor as a preconditioner, when there is one.
struct Side {
  Side(refine::Product& of, const std::vector<double>& row, const std::vector<double>& col)
      : product(of), scaled(of, row, col), exponents(row, col) {}

  refine::Product& product;
  refine::ScaledOperator scaled;
  Exponents exponents;
  double norm = 0;           ///< ||A||_inf in the caller's scale
  double scaled_norm = 0;    ///< of H, from below
  InverseNorm inverse_norm;  ///< ||A^-1||_inf in the caller's scale, times 2^-exponents.largest()
  std::optional<VerifiedInverse> inverse;  ///< of a small A whose condition was asked for
  std::unique_ptr<refine::Preconditioner> preconditioner;
};

/// A matrix of the caller's: what has been found out about it, and its factor at the highest rung
/// that was needed so far. What kind of matrix it is, and how that is factored, is for those who
/// derive from it.
class Solver {
 public:
  virtual ~Solver() = default;

  std::int64_t order() const { return n_; }
  /// Looks at A and factors it at the first rung that can be.
  Certificate prepare();
  Certificate solve(MatrixView<const double> b, MatrixView<double> x);
  /// Of the side that the next solve is about; NaN: it is not known.
  double inverse_norm();

 protected:
  /// A is of order n, and passes over it are the work of 'threads' threads. 'priced_as', if not 0:
  /// decides as if A had this order, for a rehearsal with a small matrix of what a large one like
  /// it will take.
  Solver(Structure structure, std::int64_t n, int threads, const SolveOptions& options,
         std::int64_t priced_as);

  /// A factor that was made, or was not.
  struct Made {
    FactorReport report;
    Rung coarsest = Rung::fp64;
  };

  /// What A says before anything is computed. False: there is nothing to do, and the certificate
  /// says why. The side is usable afterwards.
  virtual bool check_matrix(Certificate& c) = 0;
  /// A factor at the current rung, kept if it is ok.
  virtual Made make_factor() = 0;
  virtual void drop_factor() = 0;
  virtual std::unique_ptr<refine::Preconditioner> precondition(const Side& side) = 0;
  /// The systems that the next solve is about, and those with the transposed matrix.
  virtual Side& side() = 0;
  virtual Side& other_side() = 0;
  /// The bottom of the ladder. True when every column meets the tolerance.
  virtual bool without_factor(Batch&, Certificate&) { return false; }
  /// What refines with a factor at the current rung.
  virtual Refiner refiner_for(Rung coarsest) const;
  /// Why a factor is not worth refining with; empty: it is.
  virtual std::string flaw_of(const FactorReport&) const { return ""; }
  /// Why a solution that meets the tolerance is not to be trusted; empty: it is.
  virtual std::string doubt_about(const Batch&) { return ""; }
  /// The last word on a ladder that ended without a solution.
  virtual void conclude(Certificate&) const {}
  /// Whether the current rung forgets what those before it have reached.
  virtual bool starts_afresh() const { return false; }
  /// The rung after the current one.
  virtual std::size_t rung_above() const { return rung_ + 1; }
  /// Bytes that the refinement of so many columns takes all the time, and those that products with
  /// A work in, which are given back while a factor is made.
  virtual std::int64_t held_bytes(std::int64_t columns) const;
  virtual std::int64_t product_bytes(std::int64_t columns) const;

  bool may_climb() const { return options_.climb && rung_ + 1 < maps_.size(); }
  /// Refines without a factor, with a diagonal whose reciprocals are given. True when every column
  /// meets the tolerance; else they are zero again.
  bool refine_unpreconditioned(std::vector<double> inverse_diagonal, Batch& batch, Certificate& c);
  refine::Request request_for(const Batch& batch);
  double tolerance() const;
  /// Of a product with A alone, or with a factor too.
  double iteration_price(std::optional<Rung> rung, std::int64_t columns) const;
  /// Of a factor at this rung and the iterations that a friendly matrix takes.
  double rung_price(Rung rung, std::int64_t columns) const;

  SolveOptions options_;
  Structure structure_;
  Refiner refiner_;
  std::int64_t n_;
  std::int64_t priced_;  ///< the order that the cost model is asked about
  engine::ThreadPool pool_;
  std::vector<PrecisionMap> maps_;  ///< of the rungs, cheap to dear
  std::size_t rung_ = 0;
  std::size_t start_ = 0;  ///< the first rung

 private:
  // solver.cpp: from the caller's numbers to a batch and back
  Batch make_batch(MatrixView<const double> b, std::int64_t first, std::int64_t count);
  void finish(Batch& batch, MatrixView<double> x, Certificate& c);
  refine::Sums sums() const;

  // settle.cpp: how good what has been reached is
  refine::Sums residuals();
  Measured measure(const Batch& batch, std::int64_t k, refine::Sums sums);
  /// Computes the residuals of some columns anew.
  void measure_again(Batch& batch, const std::vector<std::int64_t>& which, refine::Sums sums);
  bool all_met(const Batch& batch) const;
  /// Refines, and decides what a residual in FP64 leaves open.
  refine::Outcome refine_and_settle(refine::Preconditioner& m, refine::Request q, Batch& batch,
                                    Certificate& c);
  /// Says so if A is no longer what was looked at first.
  void check_unchanged(Certificate& c);
  void scan_again(const Batch& batch, Certificate& c);

  // ladder.cpp: what is tried, in which order, and when it is given up
  bool climb(Batch& batch, Certificate& c);
  bool ensure_factor(Certificate& c);
  bool next_rung();
  void forget_factor();
  bool refine_with_factor(Batch& batch, Certificate& c);
  bool refine_afresh(Batch& batch, Certificate& c);
  bool cancelled() const;

  // certify.cpp
  void estimate_inverse_norm(Certificate& c);
  const VerifiedInverse& inverse_of(Side& side);
  void expect_condition(Certificate& c) const;
  void estimate_condition(Certificate& c);
  void bound_errors(const Batch& batch, Certificate& c);

  std::optional<Made> made_;
};

/// Threads for passes over a matrix of order n.
int threads_for(std::int64_t n, const Context* context);

/// Whether A is its own transpose, to the bits, with a diagonal above zero.
bool is_symmetric_with_positive_diagonal(MatrixView<const double> a, const Context* context);

/// What is used where the caller names no refiner.
Refiner default_refiner(Structure structure);

/// How residuals are summed: by blocks in FP64, unless its own rounding leaves no room below the
/// tolerance for a solution of a few units.
refine::Sums residuals_for(const refine::ScaledOperator& a, double tolerance);

/// Lists a rung; the next batch of columns at the same one is no other rung.
void list_rung(Certificate& c, LadderStep attempt);

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

/// Bytes of vectors that the refinement of so many columns works in.
std::int64_t vector_bytes(std::int64_t n, std::int64_t columns, Refiner refiner);

/// Bytes that products with A in the caller's memory work in.
std::int64_t product_bytes(std::int64_t n, std::int64_t columns, Structure structure);

/// Both.
std::int64_t refinement_bytes(std::int64_t n, std::int64_t columns, Refiner refiner,
                              Structure structure = Structure::spd);

/// "spd" or "general".
const char* name_of(Structure structure);

/// Says what went wrong, in a sentence.
void explain(Certificate& c);

}  // namespace stepwell::solvers
