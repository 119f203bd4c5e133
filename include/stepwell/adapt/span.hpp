// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <ranges>
#include <string>
#include <type_traits>

#include "stepwell/error.hpp"
#include "stepwell/view.hpp"

/// Views of std::span, std::vector, std::array and other contiguous ranges. The range keeps the
/// elements: it must outlive the view. No copy is made.
namespace stepwell {

/// A range whose elements stay where they are when the range goes out of scope, or that is passed
/// by reference.
template <class R>
concept ViewableRange = std::ranges::contiguous_range<R> && std::ranges::sized_range<R> &&
    std::ranges::borrowed_range<R>;

/// One column with the elements of the range.
template <ViewableRange R>
auto view(R&& range) {
  return view(std::ranges::data(range), static_cast<std::int64_t>(std::ranges::size(range)),
              std::int64_t{1});
}

/// A column-major matrix with the elements of the range. Throws Error(shape) unless there are
/// rows * cols of them.
template <ViewableRange R>
auto view(R&& range, std::int64_t rows, std::int64_t cols) {
  const auto size = static_cast<std::int64_t>(std::ranges::size(range));
  const bool fits = rows >= 0 && cols >= 0 &&
                    (rows == 0 || cols == 0 ? size == 0 : size % rows == 0 && size / rows == cols);
  if (!fits) {
    throw Error(ErrorCode::shape, "view: the range has " + std::to_string(size) +
                                      " elements; a matrix of " + std::to_string(rows) + " x " +
                                      std::to_string(cols) + " does not");
  }
  return view(std::ranges::data(range), rows, cols);
}

}  // namespace stepwell
