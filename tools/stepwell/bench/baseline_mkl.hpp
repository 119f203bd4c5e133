// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "harness.hpp"

namespace stepwell::tool {

/// oneMKL, the stronger baseline on Intel CPUs, loaded when it is asked for: nothing is built or
/// linked with it, and its symbols stay its own.
struct Mkl {
  using Potrf = void(const char* uplo, const int* n, double* a, const int* lda, int* info);
  using Posv = void(const char* uplo, const int* n, const int* nrhs, double* a, const int* lda,
                    double* b, const int* ldb, int* info);
  using Gesv = void(const int* n, const int* nrhs, double* a, const int* lda, int* ipiv, double* b,
                    const int* ldb, int* info);
  using Gels = void(const char* trans, const int* m, const int* n, const int* nrhs, double* a,
                    const int* lda, double* b, const int* ldb, double* work, const int* lwork,
                    int* info);
  using Syrk = void(const char* uplo, const char* trans, const int* n, const int* k,
                    const double* alpha, const double* a, const int* lda, const double* beta,
                    double* c, const int* ldc);
  using Gemm = void(const char* transa, const char* transb, const int* m, const int* n,
                    const int* k, const double* alpha, const double* a, const int* lda,
                    const double* b, const int* ldb, const double* beta, double* c, const int* ldc);
  void* library = nullptr;
  std::string path;
  std::string version;
  std::string kernels;   ///< the instruction set it chose
  bool threaded = true;  ///< false: no OpenMP runtime was found for it
  Potrf* potrf = nullptr;
  Posv* posv = nullptr;
  Gesv* gesv = nullptr;
  Gels* gels = nullptr;
  Syrk* syrk = nullptr;
  Gemm* gemm = nullptr;
  void (*set_threads)(int) = nullptr;
};

/// Where to look first: a library or its directory. Empty: STEPWELL_MKL, then the usual places.
void set_mkl_path(const std::string& path);

/// The library, loaded at the first call. Throws Error(unsupported) that says where it was looked
/// for and how to get it.
const Mkl& mkl();

/// A function of it by its name. Throws Error(unsupported).
void* mkl_symbol(const std::string& name);
template <class F>
F* mkl_function(const std::string& name) {
  return reinterpret_cast<F*>(mkl_symbol(name));
}

/// Its routine as a baseline, without work and run.
Side mkl_side(const char* routine, int threads);

}  // namespace stepwell::tool
