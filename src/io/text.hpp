// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "io/source.hpp"

/// Text as numbers, the same in every locale.
namespace stepwell::io {

enum class Parsed : unsigned char { good, out_of_range, not_a_number };

/// The whole word must be the number. A leading '+' is allowed.
Parsed parse(std::string_view word, std::int64_t& value);

/// Decimal, or nan and inf in any case. Too small for FP64 is zero, too large is out of range.
Parsed parse(std::string_view word, double& value);

/// The shortest text that is read as the same number, 17 digits at most.
void append(std::string& text, double value);

/// Takes the first word, between blanks and tabs, off the line; empty at its end.
std::string_view next_word(std::string_view& line);

/// The lines of a source, without their ends (LF or CRLF). Memory is bounded whatever is in the
/// file.
class Lines {
 public:
  static constexpr std::int64_t kLongest = 64 * 1024;

  explicit Lines(Source& source);

  /// False at the end of the file. A last line without an end is an error, since a number in it
  /// may have lost digits: Error(truncated).
  bool next(std::string_view& line);

  /// Bytes not yet given out.
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
