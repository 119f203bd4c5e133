// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/target.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>

#include "stepwell/error.hpp"

namespace stepwell::fuzz {
namespace {

/// A few bytes may request a matrix of any size: the reader refuses a larger one, as it refuses one
/// that exceeds the machine's memory.
constexpr std::int64_t kMemory = std::int64_t{16} << 20;
constexpr std::int64_t kSmall = 4096;  // elements: written and read in microseconds

[[noreturn]] void finding(const char* what, const std::string& detail) {
  std::fprintf(stderr, "finding: %s: %s\n", what, detail.c_str());
  std::abort();
}

void check_error(const Error& error) {
  const std::string text = error.what();
  switch (error.code()) {
    case ErrorCode::malformed:
    case ErrorCode::truncated:
    case ErrorCode::too_large:
    case ErrorCode::unsupported:
    case ErrorCode::shape:
    case ErrorCode::out_of_memory:
      break;
    default:
      finding("a code that a reader should not give", text);
  }
  const auto control = [](unsigned char c) { return c < 0x20 || c == 0x7f; };
  if (!text.starts_with("'input'")) finding("a message without the file's name", text);
  if (std::any_of(text.begin(), text.end(), control)) finding("a message of several lines", text);
  if (text.size() > 1000) finding("a message without end", text);
}

/// The result of reading the bytes; nullopt if they are refused.
template <class T>
std::optional<T> result_of(std::string_view bytes, T (*read)(io::Source&)) {
  io::Source source(bytes, "input");
  source.limit_memory(kMemory);
  try {
    return read(source);
  } catch (const Error& error) {
    check_error(error);
    return std::nullopt;
  }
}

bool same(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b) ||
         (std::isnan(a) && std::isnan(b));
}

}  // namespace

void try_reader(std::string_view bytes, Read read, ReadShape read_shape, Write write) {
  const auto shape = result_of(bytes, read_shape);
  const auto matrix = result_of(bytes, read);
  if (matrix && (!shape || shape->rows != matrix->rows || shape->cols != matrix->cols ||
                 shape->symmetric != matrix->symmetric)) {
    finding("a shape that is not the matrix's", std::string(bytes));
  }
  if (!matrix || matrix->data.size() > kSmall) return;
  std::string text;
  io::Sink sink(&text);
  write(sink, *matrix);
  const auto again = result_of(text, read);
  if (!again) finding("what was written can't be read", text);
  if (again->rows != matrix->rows || again->cols != matrix->cols ||
      !std::equal(matrix->data.begin(), matrix->data.end(), again->data.begin(), again->data.end(),
                  same)) {
    finding("what was written is read as another matrix", text);
  }
}

}  // namespace stepwell::fuzz
