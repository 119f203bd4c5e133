// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/CLI.hpp>

namespace stepwell::tool {

/// Adds `bench compare`: what became slower between two files of `bench`. It ends with exit code 1
/// if something did.
void add_compare(CLI::App& bench);

}  // namespace stepwell::tool
