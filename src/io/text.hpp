// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "io/source.hpp"

/// Conversion between text and numbers, independent of the locale.
namespace stepwell::io {

enum class Parsed : unsigned char { good, out_of_range, not_a_number };

/// Parses a word that must consist of the number only. A leading '+' is allowed.
Parsed parse(std::string_view word, std::int64_t& value);

/// Parses a decimal number, or nan or inf in any case. Underflow gives zero, overflow is
/// out_of_range.
Parsed parse(std::string_view word, double& value);

/// Appends the shortest text that is read back as the same number, at most 17 digits.
void append(std::string& text, double value);

/// Removes the first word, delimited by blanks and tabs, from the line and returns it; empty at the
/// end of the line.
std::string_view next_word(std::string_view& line);

/// Reads the lines of a source, without their line ends (LF or CRLF). Memory is bounded for any
/// contents of the file.
class Lines {
 public:
  static constexpr std::int64_t kLongest = 64 * 1024;

  explicit Lines(Source& source);

  /// Reads the next line; false at the end of the file. A last line without a line end is
  /// Error(truncated), because a number in it may have lost digits.
  bool next(std::string_view& line);

  /// Number of bytes not yet returned.
  std::int64_t left() const;

  /// Throws an Error that names the file and the current line.
  [[noreturn]] void fail(ErrorCode code, const std::string& what) const;

 private:
  Source& source_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::int64_t number_ = 0;
};

}  // namespace stepwell::io
