// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "stepwell/map.hpp"

#include <charconv>
#include <new>

#include "core/memory_error.hpp"
#include "stepwell/error.hpp"

namespace stepwell {
namespace {

constexpr std::string_view kAdaptive = "adaptive:";
constexpr std::string_view kGraded = "graded:";
constexpr std::int64_t kMostColumns = std::int64_t{1} << 31;
constexpr std::size_t kMostLayers = 64;  // a tree of 2^64 tiles has no more levels

[[noreturn]] void bad_map(std::string_view text, const std::string& why) {
  throw Error(
      ErrorCode::invalid_argument,
      "precision map '" + std::string(text.substr(0, 80)) + "': " + why +
          "; write a rung (bf16, bf16x2, bf16x3, fp16, fp32, fp64, int8x14, int8x15), rungs by "
          "level (bf16,bf16x2,fp32), graded:<rung>*<block columns>,...,<rung> or adaptive:<eps>");
}

double parse_eps(std::string_view text, std::string_view number) {
  double eps = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), eps);
  if (error != std::errc{} || end != number.data() + number.size()) {
    bad_map(text, "'" + std::string(number.substr(0, 40)) + "' is not a number");
  }
  if (!(eps > 0 && eps < 1)) bad_map(text, "eps must lie between 0 and 1");
  return eps;
}

std::int64_t parse_columns(std::string_view text, std::string_view number) {
  std::int64_t columns = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), columns);
  if (error != std::errc{} || end != number.data() + number.size() || columns < 1 ||
      columns > kMostColumns) {
    bad_map(text,
            "'" + std::string(number.substr(0, 40)) + "' is not a valid number of block columns");
  }
  return columns;
}

}  // namespace

PrecisionMap uniform(Rung rung) try { return {{rung}, 0, {}}; } catch (const std::bad_alloc&) {
  core::throw_out_of_memory();
}

PrecisionMap parse_map(std::string_view text) try {
  PrecisionMap map;
  if (text.starts_with(kAdaptive)) {
    map.eps = parse_eps(text, text.substr(kAdaptive.size()));
    return map;
  }
  map.layers.clear();
  const bool graded = text.starts_with(kGraded);
  for (std::string_view rest = graded ? text.substr(kGraded.size()) : text;;) {
    const std::size_t comma = rest.find(',');
    std::string_view name = rest.substr(0, comma);
    if (graded && comma != std::string_view::npos) {
      const std::size_t star = name.find('*');
      if (star == std::string_view::npos) bad_map(text, "only the last rung has no '*<columns>'");
      map.columns.push_back(parse_columns(text, name.substr(star + 1)));
      name = name.substr(0, star);
    }
    const auto rung = rung_from_string(name);
    if (!rung) bad_map(text, "there is no rung '" + std::string(name.substr(0, 40)) + "'");
    if (map.layers.size() == kMostLayers) bad_map(text, "more than 64 levels");
    map.layers.push_back(*rung);
    if (comma == std::string_view::npos) {
      if (graded && !map.graded()) bad_map(text, "a graded map has at least two rungs");
      return map;
    }
    rest.remove_prefix(comma + 1);
  }
} catch (const std::bad_alloc&) {
  core::throw_out_of_memory();
}

std::string to_string(const PrecisionMap& map) try {
  if (map.adaptive()) {
    char number[32];
    const auto end = std::to_chars(number, number + sizeof(number), map.eps).ptr;
    return std::string(kAdaptive) + std::string(number, end);
  }
  std::string text;
  for (std::size_t k = 0; k < map.layers.size(); ++k) {
    if (k > 0) text += ',';
    text += to_string(map.layers[k]);
    if (k < map.columns.size()) text += "*" + std::to_string(map.columns[k]);
  }
  return map.graded() ? std::string(kGraded) + text : text;
} catch (const std::bad_alloc&) {
  core::throw_out_of_memory();
}

}  // namespace stepwell
