// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/recursive/product.hpp"

namespace stepwell::kernels {
namespace recursive {

// Algorithm 2 of Carrica et al.
template <class T>
void trsm(const Table& t, MatrixView<const T> l, MatrixView<T> b, const Layers& layers, int depth,
          std::byte* scratch) {
  const std::int64_t n = l.rows;
  if (n <= kLeaf) {
    if constexpr (std::is_same_v<T, double>) t.trsm_fp64.run(l, b);
    if constexpr (std::is_same_v<T, float>) t.trsm_fp32.run(l, b);
    return;
  }
  const std::int64_t n1 = first_half(n);
  const std::int64_t n2 = n - n1;
  const MatrixView<T> b1 = b.block(0, 0, b.rows, n1);
  const MatrixView<T> b2 = b.block(0, n1, b.rows, n2);

  trsm(t, l.block(0, 0, n1, n1), b1, layers, depth + 1, scratch);
  product_at_rung<T>(t, layers.at(depth), b1, l.block(n1, 0, n2, n1), b2, scratch);
  trsm(t, l.block(n1, n1, n2, n2), b2, layers, depth + 1, scratch);
}

template void trsm(const Table&, MatrixView<const float>, MatrixView<float>, const Layers&, int,
                   std::byte*);
template void trsm(const Table&, MatrixView<const double>, MatrixView<double>, const Layers&, int,
                   std::byte*);

}  // namespace recursive

template <class T>
void tree_trsm(const Table& t, MatrixView<const T> l, MatrixView<T> b, const Layers& layers,
               std::byte* scratch) {
  const core::FpScope fp;
  recursive::trsm(t, l, b, layers, 0, scratch);
}

template void tree_trsm(const Table&, MatrixView<const float>, MatrixView<float>, const Layers&,
                        std::byte*);
template void tree_trsm(const Table&, MatrixView<const double>, MatrixView<double>, const Layers&,
                        std::byte*);

}  // namespace stepwell::kernels
