// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

#include "io/source.hpp"

namespace stepwell::io {

struct NpyHeader {
  std::string type;  ///< "<f8"
  bool fortran_order = false;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
};

/// Reads the magic, the version and the header of a file, and leaves the source at the data. The
/// header must be a Python dictionary with exactly the keys descr, fortran_order and shape, of at
/// most 64 KiB.
NpyHeader read_npy_header(Source& source);

/// Checks that the data after the header has the length that the header implies. Throws
/// Error(too_large, truncated, shape).
void check_npy_length(const Source& source, const NpyHeader& header, std::int64_t element_bytes);

/// The magic, the version and the header: all bytes before the data.
std::string npy_header(const NpyHeader& header);

}  // namespace stepwell::io
