// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "report/screen.hpp"

#include <unistd.h>

#include "core/machine/environment.hpp"
#include "options/launcher.hpp"

namespace stepwell::tool {
namespace {

constexpr int kWidth = 100;
constexpr int kLabel = 18;

}  // namespace

bool colour_on_stdout() {
  // mpirun gives its processes a terminal of their own, wherever its output goes.
  return isatty(STDOUT_FILENO) != 0 && !launched() &&
         core::non_empty_variable("NO_COLOR") == nullptr;
}

std::string size_text(std::int64_t bytes) {
  const auto b = static_cast<double>(bytes);
  if (b < 0x1p20) return fmt::format("{:.1f} KiB", b * 0x1p-10);
  return b < 0x1p30 ? fmt::format("{:.1f} MiB", b * 0x1p-20)
                    : fmt::format("{:.1f} GiB", b * 0x1p-30);
}

std::string Screen::paint(std::string_view text, fmt::text_style style) const {
  return colour_ ? fmt::format(style, "{}", text) : std::string(text);
}

void Screen::add(std::string_view label, std::string_view text, fmt::text_style style) {
  text_ += fmt::format("  {:<{}}", label, kLabel - 2);
  constexpr std::size_t room = kWidth - kLabel;
  while (text.size() > room) {
    std::size_t cut = text.rfind(' ', room);
    if (cut == std::string_view::npos || cut == 0) cut = room;
    text_ += paint(text.substr(0, cut), style) + "\n" + std::string(kLabel, ' ');
    text.remove_prefix(text[cut] == ' ' ? cut + 1 : cut);
  }
  text_ += paint(text, style) + "\n";
}

}  // namespace stepwell::tool
