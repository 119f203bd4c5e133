// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cstdint>

#include "lapacke.hpp"
#include "routines.hpp"

// LAPACK's names for 32-bit integers: dgesv_, LAPACKE_dgesv.
using Int = std::int32_t;
#define FORTRAN(name) name##_
#define LAPACKE(name) LAPACKE_##name
#include "names.inc"
