// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>

#include "batched/worker.hpp"
#include "stepwell/batch.hpp"

namespace stepwell::batched {

/// Maximum number of lanes of a pack.
inline constexpr std::int64_t kMostLanes = 64;

/// What one call does to each of its packs.
struct Request {
  bool factored = false;  ///< A holds factors
  bool keep = false;      ///< factors are written
  bool errors = false;    ///< backward errors are wanted
  bool log_determinants = false;
  Triangle triangle = Triangle::lower;
  std::int64_t ld = 1;    ///< leading dimension of the matrices A
  std::int64_t step = 1;  ///< distance between their elements
  bool both_triangles = false;
  bool fast = false;
  double tolerance = 0;  ///< tolerance for mixed precision
};

/// The systems of one pack, in the caller's memory.
template <class T>
struct PackSystems {
  kernels::BatchMatrices<const T> a;
  kernels::BatchMatrices<T> factor;
  kernels::BatchMatrices<T> b;
  kernels::BatchMatrices<const T> next;  ///< the matrices of the next pack
};

/// Results for the systems of one pack.
struct PackOutcome {
  std::int32_t pivots[kMostLanes];
  std::int32_t iterations[kMostLanes];
  double errors[kMostLanes];
  double log_determinants[kMostLanes];
};

/// Solves packs of lanes() systems; holds one thread's scratch memory.
template <class T>
class PackSolver {
 public:
  virtual ~PackSolver() = default;
  virtual std::int64_t lanes() const = 0;
  virtual std::int64_t bytes() const = 0;
  virtual void solve(const PackSystems<T>& systems, PackOutcome& outcome) noexcept = 0;
};

/// Solves in the precision of the systems. Throws Error(out_of_memory), as mixed_solver() does.
template <class T>
std::unique_ptr<PackSolver<T>> direct_solver(const kernels::Table& t, std::int64_t n,
                                             std::int64_t columns, const BatchTuning& tuning,
                                             const Request& request);

/// FP64 systems factored in fp32 and refined, each on its own; those that fp32 can't solve are
/// factored in FP64, with the same bits as from direct_solver().
std::unique_ptr<PackSolver<double>> mixed_solver(const kernels::Table& t, std::int64_t n,
                                                 std::int64_t columns, const Request& request);

}  // namespace stepwell::batched
