// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "stepwell/batch.hpp"
#include "stepwell/tall.hpp"
#include "stepwell/view.hpp"

namespace stepwell::python {

namespace nb = nanobind;

// Arrays from Python, of the right type and without a copy. stepwell/_arrays.py ensures the type
// and decides when to copy; nothing is converted here.
template <class T>
using Matrix = nb::ndarray<T, nb::ndim<2>, nb::device::cpu>;
template <class T>
using Matrices = nb::ndarray<T, nb::ndim<3>, nb::device::cpu>;
template <class T>
using Vector = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

/// The view of an array whose columns are contiguous. Throws Error(invalid_argument) for others.
MatrixView<const double> columns_of(const Matrix<const double>& a);
MatrixView<double> columns_of(const Matrix<double>& a);

/// The same for an array with contiguous columns or contiguous rows.
TallMatrix tall_of(const Matrix<const double>& a);

/// 'count' matrices along the first axis, each with contiguous columns.
template <class T>
BatchView<T> batch_of(const Matrices<T>& a);

}  // namespace stepwell::python
