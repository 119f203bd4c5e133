// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <version>

/// Views of std::mdspan, where the standard library has it (C++23). No copy is made.
#ifdef __cpp_lib_mdspan

#include <cstdint>
#include <mdspan>
#include <type_traits>

#include "stepwell/adapt/row_major.hpp"
#include "stepwell/error.hpp"
#include "stepwell/view.hpp"

namespace stepwell {

/// A matrix: RowMajorView for layout_right (the default of mdspan), MatrixView for layout_left and
/// layout_stride. Throws Error(unsupported) if the elements of a column of the latter are not
/// adjacent.
template <class T, class Extents, class Layout>
requires(Extents::rank() == 2) auto view(std::mdspan<T, Extents, Layout> a) {
  const auto rows = static_cast<std::int64_t>(a.extent(0));
  const auto cols = static_cast<std::int64_t>(a.extent(1));
  if constexpr (std::is_same_v<Layout, std::layout_right>) {
    return row_major(a.data_handle(), rows, cols);
  } else {
    if (rows > 1 && a.stride(0) != 1) {
      throw Error(ErrorCode::unsupported,
                  "view: the elements of a column of this mdspan are not adjacent; copy it first");
    }
    const auto ld = static_cast<std::int64_t>(a.stride(1));
    return MatrixView<T>{a.data_handle(), rows, cols, ld > rows ? ld : (rows > 0 ? rows : 1)};
  }
}

/// A vector: one column.
template <class T, class Extents, class Layout>
requires(Extents::rank() == 1) auto view(std::mdspan<T, Extents, Layout> a) {
  const auto rows = static_cast<std::int64_t>(a.extent(0));
  if (rows > 1 && a.stride(0) != 1) {
    throw Error(ErrorCode::unsupported,
                "view: the elements of this mdspan are not adjacent; copy it first");
  }
  return view(a.data_handle(), rows, std::int64_t{1});
}

}  // namespace stepwell

#endif
