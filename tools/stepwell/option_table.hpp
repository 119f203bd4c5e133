// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

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
std::vector<VerbRow> option_table(const CLI::App& app);

/// Formats help as "--cond FLOAT  Condition number [100]".
class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter();
  std::string make_option_opts(const CLI::Option* option) const override;
  std::string make_option_desc(const CLI::Option* option) const override;
};

/// The manual page, for man(1).
std::string manual_page(const CLI::App& app);

/// Completion for "bash", "zsh" or "fish". Throws Error(invalid_argument) for another shell.
std::string completion_script(const CLI::App& app, const std::string& shell);

}  // namespace stepwell::tool
