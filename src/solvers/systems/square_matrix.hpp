// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>

#include "engine/threads/thread_pool.hpp"
#include "refine/operators/operator.hpp"
#include "solvers/analysis/analysis.hpp"
#include "solvers/ladder/ladder.hpp"
#include "stepwell/certificate.hpp"
#include "stepwell/lu.hpp"

namespace stepwell::solvers {

/// The factor that a matrix has made.
struct MadeFactor {
  FactorReport report;
  Rung coarsest = Rung::fp64;  ///< of its tiles
};

class LapackFactor;

/// The matrix in the caller's memory and the factor that was kept: at most one of the three.
struct KeptFactor {
  MatrixView<const double> a;
  const Factor* cholesky = nullptr;
  const LuFactor* lu = nullptr;
  const LapackFactor* lapack = nullptr;
};

/// Memory that solving takes in addition to A, B, X and the factor.
struct RefinementBytes {
  std::int64_t vectors = 0;   ///< all the time
  std::int64_t products = 0;  ///< workspace of products with A; released while a factor is made
  /// An fp32 copy of A, which refinement makes if wants_copy(); 0 if it makes none.
  std::int64_t copy = 0;
};

/// Whether refinement with a factor of this map makes an fp32 copy of A: only if it takes so many
/// iterations that the copy is worthwhile, and A is so well conditioned that they can use it.
bool wants_copy(const PrecisionMap& map);

/// A square matrix as the solver sees it: symmetric positive definite, general or distributed.
class SquareMatrix {
 public:
  /// Passes over A are done by 'threads' threads.
  SquareMatrix(Structure structure, std::int64_t order, int threads)
      : structure_(structure), order_(order), pool_(threads) {}
  virtual ~SquareMatrix() = default;
  SquareMatrix(const SquareMatrix&) = delete;
  SquareMatrix& operator=(const SquareMatrix&) = delete;

  Structure structure() const { return structure_; }
  std::int64_t order() const { return order_; }
  engine::ThreadPool& pool() { return pool_; }

  virtual Analysis analyze(const SolveOptions& options) = 0;
  /// Products with A or A'. For a symmetric matrix both are the same.
  virtual refine::Product& product(bool transposed) = 0;
  /// Factors A at a step. The factor is kept, in place of the one before, if the report says ok.
  virtual MadeFactor factorize(const Step& step, const Analysis& analysis,
                               const SolveOptions& options) = 0;
  /// That factor as a preconditioner of H = diag(row) A diag(col), or of H'.
  virtual std::unique_ptr<refine::Preconditioner> precondition(const Analysis& analysis,
                                                               bool transposed) = 0;
  virtual RefinementBytes bytes(std::int64_t columns, Refiner refiner) const = 0;
  /// None for a distributed matrix, whose tiles are on several ranks.
  virtual KeptFactor kept() const { return {}; }

 private:
  Structure structure_;
  std::int64_t order_;
  engine::ThreadPool pool_;
};

/// Threads for passes over a matrix of order n.
int threads_for(std::int64_t n, const Context* context);

/// Why a call has fewer threads than the process: they would not pay.
inline constexpr const char* kSmallSystem = "small system";

/// Records in a certificate how many threads a call with this context could use, and why.
void record_threads(int threads, const Context* context, Certificate& c);

/// Bytes of the vectors that the refinement of so many columns needs.
std::int64_t vector_bytes(std::int64_t n, std::int64_t columns, Refiner refiner);

/// What the refinement of a matrix in the caller's memory needs.
RefinementBytes refinement_bytes(std::int64_t n, std::int64_t columns, Refiner refiner,
                                 Structure structure);

/// The largest number of columns of a product: the analysis of a symmetric matrix takes one column
/// more than it is given, for the sums of its rows.
std::int64_t product_columns(std::int64_t columns);

}  // namespace stepwell::solvers
