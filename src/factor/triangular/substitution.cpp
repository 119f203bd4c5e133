// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "factor/triangular/substitution.hpp"

#include <algorithm>

#include "core/machine/fp_scope.hpp"
#include "factor/triangular/block_substitution.hpp"
#include "factor/triangular/substitution_order.hpp"
#include "factor/triangular/substitution_tile.hpp"

namespace stepwell::factor {
namespace {

/// With so many threads, several of them apply the tile that the next block waits for.
constexpr int kManyThreads = 4;

/// One direction of the substitution.
template <class V>
class Direction {
 public:
  Direction(const tiles::TileMatrix& l, MatrixView<V> x, bool transposed)
      : l_(l), x_(x), transposed_(transposed), steps_(l.grid().tiles()) {}

  void run(engine::ThreadPool& pool) const {
    const bool many = pool.requested() >= kManyThreads;
    SubstitutionOrder order(
        steps_, many ? (l_.grid().tile + kSubstitutionPart - 1) / kSubstitutionPart : 1);
    order.run(
        pool, [this](std::int64_t s) { solve(block(s)); },
        [this](std::int64_t s, std::int64_t q, Part p) { apply(block(s), block(q), p); },
        [this](std::int64_t s, std::int64_t q, Part p) { fetch(block(s), block(q), p); });
  }

 private:
  using Part = SubstitutionOrder::Part;
  struct Range {
    std::int64_t first, count;
  };

  void solve(std::int64_t i) const { solve_tile<V>(l_.tile(i, i), transposed_, block_of_x(i)); }

  void apply(std::int64_t solved, std::int64_t to, Part p) const {
    const tiles::TileIn l = tile(solved, to);
    const MatrixView<V> from = block_of_x(solved), all = block_of_x(to);
    if (p.count == 1) return apply_tile<V>(l, transposed_, from, all);
    if (!l.shape.is_packed()) {  // the kernel depends on the size: in one piece
      if (p.index == 0) apply_tile<V>(l, transposed_, from, all);
      return;
    }
    const Range r = range(p, all.rows);
    if (r.count == 0) return;
    kernels::packed_product(kernels::table(), part_of(l, r), transposed_, MatrixView<const V>(from),
                            all.block(r.first, 0, r.count, all.cols));
  }

  /// Brings what will be read into this core's cache.
  void fetch(std::int64_t solved, std::int64_t to, Part p) const {
    const tiles::TileIn l = tile(solved, to);
    if (!l.shape.is_packed()) return;
    const Range r = range(p, block_of_x(to).rows);
    if (r.count == 0) return;
    const kernels::PackedIn part = part_of(l, r);
    const std::int64_t bytes = part.depth_blocks() * part.planes * kernels::kPlaneElements * 2;
    for (std::int64_t panel = 0; panel < part.panels(); ++panel) {
      const auto* const at = reinterpret_cast<const char*>(part.at(panel, 0));
      for (std::int64_t b = 0; b < bytes; b += 64) __builtin_prefetch(at + b, 0, 2);
    }
  }

  /// The elements of the block that a part has.
  static Range range(Part p, std::int64_t rows) {
    if (p.count == 1) return {0, rows};
    const std::int64_t first = std::min(p.index * kSubstitutionPart, rows);
    return {first, std::min(kSubstitutionPart, rows - first)};
  }
  /// What these elements are computed from: rows of the tile, or columns if it is transposed.
  kernels::PackedIn part_of(tiles::TileIn l, Range r) const {
    const kernels::PackedIn all = l.packed();
    return transposed_ ? all.block(0, r.first, all.rows, r.count)
                       : all.block(r.first, 0, r.count, all.depth);
  }

  tiles::TileIn tile(std::int64_t solved, std::int64_t to) const {
    return transposed_ ? l_.tile(solved, to) : l_.tile(to, solved);
  }
  /// The block row that is solved in step s.
  std::int64_t block(std::int64_t s) const { return transposed_ ? steps_ - 1 - s : s; }
  MatrixView<V> block_of_x(std::int64_t i) const {
    return x_.block(i * l_.grid().tile, 0, l_.grid().size(i), x_.cols);
  }

  const tiles::TileMatrix& l_;
  MatrixView<V> x_;
  bool transposed_;
  std::int64_t steps_;
};

}  // namespace

template <class V>
void substitute(engine::ThreadPool& pool, const tiles::TileMatrix& forward,
                const tiles::TileMatrix& backward, MatrixView<V> x) {
  if (x.empty()) return;
  Direction<V>(forward, x, false).run(pool);
  Direction<V>(backward, x, true).run(pool);
}

namespace {

/// Columns that are solved together: their blocks take a few megabytes each.
constexpr std::int64_t kTogether = 2048;
/// Columns that one thread prepares or finishes at a time.
constexpr std::int64_t kChunk = 64;

}  // namespace

std::int64_t substitute_columns_bytes(const tiles::Grid& grid, std::int64_t columns, int threads) {
  const std::int64_t together = std::min(columns, kTogether);
  const bool exact = fast_products(grid, together) == Products::exact;
  return exact ? block_substitution_bytes(grid, together, threads, Products::exact) : 0;
}

void substitute_columns(engine::ThreadPool& pool, const tiles::TileMatrix& forward,
                        const tiles::TileMatrix& backward, Triangles triangles,
                        MatrixView<double> x, const Chunks& chunks) {
  if (x.rows == 0) return;
  for (std::int64_t first = 0; first < x.cols; first += kTogether) {
    const MatrixView<double> part = x.block(0, first, x.rows, std::min(kTogether, x.cols - first));
    const auto for_chunks = [&](const auto& call) {
      if (!call) return;
      pool.for_each((part.cols + kChunk - 1) / kChunk, [&](std::int64_t k) {
        const core::FpScope fp;
        const std::int64_t from = k * kChunk;
        call(first + from, part.block(0, from, x.rows, std::min(kChunk, part.cols - from)));
      });
    };
    const auto solve = [&](const tiles::TileMatrix& l, bool transposed) {
      if (fast_products(l.grid(), part.cols) == Products::exact) {
        substitute_blocks(pool, block_triangle(l, transposed), part, Products::exact);
      } else {
        Direction<double>(l, part, transposed).run(pool);
      }
    };
    for_chunks(chunks.before);
    solve(forward, false);
    if (triangles == Triangles::both) solve(backward, true);
    for_chunks(chunks.after);
  }
}

template void substitute(engine::ThreadPool&, const tiles::TileMatrix&, const tiles::TileMatrix&,
                         MatrixView<float>);
template void substitute(engine::ThreadPool&, const tiles::TileMatrix&, const tiles::TileMatrix&,
                         MatrixView<double>);

}  // namespace stepwell::factor
