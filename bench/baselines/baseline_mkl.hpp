// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "bench/harness/harness.hpp"
#include "options/verb.hpp"

namespace stepwell::bench {

/// oneMKL, the stronger baseline on Intel CPUs. It is loaded on demand: nothing is built or linked
/// with it, and its symbols stay local.
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
  std::string kernels;   ///< the instruction set that oneMKL chose
  bool threaded = true;  ///< false: no OpenMP runtime was found for it
  Potrf* potrf = nullptr;
  Posv* posv = nullptr;
  Gesv* gesv = nullptr;
  Gels* gels = nullptr;
  Syrk* syrk = nullptr;
  Gemm* gemm = nullptr;
  void (*set_threads)(int) = nullptr;
};

/// Sets the path of the library or of its directory, the only place that is then searched. Empty:
/// STEPWELL_MKL, then the usual directories.
void set_mkl_path(const std::string& path);

/// The library, loaded at the first call. Throws Error(unsupported) with a message that says where
/// it was searched for and how to get it.
const Mkl& mkl();

/// Returns the oneMKL function of this name. Throws Error(unsupported).
void* mkl_symbol(const std::string& name);
template <class F>
F* mkl_function(const std::string& name) {
  return reinterpret_cast<F*>(mkl_symbol(name));
}

/// A oneMKL routine as a baseline, with 'work' and 'run' still to be set.
Side mkl_side(const char* routine, int threads);

/// Adds --mkl to a verb that has oneMKL as a baseline.
void add_mkl_option(tool::Verb verb);

}  // namespace stepwell::bench
