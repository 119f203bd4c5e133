// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

#include "io/matrix_file.hpp"
#include "io/sink.hpp"

/// For any bytes, a reader must return a matrix or throw a stepwell::Error with a code that
/// docs/io.md lists and one printable line. Anything else aborts the process, which libFuzzer
/// reports.
namespace stepwell::fuzz {

using Read = io::DenseMatrix (*)(io::Source& source);
using ReadShape = io::MatrixShape (*)(io::Source& source);
using Write = void (*)(io::Sink& sink, const io::DenseMatrix& matrix);

/// Reads the bytes; a matrix, unless it is large, is written and read again with the same bits (all
/// NaNs count as equal). Reading only the shape must agree.
void try_reader(std::string_view bytes, Read read, ReadShape read_shape, Write write);

}  // namespace stepwell::fuzz
