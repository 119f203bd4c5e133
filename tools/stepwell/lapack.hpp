// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "stepwell/error.hpp"

/// LAPACK's Cholesky factorization, the baseline of ours.
extern "C" {
void spotrf_(const char* uplo, const int* n, float* a, const int* lda, int* info, std::size_t);
void dpotrf_(const char* uplo, const int* n, double* a, const int* lda, int* info, std::size_t);
}

namespace stepwell::tool {

/// Factors the lower triangle of the n x n matrix in place; returns LAPACK's info.
inline int potrf(float* a, std::int64_t n) {
  const auto order = static_cast<int>(n);
  int failed = 0;
  spotrf_("L", &order, a, &order, &failed, 1);
  return failed;
}
inline int potrf(double* a, std::int64_t n) {
  const auto order = static_cast<int>(n);
  int failed = 0;
  dpotrf_("L", &order, a, &order, &failed, 1);
  return failed;
}

}  // namespace stepwell::tool
