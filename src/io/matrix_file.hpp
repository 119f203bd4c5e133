// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

#include "core/buffer.hpp"
#include "io/source.hpp"
#include "stepwell/view.hpp"

/// Matrices in files. Sizes are checked against the length of the file and the available memory
/// before anything is allocated. All functions throw Error (cannot_open, malformed, truncated,
/// too_large, unsupported, shape or out_of_memory) with the name of the file and the line or byte.
namespace stepwell::io {

struct DenseMatrix {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  core::Buffer<double> data;  ///< column-major, ld = rows
  bool symmetric = false;     ///< declared symmetric in the file; both triangles are filled

  MatrixView<double> view() const { return stepwell::view(data.data(), rows, cols); }
};

struct MatrixShape {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  bool symmetric = false;  ///< declared symmetric in the file
};

/// A zero matrix for the contents of 'source', if there is enough memory. 'extra' is the number of
/// bytes per element that the reader needs in addition.
DenseMatrix dense_matrix(const Source& source, std::int64_t rows, std::int64_t cols,
                         double extra = 0);

/// Reads a Matrix Market or NPY file; the format is determined by the first bytes or the name.
DenseMatrix read_matrix(const std::string& path, Progress* progress = nullptr);

/// Reads only the part of the file that contains the shape.
MatrixShape read_shape(const std::string& path);

/// Writes NPY (.npy) or Matrix Market (.mtx, .mm), according to the name; any other name is
/// Error(invalid_argument). 'symmetric' halves the size of a Matrix Market file.
void write_matrix(const std::string& path, MatrixView<const double> a, bool symmetric = false,
                  Progress* progress = nullptr);

/// Throws Error(invalid_argument) if write_matrix() does not support the extension of the name.
void require_writable_name(const std::string& path);

/// Throws Error(invalid_argument) if the view is invalid.
void check_view(MatrixView<const double> a);

}  // namespace stepwell::io
