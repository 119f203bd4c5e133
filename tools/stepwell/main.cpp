// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <CLI/CLI.hpp>

#include "commands/verbs.hpp"
#include "options/option_table.hpp"
#include "report/ending.hpp"

namespace stepwell::tool {
namespace {

int run(int argc, char** argv) {
  const std::unique_ptr<CLI::App> app = make_application();
  for (const auto add : {add_solve, add_lstsq, add_gen, add_plan, add_tune, add_bench, add_doctor,
                         add_selftest, add_completion, add_man}) {
    add(*app);
  }
  return parse_and_run(*app, argc, argv);
}

}  // namespace
}  // namespace stepwell::tool

int main(int argc, char** argv) {
  using namespace stepwell::tool;
  return end_cleanly([&] { return run(argc, argv); });
}
