// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <string>
#include <type_traits>

#include "stepwell/adapt/row_major.hpp"
#include "stepwell/error.hpp"
#include "stepwell/view.hpp"

/// Views of Eigen's matrices, vectors, blocks, maps and references. No copy is made: the view
/// refers to Eigen's memory, which must outlive it. An expression that has no memory (A + B,
/// A.transpose() of a product) does not compile; evaluate it into a matrix first.
namespace stepwell {

/// An Eigen type whose elements are in memory.
template <class Derived>
concept EigenInMemory = (Derived::Flags & Eigen::DirectAccessBit) != 0;

/// A matrix or array that owns its elements. A temporary one has no view.
template <class Derived>
concept EigenOwner = std::is_base_of_v<Eigen::PlainObjectBase<Derived>, Derived>;

namespace adapt {

/// The view of T elements: RowMajorView if Eigen stores the matrix by rows, else MatrixView. Throws
/// Error(unsupported) if the elements of a column (or row) are not adjacent.
template <class T, class Derived>
auto view_of(const Derived& a, T* data) {
  constexpr bool by_rows = Derived::IsRowMajor && !Derived::IsVectorAtCompileTime;
  if (a.innerStride() != 1) {
    throw Error(ErrorCode::unsupported, "view: the elements of this Eigen expression are " +
                                            std::to_string(a.innerStride()) +
                                            " apart; copy it to a matrix first");
  }
  const auto rows = static_cast<std::int64_t>(a.rows()), cols = static_cast<std::int64_t>(a.cols());
  if constexpr (Derived::IsVectorAtCompileTime) {
    return MatrixView<T>{data, rows * cols, 1, rows * cols > 0 ? rows * cols : 1};
  } else {
    const auto outer = static_cast<std::int64_t>(a.outerStride());
    const std::int64_t ld = outer > 0 ? outer : 1;
    if constexpr (by_rows) {
      return RowMajorView<T>{data, rows, cols, ld};
    } else {
      return MatrixView<T>{data, rows, cols, ld};
    }
  }
}

}  // namespace adapt

/// What may be read: a vector is one column, also a row vector.
template <class Derived>
requires EigenInMemory<Derived>
auto view(const Eigen::DenseBase<Derived>& a) {
  return adapt::view_of<const typename Derived::Scalar>(a.derived(), a.derived().data());
}

/// What may be written.
template <class Derived>
requires EigenInMemory<Derived>
auto view(Eigen::DenseBase<Derived>& a) {
  return adapt::view_of<std::remove_pointer_t<decltype(a.derived().data())>>(a.derived(),
                                                                             a.derived().data());
}

/// A block, map or reference made on the spot, as in view(X.leftCols(3)). Not a temporary matrix.
template <class Derived>
requires EigenInMemory<Derived>
auto view(Eigen::DenseBase<Derived>&& a) {
  static_assert(!EigenOwner<Derived>, "a view of a temporary matrix would outlive it");
  return view(a);
}

}  // namespace stepwell
