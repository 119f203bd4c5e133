// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <fmt/color.h>

#include <cstdint>
#include <string>
#include <string_view>

/// Text for a terminal.
namespace stepwell::tool {

/// Whether standard output is a terminal and NO_COLOR is not set.
bool colour_on_stdout();

/// "41.5 MiB", "12.2 GiB"
std::string size_text(std::int64_t bytes);

/// Lines of a label and a text. A text that does not fit continues on the next lines in its own
/// column.
class Screen {
 public:
  explicit Screen(bool colour) : colour_(colour) {}

  void heading(std::string_view text) { text_ += paint(text, fmt::emphasis::bold) + "\n"; }
  void line(std::string_view label, std::string_view text) { add(label, text, {}); }
  void good(std::string_view label, std::string_view text) {
    add(label, text, fmt::fg(fmt::terminal_color::green));
  }
  void bad(std::string_view label, std::string_view text) {
    add(label, text, fmt::fg(fmt::terminal_color::yellow));
  }
  std::string take() { return std::move(text_); }

 private:
  std::string paint(std::string_view text, fmt::text_style style) const;
  void add(std::string_view label, std::string_view text, fmt::text_style style);

  bool colour_;
  std::string text_;
};

}  // namespace stepwell::tool
