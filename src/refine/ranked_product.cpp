// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "refine/ranked_product.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "core/double_double.hpp"
#include "core/fp_scope.hpp"
#include "refine/symmetric_block.hpp"

namespace stepwell::refine {
namespace {

/// Enough lanes for many cores with one column, few enough that their sums stay small with many.
std::size_t lane_count(std::size_t tiles, std::int64_t columns) {
  const std::int64_t most =
      std::clamp<std::int64_t>(64 / std::max<std::int64_t>(columns, 1), 8, 32);
  return std::min(tiles, static_cast<std::size_t>(most));
}

void grow(core::Buffer<double>& buffer, std::int64_t size) {
  if (buffer.size() >= size) return;
  buffer = {};  // the old one first
  buffer = core::Buffer<double>(size, core::Contents::any);
}

std::span<double> first_of(const core::Buffer<double>& buffer, std::int64_t size) {
  return {buffer.data(), static_cast<std::size_t>(size)};
}

/// f(first, end) for all rows, a block at a time, on all threads.
template <class F>
void for_rows(engine::Team& team, std::int64_t n, F f) {
  team.for_each((n + kBlockRows - 1) / kBlockRows, [&](std::int64_t block) {
    const core::FpScope fp;
    f(block * kBlockRows, std::min(n, (block + 1) * kBlockRows));
  });
}

}  // namespace

RankedProduct::RankedProduct(engine::Team& team, engine::Agreement& agreement,
                             const tiles::Distribution& distribution, const tiles::Grid& grid,
                             FillTile fill, bool keep)
    : team_(team),
      agreement_(agreement),
      distribution_(distribution),
      grid_(grid),
      fill_(std::move(fill)) {
  const int rank = agreement_.ranks().rank();
  std::int64_t offset = 0;
  for (std::int64_t j = 0; j < grid_.tiles(); ++j) {
    for (std::int64_t i = j; i < grid_.tiles(); ++i) {
      if (distribution_.owner(i, j) != rank) continue;
      own_.push_back({i, j, offset});
      offset += grid_.size(i) * grid_.size(j);
    }
  }
  if (!keep) return;
  agreement_.attempt([&] {
    kept_ = core::Buffer<double>(offset, core::Contents::any);
    for_tiles(own_.size(),
              [](MatrixView<const double>, std::int64_t, std::int64_t, std::size_t) {});
  });
  made_ = true;
}

std::int64_t RankedProduct::find(std::int64_t i, std::int64_t j) const {
  const auto at =
      std::lower_bound(own_.begin(), own_.end(), std::pair(j, i),
                       [](const Place& p, const auto& key) { return std::pair(p.j, p.i) < key; });
  return at != own_.end() && at->i == i && at->j == j ? at->offset : -1;
}

MatrixView<const double> RankedProduct::block(const factor::Block& at, double* scratch) const {
  const std::int64_t offset = made_ ? find(at.row / grid_.tile, at.col / grid_.tile) : -1;
  if (offset >= 0) return view<const double>(kept_.data() + offset, at.rows, at.cols);
  const MatrixView<double> out = view(scratch, at.rows, at.cols);
  fill_(at.row, at.col, out);
  return out;
}

void RankedProduct::run_lane(std::size_t lane, std::size_t lanes, double* scratch,
                             const Visit& visit) {
  const std::size_t begin = own_.size() * lane / lanes;
  const std::size_t end = own_.size() * (lane + 1) / lanes;
  for (std::size_t k = begin; k < end; ++k) {
    const auto [i, j, offset] = own_[k];
    const std::int64_t row = i * grid_.tile;
    const std::int64_t col = j * grid_.tile;
    double* const data = kept_.size() > 0 ? kept_.data() + offset : scratch;
    const MatrixView<double> tile = view(data, grid_.size(i), grid_.size(j));
    if (!made_) fill_(row, col, tile);
    visit(tile, row, col, lane);
  }
}

void RankedProduct::for_tiles(std::size_t lanes, const Visit& visit) {
  const std::int64_t size = grid_.tile * grid_.tile;
  if (kept_.size() == 0 && !own_.empty()) grow(scratch_, team_.size() * size);
  std::vector<std::exception_ptr> errors(lanes);
  std::atomic<std::size_t> next{0};
  team_.run([&](int thread) {
    const core::FpScope fp;
    for (std::size_t lane = next++; lane < lanes; lane = next++) {
      try {
        run_lane(lane, lanes, scratch_.data() + thread * size, visit);
      } catch (...) {
        errors[lane] = std::current_exception();
      }
    }
  });
  for (const std::exception_ptr& error : errors) {
    if (error != nullptr) std::rethrow_exception(error);
  }
}

MatrixView<double> RankedProduct::sums_of(std::size_t lane, std::int64_t columns) const {
  return view(partial_.data() + static_cast<std::int64_t>(lane) * grid_.n * columns, grid_.n,
              columns);
}

void RankedProduct::for_lanes(std::int64_t columns, std::int64_t whole, const Visit& visit) {
  lanes_ = lane_count(own_.size(), columns);
  agreement_.attempt([&] {
    grow(whole_, whole);
    grow(partial_,
         core::size_product(static_cast<std::int64_t>(lanes_), grid_.n, columns, "workspace"));
    team_.for_each(static_cast<std::int64_t>(lanes_), [&](std::int64_t lane) {
      std::fill_n(sums_of(static_cast<std::size_t>(lane), columns).data, grid_.n * columns, 0.0);
    });
    for_tiles(lanes_, visit);
  });
}

void RankedProduct::add_lanes(std::int64_t columns, std::int64_t column, double* to) {
  for_rows(team_, grid_.n, [&](std::int64_t begin, std::int64_t end) {
    std::fill(to + begin, to + end, 0.0);
    for (std::size_t lane = 0; lane < lanes_; ++lane) {
      const double* const from = sums_of(lane, columns).column(column);
      for (std::int64_t i = begin; i < end; ++i) to[i] += from[i];
    }
  });
}

void RankedProduct::apply(MatrixView<const double> x, MatrixView<double> y) {
  const std::int64_t n = grid_.n;
  const std::int64_t r = y.cols;
  if (n == 0 || r == 0) return;
  for_lanes(
      r, n * r,
      [&](MatrixView<const double> tile, std::int64_t row, std::int64_t col, std::size_t lane) {
        for_blocks(tile, row, col,
                   [&](const SymmetricBlock& block) { add_product(block, x, sums_of(lane, r)); });
      });
  for (std::int64_t c = 0; c < r; ++c) add_lanes(r, c, whole_.data() + c * n);
  agreement_.ranks().sum(first_of(whole_, n * r));
  for (std::int64_t c = 0; c < r; ++c) std::copy_n(whole_.data() + c * n, n, y.column(c));
}

std::vector<double> RankedProduct::diagonal() {
  std::vector<double> out;
  agreement_.attempt([&] {
    out.resize(static_cast<std::size_t>(grid_.n));
    core::Buffer<double> scratch;
    for (const auto& [i, j, offset] : own_) {
      if (i != j) continue;
      const std::int64_t size = grid_.size(i);
      if (!made_) grow(scratch, size * size);
      double* const data = made_ ? kept_.data() + offset : scratch.data();
      if (!made_) fill_(i * grid_.tile, i * grid_.tile, view(data, size, size));
      for (std::int64_t k = 0; k < size; ++k) {
        out[static_cast<std::size_t>(i * grid_.tile + k)] = data[k * size + k];
      }
    }
  });
  agreement_.ranks().sum(out);
  return out;
}

void RankedProduct::apply_exactly(MatrixView<const double> x, MatrixView<const double> b,
                                  MatrixView<double> y, MatrixView<double> y_low) {
  const std::int64_t n = grid_.n;
  const std::int64_t r = y.cols;
  if (n == 0 || r == 0) return;
  for_lanes(
      2 * r, 4 * n * r,
      [&](MatrixView<const double> tile, std::int64_t row, std::int64_t col, std::size_t lane) {
        const MatrixView<double> sums = sums_of(lane, 2 * r);
        for_blocks(tile, row, col, [&](const SymmetricBlock& block) {
          add_exact_product(block, x, sums.block(0, 0, n, r), sums.block(0, r, n, r));
        });
      });
  const MatrixView<double> own = view(whole_.data(), n, 2 * r);
  const MatrixView<double> others = view(whole_.data() + 2 * n * r, n, 2 * r);
  const auto add = [n, r, this](MatrixView<const double> from, auto sum_at) {
    for_rows(team_, n, [&](std::int64_t begin, std::int64_t end) {
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
  // A reduction in FP64 would lose what the second halves are for: each rank adds up all of them.
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

void RankedProduct::release() {
  partial_ = {};
  scratch_ = {};
  whole_ = {};
}

std::int64_t RankedProduct::kept_bytes(const tiles::Distribution& distribution, int rank,
                                       const tiles::Grid& grid) {
  std::int64_t bytes = 0;
  for (std::int64_t j = 0; j < grid.tiles(); ++j) {
    for (std::int64_t i = j; i < grid.tiles(); ++i) {
      if (distribution.owner(i, j) == rank) bytes += 8 * grid.size(i) * grid.size(j);
    }
  }
  return bytes;
}

std::int64_t RankedProduct::workspace_bytes(const tiles::Distribution& distribution, int rank,
                                            const tiles::Grid& grid, std::int64_t columns,
                                            bool keep, int threads) {
  std::size_t own = 0;
  for (std::int64_t j = 0; j < grid.tiles(); ++j) {
    for (std::int64_t i = j; i < grid.tiles(); ++i) {
      own += distribution.owner(i, j) == rank ? 1U : 0U;
    }
  }
  const auto lanes = static_cast<std::int64_t>(lane_count(own, columns));
  return core::size_product(lanes + 1, grid.n, 8 * columns, "workspace of a product") +
         (keep ? 0 : 8 * threads * grid.tile * grid.tile);
}

}  // namespace stepwell::refine
