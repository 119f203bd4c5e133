// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace stepwell::bench {

/// oneMKL's compact routines (mkl_compact.h), which interleave as many matrices as a register has
/// lanes. Sizes are 32-bit ints; the enumerations are those of CBLAS.
template <class T>
struct MklCompact {
  using Size = int(int ld, int columns, int format, int count);
  using Pack = void(int layout, int rows, int columns, const T* const* a, int lda, T* packed,
                    int ld_packed, int format, int count);
  using Unpack = void(int layout, int rows, int columns, T* const* a, int lda, const T* packed,
                      int ld_packed, int format, int count);
  using Potrf = void(int layout, int uplo, int n, T* packed, int ld, int* info, int format,
                     int count);
  using Trsm = void(int layout, int side, int uplo, int trans, int diag, int m, int n, T alpha,
                    const T* packed, int ld, T* b, int ldb, int format, int count);
  int format = 0;  ///< the format for this machine
  int lanes = 0;   ///< number of interleaved matrices
  Size* size = nullptr;
  Pack* pack = nullptr;
  Unpack* unpack = nullptr;
  Potrf* potrf = nullptr;
  Trsm* trsm = nullptr;
};

/// Loaded at the first call. Throws Error(unsupported).
template <class T>
const MklCompact<T>& mkl_compact();

}  // namespace stepwell::bench
