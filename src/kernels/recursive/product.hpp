// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernels/kernels.hpp"
#include "kernels/recursive.hpp"

/// Shared by the recursions: where to split, and C -= A B' at a rung on plain tiles.
namespace stepwell::kernels::recursive {

/// The order of the first half: a multiple of 32, so that packed blocks start at panels, and at
/// least that of the second half.
inline std::int64_t first_half(std::int64_t n) {
  return core::round_up((n + 1) / 2, kPanel);
}

/// C -= A B' at 'rung' (at T's own format if the rung is above it). Operands are packed into
/// scratch; for T = double, a product below fp64 is formed in fp32 in scratch and then subtracted
/// from C.
template <class T>
void product_at_rung(const Table& t, Rung rung, MatrixView<const T> a, MatrixView<const T> b,
                     MatrixView<T> c, std::byte* scratch);

template <class T>
Pivot potrf(const Table& t, MatrixView<T> a, const Layers& layers, int depth, std::byte* scratch);

template <class T>
void trsm(const Table& t, MatrixView<const T> l, MatrixView<T> b, const Layers& layers, int depth,
          std::byte* scratch);

template <class T>
void syrk(const Table& t, MatrixView<const T> a, MatrixView<T> c, const Layers& layers, int depth,
          std::byte* scratch);

}  // namespace stepwell::kernels::recursive
