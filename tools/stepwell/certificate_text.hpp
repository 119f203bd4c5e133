// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "stepwell/certificate.hpp"

namespace stepwell::tool {

/// The certificate for people, with colours if asked for. docs/guide/reading_a_certificate.md
/// explains each line.
std::string certificate_text(const Certificate& c, bool colour);

/// The command's exit code for the outcome of a solve.
int exit_code(SolveOutcome outcome);

}  // namespace stepwell::tool
