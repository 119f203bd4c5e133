// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/CLI.hpp>

namespace stepwell::tool {

/// Adds `bench graph`: what one rank of many takes to insert its tasks and messages, when none of
/// them does anything.
void add_graph_bench(CLI::App& bench);

}  // namespace stepwell::tool
