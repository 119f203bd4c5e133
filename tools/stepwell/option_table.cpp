// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "option_table.hpp"

#include <map>

#include "gallery/recipe.hpp"
#include "stepwell/refiner.hpp"
#include "stepwell/rung.hpp"

namespace stepwell::tool {
namespace {

template <class Values>
std::vector<std::string> names_of(const Values& values) {
  std::vector<std::string> names;
  for (const auto value : values) names.emplace_back(to_string(value));
  return names;
}

/// The values of options that have only a few, by the name of the option.
std::vector<std::string> choices_of(const std::string& name) {
  if (name == "--kind") return names_of(gallery::all_kinds);
  if (name == "kind") {  // of gen, which has more kinds
    std::vector<std::string> kinds = names_of(gallery::all_kinds);
    kinds.insert(kinds.end(), {"tall", "tall-clustered"});
    return kinds;
  }
  if (name == "--refiner") return names_of(all_refiners);
  if (name == "--rung" || name == "--map") return names_of(all_rungs);
  if (name == "--assume") return {"auto", "spd", "general"};
  if (name == "--layout") return {"columns", "rows"};
  if (name == "--structure") return {"spd", "general"};
  if (name == "--pivoting") return {"partial", "butterfly"};
  if (name == "shell") return {"bash", "zsh", "fish"};
  return {};
}

/// Shortens a type such as "FLOAT:FLOAT in [0 - 1]" to "FLOAT".
std::string plain_type(const CLI::Option& option) {
  if (option.get_items_expected_max() == 0) return "";
  const std::string type = option.get_type_name();
  return type.substr(0, type.find_first_of(":{"));
}

/// The choices that the option itself checks: "TEXT:{a,b}".
std::vector<std::string> checked_choices(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const std::size_t begin = type.find('{'), end = type.find('}');
  if (begin == std::string::npos || end == std::string::npos) return {};
  return CLI::detail::split(type.substr(begin + 1, end - begin - 1), ',');
}

OptionRow row_of(const CLI::Option& option) {
  OptionRow row;
  row.positional = option.get_positional();
  if (row.positional) {
    row.names = {option.get_name(true, false)};
  } else {
    for (const std::string& name : option.get_snames()) row.names.push_back("-" + name);
    for (const std::string& name : option.get_lnames()) row.names.push_back("--" + name);
  }
  row.value = plain_type(option);
  row.text = option.get_description();
  row.default_value = option.get_default_str();
  row.required = option.get_required();
  row.choices = checked_choices(option);
  if (row.choices.empty()) row.choices = choices_of(row.names.back());
  return row;
}

void collect(const CLI::App& app, const std::string& name, std::vector<VerbRow>& table) {
  VerbRow row;
  row.name = name;
  row.text = app.get_description();
  row.footer = app.get_footer();
  for (const CLI::Option* option : app.get_options()) row.options.push_back(row_of(*option));
  const std::vector<const CLI::App*> below = app.get_subcommands({});
  for (const CLI::App* verb : below) row.below.push_back(verb->get_name());
  table.push_back(std::move(row));
  for (const CLI::App* verb : below) {
    collect(*verb, name.empty() ? verb->get_name() : name + " " + verb->get_name(), table);
  }
}

}  // namespace

std::vector<VerbRow> option_table(const CLI::App& app) {
  std::vector<VerbRow> table;
  collect(app, "", table);
  return table;
}

HelpFormatter::HelpFormatter() {
  column_width(28);
  label("SUBCOMMAND", "VERB");
  label("Subcommands", "Verbs");
  label("Positionals", "Arguments");
}

std::string HelpFormatter::make_option_opts(const CLI::Option* option) const {
  const std::string type = plain_type(*option);
  return type.empty() ? "" : " " + type;
}

std::string HelpFormatter::make_option_desc(const CLI::Option* option) const {
  const std::string value = option->get_default_str();
  const bool shown = !value.empty() && option->get_items_expected_max() > 0;
  return option->get_description() + (shown ? " [" + value + "]" : "") +
         (option->get_required() && !option->get_positional() ? " (required)" : "");
}

}  // namespace stepwell::tool
