// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "bench/harness/harness.hpp"
#include "stepwell/batch.hpp"

/// The problems that `bench batch`, `tune batch` and the batch part of `bench paper` measure.
namespace stepwell::bench {

enum class BatchOperation : unsigned char { cholesky, solve, factor_solve, substitute };
BatchOperation batch_operation(std::string_view name);

enum class BatchLayout : unsigned char { strided, pointers, interleaved };
BatchLayout batch_layout(std::string_view name);

struct BatchCase {
  std::int64_t n = 32;
  std::int64_t count = 10000;
  std::int64_t columns = 1;
  Format format = Format::fp64;
  BatchOperation operation = BatchOperation::factor_solve;
  BatchLayout layout = BatchLayout::strided;
  Triangle triangle = Triangle::lower;
  bool both_triangles = false;
  bool mixed = false;
  bool fast = false;
  int threads = 1;
};

/// Bytes of the cache lines that an operation reads and writes.
struct BatchBytes {
  std::int64_t read = 0;
  std::int64_t written = 0;
};

/// A batch of random systems and the sides that work on it, one after the other in the same memory.
/// The 'prepare' of each side restores A and B outside the measured time. Sides must not outlive
/// their batch.
class BatchBench {
 public:
  virtual ~BatchBench() = default;

  /// Our routine, with the options of the case combined with these.
  virtual Side ours(int threads, BatchOptions options = {}) = 0;
  /// lapack-loop, mkl-loop: one call per matrix. mkl-compact: oneMKL's compact routines, including
  /// packing and unpacking, in chunks of the size that is fastest on this machine. Throws
  /// Error(unsupported) if the baseline does not support the layout or the operation.
  virtual Side baseline(const std::string& against) = 0;
  /// A pass over as much memory that reads and writes as many bytes: copy() copies one half to the
  /// other and back, in_place() changes the elements in place.
  virtual Side copy() = 0;
  virtual Side in_place() = 0;

  /// Runs the side once. Returns the largest ||b - A x|| / (||A|| ||x|| + ||b||) or, for cholesky,
  /// the largest ||A - L L'|| / ||A|| of a sample of the matrices, in units of the format's
  /// roundoff.
  virtual double error(const Side& side) = 0;

  /// The fewest threads that a run of ours had: those of another side's pool must be free by then.
  virtual int fewest_threads() const = 0;
  virtual BatchBytes bytes() const = 0;
  /// Flops of one run.
  virtual double flops() const = 0;
};

/// Throws Error if memory can't hold the batch.
std::unique_ptr<BatchBench> make_batch_bench(const BatchCase& c);

}  // namespace stepwell::bench
