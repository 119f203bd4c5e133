// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "commands/verbs.hpp"
#include "options/option_table.hpp"
#include "report/ending.hpp"

namespace stepwell::tool {
namespace {

constexpr OldName kOldNames[] = {{"solve", "--gen", "--kind"},
                                 {"solve", "--checkpoint-share", "--checkpoint-interval"},
                                 {"lstsq", "--rung", "--map"}};

int run(int argc, char** argv) {
  const std::shared_ptr<CLI::App> owner = make_application();
  const Verb app(*owner);
  const Arguments given(argv + 1, argv + std::max(argc, 1));
  add_solve(app);
  add_lstsq(app);
  add_gen(app);
  add_plan(app);
  add_tune(app, given);
  add_bench(app, given);
  add_doctor(app);
  add_selftest(app);
  add_completion(app);
  add_man(app);
  return parse_and_run(app, argc, argv, kOldNames);
}

}  // namespace
}  // namespace stepwell::tool

int main(int argc, char** argv) {
  using namespace stepwell::tool;
  return end_cleanly([&] { return run(argc, argv); });
}
