// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tiles/panel.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "kernels/kernels.hpp"

namespace stepwell::tiles {
namespace {

using kernels::Order;
using kernels::PackedOut;

/// Stores a plain block as a tile, in the given order if the tile is packed.
template <class T>
void store(const Table& t, MatrixView<const T> from, Shape shape, Order order, Tile to) {
  if (to.shape.is_packed()) {
    PackedOut out = to.packed();
    out.order = order;
    return kernels::pack(t, to.shape.rung, from, out, shape);
  }
  for (std::int64_t j = 0; j < from.cols; ++j) {
    const std::int64_t first = shape == Shape::lower ? std::min(j, from.rows) : 0;
    if constexpr (std::is_same_v<T, float>) {
      std::fill_n(to.fp32().column(j), first, 0.0F);
      std::copy(from.column(j) + first, from.column(j) + from.rows, to.fp32().column(j) + first);
    } else {
      std::fill_n(to.fp64().column(j), first, 0.0);
      std::copy(from.column(j) + first, from.column(j) + from.rows, to.fp64().column(j) + first);
    }
  }
}

template <class T>
void store_both(const Table& t, const Panel& p, Tile g, Tile l, const Inverse& inverse) {
  const MatrixView<const T> lower = p.l_as<T>().block(0, 0, p.rows, p.rows);
  store<T>(t, p.x_as<T>().block(0, 0, p.rows, p.rows), Shape::lower, Order::pairs, g);
  store<T>(t, lower, Shape::lower, Order::pairs, l);
  if (inverse.data != nullptr) make_inverse(t, lower, inverse);
}

template <class T>
void solve_with_g(const Table& t, MatrixView<const T> g, const Panel& p, std::byte* scratch) {
  constexpr Rung own = std::is_same_v<T, double> ? Rung::fp64 : Rung::fp32;
  kernels::transpose(t, p.x_as<T>(), p.l_as<T>());
  kernels::tree_trsm<T>(t, g, p.l_as<T>(), kernels::uniform_layers(own), scratch);
}

/// Address of the elements of a row in depth block 0 of a tile in rows order. The other planes and
/// depth blocks follow at distances of kPlaneElements, planes first.
std::uint16_t* row_of(const PackedOut& tile, std::int64_t row) {
  return tile.data + tile.offset(row, 0, 0);
}

void exchange_packed(const PackedOut& a, std::int64_t i, const PackedOut& b, std::int64_t k) {
  std::uint16_t* x = row_of(a, i);
  std::uint16_t* y = row_of(b, k);
  const std::int64_t lines = a.depth_blocks() * a.planes;
  std::uint16_t line[kernels::kDepth];
  for (std::int64_t q = 0; q < lines; ++q) {
    std::memcpy(line, x, sizeof line);
    std::memcpy(x, y, sizeof line);
    std::memcpy(y, line, sizeof line);
    x += kernels::kPlaneElements;
    y += kernels::kPlaneElements;
  }
}

/// Column by column, so that the tiles' columns stay in the cache while rows are exchanged.
template <class T>
void exchange_plain(std::span<const Tile> l, std::int64_t tile, std::int64_t first,
                    std::span<const std::int64_t> exchanged) {
  const auto at = [&](std::int64_t row, std::int64_t c) -> T& {
    const Tile& t = l[static_cast<std::size_t>((row - first) / tile)];
    return reinterpret_cast<T*>(t.data)[c * t.shape.ld() + row % tile];
  };
  for (std::int64_t c = 0; c < l[0].shape.cols; ++c) {
    for (std::size_t k = 0; k < exchanged.size(); ++k) {
      const std::int64_t row = first + static_cast<std::int64_t>(k);
      if (exchanged[k] != row) std::swap(at(row, c), at(exchanged[k], c));
    }
  }
}

template <class T>
void exchange(MatrixView<T> x, std::int64_t i, MatrixView<T> y, std::int64_t k) {
  std::swap_ranges(x.column(i), x.column(i) + x.rows, y.column(k));
}

template <class T>
double largest_in(MatrixView<const T> x, bool lower) {
  // Independent chains, so that no element waits for the one before.
  constexpr std::size_t kChains = 8;
  std::array<T, kChains> largest{};
  std::array<T, kChains> poison{};  // becomes NaN at the first element that is not finite
  const auto see = [&](std::size_t chain, T value) {
    largest[chain] = std::max(largest[chain], std::abs(value));
    poison[chain] += value * 0;
  };
  for (std::int64_t j = 0; j < x.cols; ++j) {
    const T* p = x.column(j) + (lower ? j : 0);
    const T* const end = x.column(j) + x.rows;
    for (; end - p >= static_cast<std::int64_t>(kChains); p += kChains) {
      for (std::size_t c = 0; c < kChains; ++c) see(c, p[c]);
    }
    for (; p < end; ++p) see(0, *p);
  }
  for (std::size_t c = 1; c < kChains; ++c) {
    largest[0] = std::max(largest[0], largest[c]);
    poison[0] += poison[c];
  }
  return poison[0] == 0 ? static_cast<double>(largest[0])
                        : std::numeric_limits<double>::quiet_NaN();
}

double largest_in(const Sums& sums, bool lower) {
  return sums.wide() ? largest_in<double>(sums.fp64(), lower)
                     : largest_in<float>(sums.fp32(), lower);
}

}  // namespace

Pivot factor_panel(const Table& t, Rung rung, const Panel& p, bool pivoting,
                   std::int64_t* exchanged, std::byte* scratch, const PieceRunner& share) {
  if (p.wide) {
    return kernels::tree_getrf(t, rung, p.x_as<double>(), p.l_as<double>(), pivoting, exchanged,
                               scratch, share);
  }
  return kernels::tree_getrf(t, rung, p.x_as<float>(), p.l_as<float>(), pivoting, exchanged,
                             scratch, share);
}

void store_diagonal(const Table& t, const Panel& p, Tile g, Tile l, const Inverse& inverse) {
  if (p.wide) return store_both<double>(t, p, g, l, inverse);
  store_both<float>(t, p, g, l, inverse);
}

void store_right(const Table& t, const Panel& p, std::int64_t first, Tile l) {
  if (p.wide) {
    return store<double>(t, p.l_as<double>().block(first, 0, l.shape.rows, p.rows), Shape::full,
                         Order::rows, l);
  }
  store<float>(t, p.l_as<float>().block(first, 0, l.shape.rows, p.rows), Shape::full, Order::rows,
               l);
}

void solve_right(const Table& t, const Sums& g, const Panel& p, std::byte* scratch) {
  if (p.wide) return solve_with_g<double>(t, g.fp64(), p, scratch);
  solve_with_g<float>(t, g.fp32(), p, scratch);
}

PackedOut rows_view(const Tile& tile) {
  PackedOut out = tile.packed();
  out.order = Order::rows;
  return out;
}

void exchange_rows(std::span<const Tile> l, std::int64_t tile, std::int64_t first,
                   std::span<const std::int64_t> exchanged) {
  const TileShape& own = l[0].shape;
  if (own.rung == Rung::fp64) return exchange_plain<double>(l, tile, first, exchanged);
  if (!own.is_packed()) return exchange_plain<float>(l, tile, first, exchanged);
  const PackedOut a = rows_view(l[0]);
  for (std::size_t k = 0; k < exchanged.size(); ++k) {
    const auto row = static_cast<std::int64_t>(k);
    const std::int64_t other = exchanged[k] - first;
    if (other == row) continue;
    exchange_packed(a, row, rows_view(l[static_cast<std::size_t>(other / tile)]), other % tile);
  }
}

void exchange_columns(std::span<const Sums> x, std::int64_t tile, std::int64_t first,
                      std::span<const std::int64_t> exchanged) {
  for (std::size_t k = 0; k < exchanged.size(); ++k) {
    const auto own = static_cast<std::int64_t>(k);
    const std::int64_t other = exchanged[k] - first;
    if (other == own) continue;
    const Sums& y = x[static_cast<std::size_t>(other / tile)];
    if (y.wide()) {
      exchange(x[0].fp64(), own, y.fp64(), other % tile);
    } else {
      exchange(x[0].fp32(), own, y.fp32(), other % tile);
    }
  }
}

void finalize_layout(const Table& t, Tile tile, std::byte* scratch) {
  if (!tile.shape.is_packed()) return;
  std::memcpy(scratch, tile.data, static_cast<std::size_t>(tile.shape.bytes()));
  kernels::reorder(t, rows_view({tile.shape, scratch}), tile.packed());
}

double largest_of(const Sums& sums) {
  return largest_in(sums, false);
}

double largest_below(const Sums& sums) {
  return largest_in(sums, true);
}

double largest_right(const Panel& p) {
  return p.wide ? largest_in<double>(p.l_as<double>(), false)
                : largest_in<float>(p.l_as<float>(), false);
}

}  // namespace stepwell::tiles
