// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

#include "io/matrix_file.hpp"
#include "io/sink.hpp"

/// What a reader owes any bytes whatever: a matrix, or a stepwell::Error of a code that docs/io.md
/// lists with one printable line. Anything else ends the process, which is how libFuzzer is told.
namespace stepwell::fuzz {

using Read = io::DenseMatrix (*)(io::Source& source);
using ReadShape = io::MatrixShape (*)(io::Source& source);
using Write = void (*)(io::Sink& sink, const io::DenseMatrix& matrix);

/// Reads the bytes; a matrix, unless it is large, is written and read again: the same bits, NaNs
/// of any bits being the same. What is read of the shape alone must agree.
void try_reader(std::string_view bytes, Read read, ReadShape read_shape, Write write);

}  // namespace stepwell::fuzz
