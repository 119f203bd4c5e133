// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "core/buffer.hpp"
#include "refine/refine.hpp"

namespace stepwell::refine {

/// n x k numbers that own their memory.
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
  double tolerance = 0;  ///< relative to ||r||: a slot may stop there. The goal always stops it
  int iterations = 0;    ///< most
  bool inside = false;   ///< of another inner solver: the goal is not its business
};

/// A refinement under way: what the outer loop and the inner solvers share.
class Work {
 public:
  Work(Operator& a, Preconditioner& m, MatrixView<const double> x, const Request& asked,
       Outcome& found)
      : request(asked), outcome(found), a_(a), m_(m), x_(x) {}

  /// y = A x and z = M^-1 r for the slots 'live' of n x k vectors, in one pass.
  void multiply(const Corrections& e, const std::vector<std::size_t>& live, MatrixView<double> x,
                MatrixView<double> y);
  void precondition(const Corrections& e, const std::vector<std::size_t>& live,
                    MatrixView<double> r, MatrixView<double> z);
  /// Books an iteration of a system with the residual r and the correction d so far, and returns
  /// its error.
  double book(std::int64_t column, const double* r, const double* d);
  /// The same where only norms are known: the residual's relative to the step's first, and the
  /// correction's.
  double book(std::int64_t column, double residual, double d_norm);
  double error_of(std::int64_t column, const double* r, const double* x, const double* d) const;
  /// The same for an iteration of a solver inside an inner solver, of whose error nothing is known.
  double count(std::int64_t column);
  /// False once the watcher has had enough.
  bool go_on(double error);
  System& system(std::int64_t column) { return outcome.system[static_cast<std::size_t>(column)]; }
  /// A vector in working precision.
  void round(std::int64_t n, double* x) const;

  const Request& request;
  Outcome& outcome;
  bool stopped = false;

 private:
  MatrixView<double> gather(core::Buffer<double>& memory, const std::vector<std::size_t>& live,
                            MatrixView<double> from) const;

  Operator& a_;
  Preconditioner& m_;
  MatrixView<const double> x_;  ///< the solutions that are corrected
  int asked_ = 0;
  core::Buffer<double> in_, out_;
};

/// Conjugate gradients, each slot with its own coefficients.
void cg(Work& work, Corrections& e);

/// GMRES with modified Gram-Schmidt, restarted; each slot has a basis of its own. Left-
/// preconditioned, or flexible and right-preconditioned; 'nested' puts a left-preconditioned one
/// inside as the preconditioner.
enum class Side : unsigned char { left, flexible, nested };
void gmres(Work& work, Corrections& e, Side side);

}  // namespace stepwell::refine
