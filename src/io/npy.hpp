// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/matrix_file.hpp"
#include "io/sink.hpp"

/// NumPy's NPY files (https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html),
/// versions 1 to 3, as dense matrices.
///
/// Read are <f8, <f4, <i8, <i4 and |b1, in both orders; two dimensions, or one, which is a column.
/// Nothing in a file is ever executed: Python objects are refused, as are records, big-endian and
/// complex numbers. Integers beyond 2^53, where FP64 has gaps, are refused too. NaN and infinity
/// are data.
namespace stepwell::io {

DenseMatrix read_npy(Source& source);
DenseMatrix read_npy(const std::string& path);
/// What the header says, and no data.
MatrixShape read_npy_shape(Source& source);

/// Writes <f8 in Fortran's order, two dimensions: the same bits.
void write_npy(Sink& sink, MatrixView<const double> a);
void write_npy(const std::string& path, MatrixView<const double> a, Progress* progress = nullptr);

}  // namespace stepwell::io
