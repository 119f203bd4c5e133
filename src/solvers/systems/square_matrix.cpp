// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/systems/square_matrix.hpp"

#include <algorithm>

#include "core/checked.hpp"
#include "engine/runtime.hpp"
#include "factor/setup.hpp"
#include "refine/operators/general_product.hpp"
#include "refine/operators/symmetric_product.hpp"

namespace stepwell::solvers {
namespace {

/// Vectors of a column that a refiner needs in addition to those of CG: a basis of 50, and the
/// second basis of the flexible methods.
std::int64_t basis_of(Refiner refiner) {
  switch (refiner) {
    case Refiner::gmres:
    case Refiner::ir_gmres:
      return 51;
    case Refiner::fgmres:
      return 101;
    case Refiner::gmres_gmres:
      return 156;
    default:
      return 0;
  }
}

}  // namespace

int threads_for(std::int64_t n, const Context* context) {
  constexpr std::int64_t kForThreads = 640;  // below, waking them takes longer than they save
  if (n < kForThreads) return 1;
  return engine::pool_threads(context);
}

void record_threads(int threads, const Context* context, Certificate& c) {
  engine::WorkerCount allowed = engine::worker_count(context);
  const bool small = threads == 1 && allowed.threads > 1;
  c.threads = small ? 1 : allowed.threads;
  c.threads_reason = small ? kSmallSystem : std::move(allowed.reason);
}

bool is_symmetric_with_positive_diagonal(MatrixView<const double> a, const Context* context) {
  engine::ThreadPool pool(threads_for(a.rows, context));
  return refine::is_symmetric_with_positive_diagonal(pool, a);
}

std::int64_t product_columns(std::int64_t columns) {
  return std::clamp<std::int64_t>(columns, 2, kBatch);
}

std::int64_t vector_bytes(std::int64_t n, std::int64_t columns, Refiner refiner) {
  // Those of the batch, the outer loop, CG and its copies, and of products with a copy of A.
  const std::int64_t vectors = 22 + basis_of(refiner);
  return core::size_product(n, std::min(columns, kBatch), 8 * vectors, "vectors of the refinement");
}

bool wants_copy(const PrecisionMap& map) {
  return map == uniform(Rung::bf16) || map == uniform(Rung::fp16);
}

RefinementBytes refinement_bytes(std::int64_t n, std::int64_t columns, Refiner refiner,
                                 Structure structure) {
  const bool general = structure == Structure::general;
  RefinementBytes bytes;
  bytes.vectors = vector_bytes(n, columns, refiner);
  bytes.products = general ? refine::scan_bytes(n)
                           : refine::SymmetricProduct::workspace_bytes(n, product_columns(columns));
  // With more columns a product is limited by arithmetic, and below kCopyFrom A is in the caches. A
  // general matrix would be copied as a whole, and GMRES would have to restart: nothing is gained.
  constexpr std::int64_t kCopyFrom = 1024, kMostCopied = std::int64_t{1} << 30;
  if (general || columns != 1 || refiner != Refiner::cg || n < kCopyFrom) return bytes;
  const std::int64_t copy = refine::SymmetricProduct::copy_bytes(n);
  if (copy <= kMostCopied) bytes.copy = copy;
  return bytes;
}

}  // namespace stepwell::solvers
