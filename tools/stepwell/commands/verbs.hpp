// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "options/option_table.hpp"

/// The verbs of the command. Each function adds a verb to the application, with its options, help
/// and action; the completions and the manual page are generated from these.
namespace stepwell::tool {

/// The arguments of the command, for verbs that pass them on.
using Arguments = std::vector<std::string>;

void add_gen(CLI::App& app);
void add_solve(CLI::App& app);
void add_lstsq(CLI::App& app);
void add_plan(CLI::App& app);
void add_tune(CLI::App& app, const Arguments& given);
void add_tune_batch(CLI::App& tune, const Arguments& given);
void add_bench(CLI::App& app, const Arguments& given);
void add_doctor(CLI::App& app);
void add_selftest(CLI::App& app);
void add_completion(CLI::App& app);
void add_man(CLI::App& app);

/// The option table with the verbs that stepwell-bench has, if it is installed.
std::vector<VerbRow> command_table(const CLI::App& app);

}  // namespace stepwell::tool
