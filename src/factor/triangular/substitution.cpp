// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "factor/triangular/substitution.hpp"

#include <algorithm>

#include "core/machine/fp_scope.hpp"
#include "factor/triangular/substitution_order.hpp"
#include "factor/triangular/substitution_tile.hpp"

namespace stepwell::factor {
namespace {

/// One direction of the substitution.
template <class V>
class Direction {
 public:
  Direction(const tiles::TileMatrix& l, MatrixView<V> x, bool transposed)
      : l_(l), x_(x), transposed_(transposed), steps_(l.grid().tiles()) {}

  void run(engine::ThreadPool& pool) const {
    SubstitutionOrder(steps_).run(
        pool, [this](std::int64_t s) { solve(block(s)); },
        [this](std::int64_t s, std::int64_t q) { apply(block(s), block(q)); });
  }

 private:
  void solve(std::int64_t i) const { solve_tile<V>(l_.tile(i, i), transposed_, part(i)); }
  void apply(std::int64_t solved, std::int64_t to) const {
    const tiles::Tile tile = transposed_ ? l_.tile(solved, to) : l_.tile(to, solved);
    apply_tile<V>(tile, transposed_, part(solved), part(to));
  }

  /// The block row that is solved in step s.
  std::int64_t block(std::int64_t s) const { return transposed_ ? steps_ - 1 - s : s; }
  MatrixView<V> part(std::int64_t i) const {
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
constexpr std::int64_t kTogether = 1024;
/// Columns that one thread prepares or finishes at a time.
constexpr std::int64_t kChunk = 64;

}  // namespace

void substitute_columns(engine::ThreadPool& pool, const tiles::TileMatrix& forward,
                        const tiles::TileMatrix& backward, Triangles triangles,
                        MatrixView<double> x, const Chunks& chunks) {
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
    for_chunks(chunks.before);
    Direction<double>(forward, part, false).run(pool);
    if (triangles == Triangles::both) Direction<double>(backward, part, true).run(pool);
    for_chunks(chunks.after);
  }
}

template void substitute(engine::ThreadPool&, const tiles::TileMatrix&, const tiles::TileMatrix&,
                         MatrixView<float>);
template void substitute(engine::ThreadPool&, const tiles::TileMatrix&, const tiles::TileMatrix&,
                         MatrixView<double>);

}  // namespace stepwell::factor
