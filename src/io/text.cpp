// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "io/text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

namespace stepwell::io {
namespace {

std::string_view without_plus(std::string_view word) {
  const bool plus = word.size() > 1 && word[0] == '+' && word[1] != '-';
  return plus ? word.substr(1) : word;
}

template <class T>
Parsed parse_all(std::string_view word, T& value) {
  const char* const end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data(), end, value);
  if (error == std::errc::invalid_argument || stop != end) return Parsed::not_a_number;
  return error == std::errc() ? Parsed::good : Parsed::out_of_range;
}

}  // namespace

Parsed parse(std::string_view word, std::int64_t& value) {
  return parse_all(without_plus(word), value);
}

Parsed parse(std::string_view word, double& value) {
  const std::string_view plain = without_plus(word);
  const Parsed parsed = parse_all(plain, value);
  if (parsed != Parsed::out_of_range) return parsed;
  // from_chars does not distinguish overflow from underflow.
  long double wide = 0;
  if (parse_all(plain, wide) != Parsed::good || std::abs(wide) > 1) return Parsed::out_of_range;
  value = std::copysign(0.0, static_cast<double>(wide));
  return Parsed::good;
}

void append(std::string& text, double value) {
  char digits[32];
  const auto [end, error] = std::to_chars(digits, digits + sizeof digits, value);
  text.append(digits, end);
}

std::string_view next_word(std::string_view& line) {
  constexpr std::string_view blanks = " \t";
  const std::size_t start = std::min(line.find_first_not_of(blanks), line.size());
  const std::size_t end = std::min(line.find_first_of(blanks, start), line.size());
  const std::string_view word = line.substr(start, end - start);
  line.remove_prefix(end);
  return word;
}

Lines::Lines(Source& source) : source_(source), buffer_(2 * kLongest) {}

bool Lines::next(std::string_view& line) {
  ++number_;
  for (;;) {
    const char* const start = buffer_.data() + begin_;
    const std::size_t size = end_ - begin_;
    const void* const found = std::memchr(start, '\n', size);
    const auto length =
        found == nullptr ? size : static_cast<std::size_t>(static_cast<const char*>(found) - start);
    if (length > static_cast<std::size_t>(kLongest)) {
      fail(ErrorCode::malformed, "the line is longer than 64 KiB");
    }
    if (found != nullptr) {
      begin_ += length + 1;
      line = {start, length};
      if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
      return true;
    }
    std::memmove(buffer_.data(), start, size);
    begin_ = 0;
    end_ = size;
    end_ += static_cast<std::size_t>(
        source_.read(buffer_.data() + size, static_cast<std::int64_t>(buffer_.size() - size)));
    if (end_ > size) continue;
    if (size == 0) return false;
    fail(ErrorCode::truncated,
         "the file ends within this line; if nothing is missing, end it with a newline");
  }
}

std::int64_t Lines::left() const {
  return source_.left() + static_cast<std::int64_t>(end_ - begin_);
}

void Lines::fail(ErrorCode code, const std::string& what) const {
  source_.fail(code, "line " + std::to_string(number_), what);
}

}  // namespace stepwell::io
