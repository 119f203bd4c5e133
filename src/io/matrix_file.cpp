// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "io/matrix_file.hpp"

#include <algorithm>
#include <array>

#include "core/checked.hpp"
#include "core/machine/system.hpp"
#include "io/matrix_market.hpp"
#include "io/npy.hpp"
#include "stepwell/error.hpp"

namespace stepwell::io {

DenseMatrix dense_matrix(const Source& source, std::int64_t rows, std::int64_t cols, double extra) {
  const std::string size = std::to_string(rows) + " x " + std::to_string(cols);
  const auto count = core::checked_multiply(rows, cols);
  const auto bytes = count ? core::checked_multiply(*count, sizeof(double)) : std::nullopt;
  if (!bytes) {
    source.fail(ErrorCode::too_large, "", "a dense matrix of " + size + " overflows 64 bits");
  }
  const double needed = static_cast<double>(*count) * (sizeof(double) + extra);
  constexpr double always = 1 << 24;  // bytes that are allowed without a query to the system
  std::int64_t available = source.memory_limit();
  if (available == 0 && needed > always) available = core::memory_allowance().available;
  if (available > 0 && needed > static_cast<double>(available)) {
    const auto mebibytes = [](double b) {
      return std::to_string(static_cast<std::int64_t>(b / 0x1p20));
    };
    source.fail(ErrorCode::out_of_memory, "",
                "as a dense matrix, " + size + " takes " + mebibytes(needed) + " MiB, and " +
                    mebibytes(static_cast<double>(available)) + " MiB are available");
  }
  return {rows, cols, core::Buffer<double>(*count), false};
}

namespace {

enum class FileFormat : unsigned char { npy, matrix_market };

/// What to do with a file of a format that people have and we do not read; empty for others.
std::string how_to_convert(std::string_view magic, const std::string& path) {
  if (magic.starts_with("PK\x03\x04")) {
    return "; it is an archive (NPZ?). In Python: numpy.save('A.npy', numpy.load('A.npz')['A'])";
  }
  if (magic.starts_with("\x89HDF")) {
    return "; it is HDF5. In Python: numpy.save('A.npy', h5py.File('A.h5')['A'][:])";
  }
  const bool numbers = magic.find_first_not_of("0123456789+-.eE,;\t\r\n ") == magic.npos;
  if (numbers || path.ends_with(".csv") || path.ends_with(".txt")) {
    return "; it looks like text. In Python: numpy.save('A.npy', numpy.loadtxt('A.csv', "
           "delimiter=','))";
  }
  return "";
}

/// Determines the format by the first bytes or by the name. Leaves the source at its start.
FileFormat format_of(Source& source, const std::string& path) {
  std::array<char, 16> start{};
  const auto count = static_cast<std::size_t>(source.read(start.data(), start.size()));
  source.rewind();
  const std::string_view magic(start.data(), count);
  if (magic.starts_with("\x93NUMPY") || path.ends_with(".npy")) return FileFormat::npy;
  if (magic.starts_with("%%") || path.ends_with(".mtx") || path.ends_with(".mm")) {
    return FileFormat::matrix_market;
  }
  if (count == 0) source.fail(ErrorCode::truncated, "", "the file is empty");
  source.fail(ErrorCode::malformed, "",
              "is neither Matrix Market, which starts with %%MatrixMarket, nor NPY, which starts "
              "with \\x93NUMPY" +
                  how_to_convert(magic, path));
}

}  // namespace

DenseMatrix read_matrix(const std::string& path, Progress* progress) {
  Source source(path, progress);
  return format_of(source, path) == FileFormat::npy ? read_npy(source) : read_matrix_market(source);
}

MatrixShape read_shape(const std::string& path) {
  Source source(path);
  return format_of(source, path) == FileFormat::npy ? read_npy_shape(source)
                                                    : read_matrix_market_shape(source);
}

void require_writable_name(const std::string& path) {
  if (path.ends_with(".npy") || path.ends_with(".mtx") || path.ends_with(".mm")) return;
  throw Error(
      ErrorCode::invalid_argument,
      in_quotes(path) + ": the name must end in .npy, .mtx or .mm, which selects the format");
}

void write_matrix(const std::string& path, MatrixView<const double> a, bool symmetric,
                  Progress* progress) {
  require_writable_name(path);
  if (path.ends_with(".npy")) return write_npy(path, a, progress);
  write_matrix_market(path, a, symmetric, progress);
}

void check_view(MatrixView<const double> a) {
  if (a.rows < 0 || a.cols < 0 || a.ld < std::max<std::int64_t>(1, a.rows)) {
    throw Error(ErrorCode::invalid_argument,
                "a matrix of " + std::to_string(a.rows) + " x " + std::to_string(a.cols) +
                    " with leading dimension " + std::to_string(a.ld) + " can't be written");
  }
}

}  // namespace stepwell::io
