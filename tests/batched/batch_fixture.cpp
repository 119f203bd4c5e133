// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "batched/batch_fixture.hpp"

extern "C" {
void dpotrf2_(const char* uplo, const int* n, double* a, const int* lda, int* info, std::size_t);
void spotrf2_(const char* uplo, const int* n, float* a, const int* lda, int* info, std::size_t);
}

namespace stepwell::test {

std::int32_t lapack_factor(double* a, std::int64_t n) {
  const auto order = static_cast<int>(n);
  int info = 0;
  dpotrf2_("L", &order, a, &order, &info, 1);
  return info - 1;
}

std::int32_t lapack_factor(float* a, std::int64_t n) {
  const auto order = static_cast<int>(n);
  int info = 0;
  spotrf2_("L", &order, a, &order, &info, 1);
  return info - 1;
}

}  // namespace stepwell::test
