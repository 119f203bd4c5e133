// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace CLI {
class App;
}

/// The verbs of the command. Each function adds a verb to the application, with its options, help
/// and action; the completions and the manual page are generated from these.
namespace stepwell::tool {

void add_gen(CLI::App& app);
void add_solve(CLI::App& app);
void add_lstsq(CLI::App& app);
void add_plan(CLI::App& app);
void add_tune(CLI::App& app);
void add_bench(CLI::App& app);
void add_doctor(CLI::App& app);
void add_selftest(CLI::App& app);
void add_completion(CLI::App& app);
void add_man(CLI::App& app);

}  // namespace stepwell::tool
