// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "options/option_table.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <numeric>

#include "gallery/recipe.hpp"
#include "options/launcher.hpp"
#include "report/ending.hpp"
#include "stepwell/error.hpp"
#include "stepwell/refiner.hpp"
#include "stepwell/rung.hpp"
#include "stepwell/version.hpp"

namespace stepwell::tool {
namespace {

using nlohmann::ordered_json;

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
  const auto shown = [](const auto* part) { return !part->get_group().empty(); };
  for (const CLI::Option* option : app.get_options(shown)) row.options.push_back(row_of(*option));
  const std::vector<const CLI::App*> below = app.get_subcommands(shown);
  for (const CLI::App* verb : below) row.below.push_back(verb->get_name());
  table.push_back(std::move(row));
  for (const CLI::App* verb : below) {
    collect(*verb, name.empty() ? verb->get_name() : name + " " + verb->get_name(), table);
  }
}

/// Formats help as "--cond FLOAT  Condition number [100]".
class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter() {
    column_width(28);
    label("SUBCOMMAND", "VERB");
    label("Subcommands", "Verbs");
    label("Positionals", "Arguments");
  }

  std::string make_option_opts(const CLI::Option* option) const override {
    const std::string type = plain_type(*option);
    return type.empty() ? "" : " " + type;
  }

  std::string make_option_desc(const CLI::Option* option) const override {
    const std::string value = option->get_default_str();
    const bool shown = !value.empty() && option->get_items_expected_max() > 0;
    return option->get_description() + (shown ? " [" + value + "]" : "") +
           (option->get_required() && !option->get_positional() ? " (required)" : "");
  }
};

bool begins_with_verb(const std::vector<std::string>& arguments, std::string_view verb) {
  const std::vector<std::string> words = CLI::detail::split(std::string(verb), ' ');
  return words.size() <= arguments.size() &&
         std::equal(words.begin(), words.end(), arguments.begin());
}

/// Replaces an old name of an option in the arguments, and warns once. The parser never sees old
/// names, so its messages have the new ones only.
void replace(const OldName& name, std::vector<std::string>& arguments) {
  if (!begins_with_verb(arguments, name.verb)) return;
  bool found = false;
  for (std::string& argument : arguments) {
    if (argument == "--") break;  // files follow
    if (argument.substr(0, argument.find('=')) != name.before) continue;
    argument.replace(0, name.before.size(), name.now);
    found = true;
  }
  if (found && launched_rank() == 0) {  // all ranks have the same arguments
    fmt::print(stderr, "stepwell: {} is now called {}; the old name will be removed in 0.3\n",
               name.before, name.now);
  }
}

/// The number of letters to insert, delete or replace to turn one word into the other.
std::size_t distance(const std::string& from, const std::string& to) {
  std::vector<std::size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 0; j < to.size(); ++j) {
      const std::size_t replaced = diagonal + (from[i] == to[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, diagonal + 1, row[j] + 1});
    }
  }
  return row.back();
}

/// The verb or option that was probably meant; empty if none is close.
std::string meant_by(const std::string& word, const CLI::App& app) {
  const CLI::App* verb = &app;
  while (!verb->get_subcommands().empty()) verb = verb->get_subcommands().front();
  std::vector<std::string> known;
  const auto shown = [](const auto* part) { return !part->get_group().empty(); };
  if (word.starts_with('-')) {
    for (const CLI::Option* option : verb->get_options(shown)) {
      for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
    }
  } else {
    for (const CLI::App* below : verb->get_subcommands(shown)) known.push_back(below->get_name());
  }
  const std::string name = word.substr(0, word.find('='));
  std::string best;
  std::size_t least = std::min<std::size_t>(3, name.size() / 3);  // so many letters may be wrong
  for (const std::string& other : known) {
    const std::size_t d = distance(name, other);
    if (d > least || (d == least && !best.empty())) continue;
    least = d;
    best = other;
  }
  return best;
}

constexpr const char* kExamples =
    "Examples:\n"
    "  stepwell gen arithmetic --n 4000 -o A.npy --rhs b.npy\n"
    "  stepwell solve A.npy b.npy -o x.npy\n"
    "  stepwell gen tall --m 200000 --n 500 -o T.npy --rhs c.npy\n"
    "  stepwell lstsq T.npy c.npy -o y.npy\n"
    "  stepwell doctor\n"
    "  stepwell selftest\n"
    "  stepwell bench solve --kind arithmetic --cond 1e2 --n 8192\n"
    "  stepwell bench factor --n 8192 --map bf16\n"
    "  stepwell bench kernel --op symv --n 16384\n\n";

constexpr const char* kExitCodes =
    "Exit codes: 0 done, 1 'bench compare' found something slower, 2 wrong usage, 10 a file\n"
    "can't be opened, 11 malformed, 12 truncated, 13 too large, 14 not supported on this machine\n"
    "or in this build, 15 NaN or infinity in A or b, 16 wrong shape or not symmetric, 20 not\n"
    "positive definite, singular or rank deficient, 21 not converged, 22 x is larger than FP64\n"
    "can hold, 23 A or b was modified during the solve, 30 out of memory, 70 a bug in Stepwell or\n"
    "a failed 'selftest'. Errors are one line on standard error.\n";

}  // namespace

std::vector<VerbRow> option_table(Verb app) {
  std::vector<VerbRow> table;
  collect(app.app(), "", table);
  return table;
}

std::string to_json(const std::vector<VerbRow>& table) {
  ordered_json verbs = ordered_json::array();
  for (const VerbRow& verb : table) {
    ordered_json options = ordered_json::array();
    for (const OptionRow& o : verb.options) {
      options.push_back({{"names", o.names},
                         {"value", o.value},
                         {"text", o.text},
                         {"default", o.default_value},
                         {"positional", o.positional},
                         {"required", o.required},
                         {"choices", o.choices}});
    }
    verbs.push_back({{"name", verb.name},
                     {"text", verb.text},
                     {"footer", verb.footer},
                     {"options", std::move(options)},
                     {"below", verb.below}});
  }
  return verbs.dump();
}

std::vector<VerbRow> table_from_json(const std::string& text) {
  try {
    std::vector<VerbRow> table;
    for (const ordered_json& verb : ordered_json::parse(text)) {
      VerbRow row{verb.at("name"), verb.at("text"), verb.at("footer"), {}, verb.at("below")};
      for (const ordered_json& o : verb.at("options")) {
        row.options.push_back({o.at("names"), o.at("value"), o.at("text"), o.at("default"),
                               o.at("positional"), o.at("required"), o.at("choices")});
        if (row.options.back().names.empty()) throw Error(ErrorCode::malformed, "no name");
      }
      table.push_back(std::move(row));
    }
    return table;
  } catch (const ordered_json::exception& e) {
    throw Error(ErrorCode::malformed, std::string("not an option table: ") + e.what());
  }
}

std::shared_ptr<CLI::App> make_application() {
  auto app = std::make_shared<CLI::App>(
      "Stepwell: dense linear systems to full FP64 accuracy on low-precision engines.", "stepwell");
  app->set_version_flag("--version", std::string("stepwell ") + version());
  app->formatter(std::make_shared<HelpFormatter>());
  app->require_subcommand(1);
  app->footer(std::string(kExamples) + kExitCodes);
  return app;
}

int parse_and_run(Verb verb, int argc, char** argv, std::span<const OldName> old_names) {
  CLI::App& app = verb.app();
  std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
  for (const OldName& name : old_names) replace(name, arguments);
  std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants them
  try {
    app.parse(std::move(arguments));
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return app.exit(e);  // --help, --version
    const std::vector<std::string> unknown = app.remaining(true);
    std::string what = unknown.empty() ? e.what() : "unknown argument '" + unknown[0] + "'";
    const std::string meant = unknown.empty() ? "" : meant_by(unknown[0], app);
    if (!meant.empty()) what += "; did you mean '" + meant + "'?";
    const bool says = launched_rank() == 0;  // all ranks have the same arguments
    throw Failure{static_cast<int>(ErrorCode::invalid_argument),
                  says ? what + (meant.empty() ? "; see" : " See") + " 'stepwell --help'" : ""};
  }
  // Buffered text that can't be written is an error, too: a full disk must not look like success.
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    throw Error(ErrorCode::cannot_open, "standard output can't be written");
  }
  return 0;
}

}  // namespace stepwell::tool
