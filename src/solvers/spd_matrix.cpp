// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/spd_matrix.hpp"

#include "refine/preconditioner.hpp"
#include "solvers/solver.hpp"

namespace stepwell::solvers {

int LocalMatrix::threads() const {
  return threads_for(a_.rows, context_);
}

refine::Product& LocalMatrix::begin(engine::ThreadPool& pool) {
  pool_ = &pool;
  return product_.emplace(pool, a_);
}

void LocalMatrix::scan(MatrixView<const double> x, MatrixView<double> y, refine::MatrixScan& found,
                       bool mirror, std::span<refine::Element> elements) {
  product_->apply(x, y, &found, mirror);
  for (refine::Element& element : elements) element.value = a_(element.row, element.col);
}

std::unique_ptr<refine::Preconditioner> LocalMatrix::precondition(const FactorData& factor,
                                                                  const std::vector<double>& row,
                                                                  const std::vector<double>& col) {
  return std::make_unique<refine::FactorPreconditioner>(*pool_, factor, row, col);
}

std::int64_t LocalMatrix::held_bytes(std::int64_t columns, Refiner refiner) const {
  return vector_bytes(order(), columns, refiner);
}

std::int64_t LocalMatrix::product_bytes(std::int64_t columns) const {
  return solvers::product_bytes(order(), columns, Structure::spd);
}

}  // namespace stepwell::solvers
