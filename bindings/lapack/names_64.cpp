// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cstdint>

#include "lapacke.hpp"
#include "routines.hpp"

// LAPACK's names for 64-bit integers: dgesv_64_, LAPACKE_dgesv_64.
using Int = std::int64_t;
#define FORTRAN(name) name##_64_
#define LAPACKE(name) LAPACKE_##name##_64
#include "names.inc"
