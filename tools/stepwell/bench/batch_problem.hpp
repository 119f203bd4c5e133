// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "harness.hpp"
#include "stepwell/batch.hpp"

/// What `bench batch`, `tune batch` and the batch part of `bench paper` measure.
namespace stepwell::tool {

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

/// A batch of random systems and those who work on it, one after the other on the same memory: each
/// side's 'prepare' puts A and B back, outside of its time. Sides live no longer than their batch.
class BatchBench {
 public:
  virtual ~BatchBench() = default;

  /// Ours, with the case's options and these.
  virtual Side ours(int threads, BatchOptions options = {}) = 0;
  /// lapack-loop, mkl-loop: a call a matrix. mkl-compact: oneMKL's compact routines, packing and
  /// unpacking included, in chunks of the size that is fastest here. Throws Error(unsupported) if a
  /// layout or an operation is not theirs.
  virtual Side baseline(const std::string& against) = 0;
  /// A pass over as much memory that reads and writes as many bytes: copied from one half of it to
  /// the other and back, or changed in place.
  virtual Side copy() = 0;
  virtual Side in_place() = 0;

  /// One run of the side; then the largest ||b - A x|| / (||A|| ||x|| + ||b||), or of cholesky
  /// ||A - L L'|| / ||A|| of some of the matrices, in units of the format's roundoff.
  virtual double error(const Side& side) = 0;

  virtual BatchBytes bytes() const = 0;
  /// Of one run.
  virtual double flops() const = 0;
};

/// Throws Error: sizes that memory can't hold.
std::unique_ptr<BatchBench> make_batch_bench(const BatchCase& c);

}  // namespace stepwell::tool
