// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

/// CLI11 without its header, which costs five seconds in every file that includes it. The functions
/// have CLI11's names.
namespace stepwell::tool {

/// The least and the largest value of a number.
struct Range {
  Range(std::integral auto from, std::integral auto to) : least(from), most(to) {}
  Range(std::floating_point auto from, std::floating_point auto to)
      : real(true), real_least(from), real_most(to) {}

  bool real = false;
  std::int64_t least = 0, most = 0;
  double real_least = 0, real_most = 0;
};

/// The possible values of a text.
struct OneOf {
  OneOf(std::initializer_list<const char*> texts) : values(texts.begin(), texts.end()) {}
  explicit OneOf(std::vector<std::string> texts) : values(std::move(texts)) {}

  std::vector<std::string> values;
};

/// An option or argument of a verb. A handle, valid as long as the application.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}

  const Option& check(const Range& range) const;
  const Option& check(const OneOf& values) const;
  /// Shows the present value as the default.
  const Option& capture_default_str() const;
  const Option& type_name(const std::string& name) const;
  const Option& required() const;
  /// 'other' is the name of an option that was added before.
  const Option& needs(const std::string& other) const;
  const Option& excludes(const std::string& other) const;
  /// How often it was given.
  std::size_t count() const;

 private:
  CLI::Option* option_;
};

/// A verb, or the application itself. A handle, valid as long as the application.
class Verb {
 public:
  explicit Verb(CLI::App& app) : app_(&app) {}

  Verb add_subcommand(const std::string& name, const std::string& what) const;
  /// A subcommand whose arguments are not parsed, not even --help.
  Verb add_prefix_command(const std::string& name, const std::string& what) const;
  /// A subcommand that help does not show.
  Verb add_hidden(const std::string& name) const;
  void require_subcommand() const;
  /// Whether a subcommand was given.
  bool has_subcommand() const;

  /// The value is written to 'value', which must live as long as the application.
  Option add_option(const std::string& names, std::string& value, const std::string& what) const;
  Option add_option(const std::string& names, int& value, const std::string& what) const;
  Option add_option(const std::string& names, std::int64_t& value, const std::string& what) const;
  Option add_option(const std::string& names, std::uint64_t& value, const std::string& what) const;
  Option add_option(const std::string& names, double& value, const std::string& what) const;
  /// An option that may be repeated.
  Option add_option(const std::string& names, std::vector<std::string>& values,
                    const std::string& what) const;
  /// An option whose value is passed to a function.
  Option add_option_function(const std::string& names,
                             const std::function<void(const std::string&)>& take,
                             const std::string& what) const;
  Option add_flag(const std::string& names, bool& value, const std::string& what) const;

  /// What the verb does.
  void callback(std::function<void()> action) const;
  /// Text below the options in the help.
  void footer(const std::string& text) const;

  CLI::App& app() const { return *app_; }

 private:
  CLI::App* app_;
};

}  // namespace stepwell::tool
