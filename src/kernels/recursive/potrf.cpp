// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/recursive/product.hpp"

namespace stepwell::kernels {
namespace recursive {

// Algorithm 1 of Carrica et al.
template <class T>
Pivot potrf(const Table& t, MatrixView<T> a, const Layers& layers, int depth, std::byte* scratch) {
  const std::int64_t n = a.rows;
  if (n <= kLeaf) {
    if constexpr (std::is_same_v<T, double>) return t.potrf_fp64.run(a);
    if constexpr (std::is_same_v<T, float>) return t.potrf_fp32.run(a);
  }
  const std::int64_t n1 = first_half(n);
  const std::int64_t n2 = n - n1;
  const MatrixView<T> a11 = a.block(0, 0, n1, n1);
  const MatrixView<T> a21 = a.block(n1, 0, n2, n1);
  const MatrixView<T> a22 = a.block(n1, n1, n2, n2);

  Pivot pivot = potrf(t, a11, layers, depth + 1, scratch);
  if (!pivot.ok()) return pivot;
  trsm<T>(t, a11, a21, layers, depth, scratch);
  syrk<T>(t, a21, a22, layers, depth, scratch);
  pivot = potrf(t, a22, layers, depth + 1, scratch);
  if (!pivot.ok()) pivot.index += n1;
  return pivot;
}

}  // namespace recursive

template <class T>
Pivot tree_potrf(const Table& t, MatrixView<T> a, const Layers& layers, std::byte* scratch) {
  const core::FpScope fp;
  return recursive::potrf(t, a, layers, 0, scratch);
}

template Pivot tree_potrf(const Table&, MatrixView<float>, const Layers&, std::byte*);
template Pivot tree_potrf(const Table&, MatrixView<double>, const Layers&, std::byte*);

}  // namespace stepwell::kernels
