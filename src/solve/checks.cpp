// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "solve/checks.hpp"

#include "factor/call.hpp"
#include "stepwell/error.hpp"

namespace stepwell::driver {
namespace {

std::string size_of(std::int64_t rows, std::int64_t cols) {
  return std::to_string(rows) + " x " + std::to_string(cols);
}

/// Whether the memory of two views has a byte in common.
bool overlap(MatrixView<const double> x, MatrixView<const double> y) {
  if (x.empty() || y.empty()) return false;
  const auto begin = [](MatrixView<const double> v) {
    return reinterpret_cast<std::uintptr_t>(v.data);
  };
  const auto end = [](MatrixView<const double> v) {
    return reinterpret_cast<std::uintptr_t>(v.column(v.cols - 1) + v.rows);
  };
  return begin(x) < end(y) && begin(y) < end(x);
}

}  // namespace

void Checks::misuse(const std::string& text) const {
  throw Error(ErrorCode::invalid_argument, std::string(entry_) + ": " + text);
}

void Checks::matrix(MatrixView<const double> a, const SolveOptions& options) const {
  if (a.rows != a.cols) misuse("A is " + size_of(a.rows, a.cols) + "; it must be square");
  factor::require_view(a.data, a.rows, a.cols, a.ld, std::string(entry_) + ": A");
  if (!(options.tolerance >= 0 && options.tolerance < 1)) {
    misuse("the tolerance must lie in [0, 1); 0 means sqrt(n) 2^-53");
  }
  if (options.iterations < 0) misuse("the number of iterations can't be negative");
  if (options.working != Format::fp64 && options.working != Format::fp32) {
    misuse("the working precision must be fp64 or fp32");
  }
}

void Checks::vectors(MatrixView<const double> a, MatrixView<const double> b,
                     MatrixView<double> x) const {
  factor::require_view(b.data, b.rows, b.cols, b.ld, std::string(entry_) + ": B");
  factor::require_view(x.data, x.rows, x.cols, x.ld, std::string(entry_) + ": X");
  if (b.rows != a.rows) {
    misuse("B is " + size_of(b.rows, b.cols) + "; it must have " + std::to_string(a.rows) +
           " rows, as A has");
  }
  if (x.rows != b.rows || x.cols != b.cols) {
    misuse("X is " + size_of(x.rows, x.cols) + "; it must be " + size_of(b.rows, b.cols) +
           ", as B is");
  }
  if (overlap(x, a)) misuse("X overlaps A, which must stay as it is");
  const bool same = x.data == b.data && (x.ld == b.ld || x.cols == 1);
  if (!same && overlap(x, b)) misuse("X overlaps B; it may be B itself, but not a part of it");
}

void Checks::general(const SolveOptions& options) const {
  if (options.refiner == Refiner::cg || options.refiner == Refiner::ir_cg) {
    misuse("the refiner " + std::string(to_string(*options.refiner)) +
           " is for symmetric positive definite matrices; use fgmres or ir(gmres), or solve_spd");
  }
  if (options.check_symmetry) {
    misuse("check_symmetry is for solve_spd, which reads one triangle; leave it out");
  }
}

void Checks::plan(std::int64_t n, std::int64_t columns) const {
  if (n < 0 || columns < 0) {
    misuse("a plan for " + size_of(n, columns) + "; sizes can't be negative");
  }
}

}  // namespace stepwell::driver
