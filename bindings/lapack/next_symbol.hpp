// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "call_log.hpp"

/// The real LAPACK behind this library: each routine is looked up at its first call.
namespace stepwell::lapack {

/// The real routine with 32-bit integers: the next symbol of that name in the process, otherwise
/// that of the LAPACK that this library was linked with. Null if there is none.
void* next_routine(Routine routine, std::int32_t);

/// The real routine with 64-bit integers, from a library that has them. Null if there is none.
void* next_routine(Routine routine, std::int64_t);

/// Whether the process's LAPACK has 64-bit integers under the names of the 32-bit ones, as Debian's
/// libopenblas64 does. Then the entry points can't know which integers they are given.
bool names_are_ambiguous(Routine routine);

/// The process's LAPACKE function of that name; null if there is none.
void* lapacke_symbol(const char* name);

}  // namespace stepwell::lapack
