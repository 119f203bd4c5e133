// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "options/verb.hpp"

#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>

namespace stepwell::tool {
namespace {

/// 1e5 as 100000, so that a number of elements can be written as such. Anything else is left to
/// CLI11, which then names it in its message.
std::string whole_number(std::string text) {
  if (text.find_first_of(".eE") == std::string::npos) return text;
  double value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  constexpr double kExact = 0x1p53;
  if (error != std::errc() || stop != text.data() + text.size()) return text;
  if (value != std::floor(value) || !(std::abs(value) <= kExact)) return text;
  return std::to_string(static_cast<std::int64_t>(value));
}

}  // namespace

const Option& Option::check(const Range& range) const {
  if (range.real) {
    option_->check(CLI::Range(range.real_least, range.real_most));
  } else {
    option_->check(CLI::Range(range.least, range.most));
  }
  return *this;
}

const Option& Option::check(const OneOf& values) const {
  option_->check(CLI::IsMember(values.values));
  return *this;
}

const Option& Option::capture_default_str() const {
  option_->capture_default_str();
  return *this;
}

const Option& Option::type_name(const std::string& name) const {
  option_->type_name(name);
  return *this;
}

const Option& Option::required() const {
  option_->required();
  return *this;
}

const Option& Option::needs(const std::string& other) const {
  option_->needs(other);
  return *this;
}

const Option& Option::excludes(const std::string& other) const {
  option_->excludes(other);
  return *this;
}

std::size_t Option::count() const {
  return option_->count();
}

Verb Verb::add_subcommand(const std::string& name, const std::string& what) const {
  return Verb(*app_->add_subcommand(name, what));
}

Verb Verb::add_prefix_command(const std::string& name, const std::string& what) const {
  CLI::App& verb = *app_->add_subcommand(name, what);
  verb.set_help_flag();
  verb.prefix_command();
  return Verb(verb);
}

Verb Verb::add_hidden(const std::string& name) const {
  return Verb(*app_->add_subcommand(name)->group(""));
}

void Verb::require_subcommand() const {
  app_->require_subcommand(1);
}

bool Verb::has_subcommand() const {
  return !app_->get_subcommands().empty();
}

Option Verb::add_option(const std::string& names, std::string& value,
                        const std::string& what) const {
  return Option(app_->add_option(names, value, what));
}

Option Verb::add_option(const std::string& names, int& value, const std::string& what) const {
  return Option(app_->add_option(names, value, what)->transform(whole_number, "", ""));
}

Option Verb::add_option(const std::string& names, std::int64_t& value,
                        const std::string& what) const {
  return Option(app_->add_option(names, value, what)->transform(whole_number, "", ""));
}

Option Verb::add_option(const std::string& names, std::uint64_t& value,
                        const std::string& what) const {
  return Option(app_->add_option(names, value, what)->transform(whole_number, "", ""));
}

Option Verb::add_option(const std::string& names, double& value, const std::string& what) const {
  return Option(app_->add_option(names, value, what));
}

Option Verb::add_option(const std::string& names, std::vector<std::string>& values,
                        const std::string& what) const {
  return Option(app_->add_option(names, values, what));
}

Option Verb::add_option_function(const std::string& names,
                                 const std::function<void(const std::string&)>& take,
                                 const std::string& what) const {
  return Option(app_->add_option_function<std::string>(names, take, what));
}

Option Verb::add_flag(const std::string& names, bool& value, const std::string& what) const {
  return Option(app_->add_flag(names, value, what));
}

void Verb::callback(std::function<void()> action) const {
  app_->callback(std::move(action));
}

void Verb::footer(const std::string& text) const {
  app_->footer(text);
}

}  // namespace stepwell::tool
