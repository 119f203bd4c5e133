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

void add_gen(Verb app);
void add_solve(Verb app);
void add_lstsq(Verb app);
void add_plan(Verb app);
void add_tune(Verb app, const Arguments& given);
void add_tune_batch(Verb tune, const Arguments& given);
void add_bench(Verb app, const Arguments& given);
void add_doctor(Verb app);
void add_selftest(Verb app);
void add_completion(Verb app);
void add_man(Verb app);

/// The option table with the verbs that stepwell-bench has, if it is installed.
std::vector<VerbRow> command_table(Verb app);

}  // namespace stepwell::tool
