// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "refine/operators/general_product.hpp"
#include "solvers/lapack_factor.hpp"
#include "solvers/solver.hpp"
#include "stepwell/lu.hpp"

namespace stepwell::solvers {

/// A general square matrix and its LU factor. One factor solves with A and with A'. LAPACK's own
/// factor is a rung too: the first where A is small, else the last, because what it says of a
/// singular matrix is what the field goes by.
class General : public Solver {
 public:
  General(MatrixView<const double> a, const SolveOptions& options, std::int64_t priced_as = 0);

  /// Which of the two the next solve is about; options.transposed at first.
  void transpose(bool transposed) { transposed_ = transposed; }
  bool transposed() const { return transposed_; }

 private:
  bool check_matrix(Certificate& c) override;
  bool without_factor(Batch& batch, Certificate& c) override;
  Made make_factor() override;
  void drop_factor() override;
  std::unique_ptr<refine::Preconditioner> precondition(const Side& side) override;
  Side& side() override { return transposed_ ? *backward_ : *forward_; }
  Side& other_side() override { return transposed_ ? *forward_ : *backward_; }
  Refiner refiner_for(Rung coarsest) const override;
  std::string flaw_of(const FactorReport& report) const override;
  std::string doubt_about(const Batch& batch) override;
  void conclude(Certificate& c) const override;
  /// In FP64 nothing is gained by going on with what a weaker factor left behind.
  bool starts_afresh() const override { return rung_ > 0 && maps_[rung_] == uniform(Rung::fp64); }
  std::size_t rung_above() const override;

  void analyze();
  double column_norm() const;
  bool is_lapack(std::size_t rung) const { return rung == lapack_rung_; }

  MatrixView<const double> a_;
  bool transposed_;
  std::int64_t zero_pivot_ = -1;  ///< that LAPACK found
  bool suspect_ = false;          ///< A may be singular: LAPACK's factor is next
  std::size_t lapack_rung_;       ///< as many as there are rungs: none
  refine::GeneralProduct product_, transposed_product_;
  bool analyzed_ = false;
  bool even_ = false;          ///< A needs no equilibration
  double diagonal_share_ = 0;  ///< of the squares of an even A's elements
  refine::MatrixScan found_;
  factor::Scale scale_;
  std::optional<Side> forward_, backward_;
  std::optional<LuFactor> lu_;  ///< one of the two
  std::optional<LapackFactor> lapack_;
};

}  // namespace stepwell::solvers
