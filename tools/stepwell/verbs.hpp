// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/CLI.hpp>
#include <string>

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

/// Thrown by a verb that ends with its own exit code and one line on standard error.
struct Failure {
  int code = 1;
  std::string text;
};

}  // namespace stepwell::tool
