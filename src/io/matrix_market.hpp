// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/matrix_file.hpp"
#include "io/sink.hpp"

/// Matrix Market files (https://math.nist.gov/MatrixMarket/formats.html) as dense matrices.
///
/// The reader supports coordinate and array; real, double, integer and pattern (ones); general,
/// symmetric and skew-symmetric. The words of the banner may be in any case. It is stricter than
/// the format requires:
/// - duplicate entries are rejected, because some readers add them and others take the last;
/// - entries of symmetric and skew-symmetric files must be in the lower triangle;
/// - the last line must end with a newline; otherwise the file may be truncated within a number;
/// - integers beyond 2^53, which FP64 can't all represent, and numbers such as 1e400 are rejected;
///   nan and inf are valid data.
namespace stepwell::io {

DenseMatrix read_matrix_market(Source& source);
DenseMatrix read_matrix_market(const std::string& path);
/// Reads the banner and the sizes only.
MatrixShape read_matrix_market_shape(Source& source);

/// Writes "array real", column by column. Every number is read back exactly, except for the payload
/// of a NaN. If 'symmetric', writes only the lower triangle; throws Error(shape) if the matrix is
/// not square or not exactly symmetric.
void write_matrix_market(Sink& sink, MatrixView<const double> a, bool symmetric = false);
void write_matrix_market(const std::string& path, MatrixView<const double> a,
                         bool symmetric = false, Progress* progress = nullptr);

}  // namespace stepwell::io
