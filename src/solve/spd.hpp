// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/buffer.hpp"
#include "engine/team.hpp"
#include "factor/call.hpp"
#include "factor/scaling.hpp"
#include "refine/preconditioner.hpp"
#include "refine/refine.hpp"
#include "solve/scaled.hpp"
#include "stepwell/solve.hpp"

namespace stepwell::solve {

/// Columns that are refined together: A and L are read once for all of them.
inline constexpr std::int64_t kBatch = 64;

/// Some right-hand sides in the scale of H, and what has been reached for them.
struct Batch {
  std::int64_t first = 0;  ///< column of B
  std::int64_t count = 0;
  std::vector<ScaledColumn> column;
  core::Buffer<double> b, y, r;  ///< n x count each
  std::vector<double> error;     ///< backward error in the caller's norm

  MatrixView<double> view_of(const core::Buffer<double>& x) const {
    return view(x.data(), count > 0 ? x.size() / count : 0, count);
  }
};

/// A symmetric positive definite matrix of the caller's: what has been found out about it, and its
/// factor at the highest rung that was needed so far.
class Spd {
 public:
  /// 'priced_as', if not 0: decides as if A had this order, for a rehearsal with a small matrix of
  /// what a large one like it will take.
  Spd(MatrixView<const double> a, const SolveOptions& options, std::int64_t priced_as = 0);

  std::int64_t order() const { return a_.rows; }
  /// Looks at A and factors it at the first rung that can be.
  Certificate prepare();
  Certificate solve(MatrixView<const double> b, MatrixView<double> x);

 private:
  // spd.cpp: from the caller's numbers to a batch and back
  bool inspect(Certificate& c);
  Batch make_batch(MatrixView<const double> b, std::int64_t first, std::int64_t count) const;
  void finish(Batch& batch, MatrixView<double> x, Certificate& c);
  double tolerance() const;
  refine::Sums sums() const;

  // look.cpp: what A is like
  void look(Certificate& c);
  void choose_rung();
  bool worth_trying_without_factor() const;
  bool few_eigenvalues_carry_it() const;

  // ladder.cpp: what is tried, in which order, and when it is given up
  bool without_factor(Batch& batch, Certificate& c);
  bool climb(Batch& batch, Certificate& c);
  bool ensure_factor(Certificate& c);
  bool next_rung();
  bool refine_with_factor(Batch& batch, Certificate& c);
  bool assess(const refine::Outcome& outcome, Batch& batch, Certificate& c) const;
  refine::Request request_for(const Batch& batch) const;
  bool cancelled() const;

  // certify.cpp
  void estimate_condition(Certificate& c);
  void prove(Batch& batch, Certificate& c);

  MatrixView<const double> a_;
  SolveOptions options_;
  std::int64_t priced_;  ///< the order that the cost model is asked about
  factor::Diagonal diagonal_;
  factor::Scale scale_;  ///< powers of two
  Exponents exponents_;
  engine::Team team_;
  refine::SymmetricProduct product_;
  refine::ScaledOperator operator_;

  bool looked_ = false;
  refine::Survey survey_;
  double norm_ = 0;      ///< of H, from below
  double flatness_ = 1;  ///< trace(H)^2 / (n ||H||_F^2), about: 1 when all eigenvalues are equal

  bool sorted_ = false;  ///< neighbours in A are more alike than others

  std::vector<PrecisionMap> maps_;  ///< of the rungs, cheap to dear
  std::size_t rung_ = 0;
  std::size_t start_ = 0;  ///< the first rung
  std::optional<Factor> factor_;
  std::unique_ptr<refine::FactorPreconditioner> preconditioner_;
  double condition_ = 0;
};

/// A small system in FP64 on the caller's thread, with as little around it as a certificate allows.
Certificate solve_small(MatrixView<const double> a, MatrixView<const double> b,
                        MatrixView<double> x, const SolveOptions& options);

/// The certificates of so many columns, with nothing in them. Throws Error(out_of_memory).
std::vector<ColumnCertificate> blank_columns(std::int64_t columns);

/// False, and the certificate says where, if b has an infinity or a NaN.
bool inspect_b(MatrixView<const double> b, Certificate& c);

/// Up to this order residuals are always in double-double: the tolerance is a unit or two, and
/// plain sums would lose as much.
inline constexpr std::int64_t kExactUpTo = 8;

/// Bytes of memory that solve_small() works in.
std::int64_t small_bytes(std::int64_t n);

/// Bytes of vectors that the refinement of so many columns works in.
std::int64_t vector_bytes(std::int64_t n, std::int64_t columns, Refiner refiner);

/// Those, and the sums of products with A, which are given back while a factor is made.
std::int64_t refinement_bytes(std::int64_t n, std::int64_t columns, Refiner refiner);

/// Says what went wrong, in a sentence.
void explain(Certificate& c);

}  // namespace stepwell::solve
