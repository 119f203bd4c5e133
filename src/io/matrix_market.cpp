// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "io/matrix_market.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>

#include "core/checked.hpp"
#include "io/text.hpp"

namespace stepwell::io {
namespace {

enum class Layout : unsigned char { coordinate, array };
enum class Field : unsigned char { real, integer, pattern };
enum class Symmetry : unsigned char { general, symmetric, skew };

constexpr std::int64_t kExact = std::int64_t{1} << 53;  // FP64 represents all integers up to here

struct Header {
  Layout layout = Layout::array;
  Field field = Field::real;
  Symmetry symmetry = Symmetry::general;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t entries = 0;  ///< number of entries in the file
};

std::string lower_case(std::string_view word) {
  std::string lower(word);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

Header read_banner(Lines& lines) {
  std::string_view line;
  if (!lines.next(line)) lines.fail(ErrorCode::truncated, "the file is empty");
  if (next_word(line) != "%%MatrixMarket") {
    lines.fail(ErrorCode::malformed, "a Matrix Market file starts with %%MatrixMarket");
  }
  const std::string object = lower_case(next_word(line));
  const std::string layout = lower_case(next_word(line));
  const std::string field = lower_case(next_word(line));
  const std::string symmetry = lower_case(next_word(line));
  if (symmetry.empty() || !next_word(line).empty()) {
    lines.fail(ErrorCode::malformed,
               "the banner is five words: %%MatrixMarket matrix, coordinate or array, the kind of "
               "number, the symmetry");
  }
  if (object != "matrix") {
    lines.fail(ErrorCode::unsupported, in_quotes(object) + " is not supported, only 'matrix' is");
  }
  if (field == "complex" || symmetry == "hermitian") {
    lines.fail(ErrorCode::unsupported, "complex matrices are not supported");
  }
  const auto one_of = [&](const std::string& word, auto... choices) {
    int found = -1, index = 0;
    ((word == choices ? found = index : 0, ++index), ...);
    if (found < 0) lines.fail(ErrorCode::malformed, in_quotes(word) + " is unknown in a banner");
    return found;
  };
  Header header;
  header.layout = static_cast<Layout>(one_of(layout, "coordinate", "array"));
  const int fields = one_of(field, "real", "integer", "pattern", "double");
  header.field = fields == 3 ? Field::real : static_cast<Field>(fields);
  header.symmetry =
      static_cast<Symmetry>(one_of(symmetry, "general", "symmetric", "skew-symmetric"));
  if (header.field == Field::pattern && header.layout == Layout::array) {
    lines.fail(ErrorCode::malformed, "an array has no pattern; it must be real or integer");
  }
  if (header.field == Field::pattern && header.symmetry == Symmetry::skew) {
    lines.fail(ErrorCode::malformed, "a pattern can't be skew-symmetric: it has no signs");
  }
  return header;
}

bool blank(std::string_view line) {
  return next_word(line).empty();
}

std::int64_t read_size(Lines& lines, std::string_view& line) {
  std::int64_t value = 0;
  const std::string_view word = next_word(line);
  const Parsed parsed = parse(word, value);
  if (parsed == Parsed::out_of_range && word[0] != '-') {
    lines.fail(ErrorCode::too_large, "the size " + in_quotes(word) + " overflows 64 bits");
  }
  if (parsed != Parsed::good || value < 0) {
    lines.fail(ErrorCode::malformed, in_quotes(word) +
                                         " is not a size; the line has rows, columns "
                                         "and, for coordinates, entries");
  }
  return value;
}

/// The largest number of entries that a file with these sizes can have.
std::int64_t most_entries(const Header& h, std::int64_t elements) {
  if (h.symmetry == Symmetry::symmetric) return (elements + h.rows) / 2;
  if (h.symmetry == Symmetry::skew) return (elements - h.rows) / 2;
  return elements;
}

void read_sizes(Lines& lines, Header& h) {
  std::string_view line;
  do {
    if (!lines.next(line)) lines.fail(ErrorCode::truncated, "the file ends before the sizes");
  } while (blank(line) || line[0] == '%');
  h.rows = read_size(lines, line);
  h.cols = read_size(lines, line);
  if (h.layout == Layout::coordinate) h.entries = read_size(lines, line);
  if (!blank(line)) lines.fail(ErrorCode::malformed, "unexpected text after the sizes");
  if (h.symmetry != Symmetry::general && h.rows != h.cols) {
    lines.fail(ErrorCode::shape, "a symmetric matrix must be square");
  }
  const auto elements = core::checked_multiply(h.rows, h.cols);
  if (!elements) lines.fail(ErrorCode::too_large, "rows times columns overflows 64 bits");
  const std::int64_t most = most_entries(h, *elements);
  if (h.layout == Layout::array) h.entries = most;
  if (h.entries > most) {
    lines.fail(ErrorCode::malformed, "there can't be " + std::to_string(h.entries) +
                                         " entries in a matrix with room for " +
                                         std::to_string(most));
  }
  // Bytes of the shortest entry with its newline: "1 1 1", "1 1" or "1".
  const std::int64_t shortest = h.layout == Layout::array ? 2 : (h.field == Field::pattern ? 4 : 6);
  if (h.entries > lines.left() / shortest) {
    lines.fail(ErrorCode::truncated, std::to_string(h.entries) + " entries don't fit into the " +
                                         std::to_string(lines.left()) +
                                         " bytes that are left of the file");
  }
}

double read_value(const Lines& lines, Field field, std::string_view word) {
  double value = 1;
  if (field == Field::pattern) return value;
  if (field == Field::integer) {
    std::int64_t integer = 0;
    const Parsed parsed = parse(word, integer);
    if (parsed == Parsed::not_a_number) {
      lines.fail(ErrorCode::malformed, in_quotes(word) + " is not an integer");
    }
    value = static_cast<double>(integer);
    if (parsed == Parsed::out_of_range || integer > kExact || integer < -kExact) {
      lines.fail(ErrorCode::unsupported,
                 "the integer " + in_quotes(word) +
                     " is beyond 2^53, where FP64 can't represent every integer");
    }
    return value;
  }
  const Parsed parsed = parse(word, value);
  if (parsed == Parsed::not_a_number) {
    lines.fail(ErrorCode::malformed, in_quotes(word) + " is not a number");
  }
  if (parsed == Parsed::out_of_range) {
    lines.fail(ErrorCode::malformed, in_quotes(word) + " is out of the range of FP64");
  }
  return value;
}

void set(const Header& h, MatrixView<double> a, std::int64_t i, std::int64_t j, double value) {
  a(i, j) = value;
  if (h.symmetry == Symmetry::symmetric) a(j, i) = value;
  if (h.symmetry == Symmetry::skew && i != j) a(j, i) = -value;
}

void read_array(Lines& lines, const Header& h, MatrixView<double> a) {
  std::string_view line;
  for (std::int64_t j = 0; j < h.cols; ++j) {
    const std::int64_t first = h.symmetry == Symmetry::general     ? 0
                               : h.symmetry == Symmetry::symmetric ? j
                                                                   : j + 1;
    for (std::int64_t i = first; i < h.rows; ++i) {
      std::string_view word = next_word(line);
      while (word.empty()) {
        if (!lines.next(line)) {
          lines.fail(ErrorCode::truncated, "the file ends before element (" +
                                               std::to_string(i + 1) + ", " +
                                               std::to_string(j + 1) + ")");
        }
        word = next_word(line);
      }
      set(h, a, i, j, read_value(lines, h.field, word));
    }
  }
  if (!blank(line)) {
    lines.fail(ErrorCode::malformed, "there are more values than the sizes say");
  }
}

/// Converts an index of the file, from 1, to an index from 0.
std::int64_t read_index(const Lines& lines, std::string_view word, std::int64_t size) {
  std::int64_t index = 0;
  const Parsed parsed = parse(word, index);
  if (parsed == Parsed::not_a_number) {
    lines.fail(ErrorCode::malformed, in_quotes(word) + " is not an index");
  }
  if (parsed == Parsed::out_of_range || index < 1 || index > size) {
    lines.fail(ErrorCode::malformed, "the index " + in_quotes(word) + " is not in 1 .. " +
                                         std::to_string(size) + "; indices count from 1");
  }
  return index - 1;
}

void read_coordinates(Lines& lines, const Header& h, MatrixView<double> a) {
  core::Buffer<std::uint64_t> seen((h.rows * h.cols + 63) / 64);  // one bit per element
  for (std::int64_t entry = 0; entry < h.entries; ++entry) {
    std::string_view line;
    do {
      if (!lines.next(line)) {
        lines.fail(ErrorCode::truncated, "the file ends after " + std::to_string(entry) + " of " +
                                             std::to_string(h.entries) + " entries");
      }
    } while (blank(line));
    const std::int64_t i = read_index(lines, next_word(line), h.rows);
    const std::int64_t j = read_index(lines, next_word(line), h.cols);
    const double value =
        read_value(lines, h.field, h.field == Field::pattern ? line : next_word(line));
    if (!blank(line)) lines.fail(ErrorCode::malformed, "unexpected text after the entry");
    if (h.symmetry != Symmetry::general && i < j) {
      lines.fail(
          ErrorCode::malformed,
          "a symmetric file has entries in the lower triangle only; declare it general if it "
          "has both triangles");
    }
    if (h.symmetry == Symmetry::skew && i == j && value != 0) {
      lines.fail(ErrorCode::malformed, "the diagonal of a skew-symmetric matrix is zero");
    }
    const std::int64_t place = i + j * h.rows;
    const std::uint64_t bit = std::uint64_t{1} << (place % 64);
    if ((seen[place / 64] & bit) != 0) {
      lines.fail(ErrorCode::malformed, "duplicate entry for this element; add duplicates first");
    }
    seen[place / 64] |= bit;
    set(h, a, i, j, value);
  }
}

}  // namespace

MatrixShape read_matrix_market_shape(Source& source) {
  Lines lines(source);
  Header header = read_banner(lines);
  read_sizes(lines, header);
  return {header.rows, header.cols, header.symmetry == Symmetry::symmetric};
}

DenseMatrix read_matrix_market(Source& source) {
  Lines lines(source);
  Header header = read_banner(lines);
  read_sizes(lines, header);
  DenseMatrix matrix = dense_matrix(source, header.rows, header.cols,
                                    header.layout == Layout::coordinate ? 1.0 / 8 : 0);
  matrix.symmetric = header.symmetry == Symmetry::symmetric;
  // No loop over the columns of a matrix without entries: "0 9223372036854775807" has too many.
  if (header.entries > 0 && header.layout == Layout::array) {
    read_array(lines, header, matrix.view());
  } else if (header.entries > 0) {
    read_coordinates(lines, header, matrix.view());
  }
  std::string_view line;
  while (lines.next(line)) {
    if (!blank(line)) lines.fail(ErrorCode::malformed, "unexpected data after the last entry");
  }
  return matrix;
}

DenseMatrix read_matrix_market(const std::string& path) {
  Source source(path);
  return read_matrix_market(source);
}

void write_matrix_market(Sink& sink, MatrixView<const double> a, bool symmetric) {
  check_view(a);
  bool same = !symmetric || a.rows == a.cols;
  for (std::int64_t j = 0; symmetric && same && j < a.cols; ++j) {
    for (std::int64_t i = 0; i < j; ++i) {
      same = same && std::bit_cast<std::uint64_t>(a(i, j)) == std::bit_cast<std::uint64_t>(a(j, i));
    }
  }
  if (!same) {
    throw Error(ErrorCode::shape, in_quotes(sink.path()) +
                                      ": the matrix is not symmetric and can't be written as such");
  }
  sink.write(std::string("%%MatrixMarket matrix array real ") +
             (symmetric ? "symmetric\n" : "general\n"));
  sink.write(std::to_string(a.rows) + " " + std::to_string(a.cols) + "\n");
  std::string line;
  for (std::int64_t j = 0; a.rows > 0 && j < a.cols; ++j) {
    for (std::int64_t i = symmetric ? j : 0; i < a.rows; ++i) {
      line.clear();
      append(line, a(i, j));
      line += '\n';
      sink.write(line);
    }
  }
  sink.commit();
}

void write_matrix_market(const std::string& path, MatrixView<const double> a, bool symmetric,
                         Progress* progress) {
  check_view(a);
  // An estimate for the progress report: most random numbers take 20 bytes as text.
  constexpr std::int64_t kNumber = 20;
  Sink sink(path, progress, kNumber * (symmetric ? a.rows * (a.rows + 1) / 2 : a.rows * a.cols));
  write_matrix_market(sink, a, symmetric);
}

}  // namespace stepwell::io
