// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "layout.hpp"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "core/machine/environment.hpp"
#include "next_symbol.hpp"

namespace stepwell::lapack {
namespace {

Part by_columns(int layout, Part part) {
  if (layout == kColumns || part == Part::all) return part;
  return part == Part::lower ? Part::upper : Part::lower;
}

}  // namespace

std::int64_t report_error(const char* name, std::int64_t info) {
  const auto code = static_cast<int>(info);
  if (void* const next = lapacke_symbol("LAPACKE_xerbla")) {
    reinterpret_cast<void (*)(const char*, int)>(next)(name, code);
  } else if (code == kWorkMemory) {
    std::printf("Not enough memory to allocate work array in %s\n", name);
  } else if (code == kTransposeMemory) {
    std::printf("Not enough memory to transpose matrix in %s\n", name);
  } else {
    std::printf("Wrong parameter %d in %s\n", -code, name);
  }
  return info;
}

bool checks_nan() {
  if (void* const next = lapacke_symbol("LAPACKE_get_nancheck")) {
    return reinterpret_cast<int (*)()>(next)() != 0;
  }
  const char* const value = core::variable("LAPACKE_NANCHECK");
  return value == nullptr || std::atoi(value) != 0;
}

bool has_nan(int layout, std::int64_t m, std::int64_t n, const double* a, std::int64_t lda,
             Part part) {
  if (a == nullptr) return false;
  if (layout == kRows) std::swap(m, n);
  part = by_columns(layout, part);
  const std::int64_t rows = std::min(m, lda);
  for (std::int64_t j = 0; j < n; ++j) {
    const auto [first, end] = core::rows_of(part, j, rows);
    for (std::int64_t i = first; i < end; ++i) {
      if (std::isnan(a[j * lda + i])) return true;
    }
  }
  return false;
}

bool has_foreign_nan(int layout, std::int64_t n, const double* a, std::int64_t lda, Part part) {
  if (n > 0 && lda >= n && a != nullptr && is_marked({a, n, n, lda})) return false;
  return has_nan(layout, n, n, a, lda, part);
}

}  // namespace stepwell::lapack
