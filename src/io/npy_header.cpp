// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "io/npy_header.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "core/checked.hpp"
#include "io/text.hpp"

namespace stepwell::io {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::int64_t kLongest = 64 * 1024;

/// Parses the subset of Python's grammar that NumPy writes. Not recursive, so that no input can
/// exhaust the stack.
class Parser {
 public:
  Parser(const Source& source, std::string_view text, std::int64_t start)
      : source_(source), text_(text), start_(start) {}

  NpyHeader header() {
    NpyHeader h;
    bool has_type = false, has_order = false, has_shape = false;
    expect('{');
    while (!accept('}')) {
      const std::string key = string();
      expect(':');
      bool* const has = key == "descr"           ? &has_type
                        : key == "fortran_order" ? &has_order
                        : key == "shape"         ? &has_shape
                                                 : nullptr;
      if (has == nullptr) fail(ErrorCode::malformed, "the key " + in_quotes(key) + " is unknown");
      if (*has) fail(ErrorCode::malformed, "the key " + in_quotes(key) + " occurs twice");
      *has = true;
      if (has == &has_type) h.type = type();
      if (has == &has_order) h.fortran_order = boolean();
      if (has == &has_shape) shape(h);
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    if (!blank()) fail(ErrorCode::malformed, "unexpected text after the dictionary of the header");
    if (!has_type || !has_order || !has_shape) {
      fail(ErrorCode::malformed, "the header lacks descr, fortran_order or shape");
    }
    return h;
  }

 private:
  [[noreturn]] void fail(ErrorCode code, const std::string& what) const {
    source_.fail(code, "byte " + std::to_string(start_ + static_cast<std::int64_t>(at_)), what);
  }

  bool blank() {
    at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size());
    return at_ == text_.size();
  }

  bool accept(char c) {
    if (blank() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  void expect(char c) {
    if (!accept(c)) {
      fail(ErrorCode::malformed, std::string("the header should have a '") + c + "' here");
    }
  }

  std::string string() {
    if (blank() || (text_[at_] != '\'' && text_[at_] != '"')) {
      fail(ErrorCode::malformed, "the header should have a string here");
    }
    const std::size_t end = text_.find(text_[at_], at_ + 1);
    if (end == std::string_view::npos) fail(ErrorCode::malformed, "the string has no end");
    const std::string_view value = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return std::string(value);
  }

  std::string type() {
    if (!blank() && text_[at_] == '[') {
      fail(ErrorCode::unsupported, "arrays of records are not supported; save one field");
    }
    return string();
  }

  std::string_view word() {
    blank();
    const std::size_t end = std::min(text_.find_first_of(" \t\r\n,:(){}", at_), text_.size());
    const std::string_view value = text_.substr(at_, end - at_);
    at_ = end;
    return value;
  }

  bool boolean() {
    const std::string_view value = word();
    if (value == "True") return true;
    if (value == "False") return false;
    fail(ErrorCode::malformed, "fortran_order should be True or False");
  }

  void shape(NpyHeader& h) {
    std::array<std::int64_t, 2> size{1, 1};
    std::size_t dimensions = 0;
    bool comma = true;  // a tuple of one number must end with a comma
    expect('(');
    while (!accept(')')) {
      if (!comma) fail(ErrorCode::malformed, "a shape is a list of numbers separated by commas");
      std::int64_t value = 0;
      const std::string_view text = word();
      const Parsed parsed = parse(text, value);
      if (parsed == Parsed::out_of_range && text[0] != '-') {
        fail(ErrorCode::too_large, "the size " + in_quotes(text) + " overflows 64 bits");
      }
      if (parsed != Parsed::good || value < 0) {
        fail(ErrorCode::malformed, in_quotes(text) + " is not a size");
      }
      if (dimensions == size.size()) {
        fail(ErrorCode::unsupported, "arrays of three dimensions or more are not matrices");
      }
      size[dimensions++] = value;
      comma = accept(',');
    }
    if (dimensions == 0) fail(ErrorCode::unsupported, "a single number is not a matrix");
    if (dimensions == 1 && !comma) fail(ErrorCode::malformed, "a shape is a tuple: (3,)");
    h.rows = size[0];
    h.cols = size[1];
  }

  const Source& source_;
  std::string_view text_;
  std::int64_t start_;  ///< position of the header in the file
  std::size_t at_ = 0;
};

}  // namespace

NpyHeader read_npy_header(Source& source) {
  std::array<unsigned char, 12> start{};
  const auto take = [&](std::size_t from, std::size_t count) {
    const std::int64_t got = source.read(start.data() + from, static_cast<std::int64_t>(count));
    // Wrong magic bytes are reported first, even if the file is too short.
    const std::size_t end = std::min(from + static_cast<std::size_t>(got), kMagic.size());
    const auto is = [](unsigned char a, char b) { return a == static_cast<unsigned char>(b); };
    if (!std::equal(start.begin(), start.begin() + end, kMagic.begin(), is)) {
      source.fail(ErrorCode::malformed, "byte 0", "an NPY file starts with \\x93NUMPY");
    }
    if (got < static_cast<std::int64_t>(count)) {
      source.fail(ErrorCode::truncated, "byte " + std::to_string(source.position()),
                  source.size() == 0 ? "the file is empty" : "the file ends within its header");
    }
  };
  take(0, 8);
  const int major = start[6];
  if (major < 1 || major > 3 || start[7] != 0) {
    source.fail(ErrorCode::unsupported, "byte 6",
                "NPY version " + std::to_string(major) + "." + std::to_string(start[7]) +
                    " is not supported, only 1.0, 2.0 and 3.0 are");
  }
  take(8, major == 1 ? 2 : 4);
  std::int64_t length = start[8] + 256 * start[9];
  if (major > 1) length += (std::int64_t{start[10]} << 16) + (std::int64_t{start[11]} << 24);
  if (length > kLongest) {
    source.fail(ErrorCode::too_large, "byte 8",
                "a header of " + std::to_string(length) + " bytes exceeds the limit of 64 KiB");
  }
  const std::int64_t at = source.position();
  std::string text(static_cast<std::size_t>(length), '\0');
  if (source.read(text.data(), length) < length) {
    source.fail(ErrorCode::truncated, "byte " + std::to_string(source.position()),
                "the file ends within its header");
  }
  return Parser(source, text, at).header();
}

void check_npy_length(const Source& source, const NpyHeader& header, std::int64_t element_bytes) {
  const auto count = core::checked_multiply(header.rows, header.cols);
  const auto bytes = count ? core::checked_multiply(*count, element_bytes) : std::nullopt;
  if (!bytes) {
    source.fail(ErrorCode::too_large, "",
                "an array of " + std::to_string(header.rows) + " x " + std::to_string(header.cols) +
                    " overflows 64 bits");
  }
  if (*bytes != source.left()) {
    source.fail(*bytes > source.left() ? ErrorCode::truncated : ErrorCode::shape,
                "byte " + std::to_string(source.position()),
                "the shape needs " + std::to_string(*bytes) + " bytes of data, but there are " +
                    std::to_string(source.left()));
  }
}

std::string npy_header(const NpyHeader& header) {
  std::string text = "{'descr': '" + header.type +
                     "', 'fortran_order': " + (header.fortran_order ? "True" : "False") +
                     ", 'shape': (" + std::to_string(header.rows) + ", " +
                     std::to_string(header.cols) + "), }";
  // The header ends with a newline and is padded so that the data starts at a multiple of 64.
  constexpr std::size_t before = 10;
  text.append(63 - (before + text.size()) % 64, ' ');
  text += '\n';
  std::string out(kMagic);
  out += '\x01';
  out += '\0';
  out += static_cast<char>(text.size() % 256);
  out += static_cast<char>(text.size() / 256);
  return out + text;
}

}  // namespace stepwell::io
