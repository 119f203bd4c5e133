// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "dispatch.hpp"
#include "factor_cache.hpp"
#include "forward.hpp"
#include "routines.hpp"
#include "stepwell/lstsq.hpp"

/// Least squares. LAPACK reports invalid arguments, as in spd.cpp.
namespace stepwell::lapack {
namespace {

/// Writes X and, below it, elements whose norm is that of the residual: users of LAPACK take the
/// sum of squares of these elements.
void write(MatrixView<const double> x, const Certificate& certificate, MatrixView<double> b) {
  for (std::int64_t j = 0; j < b.cols; ++j) {
    double* const column = b.column(j);
    std::copy_n(x.column(j), x.rows, column);
    std::fill(column + x.rows, column + b.rows, 0.0);
    const auto index = static_cast<std::size_t>(j);
    if (b.rows > x.rows) column[x.rows] = certificate.columns[index].residual_norm;
  }
}

Certificate solve(MatrixView<double> a, MatrixView<double> b) {
  const core::Buffer<double> x(core::size_product(a.cols, b.cols, "the copy of X"));
  const auto solution = view(x.data(), a.cols, b.cols);
  Certificate certificate = lstsq(a, b, solution);
  if (certificate.ok()) {
    write(solution, certificate, b);
    mark(a, Part::all, 0);
  }
  return certificate;
}

}  // namespace

template <class Int>
void LeastSquares<Int>::dgels(const char* trans, const Int* m, const Int* n, const Int* nrhs,
                              double* a, const Int* lda, double* b, const Int* ldb, double* work,
                              const Int* lwork, Int* info) {
  const auto next = [&] {
    forward<Int>(Routine::dgels, info, trans, In{m}, In{n}, In{nrhs}, a, In{lda}, b, In{ldb}, work,
                 In{lwork}, Out{info}, kLength);
  };
  if (ReentrancyGuard::active()) return next();
  Call call(Routine::dgels);
  const std::int64_t workspace = std::int64_t{*n} + std::max(*n, *nrhs);
  const bool valid = is(trans, 'N') && *n > 0 && *m >= *n && *nrhs > 0 && *lda >= *m &&
                     *ldb >= *m && *lwork >= workspace;
  // Nearly square problems are usually too ill-conditioned for the normal equations and end with
  // QR.
  const auto by_plan = [&]() -> std::optional<Why> {
    if (*m / 2 < *n) return Why::small;
    LeastSquaresOptions qr;
    qr.qr = true;
    return refusal(plan_lstsq(*m, *n, *nrhs), plan_lstsq(*m, *n, *nrhs, qr), *nrhs);
  };
  if (const auto why = valid ? refusal(call.routine(), Mode::all, *n, by_plan) : Why::arguments) {
    call.forwarded(*why);
    return next();
  }
  const auto solve_here = [&] { return solve(view(a, *m, *n, *lda), view(b, *m, *nrhs, *ldb)); };
  if (!dispatch(call, solve_here)) return next();
  work[0] = static_cast<double>(workspace);
  *info = 0;
}

template struct LeastSquares<std::int32_t>;
template struct LeastSquares<std::int64_t>;

}  // namespace stepwell::lapack
