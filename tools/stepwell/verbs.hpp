// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/CLI.hpp>

/// The verbs of the command. Each adds itself to the application with its options, its help and
/// what it does; completion and manual are made from what has been added.
namespace stepwell::tool {

void add_bench(CLI::App& app);
void add_doctor(CLI::App& app);

}  // namespace stepwell::tool
