// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "lapacke.hpp"

#include <cmath>

#include "layout.hpp"
#include "routines.hpp"

namespace stepwell::lapack {
template <class Int>
Int LapackeGeneral<Int>::dsgesv(int layout, Int n, Int nrhs, double* a, Int lda, Int* ipiv,
                                double* b, Int ldb, double* x, Int ldx, Int* iter) {
  if (layout != kRows && layout != kColumns) return refuse<Int>("LAPACKE_dsgesv", -1);
  if (checks_nan()) {
    if (has_nan(layout, n, n, a, lda)) return -4;
    if (has_nan(layout, n, nrhs, b, ldb)) return -7;
  }
  const Workspace<double> work(n, nrhs);
  const Workspace<float> swork(n, std::int64_t{n} + nrhs);
  if (!work.ready() || !swork.ready()) return refuse<Int>("LAPACKE_dsgesv", kWorkMemory);
  return dsgesv_work(layout, n, nrhs, a, lda, ipiv, b, ldb, x, ldx, work.data(), swork.data(),
                     iter);
}

template <class Int>
Int LapackeGeneral<Int>::dsgesv_work(int layout, Int n, Int nrhs, double* a, Int lda, Int* ipiv,
                                     double* b, Int ldb, double* x, Int ldx, double* work,
                                     float* swork, Int* iter) {
  if (layout != kRows && layout != kColumns) return refuse<Int>("LAPACKE_dsgesv_work", -1);
  if (layout == kRows) {
    if (lda < n) return refuse<Int>("LAPACKE_dsgesv_work", -5);
    if (ldb < nrhs) return refuse<Int>("LAPACKE_dsgesv_work", -8);
    if (ldx < nrhs) return refuse<Int>("LAPACKE_dsgesv_work", -10);
  }
  const Columns<Int> ac(layout, n, n, a, lda), bc(layout, n, nrhs, b, ldb);
  const Columns<Int> xc(layout, n, nrhs, x, ldx);
  if (!ac.ready() || !bc.ready() || !xc.ready()) {
    return refuse<Int>("LAPACKE_dsgesv_work", kTransposeMemory);
  }
  Int info = 0;
  General<Int>::dsgesv(&n, &nrhs, ac.data(), ac.ld(), ipiv, bc.data(), bc.ld(), xc.data(), xc.ld(),
                       work, swork, iter, &info);
  ac.write_back();
  xc.write_back();
  return shifted(info);
}

template <class Int>
Int LapackeGeneral<Int>::dgesv(int layout, Int n, Int nrhs, double* a, Int lda, Int* ipiv,
                               double* b, Int ldb) {
  if (layout != kRows && layout != kColumns) return refuse<Int>("LAPACKE_dgesv", -1);
  if (checks_nan()) {
    if (has_nan(layout, n, n, a, lda)) return -4;
    if (has_nan(layout, n, nrhs, b, ldb)) return -7;
  }
  return dgesv_work(layout, n, nrhs, a, lda, ipiv, b, ldb);
}

template <class Int>
Int LapackeGeneral<Int>::dgesv_work(int layout, Int n, Int nrhs, double* a, Int lda, Int* ipiv,
                                    double* b, Int ldb) {
  if (layout != kRows && layout != kColumns) return refuse<Int>("LAPACKE_dgesv_work", -1);
  if (layout == kRows) {
    if (lda < n) return refuse<Int>("LAPACKE_dgesv_work", -5);
    if (ldb < nrhs) return refuse<Int>("LAPACKE_dgesv_work", -8);
  }
  const Columns<Int> ac(layout, n, n, a, lda), bc(layout, n, nrhs, b, ldb);
  if (!ac.ready() || !bc.ready()) {
    return refuse<Int>("LAPACKE_dgesv_work", kTransposeMemory);
  }
  Int info = 0;
  General<Int>::dgesv(&n, &nrhs, ac.data(), ac.ld(), ipiv, bc.data(), bc.ld(), &info);
  ac.write_back();
  bc.write_back();
  return shifted(info);
}

template <class Int>
Int LapackeGeneral<Int>::dgetrs(int layout, char trans, Int n, Int nrhs, const double* a, Int lda,
                                const Int* ipiv, double* b, Int ldb) {
  if (layout != kRows && layout != kColumns) return refuse<Int>("LAPACKE_dgetrs", -1);
  if (checks_nan()) {
    if (has_foreign_nan(layout, n, a, lda)) return -5;
    if (has_nan(layout, n, nrhs, b, ldb)) return -8;
  }
  return dgetrs_work(layout, trans, n, nrhs, a, lda, ipiv, b, ldb);
}

template <class Int>
Int LapackeGeneral<Int>::dgetrs_work(int layout, char trans, Int n, Int nrhs, const double* a,
                                     Int lda, const Int* ipiv, double* b, Int ldb) {
  if (layout != kRows && layout != kColumns) return refuse<Int>("LAPACKE_dgetrs_work", -1);
  if (layout == kRows) {
    if (lda < n) return refuse<Int>("LAPACKE_dgetrs_work", -6);
    if (ldb < nrhs) return refuse<Int>("LAPACKE_dgetrs_work", -9);
  }
  const Columns<Int> ac(layout, n, n, a, lda), bc(layout, n, nrhs, b, ldb);
  if (!ac.ready() || !bc.ready()) {
    return refuse<Int>("LAPACKE_dgetrs_work", kTransposeMemory);
  }
  Int info = 0;
  General<Int>::dgetrs(&trans, &n, &nrhs, ac.data(), ac.ld(), ipiv, bc.data(), bc.ld(), &info);
  bc.write_back();
  return shifted(info);
}

template <class Int>
Int LapackeGeneral<Int>::dgecon(int layout, char norm, Int n, const double* a, Int lda,
                                double anorm, double* rcond) {
  if (layout != kRows && layout != kColumns) return refuse<Int>("LAPACKE_dgecon", -1);
  if (checks_nan()) {
    if (has_foreign_nan(layout, n, a, lda)) return -4;
    if (std::isnan(anorm)) return -6;
  }
  const Workspace<double> work(n, 4);
  const Workspace<Int> iwork(n, 1);
  if (!work.ready() || !iwork.ready()) return refuse<Int>("LAPACKE_dgecon", kWorkMemory);
  return dgecon_work(layout, norm, n, a, lda, anorm, rcond, work.data(), iwork.data());
}

template <class Int>
Int LapackeGeneral<Int>::dgecon_work(int layout, char norm, Int n, const double* a, Int lda,
                                     double anorm, double* rcond, double* work, Int* iwork) {
  if (layout != kRows && layout != kColumns) return refuse<Int>("LAPACKE_dgecon_work", -1);
  if (layout == kRows) {
    if (lda < n) return refuse<Int>("LAPACKE_dgecon_work", -5);
  }
  const Columns<Int> ac(layout, n, n, a, lda);
  if (!ac.ready()) {
    return refuse<Int>("LAPACKE_dgecon_work", kTransposeMemory);
  }
  Int info = 0;
  General<Int>::dgecon(&norm, &n, ac.data(), ac.ld(), &anorm, rcond, work, iwork, &info);
  return shifted(info);
}

template <class Int>
Int LapackeGeneral<Int>::dgels(int layout, char trans, Int m, Int n, Int nrhs, double* a, Int lda,
                               double* b, Int ldb) {
  if (layout != kRows && layout != kColumns) return refuse<Int>("LAPACKE_dgels", -1);
  if (checks_nan()) {
    if (has_nan(layout, m, n, a, lda)) return -6;
    if (has_nan(layout, std::max(m, n), nrhs, b, ldb)) return -8;
  }
  double best = 0;
  const Int info = dgels_work(layout, trans, m, n, nrhs, a, lda, b, ldb, &best, -1);
  if (info != 0) return info;
  const auto size = static_cast<Int>(best);
  const Workspace<double> work(size, 1);
  if (!work.ready()) return refuse<Int>("LAPACKE_dgels", kWorkMemory);
  return dgels_work(layout, trans, m, n, nrhs, a, lda, b, ldb, work.data(), size);
}

template <class Int>
Int LapackeGeneral<Int>::dgels_work(int layout, char trans, Int m, Int n, Int nrhs, double* a,
                                    Int lda, double* b, Int ldb, double* work, Int lwork) {
  if (layout != kRows && layout != kColumns) return refuse<Int>("LAPACKE_dgels_work", -1);
  if (layout == kRows) {
    if (lda < n) return refuse<Int>("LAPACKE_dgels_work", -7);
    if (ldb < nrhs) return refuse<Int>("LAPACKE_dgels_work", -9);
  }
  Int info = 0;
  const Int rows = std::max(m, n);
  if (lwork == -1) {  // workspace query: only the size of 'work' is wanted
    const Int lda_t = layout == kRows ? std::max<Int>(1, m) : lda;
    const Int ldb_t = layout == kRows ? std::max<Int>(1, rows) : ldb;
    LeastSquares<Int>::dgels(&trans, &m, &n, &nrhs, a, &lda_t, b, &ldb_t, work, &lwork, &info);
    return shifted(info);
  }
  const Columns<Int> ac(layout, m, n, a, lda), bc(layout, rows, nrhs, b, ldb);
  if (!ac.ready() || !bc.ready()) {
    return refuse<Int>("LAPACKE_dgels_work", kTransposeMemory);
  }
  LeastSquares<Int>::dgels(&trans, &m, &n, &nrhs, ac.data(), ac.ld(), bc.data(), bc.ld(), work,
                           &lwork, &info);
  ac.write_back();
  bc.write_back();
  return shifted(info);
}

template struct LapackeGeneral<std::int32_t>;
template struct LapackeGeneral<std::int64_t>;

}  // namespace stepwell::lapack
