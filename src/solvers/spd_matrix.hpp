// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "engine/thread_pool.hpp"
#include "factor/scaling.hpp"
#include "refine/operators/operator.hpp"
#include "stepwell/solve.hpp"

namespace stepwell::solvers {

/// What the driver of positive definite systems asks of A. Where its elements are, and who makes
/// its factor, is for those who derive from it; the driver decides from what it is told, and where
/// A lies on ranks each of them is told the same.
class SpdMatrix {
 public:
  virtual ~SpdMatrix() = default;

  virtual std::int64_t order() const = 0;
  /// Of the pool that begin() gets.
  virtual int threads() const = 0;
  /// Comes first, and once: products are the work of this pool.
  virtual refine::Product& begin(engine::ThreadPool& pool) = 0;
  virtual factor::Diagonal diagonal() = 0;
  /// y = A x, what A holds, and the values of some elements of its lower triangle, all in one pass.
  virtual void scan(MatrixView<const double> x, MatrixView<double> y, refine::MatrixScan& found,
                    bool mirror, std::span<refine::Element> elements) = 0;
  virtual Factor factor(const FactorOptions& options) = 0;
  /// Of H = diag(row) A diag(col).
  virtual std::unique_ptr<refine::Preconditioner> precondition(const FactorData& factor,
                                                               const std::vector<double>& row,
                                                               const std::vector<double>& col) = 0;
  /// Bytes that are taken while a system of so many columns is solved: all the time, and by
  /// products.
  virtual std::int64_t held_bytes(std::int64_t columns, Refiner refiner) const = 0;
  virtual std::int64_t product_bytes(std::int64_t columns) const = 0;
};

/// A in the caller's memory, its lower triangle.
class LocalMatrix : public SpdMatrix {
 public:
  LocalMatrix(MatrixView<const double> a, const Context* context) : a_(a), context_(context) {}

  std::int64_t order() const override { return a_.rows; }
  int threads() const override;
  refine::Product& begin(engine::ThreadPool& pool) override;
  factor::Diagonal diagonal() override { return factor::read_diagonal(a_); }
  void scan(MatrixView<const double> x, MatrixView<double> y, refine::MatrixScan& found,
            bool mirror, std::span<refine::Element> elements) override;
  Factor factor(const FactorOptions& options) override { return cholesky(a_, options); }
  std::unique_ptr<refine::Preconditioner> precondition(const FactorData& factor,
                                                       const std::vector<double>& row,
                                                       const std::vector<double>& col) override;
  std::int64_t held_bytes(std::int64_t columns, Refiner refiner) const override;
  std::int64_t product_bytes(std::int64_t columns) const override;

 private:
  MatrixView<const double> a_;
  const Context* context_;
  engine::ThreadPool* pool_ = nullptr;
  std::optional<refine::SymmetricProduct> product_;
};

}  // namespace stepwell::solvers
