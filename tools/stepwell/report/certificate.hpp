// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "stepwell/certificate.hpp"

namespace stepwell::tool {

/// The certificate as readable text, with colours if asked for. docs/guide/reading_a_certificate.md
/// explains each line.
std::string certificate_text(const Certificate& c, bool colour);

/// The certificate as JSON.
nlohmann::ordered_json certificate_json(const Certificate& c);

/// "bf16 factor, cg, 8 iterations"; for least squares "bf16 Gram matrix, cg, 8 iterations"
std::string path_text(const Method& method, int iterations, bool least_squares = false);

/// A rung that was left, and the reason.
std::string attempt_text(const LadderStep& r, bool least_squares = false);

/// "0.2 s: analysis 0.02, factor 0.1, refinement 0.08"
std::string time_text(const SolveTimes& t);

/// The command's exit code for the outcome of a solve.
int exit_code(SolveOutcome outcome);

}  // namespace stepwell::tool
