// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "call_log.hpp"

/// The LAPACK behind this library: looked up routine by routine at its first call.
namespace stepwell::lapack {

/// The real routine with integers of 32 bits: the next of that name in the process, or else of the
/// LAPACK that this library was linked with. Null: there is none.
void* next_routine(Routine routine, std::int32_t);

/// The real routine with integers of 64 bits, from a library that has them. Null: there is none.
void* next_routine(Routine routine, std::int64_t);

/// Whether the process's own LAPACK has 64-bit integers under the names of the 32-bit ones, as
/// Debian's libopenblas64 does. Then our entry points don't know what they are given.
bool names_are_ambiguous(Routine routine);

/// A function of LAPACKE that the process may have; null: it does not.
void* lapacke_symbol(const char* name);

}  // namespace stepwell::lapack
