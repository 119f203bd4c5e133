// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "core/buffer.hpp"
#include "refine/refine.hpp"

namespace stepwell::refine {

/// An n x k matrix that owns its memory.
class Vectors {
 public:
  Vectors(std::int64_t n, std::int64_t k) : n_(n), k_(k), memory_(n * k) {}
  double* operator[](std::size_t c) const {
    return memory_.data() + static_cast<std::int64_t>(c) * n_;
  }
  MatrixView<double> view() const { return stepwell::view(memory_.data(), n_, k_); }
  std::int64_t rows() const { return n_; }

 private:
  std::int64_t n_, k_;
  core::Buffer<double> memory_;
};

/// The correction equations A d = r that an inner solver works on, one for each slot.
struct Corrections {
  std::vector<std::int64_t> column;  ///< the system of each slot
  MatrixView<double> r;              ///< n x slots; may be overwritten
  MatrixView<double> d;              ///< n x slots: the corrections, zero at entry
  double tolerance = 0;              ///< relative to ||r||; a slot also stops at Request::goal
  int iterations = 0;                ///< maximum
  bool nested = false;  ///< nested in another inner solver: Request::goal does not apply
};

/// State of a refinement in progress, shared by the outer loop and the inner solvers.
class Work {
 public:
  Work(Operator& a, Preconditioner& m, MatrixView<const double> x, const Request& asked,
       Outcome& found)
      : request(asked), outcome(found), a_(a), m_(m), x_(x) {}

  /// y = A x and z = M^-1 r for the slots 'live' of n x k vectors, in one pass.
  void multiply(const Corrections& e, const std::vector<std::size_t>& live, MatrixView<double> x,
                MatrixView<double> y, Reads reads = Reads::fp64);
  /// y = A x for n x k vectors that are not slots.
  void multiply(MatrixView<double> x, MatrixView<double> y);
  void precondition(const Corrections& e, const std::vector<std::size_t>& live,
                    MatrixView<double> r, MatrixView<double> z);
  /// Records an iteration of a system with the residual r and the correction d so far, and returns
  /// the system's error.
  double record(std::int64_t column, const double* r, const double* d);
  /// The same if only norms are known: that of the residual, relative to the first residual of this
  /// step, and that of the correction.
  double record(std::int64_t column, double residual, double d_norm);
  double error_of(std::int64_t column, const double* r, const double* x, const double* d) const;
  /// Records an iteration of a solver nested in an inner solver, whose error is unknown: returns 1.
  double count(std::int64_t column);
  /// Calls Request::go_on; false once that has returned false.
  bool go_on(double error);
  System& system(std::int64_t column) { return outcome.system[static_cast<std::size_t>(column)]; }
  /// Rounds a vector to the working precision.
  void round(std::int64_t n, double* x) const;

  const Request& request;
  Outcome& outcome;
  bool stopped = false;

 private:
  MatrixView<double> gather(core::Buffer<double>& memory, const std::vector<std::size_t>& live,
                            MatrixView<double> from) const;

  Operator& a_;
  Preconditioner& m_;
  MatrixView<const double> x_;  ///< the solutions being corrected
  int asked_ = 0;
  core::Buffer<double> in_, out_;
};

/// Conjugate gradients, each slot with its own coefficients.
void cg(Work& work, Corrections& e);

/// Restarted GMRES with modified Gram-Schmidt; each slot has its own basis. It is
/// left-preconditioned, or flexible and right-preconditioned; 'nested' is flexible with a
/// left-preconditioned GMRES as the preconditioner.
enum class Side : unsigned char { left, flexible, nested };
void gmres(Work& work, Corrections& e, Side side);

}  // namespace stepwell::refine
