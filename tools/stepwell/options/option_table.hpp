// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "options/verb.hpp"

/// The command's verbs and options as data. The parser, --help, the manual page and the shell
/// completions all come from the options that the verbs have added to the application.
namespace stepwell::tool {

struct OptionRow {
  std::vector<std::string> names;  ///< "-o", "--out"; the name of a positional argument
  std::string value;               ///< "FILE"; empty: a flag
  std::string text;
  std::string default_value;
  bool positional = false;
  bool required = false;
  std::vector<std::string> choices;  ///< all possible values; empty: any value, mostly a file
};

struct VerbRow {
  std::string name;  ///< "bench solve"
  std::string text;
  std::string footer;
  std::vector<OptionRow> options;
  std::vector<std::string> below;  ///< its subcommands: "solve"
};

/// The application itself, with an empty name, and all its verbs, including those with subcommands.
std::vector<VerbRow> option_table(Verb app);

/// The table as JSON, and back. The second one throws Error(malformed).
std::string to_json(const std::vector<VerbRow>& table);
std::vector<VerbRow> table_from_json(const std::string& text);

/// An application without verbs: name, version, layout of the help, examples and exit codes.
std::shared_ptr<CLI::App> make_application();

/// A former name of a verb's option. It works until 0.3 with a warning, and help, manual page and
/// completions do not show it.
struct OldName {
  std::string_view verb;    ///< "bench batch"
  std::string_view before;  ///< "--rhs"
  std::string_view now;     ///< "--nrhs", or an option and its value: "--kind=tall-clustered"
};

/// Parses the arguments and runs the verb. Returns 0 after success, --help and --version. Throws
/// Failure for wrong usage, and what the verb throws.
int parse_and_run(Verb app, int argc, char** argv, std::span<const OldName> old_names);

}  // namespace stepwell::tool
