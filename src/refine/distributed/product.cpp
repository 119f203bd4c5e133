// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "refine/distributed/product.hpp"

#include <algorithm>
#include <cmath>

#include "core/machine/fp_scope.hpp"
#include "core/numeric/double_double.hpp"
#include "refine/operators/symmetric_block.hpp"

namespace stepwell::refine {
namespace {

/// Enough lanes for many cores with one column, few enough to keep their sums small with many
/// columns.
constexpr std::int64_t kFewestLanes = 8;
constexpr std::int64_t kMostLanes = 32;

std::size_t lane_count(std::size_t tiles, std::int64_t columns) {
  const std::int64_t most =
      std::clamp(64 / std::max<std::int64_t>(columns, 1), kFewestLanes, kMostLanes);
  return std::min(tiles, static_cast<std::size_t>(most));
}

void grow(core::Buffer<double>& buffer, std::int64_t size) {
  if (buffer.size() >= size) return;
  buffer = {};  // free the old memory first
  buffer = core::Buffer<double>(size, core::Contents::any);
}

std::span<double> first_of(const core::Buffer<double>& buffer, std::int64_t size) {
  return {buffer.data(), static_cast<std::size_t>(size)};
}

/// Calls f(begin, end) for blocks of rows on all threads.
template <class F>
void for_rows(engine::ThreadPool& pool, std::int64_t n, F f) {
  pool.for_each((n + kBlockRows - 1) / kBlockRows, [&](std::int64_t block) {
    const core::FpScope fp;
    f(block * kBlockRows, std::min(n, (block + 1) * kBlockRows));
  });
}

}  // namespace

DistributedProduct::DistributedProduct(engine::ThreadPool& pool, engine::Agreement& agreement,
                                       const tiles::Distribution& distribution,
                                       const tiles::Grid& grid, const factor::BlockSource& a)
    : pool_(pool),
      agreement_(agreement),
      grid_(grid),
      a_(a),
      own_(own_tiles(distribution, agreement.ranks().rank(), grid)) {}

MatrixView<const double> DistributedProduct::tile_at(std::int64_t i, std::int64_t j,
                                                     double* scratch) const {
  return a_.block({i * grid_.tile, j * grid_.tile, grid_.size(i), grid_.size(j)}, scratch);
}

void DistributedProduct::run_lane(std::size_t lane, std::size_t lanes, double* scratch,
                                  const Visit& visit) {
  const std::size_t begin = own_.size() * lane / lanes;
  const std::size_t end = own_.size() * (lane + 1) / lanes;
  for (std::size_t k = begin; k < end; ++k) {
    const auto [i, j] = own_[k];
    visit(tile_at(i, j, scratch), i * grid_.tile, j * grid_.tile, lane);
  }
}

void DistributedProduct::for_tiles(std::size_t lanes, const Visit& visit) {
  const std::int64_t size = a_.needs_scratch() ? grid_.tile * grid_.tile : 0;
  grow(scratch_, pool_.size() * size);
  for_all(pool_, lanes, scratch_.data(), size,
          [&](std::size_t lane, double* scratch) { run_lane(lane, lanes, scratch, visit); });
}

MatrixView<double> DistributedProduct::sums_of(std::size_t lane, std::int64_t columns) const {
  return view(partial_.data() + static_cast<std::int64_t>(lane) * grid_.n * columns, grid_.n,
              columns);
}

void DistributedProduct::for_lanes(std::int64_t columns, std::int64_t whole, const Visit& visit) {
  lanes_ = lane_count(own_.size(), columns);
  agreement_.attempt([&] {
    grow(whole_, whole);
    grow(partial_,
         core::size_product(static_cast<std::int64_t>(lanes_), grid_.n, columns, "workspace"));
    pool_.for_each(static_cast<std::int64_t>(lanes_), [&](std::int64_t lane) {
      std::fill_n(sums_of(static_cast<std::size_t>(lane), columns).data, grid_.n * columns, 0.0);
    });
    for_tiles(lanes_, visit);
  });
}

void DistributedProduct::add_lanes(std::int64_t columns, std::int64_t column, double* to) {
  for_rows(pool_, grid_.n, [&](std::int64_t begin, std::int64_t end) {
    std::fill(to + begin, to + end, 0.0);
    for (std::size_t lane = 0; lane < lanes_; ++lane) {
      const double* const from = sums_of(lane, columns).column(column);
      for (std::int64_t i = begin; i < end; ++i) to[i] += from[i];
    }
  });
}

/// y = the sum over all blocks of all ranks of what add(block, sums) adds to sums.
template <class Add>
void DistributedProduct::sum_blocks(MatrixView<double> y, Add add) {
  const std::int64_t n = grid_.n, r = y.cols;
  if (n == 0 || r == 0) return;
  for_lanes(
      r, n * r,
      [&](MatrixView<const double> tile, std::int64_t row, std::int64_t col, std::size_t lane) {
        for_blocks(tile, row, col,
                   [&](const SymmetricBlock& block) { add(block, sums_of(lane, r)); });
      });
  for (std::int64_t c = 0; c < r; ++c) add_lanes(r, c, whole_.data() + c * n);
  agreement_.ranks().sum(first_of(whole_, n * r));
  for (std::int64_t c = 0; c < r; ++c) std::copy_n(whole_.data() + c * n, n, y.column(c));
}

void DistributedProduct::apply(MatrixView<const double> x, MatrixView<double> y) {
  sum_blocks(y, [&](const SymmetricBlock& block, MatrixView<double> sums) {
    add_product(block, x, sums);
  });
}

void DistributedProduct::apply_blocked(MatrixView<const double> x, MatrixView<double> y,
                                       Checksums& checksums) {
  sum_blocks(y, [&](const SymmetricBlock& block, MatrixView<double> sums) {
    checksums.add(block.col, add_blocked_product(block, x, sums));
  });
}

/// Counts the roundings within a lane, whose tiles add to an element one after the other, once for
/// each block of columns or slab of rows; then those in the sums over the lanes and the ranks.
std::int64_t DistributedProduct::own_depth() const {
  const auto lanes = static_cast<std::size_t>(kFewestLanes);
  const std::int64_t blocks = (grid_.tile + kBlockColumns - 1) / kBlockColumns;
  const std::int64_t slabs = blocks + (grid_.tile + kernels::kBlockedRows - 1) /
                                          kernels::kBlockedRows;  // a diagonal tile has both
  std::int64_t most = 0;
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    std::vector<std::int64_t> additions(static_cast<std::size_t>(grid_.tiles()));
    for (std::size_t k = own_.size() * lane / lanes; k < own_.size() * (lane + 1) / lanes; ++k) {
      const auto [i, j] = own_[k];
      additions[static_cast<std::size_t>(i)] += blocks;
      additions[static_cast<std::size_t>(j)] += i == j ? slabs : slabs - blocks;
    }
    for (const std::int64_t a : additions) most = std::max(most, a);
  }
  return std::max(kernels::kBlockedDepthY, kernels::kBlockedDepthZ) + most + kMostLanes +
         agreement_.ranks().size();
}

std::int64_t DistributedProduct::first_difference(const Checksums& one, const Checksums& other) {
  const std::int64_t column = one.first_difference(other);
  std::int64_t first[] = {column < 0 ? -grid_.n - 1 : -column};
  agreement_.ranks().largest(first);
  return first[0] < -grid_.n ? -1 : -first[0];
}

std::vector<double> DistributedProduct::diagonal() {
  std::vector<double> out;
  agreement_.attempt([&] {
    out.resize(static_cast<std::size_t>(grid_.n));
    core::Buffer<double> scratch;
    if (a_.needs_scratch()) grow(scratch, grid_.tile * grid_.tile);
    for (const auto& [i, j] : own_) {
      if (i != j) continue;
      const MatrixView<const double> here = tile_at(i, i, scratch.data());
      for (std::int64_t k = 0; k < here.cols; ++k) {
        out[static_cast<std::size_t>(i * grid_.tile + k)] = here(k, k);
      }
    }
  });
  agreement_.ranks().sum(out);
  return out;
}

void DistributedProduct::apply_exactly(MatrixView<const double> x, MatrixView<const double> b,
                                       MatrixView<double> y, MatrixView<double> y_low,
                                       Checksums& checksums) {
  const std::int64_t n = grid_.n;
  const std::int64_t r = y.cols;
  if (n == 0 || r == 0) return;
  for_lanes(
      2 * r, 4 * n * r,
      [&](MatrixView<const double> tile, std::int64_t row, std::int64_t col, std::size_t lane) {
        const MatrixView<double> sums = sums_of(lane, 2 * r);
        for_blocks(tile, row, col, [&](const SymmetricBlock& block) {
          checksums.add(block.col, add_exact_product(block, x, sums.block(0, 0, n, r),
                                                     sums.block(0, r, n, r)));
        });
      });
  const MatrixView<double> own = view(whole_.data(), n, 2 * r);
  const MatrixView<double> others = view(whole_.data() + 2 * n * r, n, 2 * r);
  const auto add = [n, r, this](MatrixView<const double> from, auto sum_at) {
    for_rows(pool_, n, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t c = 0; c < r; ++c) {
        for (std::int64_t i = begin; i < end; ++i) sum_at(i, c, from(i, c), from(i, r + c));
      }
    });
  };
  std::fill_n(own.data, 2 * n * r, 0.0);
  for (std::size_t lane = 0; lane < lanes_; ++lane) {
    add(sums_of(lane, 2 * r), [&](std::int64_t i, std::int64_t c, double high, double low) {
      const auto sum = core::DoubleDouble{own(i, c), own(i, r + c)} + core::two_sum(high, low);
      own(i, c) = sum.hi;
      own(i, r + c) = sum.lo;
    });
  }
  // A reduction in FP64 would lose the low parts: each rank adds up the sums of all ranks.
  for (std::int64_t c = 0; c < r; ++c) {
    for (std::int64_t i = 0; i < n; ++i) {
      y(i, c) = b.empty() ? 0 : b(i, c);
      y_low(i, c) = 0;
    }
  }
  engine::Communicator& ranks = agreement_.ranks();
  for (int root = 0; root < ranks.size(); ++root) {
    const MatrixView<double> part = root == ranks.rank() ? own : others;
    ranks.broadcast(
        std::as_writable_bytes(std::span(part.data, static_cast<std::size_t>(2 * n * r))), root);
    add(part, [&](std::int64_t i, std::int64_t c, double high, double low) {
      const auto sum = core::DoubleDouble{y(i, c), y_low(i, c)} + core::two_sum(high, low);
      y(i, c) = sum.hi;
      y_low(i, c) = sum.lo;
    });
  }
}

void DistributedProduct::release() {
  partial_ = {};
  scratch_ = {};
  whole_ = {};
}

std::int64_t DistributedProduct::workspace_bytes(const tiles::Distribution& distribution, int rank,
                                                 const tiles::Grid& grid, std::int64_t columns,
                                                 bool scratch, int threads) {
  const std::size_t own = own_tiles(distribution, rank, grid).size();
  const auto lanes = static_cast<std::int64_t>(lane_count(own, columns));
  return core::size_product(lanes + 1, grid.n, 8 * columns, "workspace of a product") +
         (scratch ? 8 * threads * grid.tile * grid.tile : 0);
}

}  // namespace stepwell::refine
