// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

#include "core/buffer.hpp"
#include "io/source.hpp"
#include "stepwell/view.hpp"

/// Matrices in files. Sizes are checked against the length of the file and the memory there is
/// before anything is allocated. All of it throws Error: cannot_open, malformed, truncated,
/// too_large, unsupported, shape or out_of_memory, with the file and the line or byte.
namespace stepwell::io {

struct DenseMatrix {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  core::Buffer<double> data;  ///< column-major, ld = rows
  bool symmetric = false;     ///< the file says so; both triangles are filled

  MatrixView<double> view() const { return stepwell::view(data.data(), rows, cols); }
};

struct MatrixShape {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  bool symmetric = false;  ///< the file says so
};

/// A matrix of zeros for what 'source' holds, if memory can hold it. 'extra' is how many bytes more
/// the reader needs for each element.
DenseMatrix dense_matrix(const Source& source, std::int64_t rows, std::int64_t cols,
                         double extra = 0);

/// Reads Matrix Market or NPY, whichever the first bytes say.
DenseMatrix read_matrix(const std::string& path, Progress* progress = nullptr);

/// Reads as much as it takes to know the shape.
MatrixShape read_shape(const std::string& path);

/// Writes NPY (.npy) or Matrix Market (.mtx, .mm), whichever the name says; other names are
/// Error(invalid_argument). 'symmetric' makes Matrix Market half as large.
void write_matrix(const std::string& path, MatrixView<const double> a, bool symmetric = false,
                  Progress* progress = nullptr);

/// Throws Error(invalid_argument) if write_matrix() would not know how to write such a name.
void require_writable_name(const std::string& path);

/// Throws Error(invalid_argument) if the view makes no sense.
void check_view(MatrixView<const double> a);

}  // namespace stepwell::io
