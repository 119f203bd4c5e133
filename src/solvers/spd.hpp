// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "solvers/solver.hpp"
#include "solvers/spd_matrix.hpp"

namespace stepwell::solvers {

/// A symmetric positive definite matrix and its Cholesky factor.
class Spd : public Solver {
 public:
  Spd(std::unique_ptr<SpdMatrix> a, const SolveOptions& options, std::int64_t priced_as = 0);
  /// Of A in memory the lower triangle is read.
  Spd(MatrixView<const double> a, const SolveOptions& options, std::int64_t priced_as = 0);

 private:
  bool check_matrix(Certificate& c) override;
  Made make_factor() override;
  void drop_factor() override { factor_.reset(); }
  std::unique_ptr<refine::Preconditioner> precondition(const Side& side) override;
  Side& side() override { return side_; }
  Side& other_side() override { return side_; }
  bool without_factor(Batch& batch, Certificate& c) override;
  std::int64_t held_bytes(std::int64_t columns) const override;
  std::int64_t product_bytes(std::int64_t columns) const override;

  // look.cpp: what A is like
  void analyze(Certificate& c);
  void choose_rung();
  bool worth_trying_without_factor() const;
  bool few_eigenvalues_carry_it() const;

  std::unique_ptr<SpdMatrix> a_;
  refine::Product& product_;
  factor::Diagonal diagonal_;
  factor::Scale scale_;  ///< powers of two
  Side side_;

  bool analyzed_ = false;
  refine::MatrixScan found_;
  double flatness_ = 1;  ///< trace(H)^2 / (n ||H||_F^2), about: 1 when all eigenvalues are equal
  bool sorted_ = false;  ///< neighbours in A are more alike than others

  std::optional<Factor> factor_;
};

}  // namespace stepwell::solvers
