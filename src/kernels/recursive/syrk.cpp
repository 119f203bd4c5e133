// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/recursive/product.hpp"

namespace stepwell::kernels {
namespace recursive {

// Algorithm 3 of Carrica et al.
template <class T>
void syrk(const Table& t, MatrixView<const T> a, MatrixView<T> c, const Layers& layers, int depth,
          std::byte* scratch) {
  const std::int64_t n = c.rows;
  if (n <= kLeaf) {
    update(t, a, a, c, Shape::lower);
    return;
  }
  const std::int64_t n1 = first_half(n);
  const std::int64_t n2 = n - n1;
  const MatrixView<const T> a1 = a.block(0, 0, n1, a.cols);
  const MatrixView<const T> a2 = a.block(n1, 0, n2, a.cols);

  syrk(t, a1, c.block(0, 0, n1, n1), layers, depth + 1, scratch);
  product_at_rung(t, layers.at(depth), a2, a1, c.block(n1, 0, n2, n1), scratch);
  syrk(t, a2, c.block(n1, n1, n2, n2), layers, depth + 1, scratch);
}

template void syrk(const Table&, MatrixView<const float>, MatrixView<float>, const Layers&, int,
                   std::byte*);
template void syrk(const Table&, MatrixView<const double>, MatrixView<double>, const Layers&, int,
                   std::byte*);

}  // namespace recursive

template <class T>
void tree_syrk(const Table& t, MatrixView<const T> a, MatrixView<T> c, const Layers& layers,
               std::byte* scratch) {
  const core::FpScope fp;
  recursive::syrk(t, a, c, layers, 0, scratch);
}

template void tree_syrk(const Table&, MatrixView<const float>, MatrixView<float>, const Layers&,
                        std::byte*);
template void tree_syrk(const Table&, MatrixView<const double>, MatrixView<double>, const Layers&,
                        std::byte*);

}  // namespace stepwell::kernels
