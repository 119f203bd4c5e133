// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "factor/triangular/substitution.hpp"

#include <algorithm>
#include <vector>

#include "core/machine/fp_scope.hpp"
#include "engine/counter.hpp"
#include "factor/triangular/substitution_tile.hpp"

namespace stepwell::factor {
namespace {

using engine::Counter;

/// One direction of the substitution. Item (s, q) applies the block solved in step s to the block
/// of step q > s; the item that makes the next block ready also solves it, and comes first in its
/// step, so that no thread waits for a diagonal tile while there is a tile to apply.
template <class V>
class Direction {
 public:
  Direction(const tiles::TileMatrix& l, MatrixView<V> x, bool transposed)
      : l_(l),
        x_(x),
        transposed_(transposed),
        steps_(l.grid().tiles()),
        applied_(static_cast<std::size_t>(steps_)) {}

  void run(engine::ThreadPool& pool) {
    solve(0);
    if (steps_ == 1) return;
    pool.for_each(steps_ * (steps_ - 1) / 2, [this](std::int64_t item) { this->item(item); });
  }

 private:
  /// Items in order: (0,1) (0,2) ... (0,T-1) (1,2) ...
  void item(std::int64_t index) {
    std::int64_t s = 0;
    while (index >= steps_ - 1 - s) index -= steps_ - 1 - s++;
    const std::int64_t q = s + 1 + index;
    solved_.wait_for(s + 1);
    Counter& order = applied_[static_cast<std::size_t>(q)];
    order.wait_for(s);
    const std::int64_t i = block(transposed_ ? s : q);
    const std::int64_t j = block(transposed_ ? q : s);
    apply_tile<V>(l_.tile(i, j), transposed_, part(block(s)), part(block(q)));
    if (q == s + 1) {
      solve(q);
    } else {
      order.add();
    }
  }

  void solve(std::int64_t s) {
    const std::int64_t i = block(s);
    solve_tile<V>(l_.tile(i, i), transposed_, part(i));
    solved_.add();
  }

  std::int64_t block(std::int64_t s) const { return transposed_ ? steps_ - 1 - s : s; }
  MatrixView<V> part(std::int64_t i) const {
    return x_.block(i * l_.grid().tile, 0, l_.grid().size(i), x_.cols);
  }

  const tiles::TileMatrix& l_;
  MatrixView<V> x_;
  bool transposed_;
  std::int64_t steps_;
  Counter solved_;                ///< blocks solved
  std::vector<Counter> applied_;  ///< blocks applied to each step's block
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
