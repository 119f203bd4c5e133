// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "commands/verbs.hpp"
#include "options/launcher.hpp"
#include "report/ending.hpp"
#include "stepwell/error.hpp"

/// `bench` and `tune batch`: another program, stepwell-bench, measures.
namespace stepwell::tool {
namespace {

/// Only the directory of this program is searched: a program of that name in PATH may be of another
/// version.
std::filesystem::path bench_program() {
  std::error_code unknown;
  return std::filesystem::read_symlink("/proc/self/exe", unknown).parent_path() / "stepwell-bench";
}

/// Replaces this process by stepwell-bench, with the same ranks, signals and standard streams. The
/// arguments are passed on as they were given, from the last word of 'verb' on.
[[noreturn]] void start_bench(const std::vector<std::string>& verb, const Arguments& given) {
  std::vector<std::string> words = {bench_program().string()};
  auto rest = given.begin();
  for (const std::string& word : verb) {
    words.push_back(word);
    rest = std::find(rest, given.end(), word) + 1;
  }
  words.insert(words.end(), rest, given.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  execv(argv[0], argv.data());
  const std::string reason = std::strerror(errno);
  const std::string name = verb.back() == "batch" ? "tune batch" : "bench";
  throw Failure{
      static_cast<int>(ErrorCode::unsupported),
      launched_rank() > 0
          ? ""  // all ranks have the same error
          : "'stepwell " + name + "' needs the program stepwell-bench; '" + words[0] +
                "' can't be started: " + reason +
                ". Install the package stepwell-bench, or build the target stepwell_bench_tool"};
}

/// What stepwell-bench says about its verbs; empty if it is not installed.
std::vector<VerbRow> bench_table() {
  const std::filesystem::path program = bench_program();
  if (access(program.c_str(), X_OK) != 0) return {};
  std::string command;
  for (const char c : program.string()) command += c == '\'' ? "'\\''" : std::string(1, c);
  command = "'" + command + "' option-table";
  FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return {};
  std::string text;
  char piece[4096];
  while (const std::size_t size = std::fread(piece, 1, sizeof(piece), pipe)) {
    text.append(piece, size);
  }
  return pclose(pipe) == 0 ? table_from_json(text) : std::vector<VerbRow>{};
}

/// Whether a verb is 'name' or one of its subcommands.
bool is_below(const VerbRow& verb, const std::string& name) {
  return verb.name == name || verb.name.starts_with(name + " ");
}

}  // namespace

std::vector<VerbRow> command_table(Verb app) {
  const std::vector<VerbRow> measured = bench_table();
  std::vector<VerbRow> table;
  for (VerbRow& own : option_table(app)) {
    const std::size_t before = table.size();
    if (own.name == "bench" || own.name == "tune batch") {
      std::copy_if(measured.begin(), measured.end(), std::back_inserter(table),
                   [&](const VerbRow& verb) { return is_below(verb, own.name); });
    }
    if (table.size() == before) table.push_back(std::move(own));
  }
  return table;
}

void add_bench(Verb app, const Arguments& given) {
  const Verb verb = app.add_prefix_command("bench", "Measure speed against a baseline");
  verb.callback([given] { start_bench({"bench"}, given); });
  verb.footer("'stepwell bench --help' lists its verbs.");
}

void add_tune_batch(Verb tune, const Arguments& given) {
  const Verb verb = tune.add_prefix_command("batch", "Find the fastest kernels for batches");
  verb.callback([given] { start_bench({"tune", "batch"}, given); });
  verb.footer("'stepwell tune batch --help' lists its options.");
}

}  // namespace stepwell::tool
