// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "stepwell/solve.hpp"
#include "stepwell/stepwell.h"

struct stepwell_solver {
  stepwell::Solver solver;
  const stepwell::EngineOptions engine;
};
