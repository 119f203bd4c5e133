// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "commands/verbs.hpp"
#include "stepwell/version.hpp"

/// `man`: the option table as a page for man(1).
namespace stepwell::tool {
namespace {

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

std::string manual_page(const CLI::App& app) {
  const std::vector<VerbRow> table = command_table(app);
  std::string page = fmt::format(
      ".TH STEPWELL 1 \"\" \"stepwell {}\" \"User Commands\"\n"
      ".SH NAME\nstepwell \\- {}\n.SH SYNOPSIS\n",
      plain(version()), "dense linear systems to full FP64 accuracy on low\\-precision engines");
  for (const VerbRow& verb : table) {
    if (verb.name.empty() || !verb.below.empty()) continue;
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
    if (verb.name.empty() || !verb.below.empty()) continue;
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

void add_man(CLI::App& app) {
  CLI::App* const verb = app.add_subcommand("man", "Print the manual page");
  verb->callback([&app] { fmt::print("{}", manual_page(app)); });
  verb->footer("Example:\n  stepwell man | man -l -");
}

}  // namespace stepwell::tool
