// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include "dispatch.hpp"
#include "factor_cache.hpp"
#include "forward.hpp"
#include "routines.hpp"

/// General systems. LAPACK reports invalid arguments, as in spd.cpp.
namespace stepwell::lapack {
namespace {

template <class Int>
bool is_system(const Int* n, const Int* nrhs, const Int* lda, const Int* ldb) {
  return *n > 0 && *nrhs > 0 && *lda >= *n && *ldb >= *n;
}

}  // namespace

template <class Int>
void General<Int>::dsgesv(const Int* n, const Int* nrhs, double* a, const Int* lda, Int* ipiv,
                          double* b, const Int* ldb, double* x, const Int* ldx, double* work,
                          float* swork, Int* iter, Int* info) {
  const auto next = [&] {
    forward<Int>(Routine::dsgesv, info, In{n}, In{nrhs}, a, In{lda}, PivotsOut{ipiv, n}, b, In{ldb},
                 x, In{ldx}, work, swork, Out{iter}, Out{info});
  };
  if (ReentrancyGuard::active()) return next();
  Call call(Routine::dsgesv);
  const bool valid = is_system(n, nrhs, lda, ldb) && *ldx >= *n && x != b;
  if (const auto why = refusal(call.routine(), Mode::mixed, valid, *n, *nrhs, plan_general)) {
    call.forwarded(*why);
    return next();
  }
  const auto solve = [&] {
    SolveOptions options;
    options.tolerance = mixed_tolerance(*n);
    Certificate certificate =
        stepwell::solve(view<const double>(a, *n, *n, *lda), view<const double>(b, *n, *nrhs, *ldb),
                        view(x, *n, *nrhs, *ldx), options);
    *iter = certificate.iterations;
    return certificate;
  };
  if (!dispatch(call, solve)) return next();
  pivots_in_order(ipiv, *n);
  *info = 0;
}

template <class Int>
void General<Int>::dgesv(const Int* n, const Int* nrhs, double* a, const Int* lda, Int* ipiv,
                         double* b, const Int* ldb, Int* info) {
  const auto next = [&] {
    forward<Int>(Routine::dgesv, info, In{n}, In{nrhs}, a, In{lda}, PivotsOut{ipiv, n}, b, In{ldb},
                 Out{info});
  };
  if (ReentrancyGuard::active()) return next();
  Call call(Routine::dgesv);
  const bool valid = is_system(n, nrhs, lda, ldb);
  if (const auto why = refusal(call.routine(), Mode::all, valid, *n, *nrhs, plan_general)) {
    call.forwarded(*why);
    return next();
  }
  const auto solve = [&] {
    return solve_and_cache(view(a, *n, *n, *lda), Part::all, view(b, *n, *nrhs, *ldb));
  };
  if (!dispatch(call, solve)) return next();
  pivots_in_order(ipiv, *n);
  *info = 0;
}

template <class Int>
void General<Int>::dgetrs(const char* trans, const Int* n, const Int* nrhs, const double* a,
                          const Int* lda, const Int* ipiv, double* b, const Int* ldb, Int* info) {
  const auto next = [&](const double* lu, const Int* ld, const Int* pivots) {
    forward<Int>(Routine::dgetrs, info, trans, In{n}, In{nrhs}, lu, In{ld}, PivotsIn{pivots, n}, b,
                 In{ldb}, Out{info}, kLength);
  };
  if (ReentrancyGuard::active()) return next(a, lda, ipiv);
  Call call(Routine::dgetrs);
  const bool transposed = is(trans, 'T') || is(trans, 'C');
  const bool valid = (transposed || is(trans, 'N')) && is_system(n, nrhs, lda, ldb);
  const auto factor = factor_for(call, valid, view(a, *n, *n, *lda), Part::all);
  if (!factor) return next(a, lda, ipiv);
  const auto b_view = view(b, *n, *nrhs, *ldb);
  if (dispatch(call, [&] { return solve_with(*factor, transposed, b_view); })) {
    *info = 0;
  } else if (const auto restored = restore<Int>(*factor)) {
    next(restored->factor.data(), n, restored->pivots.data());
  } else {
    next(a, lda, ipiv);
  }
}

template <class Int>
void General<Int>::dgecon(const char* norm, const Int* n, const double* a, const Int* lda,
                          const double* anorm, double* rcond, double* work, Int* iwork, Int* info) {
  double norm_of_a = *anorm;
  const auto next = [&](const double* lu, const Int* ld) {
    forward<Int>(Routine::dgecon, info, norm, In{n}, lu, In{ld}, &norm_of_a, rcond, work,
                 Scratch{iwork}, Out{info}, kLength);
  };
  if (ReentrancyGuard::active()) return next(a, lda);
  Call call(Routine::dgecon);
  const bool one_norm = *norm == '1' || is(norm, 'O');
  const bool valid = (one_norm || is(norm, 'I')) && *n > 0 && *lda >= *n && !(*anorm < 0);
  const auto factor = factor_for(call, valid, view(a, *n, *n, *lda), Part::all);
  if (!factor) return next(a, lda);
  if (std::isnan(norm_of_a)) norm_of_a = norm_of(*factor, one_norm);
  if (dispatch(call, [&] { return condition_with(*factor, one_norm, norm_of_a, *rcond); })) {
    *info = 0;
  } else if (const auto restored = restore<Int>(*factor)) {
    next(restored->factor.data(), n);
  } else {
    next(a, lda);
  }
}

template struct General<std::int32_t>;
template struct General<std::int64_t>;

}  // namespace stepwell::lapack
