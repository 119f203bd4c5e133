// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include "dispatch.hpp"
#include "factor_cache.hpp"
#include "forward.hpp"
#include "routines.hpp"
#include "stepwell/factor.hpp"

/// Symmetric positive definite systems. LAPACK reports invalid arguments: such calls are forwarded,
/// like all others that Stepwell does not handle.
namespace stepwell::lapack {
namespace {

bool is_triangle(const char* uplo) {
  return is(uplo, 'L') || is(uplo, 'U');
}

Triangle triangle_of(const char* uplo) {
  return is(uplo, 'U') ? Triangle::upper : Triangle::lower;
}

/// Why Stepwell does not compute LAPACK's factor: elsewhere the LAPACK behind is as fast.
std::optional<Why> refusal_to_factor(Routine routine, bool valid, std::int64_t n) noexcept {
  if (!valid) return Why::arguments;
  return refusal(routine, Mode::factor, n, [n]() -> std::optional<Why> {
    if (fp64_rung(n) == Rung::fp64) return Why::small;
    return std::nullopt;
  });
}

/// Stores the factor in that triangle of A. If there is none, A is unchanged.
FactorReport factor_in_place(MatrixView<double> a, Triangle triangle) {
  FactorOptions options;
  // For tests: the same arithmetic at any order.
  options.map = uniform(settings().min_n > 0 ? Rung::int8x14 : Rung::fp64);
  options.triangle = triangle;
  options.climb = false;
  const Factor factor = cholesky(a, options);
  if (factor.ok()) factor.copy_to(a, triangle);
  return factor.report();
}

Part part_of(const char* uplo) {
  return is(uplo, 'U') ? Part::upper : Part::lower;
}

template <class Int>
bool is_system(const char* uplo, const Int* n, const Int* nrhs, const Int* lda, const Int* ldb) {
  return is_triangle(uplo) && *n > 0 && *nrhs > 0 && *lda >= *n && *ldb >= *n;
}

}  // namespace

template <class Int>
void Spd<Int>::dsposv(const char* uplo, const Int* n, const Int* nrhs, double* a, const Int* lda,
                      double* b, const Int* ldb, double* x, const Int* ldx, double* work,
                      float* swork, Int* iter, Int* info) {
  const auto next = [&] {
    forward<Int>(Routine::dsposv, info, uplo, In{n}, In{nrhs}, a, In{lda}, b, In{ldb}, x, In{ldx},
                 work, swork, Out{iter}, Out{info}, kLength);
  };
  if (ReentrancyGuard::active()) return next();
  Call call(Routine::dsposv);
  const bool valid = is_system(uplo, n, nrhs, lda, ldb) && *ldx >= *n && x != b;
  if (const auto why = refusal(call.routine(), Mode::mixed, valid, *n, *nrhs, plan_spd)) {
    call.forwarded(*why);
    return next();
  }
  const auto solve = [&] {
    SolveOptions options;
    options.tolerance = mixed_tolerance(*n);
    options.triangle = triangle_of(uplo);
    Certificate certificate =
        solve_spd(view<const double>(a, *n, *n, *lda), view<const double>(b, *n, *nrhs, *ldb),
                  view(x, *n, *nrhs, *ldx), options);
    *iter = certificate.iterations;
    return certificate;
  };
  if (!dispatch(call, solve)) return next();
  *info = 0;
}

template <class Int>
void Spd<Int>::dpotrf(const char* uplo, const Int* n, double* a, const Int* lda, Int* info) {
  const auto next = [&] {
    forward<Int>(Routine::dpotrf, info, uplo, In{n}, a, In{lda}, Out{info}, kLength);
  };
  if (ReentrancyGuard::active()) return next();
  Call call(Routine::dpotrf);
  const bool valid = is_triangle(uplo) && *n > 0 && *lda >= *n;
  if (const auto why = refusal_to_factor(call.routine(), valid, *n)) {
    call.forwarded(*why);
    return next();
  }
  const auto factor = [&] { return factor_in_place(view(a, *n, *n, *lda), triangle_of(uplo)); };
  if (!dispatch(call, factor)) return next();
  *info = 0;
}

/// Solves with NaN instead of a factor, where that is asked for and faster; with LAPACK's factor in
/// A, where that is faster.
template <class Int>
void Spd<Int>::dposv(const char* uplo, const Int* n, const Int* nrhs, double* a, const Int* lda,
                     double* b, const Int* ldb, Int* info) {
  const auto next = [&] {
    forward<Int>(Routine::dposv, info, uplo, In{n}, In{nrhs}, a, In{lda}, b, In{ldb}, Out{info},
                 kLength);
  };
  if (ReentrancyGuard::active()) return next();
  Call call(Routine::dposv);
  const bool valid = is_system(uplo, n, nrhs, lda, ldb);
  const auto why = refusal(call.routine(), Mode::all, valid, *n, *nrhs, plan_spd);
  if (!why) {
    const auto solve = [&] {
      return solve_and_cache(view(a, *n, *n, *lda), part_of(uplo), view(b, *n, *nrhs, *ldb));
    };
    if (!dispatch(call, solve)) return next();
    *info = 0;
    return;
  }
  if (const auto why_not = refusal_to_factor(call.routine(), valid, *n)) {
    call.forwarded(*why == Why::off ? *why_not : *why);
    return next();
  }
  const auto factor = [&] { return factor_in_place(view(a, *n, *n, *lda), triangle_of(uplo)); };
  if (!dispatch(call, factor)) return next();
  forward<Int>(Routine::dpotrs, info, uplo, In{n}, In{nrhs}, static_cast<const double*>(a), In{lda},
               b, In{ldb}, Out{info}, kLength);
}

template <class Int>
void Spd<Int>::dpotrs(const char* uplo, const Int* n, const Int* nrhs, const double* a,
                      const Int* lda, double* b, const Int* ldb, Int* info) {
  const auto next = [&](const double* factor, const Int* ld, const char* triangle) {
    forward<Int>(Routine::dpotrs, info, triangle, In{n}, In{nrhs}, factor, In{ld}, b, In{ldb},
                 Out{info}, kLength);
  };
  if (ReentrancyGuard::active()) return next(a, lda, uplo);
  Call call(Routine::dpotrs);
  const bool valid = is_system(uplo, n, nrhs, lda, ldb);
  const auto factor = factor_for(call, valid, view(a, *n, *n, *lda), part_of(uplo));
  if (!factor) return next(a, lda, uplo);
  const auto b_view = view(b, *n, *nrhs, *ldb);
  if (dispatch(call, [&] { return solve_with(*factor, false, b_view); })) {
    *info = 0;
  } else if (const auto restored = restore<Int>(*factor)) {
    next(restored->factor.data(), n, "L");
  } else {
    next(a, lda, uplo);
  }
}

template <class Int>
void Spd<Int>::dpocon(const char* uplo, const Int* n, const double* a, const Int* lda,
                      const double* anorm, double* rcond, double* work, Int* iwork, Int* info) {
  double norm_of_a = *anorm;
  const auto next = [&](const double* factor, const Int* ld, const char* triangle) {
    forward<Int>(Routine::dpocon, info, triangle, In{n}, factor, In{ld}, &norm_of_a, rcond, work,
                 Scratch{iwork}, Out{info}, kLength);
  };
  if (ReentrancyGuard::active()) return next(a, lda, uplo);
  Call call(Routine::dpocon);
  const bool valid = is_triangle(uplo) && *n > 0 && *lda >= *n && !(*anorm < 0);
  const auto factor = factor_for(call, valid, view(a, *n, *n, *lda), part_of(uplo));
  if (!factor) return next(a, lda, uplo);
  if (std::isnan(norm_of_a)) norm_of_a = norm_of(*factor, true);
  if (dispatch(call, [&] { return condition_with(*factor, true, norm_of_a, *rcond); })) {
    *info = 0;
  } else if (const auto restored = restore<Int>(*factor)) {
    next(restored->factor.data(), n, "L");
  } else {
    next(a, lda, uplo);
  }
}

template struct Spd<std::int32_t>;
template struct Spd<std::int64_t>;

}  // namespace stepwell::lapack
