// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "refine/operators/operator.hpp"
#include "stepwell/refiner.hpp"

/// Solvers inside solvers, written once over operator and preconditioner (Higham & Pranesh,
/// Algorithm 4.1; Haidar et al., section 4). The outer loop computes the true residual of every
/// system and corrects its solution; an inner solver finds the corrections of all systems side by
/// side, and those that are done drop out.
namespace stepwell::refine {

enum class Status : unsigned char {
  running,
  done,        ///< the goal is met, by the true residual
  stagnated,   ///< a step did not reduce the true residual by half
  indefinite,  ///< p'Ap or r'M^-1 r was not positive: A or M is not positive definite
  non_finite,  ///< a number overflowed
  stopped      ///< a limit, or whoever watches
};

/// One right-hand side.
struct System {
  Status status = Status::running;
  int iterations = 0;           ///< products with A in inner solvers
  int steps = 0;                ///< corrections of x
  int misses = 0;               ///< steps that did not halve the error
  double error = 1;             ///< of the last true residual, see Request::goal
  double b_norm = 0;            ///< ||b||_2
  double x_norm = 0;            ///< ||x||_2
  std::vector<double> history;  ///< the error after each iteration, as the solver estimates it
};

/// A solution whose true error is a little above what the inner solver aimed at is not corrected.
inline constexpr double kDone = 1.5;

struct Request {
  Refiner refiner = Refiner::cg;
  /// Inner solvers stop when the error they estimate, see error_of, is at most this; a system is
  /// done when its true error is at most kDone times as much.
  double goal = 0x1p-53;
  /// The backward error of x + d in the caller's norm, given the residual r; d may be null. None:
  /// ||r|| / (||A|| ||x + d|| + ||b||) in the 2-norm, with ||A|| from below. With one, that counts
  /// too, divided by sqrt(n): badly scaled unknowns are not forgotten.
  std::function<double(std::int64_t column, const double* r, const double* x, const double* d)>
      error_of;
  double norm = 0;  ///< a lower bound on ||A||_2 that is known beforehand, such as max a_ii
  /// What the inner solver of a nesting aims at, relative to its right-hand side.
  double inner_tolerance = 1e-4;
  int inner_iterations = 50;  ///< of a nesting's inner solver, most
  int iterations = 1000;      ///< of each system, most
  int steps = 10;             ///< corrections, most
  int restart = 50;           ///< of gmres: vectors it keeps
  Sums sums = Sums::fp64;     ///< of products
  Sums residuals = Sums::blocked;
  bool fp32 = false;            ///< working precision: vectors and x are rounded to fp32
  bool preconditioned = false;  ///< inner solvers measure M^-1 r, as Higham & Pranesh do
  /// Asked after each iteration with the largest error of the systems that run; false stops.
  std::function<bool(int iterations, double error)> go_on;
};

struct Outcome {
  std::vector<System> system;
  double norm = 0;   ///< the largest ||A v|| / ||v|| seen, or the request's
  int products = 0;  ///< passes over A
  int solves = 0;    ///< passes over the factor
};

/// Refines x, an approximate solution of A x = b or zero, and leaves r = b - A x. Vectors are those
/// of a system scaled so that they stay near 1. b, x, r: n x columns. Workspace: 5 n x columns and
/// the operator's; gmres adds a basis of 'restart' vectors for each column.
Outcome refine(Operator& a, Preconditioner& m, MatrixView<const double> b, MatrixView<double> x,
               MatrixView<double> r, const Request& request);

}  // namespace stepwell::refine
