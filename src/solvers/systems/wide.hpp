// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "stepwell/lstsq.hpp"

namespace stepwell::solvers {

/// Least squares with fewer rows than columns: of all minimisers the one of least norm, by LAPACK's
/// complete orthogonal factorization in FP64 (dgelsy) of a copy of A, which is in memory.
///
/// The backward error is the larger of two: the change of A for which x is a minimiser, and that
/// for which x is in the range of A', without which it would not be the shortest; both relative to
/// ||A||_F. Cost: about 4 m^2 n flop, and a least squares problem with A'.
Certificate solve_wide(const TallMatrix& a, MatrixView<const double> b, MatrixView<double> x,
                       const LeastSquaresOptions& options);

/// Bytes that it needs in addition to A, B and X.
std::int64_t wide_bytes(std::int64_t m, std::int64_t n, std::int64_t columns);

}  // namespace stepwell::solvers
