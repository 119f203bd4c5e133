// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/fixture/fixture.hpp"
#include "tiles/operations.hpp"

/// Code shared by the tests of tile operations: tiles and sums with their memory, and the values
/// that they represent.
namespace stepwell::tiles::test {

using kernels::Order;
using kernels::test::Dense;
using kernels::test::kU32;
using kernels::test::kU64;
using kernels::test::Random;
using kernels::test::Scratch;

/// A tile with its memory and the values in it.
struct Stored {
  core::Buffer<std::byte> memory;
  Tile tile;
  Dense<double> value;
};

inline Dense<double> values_of(TileIn tile) {
  Dense<double> value(tile.shape.rows, tile.shape.cols);
  copy_tile(kernels::table(), tile, {}, value.view());
  return value;
}

inline Stored store(const Dense<double>& x, Rung rung) {
  const TileShape shape{rung, x.rows, x.cols};
  Stored s{core::Buffer<std::byte>(shape.bytes()), {}, {}};
  s.tile = {shape, s.memory.data()};
  if (shape.is_packed()) kernels::pack(kernels::table(), rung, x.view(), s.tile.packed());
  for (std::int64_t j = 0; j < x.cols && !shape.is_packed(); ++j) {
    for (std::int64_t i = 0; i < x.rows; ++i) {
      if (rung == Rung::fp64) s.tile.fp64()(i, j) = x(i, j);
      if (rung == Rung::fp32) s.tile.fp32()(i, j) = static_cast<float>(x(i, j));
    }
  }
  s.value = values_of(s.tile);
  return s;
}

/// Sums with their memory, filled with x rounded to their format.
struct Held {
  core::Buffer<std::byte> memory;
  Sums sums;

  double operator()(std::int64_t i, std::int64_t j) const {
    return sums.wide() ? sums.fp64()(i, j) : sums.fp32()(i, j);
  }
};
inline Held hold(const Dense<double>& x, Rung rung) {
  Held held{core::Buffer<std::byte>(Sums{rung, x.rows, x.cols, nullptr}.bytes()), {}};
  held.sums = {rung, x.rows, x.cols, held.memory.data()};
  for (std::int64_t j = 0; j < x.cols; ++j) {
    for (std::int64_t i = 0; i < x.rows; ++i) {
      if (held.sums.wide()) held.sums.fp64()(i, j) = x(i, j);
      if (!held.sums.wide()) held.sums.fp32()(i, j) = static_cast<float>(x(i, j));
    }
  }
  return held;
}
inline Dense<double> copy_of(const Held& held) {
  Dense<double> d(held.sums.rows, held.sums.cols);
  for (std::int64_t j = 0; j < d.cols; ++j) {
    for (std::int64_t i = 0; i < d.rows; ++i) d(i, j) = held(i, j);
  }
  return d;
}

}  // namespace stepwell::tiles::test
