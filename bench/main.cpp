// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include "bench/experiments/tune_batch.hpp"
#include "bench/verbs.hpp"
#include "options/option_table.hpp"
#include "report/ending.hpp"

/// stepwell-bench: the measurements. `stepwell bench` and `stepwell tune batch` start this program
/// with their arguments, so its help and its errors name that command.
namespace stepwell::bench {
namespace {

constexpr tool::OldName kOldNames[] = {{"bench solve", "--structure", "--assume"},
                                       {"bench lstsq", "--columns", "--nrhs"},
                                       {"bench lstsq", "--rung", "--map"},
                                       {"bench lstsq", "--clustered", "--kind=tall-clustered"},
                                       {"bench batch", "--rhs", "--nrhs"},
                                       {"bench batch", "--operation", "--op"},
                                       {"bench factor", "--matrix", "--kind"},
                                       {"bench factor", "--condition", "--cond"},
                                       {"bench kernel", "--size", "--n"},
                                       {"bench kernel", "--windows", "--pairs"}};

int run(int argc, char** argv) {
  const std::shared_ptr<CLI::App> owner = tool::make_application();
  const tool::Verb app(*owner);
  add_bench(app);
  const tool::Verb tune = app.add_subcommand("tune", "Measure the kernels of this machine");
  tune.require_subcommand();
  add_tune_batch(tune);
  // For the manual page and the completions of the command; not in the help.
  app.add_hidden("option-table").callback([app] {
    fmt::print("{}\n", tool::to_json(tool::option_table(app)));
  });
  return tool::parse_and_run(app, argc, argv, kOldNames);
}

}  // namespace
}  // namespace stepwell::bench

int main(int argc, char** argv) {
  return stepwell::tool::end_cleanly([&] { return stepwell::bench::run(argc, argv); });
}
