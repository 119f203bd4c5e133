// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/matrix_file.hpp"
#include "io/sink.hpp"

/// Matrix Market files (https://math.nist.gov/MatrixMarket/formats.html) as dense matrices.
///
/// Read are coordinate and array; real, double, integer and pattern (ones); general, symmetric and
/// skew-symmetric. Words of the banner may be in any case. Stricter than the format asks for:
/// - two entries in one place are refused: some readers add them, others take the last;
/// - entries of symmetric and skew-symmetric files are in the lower triangle;
/// - the last line ends with a newline, else the file may have been cut within a number;
/// - integers beyond 2^53, where FP64 has gaps, are refused, and so is 1e400; nan and inf are data.
namespace stepwell::io {

DenseMatrix read_matrix_market(Source& source);
DenseMatrix read_matrix_market(const std::string& path);
/// What the banner and the sizes say, and no entries.
MatrixShape read_matrix_market_shape(Source& source);

/// Writes "array real", column by column, each number so that it is read back as it was (the bits
/// of a NaN aside). If 'symmetric', the lower triangle only; Error(shape) if the matrix is not
/// square or the upper one differs.
void write_matrix_market(Sink& sink, MatrixView<const double> a, bool symmetric = false);
void write_matrix_market(const std::string& path, MatrixView<const double> a,
                         bool symmetric = false, Progress* progress = nullptr);

}  // namespace stepwell::io
