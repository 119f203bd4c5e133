// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "io/npy.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string_view>

#include "io/npy_header.hpp"
#include "stepwell/error.hpp"

namespace stepwell::io {
namespace {

static_assert(std::endian::native == std::endian::little, "the data is copied as it is");

enum class Type : unsigned char { f8, f4, i8, i4, b1 };

struct TypeName {
  std::string_view name;
  Type type;
  std::int64_t bytes;
};
constexpr std::array<TypeName, 5> kTypes = {{
    {"<f8", Type::f8, 8},
    {"<f4", Type::f4, 4},
    {"<i8", Type::i8, 8},
    {"<i4", Type::i4, 4},
    {"|b1", Type::b1, 1},
}};

TypeName find_type(const Source& source, const std::string& name) {
  const auto* const found =
      std::find_if(kTypes.begin(), kTypes.end(), [&](const TypeName& t) { return t.name == name; });
  if (found == kTypes.end()) {
    source.fail(
        ErrorCode::unsupported, "",
        "elements of type " + in_quotes(name) +
            " are not supported; in NumPy, numpy.save(file, a.astype('<f8')) converts them");
  }
  return *found;
}

template <class T>
T load(const char* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

/// Reads and converts elements sequentially, in the order of the file.
class Reader {
 public:
  Reader(Source& source, TypeName type) : source_(source), type_(type) {}

  void read(double* to, std::int64_t count) {
    if (type_.type == Type::f8) return read_bytes(to, count * type_.bytes);
    std::array<char, 8192> chunk;
    const std::int64_t most = static_cast<std::int64_t>(chunk.size()) / type_.bytes;
    while (count > 0) {
      const std::int64_t some = std::min(count, most);
      read_bytes(chunk.data(), some * type_.bytes);
      for (std::int64_t k = 0; k < some; ++k) to[k] = convert(chunk.data() + k * type_.bytes);
      to += some;
      count -= some;
    }
  }

 private:
  void read_bytes(void* to, std::int64_t bytes) {
    if (source_.read(to, bytes) < bytes) {
      source_.fail(ErrorCode::truncated, "byte " + std::to_string(source_.position()),
                   "the file ends within its data");
    }
  }

  double convert(const char* from) const {
    switch (type_.type) {
      case Type::f8:
        return load<double>(from);
      case Type::f4:
        return load<float>(from);
      case Type::i4:
        return load<std::int32_t>(from);
      case Type::i8: {
        constexpr std::int64_t exact = std::int64_t{1} << 53;
        const auto value = load<std::int64_t>(from);
        if (value > exact || value < -exact) {
          source_.fail(ErrorCode::unsupported, "",
                       "the integer " + std::to_string(value) +
                           " is beyond 2^53, where FP64 can't represent every integer");
        }
        return static_cast<double>(value);
      }
      case Type::b1:
        if (*from != 0 && *from != 1) {
          source_.fail(ErrorCode::malformed, "", "a boolean is neither 0 nor 1");
        }
        return *from;
    }
    return 0;
  }

  Source& source_;
  TypeName type_;
};

/// Reads a matrix in C order, transposing a few rows at a time into the columns of a.
void read_rows(Reader& reader, MatrixView<double> a) {
  constexpr std::int64_t together = 16;
  const core::Buffer<double> rows(std::min(together, a.rows) * a.cols);
  for (std::int64_t i = 0; i < a.rows; i += together) {
    const std::int64_t count = std::min(together, a.rows - i);
    reader.read(rows.data(), count * a.cols);
    for (std::int64_t j = 0; j < a.cols; ++j) {
      for (std::int64_t k = 0; k < count; ++k) a(i + k, j) = rows[k * a.cols + j];
    }
  }
}

}  // namespace

MatrixShape read_npy_shape(Source& source) {
  const NpyHeader header = read_npy_header(source);
  const TypeName type = find_type(source, header.type);
  check_npy_length(source, header, type.bytes);
  return {header.rows, header.cols, false};
}

DenseMatrix read_npy(Source& source) {
  const NpyHeader header = read_npy_header(source);
  const TypeName type = find_type(source, header.type);
  check_npy_length(source, header, type.bytes);
  // An empty array may have 2^63 - 1 rows or columns and must not be looped over.
  const bool by_columns = header.fortran_order || header.rows <= 1 || header.cols <= 1;
  DenseMatrix matrix = dense_matrix(source, header.rows, header.cols);
  Reader reader(source, type);
  if (by_columns) {
    reader.read(matrix.data.data(), header.rows * header.cols);
  } else {
    read_rows(reader, matrix.view());
  }
  return matrix;
}

DenseMatrix read_npy(const std::string& path) {
  Source source(path);
  return read_npy(source);
}

void write_npy(Sink& sink, MatrixView<const double> a) {
  check_view(a);
  sink.write(npy_header({"<f8", true, a.rows, a.cols}));
  for (std::int64_t j = 0; a.rows > 0 && j < a.cols; ++j) {
    sink.write(a.column(j), a.rows * static_cast<std::int64_t>(sizeof(double)));
  }
  sink.commit();
}

void write_npy(const std::string& path, MatrixView<const double> a, Progress* progress) {
  check_view(a);
  Sink sink(path, progress, 8 * a.rows * a.cols);  // plus about 128 bytes of header
  write_npy(sink, a);
}

}  // namespace stepwell::io
