// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "stepwell/solve.hpp"
#include "stepwell/stepwell_factor.h"

/// A factor of the caller's, or a solver's, which is not changed.
struct stepwell_factor {
  stepwell::Factor own;
  stepwell::Solver* of_solver = nullptr;  ///< asked at each use: it may factor again
  stepwell::EngineOptions engine;

  const stepwell::Factor& factor() const {
    return of_solver != nullptr ? of_solver->cholesky_factor() : own;
  }
};

struct stepwell_solver {
  stepwell::Solver solver;
  const stepwell::EngineOptions engine;
  stepwell_factor cholesky;
};
