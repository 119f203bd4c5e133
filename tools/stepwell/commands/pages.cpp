// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>

#include "commands/verbs.hpp"
#include "stepwell/error.hpp"
#include "stepwell/version.hpp"

/// `completion` and `man`: the option table as a script for a shell and as a page for man(1).
namespace stepwell::tool {
namespace {

std::vector<std::string> flags_of(const VerbRow& verb) {
  std::vector<std::string> names;
  for (const OptionRow& o : verb.options) {
    if (!o.positional) names.insert(names.end(), o.names.begin(), o.names.end());
  }
  return names;
}

/// Completes the word at the cursor: with the choices of the option before it, if there are any;
/// otherwise with options, subcommands and choices of positional arguments. File names are the
/// default.
std::string bash(const std::vector<VerbRow>& table) {
  std::string cases;
  std::string after;
  for (const VerbRow& verb : table) {
    std::vector<std::string> words = flags_of(verb);
    words.insert(words.end(), verb.below.begin(), verb.below.end());
    for (const OptionRow& o : verb.options) {
      if (o.positional) words.insert(words.end(), o.choices.begin(), o.choices.end());
      if (o.positional || o.choices.empty()) continue;
      after += fmt::format("    '{}|{}') words='{}' ;;\n", verb.name, o.names.back(),
                           fmt::join(o.choices, " "));
    }
    cases += fmt::format("    '{}') words='{}' ;;\n", verb.name, fmt::join(words, " "));
  }
  std::vector<std::string> verbs;
  for (const VerbRow& verb : table) {
    if (!verb.name.empty()) verbs.push_back("'" + verb.name + "'");
  }
  return fmt::format(R"(# Completion of the stepwell command for bash.
_stepwell() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}}
  local verb= words= k
  for ((k = 1; k < COMP_CWORD; k++)); do
    local longer="${{verb:+$verb }}${{COMP_WORDS[k]}}"
    case "$longer" in
    {}) verb=$longer ;;
    *) break ;;
    esac
  done
  case "$verb|$before" in
{}  *)
    case "$verb" in
{}    esac ;;
  esac
  local IFS=$' \t\n'
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}}
complete -o default -F _stepwell stepwell
)",
                     fmt::join(verbs, "|"), after, cases);
}

std::string zsh(const std::vector<VerbRow>& table) {
  return "#compdef stepwell\n# Completion of the stepwell command for zsh, by way of bash's.\n"
         "autoload -U +X bashcompinit && bashcompinit\n" +
         bash(table);
}

/// Puts a text into single quotes, for fish.
std::string single_quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

std::string fish(const std::vector<VerbRow>& table) {
  std::string script = "# Completion of the stepwell command for fish.\n";
  for (const VerbRow& verb : table) {
    // The condition for "bench solve" is that both words were seen; at the top level, that no verb
    // was.
    std::string seen;
    for (std::size_t from = 0; from < verb.name.size();) {
      const std::size_t space = std::min(verb.name.find(' ', from), verb.name.size());
      seen += (seen.empty() ? "" : "; and ") +
              ("__fish_seen_subcommand_from " + verb.name.substr(from, space - from));
      from = space + 1;
    }
    if (seen.empty()) seen = "__fish_use_subcommand";
    const std::string start = "complete -c stepwell -n " + single_quoted(seen);
    if (!verb.below.empty()) {
      script += fmt::format("{} -f -a {}\n", start,
                            single_quoted(fmt::format("{}", fmt::join(verb.below, " "))));
    }
    for (const OptionRow& o : verb.options) {
      if (o.positional && o.choices.empty()) continue;
      script += start;
      for (const std::string& name : o.names) {
        if (!o.positional)
          script += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      }
      if (!o.value.empty() && !o.positional) script += " -r";
      if (!o.choices.empty()) {
        script += " -f -a " + single_quoted(fmt::format("{}", fmt::join(o.choices, " ")));
      }
      script += " -d " + single_quoted(o.text) + "\n";
    }
  }
  return script;
}

std::string completion_script(Verb app, const std::string& shell) {
  const std::vector<VerbRow> table = command_table(app);
  if (shell == "bash") return bash(table);
  if (shell == "zsh") return zsh(table);
  if (shell == "fish") return fish(table);
  throw Error(ErrorCode::invalid_argument,
              "there is no completion for '" + shell + "'; the shells are bash, zsh and fish");
}

/// Escapes text for troff.
std::string plain(const std::string& text) {
  std::string out;
  bool line_start = true;
  for (const char c : text) {
    if (line_start && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
    line_start = c == '\n';
  }
  return out;
}

std::string option_text(const OptionRow& o) {
  std::string names;
  for (const std::string& name : o.names) {
    names += (names.empty() ? "" : ", ") + ("\\fB" + plain(name) + "\\fR");
  }
  if (!o.value.empty() && !o.positional) names += " \\fI" + plain(o.value) + "\\fR";
  std::string text = plain(o.text);
  if (!o.value.empty() && !o.default_value.empty()) text += "; default: " + plain(o.default_value);
  if (o.required && !o.positional) text += " (required)";
  return ".TP\n" + names + "\n" + text + "\n";
}

/// A footer with its line breaks kept.
std::string literal(const std::string& text) {
  return text.empty() ? "" : ".PP\n.nf\n" + plain(text) + "\n.fi\n";
}

/// Whether the verb does something itself, and is not only a name before others.
bool runs(const VerbRow& verb) {
  if (verb.name.empty()) return false;
  return verb.below.empty() ||
         std::any_of(verb.options.begin(), verb.options.end(),
                     [](const OptionRow& o) { return o.names.back() != "--help"; });
}

std::string manual_page(Verb app) {
  const std::vector<VerbRow> table = command_table(app);
  std::string page = fmt::format(
      ".TH STEPWELL 1 \"\" \"stepwell {}\" \"User Commands\"\n"
      ".SH NAME\nstepwell \\- {}\n.SH SYNOPSIS\n",
      plain(version()), "dense linear systems to full FP64 accuracy on low\\-precision engines");
  for (const VerbRow& verb : table) {
    if (!runs(verb)) continue;
    page += ".B stepwell " + plain(verb.name) + "\n";
    for (const OptionRow& o : verb.options) {
      if (o.positional)
        page += (o.required ? "" : "[") + plain(o.names[0]) + (o.required ? "\n" : "]\n");
    }
    page += "[\\fIoptions\\fR]\n.br\n";
  }
  page +=
      ".SH DESCRIPTION\nFactors in bf16 on the CPU's matrix engine, refines in FP64, and reports "
      "how accurate every solution is.\n.SH VERBS\n";
  for (const VerbRow& verb : table) {
    if (!runs(verb)) continue;
    page += ".SS " + plain(verb.name) + "\n" + plain(verb.text) + ".\n";
    for (const OptionRow& o : verb.options) {
      if (o.names.back() != "--help") page += option_text(o);
    }
    page += literal(verb.footer);
  }
  page +=
      ".SH ENVIRONMENT\n"
      ".TP\n.B STEPWELL_ISA\nThe best instruction set to use: reference, baseline, avx2, avx512, "
      "avx512_bf16 or amx.\n"
      ".TP\n.B STEPWELL_THREADS\nNumber of threads, at most the number of CPUs.\n"
      ".TP\n.B OPENBLAS_CORETYPE\nRead by OpenBLAS, which may mistake a new CPU for a very old "
      "one; \\fBstepwell doctor\\fR warns about it.\n"
      ".TP\n.B NO_COLOR\nIf set, nothing is coloured.\n"
      ".SH FILES\n.TP\n.I $XDG_CACHE_HOME/stepwell/rates.json\nWhat \\fBstepwell tune\\fR "
      "measured; below ~/.cache if the variable is not set.\n"
      ".SH EXIT STATUS AND EXAMPLES\n";
  page += literal(table.front().footer);
  return page;
}

}  // namespace

void add_completion(Verb app) {
  const Verb verb = app.add_subcommand("completion", "Print completion for a shell");
  const auto shell = std::make_shared<std::string>();
  verb.add_option("shell", *shell, "bash, zsh or fish").required();
  verb.callback([app, shell] { fmt::print("{}", completion_script(app, *shell)); });
  verb.footer("Example:\n  source <(stepwell completion bash)");
}

void add_man(Verb app) {
  const Verb verb = app.add_subcommand("man", "Print the manual page");
  verb.callback([app] { fmt::print("{}", manual_page(app)); });
  verb.footer("Example:\n  stepwell man | man -l -");
}

}  // namespace stepwell::tool
