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

/// Reads the magic, the version and the header of a file; the source is then at the data. The
/// header is a Python dictionary of exactly the keys descr, fortran_order and shape, and at most
/// 64 KiB.
NpyHeader read_npy_header(Source& source);

/// What follows the header must be as long as it says. Throws Error(too_large, truncated, shape).
void check_npy_length(const Source& source, const NpyHeader& header, std::int64_t element_bytes);

/// All that comes before the data.
std::string npy_header(const NpyHeader& header);

}  // namespace stepwell::io
