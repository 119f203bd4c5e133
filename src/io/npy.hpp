// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/matrix_file.hpp"
#include "io/sink.hpp"

/// NumPy's NPY files (https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html),
/// versions 1 to 3, as dense matrices.
///
/// The reader supports <f8, <f4, <i8, <i4 and |b1 in both orders, with two dimensions, or with one,
/// which is read as a column. Nothing in a file is ever executed: Python objects are rejected, as
/// are records, big-endian and complex numbers, and integers beyond 2^53, which FP64 can't all
/// represent. NaN and infinity are valid data.
namespace stepwell::io {

DenseMatrix read_npy(Source& source);
DenseMatrix read_npy(const std::string& path);
/// Reads the header only.
MatrixShape read_npy_shape(Source& source);

/// Writes <f8 in Fortran order with two dimensions; the bits of the elements are preserved.
void write_npy(Sink& sink, MatrixView<const double> a);
void write_npy(const std::string& path, MatrixView<const double> a, Progress* progress = nullptr);

}  // namespace stepwell::io
