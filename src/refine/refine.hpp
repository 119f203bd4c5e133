// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "refine/operators/operator.hpp"
#include "stepwell/refiner.hpp"

/// Nested iterative refinement, written once for any operator and preconditioner (Higham & Pranesh,
/// Algorithm 4.1; Haidar et al., section 4). The outer loop computes the true residual of every
/// system and corrects its solution; an inner solver computes the corrections of all systems
/// together, and systems that have converged drop out.
namespace stepwell::refine {

enum class Status : unsigned char {
  running,
  done,        ///< the goal is met, by the true residual
  stagnated,   ///< a step did not reduce the true residual by half
  indefinite,  ///< p'Ap or r'M^-1 r was not positive: A or M is not positive definite
  non_finite,  ///< a value overflowed or is NaN
  stopped      ///< a limit was reached, or go_on returned false
};

/// One right-hand side.
struct System {
  Status status = Status::running;
  int iterations = 0;           ///< products with A in inner solvers
  int steps = 0;                ///< corrections of x
  int misses = 0;               ///< steps that did not halve the error
  double error = 1;             ///< error of the last true residual, see Request::goal
  double b_norm = 0;            ///< ||b||_2
  double x_norm = 0;            ///< ||x||_2
  std::vector<double> history;  ///< the error after each iteration, as the solver estimates it
};

/// A solution whose true error exceeds the goal by at most this factor is not corrected again.
inline constexpr double kDone = 1.5;

struct Request {
  Refiner refiner = Refiner::cg;
  /// Inner solvers stop when their estimate of the error (see error_of) is at most this; a system
  /// is done when its true error is at most kDone times as much.
  double goal = 0x1p-53;
  /// The backward error of x + d in the caller's norm, given the residual r; d may be null. If
  /// empty, ||r|| / (||A|| ||x + d|| + ||b||) in the 2-norm is used, with a lower bound on ||A||.
  /// If set, the error is the larger of its value and that quantity divided by sqrt(n), so that
  /// badly scaled unknowns still count.
  std::function<double(std::int64_t column, const double* r, const double* x, const double* d)>
      error_of;
  double norm = 0;  ///< known lower bound on ||A||_2, such as max a_ii
  /// Tolerance of a nested inner solver, relative to its right-hand side.
  double inner_tolerance = 1e-4;
  int inner_iterations = 50;  ///< maximum for a nested inner solver
  int iterations = 1000;      ///< maximum for each system
  int steps = 10;             ///< maximum number of corrections
  int restart = 50;           ///< basis vectors that GMRES keeps
  Sums sums = Sums::fp64;     ///< summation of products
  Sums residuals = Sums::blocked;
  /// One column, with plain sums: inner products may read an fp32 copy of A, see ResidualGap.
  bool copy = false;
  bool fp32 = false;             ///< working precision: vectors and x are rounded to fp32
  bool preconditioned = false;   ///< inner solvers measure M^-1 r, as Higham & Pranesh do
  bool drop_if_stopped = false;  ///< if go_on() stops it, x and r stay those of the step before
  /// Called after each iteration with the largest error of the running systems; false stops.
  std::function<bool(int iterations, double error)> go_on;
};

struct Outcome {
  std::vector<System> system;
  double norm = 0;   ///< largest ||A v|| / ||v|| seen; at least Request::norm
  int products = 0;  ///< passes over A
  int solves = 0;    ///< passes over the factor
};

/// Refines x, an approximate solution of A x = b or zero, and returns r = b - A x. The system must
/// be scaled so that its vectors stay near 1. b, x, r: n x columns. Workspace: 5 n x columns plus
/// the operator's; GMRES adds a basis of 'restart' vectors for each column.
Outcome refine(Operator& a, Preconditioner& m, MatrixView<const double> b, MatrixView<double> x,
               MatrixView<double> r, const Request& request);

}  // namespace stepwell::refine
