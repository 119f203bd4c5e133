// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "lapacke.hpp"

#include <cmath>

#include "dispatch.hpp"
#include "layout.hpp"
#include "routines.hpp"

namespace stepwell::lapack {
namespace {

Part triangle(char uplo) {
  return is(&uplo, 'U') ? Part::upper : Part::lower;
}

}  // namespace

template <class Int>
Int LapackeSpd<Int>::dsposv(int layout, char uplo, Int n, Int nrhs, double* a, Int lda, double* b,
                            Int ldb, double* x, Int ldx, Int* iter) {
  if (layout != kRows && layout != kColumns) return refuse<Int>("LAPACKE_dsposv", -1);
  if (checks_nan()) {
    if (has_nan(layout, n, n, a, lda, triangle(uplo))) return -5;
    if (has_nan(layout, n, nrhs, b, ldb)) return -7;
  }
  const Workspace<double> work(n, nrhs);
  const Workspace<float> swork(n, std::int64_t{n} + nrhs);
  if (!work.ready() || !swork.ready()) return refuse<Int>("LAPACKE_dsposv", kWorkMemory);
  return dsposv_work(layout, uplo, n, nrhs, a, lda, b, ldb, x, ldx, work.data(), swork.data(),
                     iter);
}

template <class Int>
Int LapackeSpd<Int>::dsposv_work(int layout, char uplo, Int n, Int nrhs, double* a, Int lda,
                                 double* b, Int ldb, double* x, Int ldx, double* work, float* swork,
                                 Int* iter) {
  if (layout != kRows && layout != kColumns) return refuse<Int>("LAPACKE_dsposv_work", -1);
  if (layout == kRows) {
    if (lda < n) return refuse<Int>("LAPACKE_dsposv_work", -6);
    if (ldb < nrhs) return refuse<Int>("LAPACKE_dsposv_work", -8);
    if (ldx < nrhs) return refuse<Int>("LAPACKE_dsposv_work", -10);
  }
  const Columns<Int> ac(layout, n, n, a, lda, triangle(uplo)), bc(layout, n, nrhs, b, ldb);
  const Columns<Int> xc(layout, n, nrhs, x, ldx);
  if (!ac.ready() || !bc.ready() || !xc.ready()) {
    return refuse<Int>("LAPACKE_dsposv_work", kTransposeMemory);
  }
  Int info = 0;
  Spd<Int>::dsposv(&uplo, &n, &nrhs, ac.data(), ac.ld(), bc.data(), bc.ld(), xc.data(), xc.ld(),
                   work, swork, iter, &info);
  ac.write_back();
  xc.write_back();
  return shifted(info);
}

template <class Int>
Int LapackeSpd<Int>::dposv(int layout, char uplo, Int n, Int nrhs, double* a, Int lda, double* b,
                           Int ldb) {
  if (layout != kRows && layout != kColumns) return refuse<Int>("LAPACKE_dposv", -1);
  if (checks_nan()) {
    if (has_nan(layout, n, n, a, lda, triangle(uplo))) return -5;
    if (has_nan(layout, n, nrhs, b, ldb)) return -7;
  }
  return dposv_work(layout, uplo, n, nrhs, a, lda, b, ldb);
}

template <class Int>
Int LapackeSpd<Int>::dposv_work(int layout, char uplo, Int n, Int nrhs, double* a, Int lda,
                                double* b, Int ldb) {
  if (layout != kRows && layout != kColumns) return refuse<Int>("LAPACKE_dposv_work", -1);
  if (layout == kRows) {
    if (lda < n) return refuse<Int>("LAPACKE_dposv_work", -6);
    if (ldb < nrhs) return refuse<Int>("LAPACKE_dposv_work", -8);
  }
  const Columns<Int> ac(layout, n, n, a, lda, triangle(uplo)), bc(layout, n, nrhs, b, ldb);
  if (!ac.ready() || !bc.ready()) {
    return refuse<Int>("LAPACKE_dposv_work", kTransposeMemory);
  }
  Int info = 0;
  Spd<Int>::dposv(&uplo, &n, &nrhs, ac.data(), ac.ld(), bc.data(), bc.ld(), &info);
  ac.write_back();
  bc.write_back();
  return shifted(info);
}

template <class Int>
Int LapackeSpd<Int>::dpotrf(int layout, char uplo, Int n, double* a, Int lda) {
  if (layout != kRows && layout != kColumns) return refuse<Int>("LAPACKE_dpotrf", -1);
  if (checks_nan() && has_nan(layout, n, n, a, lda, triangle(uplo))) return -4;
  return dpotrf_work(layout, uplo, n, a, lda);
}

template <class Int>
Int LapackeSpd<Int>::dpotrf_work(int layout, char uplo, Int n, double* a, Int lda) {
  if (layout != kRows && layout != kColumns) return refuse<Int>("LAPACKE_dpotrf_work", -1);
  if (layout == kRows && lda < n) return refuse<Int>("LAPACKE_dpotrf_work", -5);
  const Columns<Int> ac(layout, n, n, a, lda, triangle(uplo));
  if (!ac.ready()) return refuse<Int>("LAPACKE_dpotrf_work", kTransposeMemory);
  Int info = 0;
  Spd<Int>::dpotrf(&uplo, &n, ac.data(), ac.ld(), &info);
  ac.write_back();
  return shifted(info);
}

template <class Int>
Int LapackeSpd<Int>::dpotrs(int layout, char uplo, Int n, Int nrhs, const double* a, Int lda,
                            double* b, Int ldb) {
  if (layout != kRows && layout != kColumns) return refuse<Int>("LAPACKE_dpotrs", -1);
  if (checks_nan()) {
    if (has_foreign_nan(layout, n, a, lda, triangle(uplo))) return -5;
    if (has_nan(layout, n, nrhs, b, ldb)) return -7;
  }
  return dpotrs_work(layout, uplo, n, nrhs, a, lda, b, ldb);
}

template <class Int>
Int LapackeSpd<Int>::dpotrs_work(int layout, char uplo, Int n, Int nrhs, const double* a, Int lda,
                                 double* b, Int ldb) {
  if (layout != kRows && layout != kColumns) return refuse<Int>("LAPACKE_dpotrs_work", -1);
  if (layout == kRows) {
    if (lda < n) return refuse<Int>("LAPACKE_dpotrs_work", -6);
    if (ldb < nrhs) return refuse<Int>("LAPACKE_dpotrs_work", -8);
  }
  const Columns<Int> ac(layout, n, n, a, lda, triangle(uplo)), bc(layout, n, nrhs, b, ldb);
  if (!ac.ready() || !bc.ready()) {
    return refuse<Int>("LAPACKE_dpotrs_work", kTransposeMemory);
  }
  Int info = 0;
  Spd<Int>::dpotrs(&uplo, &n, &nrhs, ac.data(), ac.ld(), bc.data(), bc.ld(), &info);
  bc.write_back();
  return shifted(info);
}

template <class Int>
Int LapackeSpd<Int>::dpocon(int layout, char uplo, Int n, const double* a, Int lda, double anorm,
                            double* rcond) {
  if (layout != kRows && layout != kColumns) return refuse<Int>("LAPACKE_dpocon", -1);
  if (checks_nan()) {
    if (has_foreign_nan(layout, n, a, lda, triangle(uplo))) return -4;
    if (std::isnan(anorm)) return -6;
  }
  const Workspace<double> work(n, 3);
  const Workspace<Int> iwork(n, 1);
  if (!work.ready() || !iwork.ready()) return refuse<Int>("LAPACKE_dpocon", kWorkMemory);
  return dpocon_work(layout, uplo, n, a, lda, anorm, rcond, work.data(), iwork.data());
}

template <class Int>
Int LapackeSpd<Int>::dpocon_work(int layout, char uplo, Int n, const double* a, Int lda,
                                 double anorm, double* rcond, double* work, Int* iwork) {
  if (layout != kRows && layout != kColumns) return refuse<Int>("LAPACKE_dpocon_work", -1);
  if (layout == kRows) {
    if (lda < n) return refuse<Int>("LAPACKE_dpocon_work", -5);
  }
  const Columns<Int> ac(layout, n, n, a, lda, triangle(uplo));
  if (!ac.ready()) {
    return refuse<Int>("LAPACKE_dpocon_work", kTransposeMemory);
  }
  Int info = 0;
  Spd<Int>::dpocon(&uplo, &n, ac.data(), ac.ld(), &anorm, rcond, work, iwork, &info);
  return shifted(info);
}

template struct LapackeSpd<std::int32_t>;
template struct LapackeSpd<std::int64_t>;

}  // namespace stepwell::lapack
