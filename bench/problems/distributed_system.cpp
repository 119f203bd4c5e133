// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bench/problems/distributed_system.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "bench/harness/data.hpp"
#include "engine/communicator.hpp"
#include "tiles/distribution.hpp"

namespace stepwell::bench {
namespace {

double length(const std::vector<double>& x) {
  double sum = 0;
  for (const double v : x) sum += v * v;
  return std::sqrt(sum);
}

/// r <- r - A x for this rank's part of the lower triangle; returns this rank's part of ||A||_F^2.
double subtract_product(const BlockCyclicMatrix& a, const std::vector<double>& x,
                        std::vector<double>& r) {
  const std::int64_t rows = a.rows.own(), cols = a.cols.own();
  double squares = 0;
  for (std::int64_t c = 0; c < cols; ++c) {
    const auto j = static_cast<std::size_t>(a.cols.place(c));
    for (std::int64_t k = 0; k < rows; ++k) {
      const auto i = static_cast<std::size_t>(a.rows.place(k));
      if (i < j) continue;
      const double v = a.column(c)[k];
      squares += (i == j ? 1 : 2) * v * v;
      r[i] -= v * x[j];
      if (i > j) r[j] -= v * x[i];
    }
  }
  return squares;
}

}  // namespace

ProcessGrid::ProcessGrid(const Ranks& ranks) {
  cols = static_cast<int>(tiles::Distribution::choose(ranks.size(), {}).grid_cols());
  rows = ranks.size() / cols;
  row = ranks.rank() / cols;
  col = ranks.rank() % cols;
}

BlockCyclicMatrix::BlockCyclicMatrix(const ProcessGrid& p, int context, std::int64_t m,
                                     std::int64_t n, int block)
    : rows{m, block, p.row, p.rows}, cols{n, block, p.col, p.cols} {
  const std::int64_t ld = std::max<std::int64_t>(1, rows.own());
  descriptor = {1, context, static_cast<int>(m), static_cast<int>(n), block, block,
                0, 0,       static_cast<int>(ld)};
  local = core::Buffer<double>(core::size_product(ld, std::max<std::int64_t>(1, cols.own()), "A"));
}

void fill_block_cyclic(const BlockCyclicMatrix& a, const FillTile& fill) {
  const std::int64_t block = a.rows.block, own_rows = a.rows.own(), own_cols = a.cols.own();
  for (std::int64_t c = 0; c < own_cols; c += block) {
    for (std::int64_t r = 0; r < own_rows; r += block) {
      if (a.rows.place(r) < a.cols.place(c)) continue;
      fill(a.rows.place(r), a.cols.place(c),
           MatrixView<double>{a.column(c) + r, std::min(block, own_rows - r),
                              std::min(block, own_cols - c), a.descriptor[8]});
    }
  }
}

double distributed_right_hand_side(std::int64_t i, std::int64_t column) {
  return noise((std::uint64_t{11} << 44) + (static_cast<std::uint64_t>(column) << 32) +
               static_cast<std::uint64_t>(i));
}

void fill_right_hand_sides(const BlockCyclicMatrix& b) {
  const std::int64_t rows = b.rows.own(), cols = b.cols.own();
  for (std::int64_t c = 0; c < cols; ++c) {
    for (std::int64_t r = 0; r < rows; ++r) {
      b.column(c)[r] = distributed_right_hand_side(b.rows.place(r), b.cols.place(c));
    }
  }
}

double distributed_backward_error(const Ranks& ranks, const BlockCyclicMatrix& a,
                                  const BlockCyclicMatrix& x) {
  const std::int64_t n = a.rows.size, columns = x.cols.size;
  double worst = 0;
  for (std::int64_t k = 0; k < columns; ++k) {
    std::vector<double> whole(static_cast<std::size_t>(n)), r(whole), b(whole);
    const std::int64_t rows = x.rows.own(), cols = x.cols.own();
    for (std::int64_t c = 0; c < cols; ++c) {
      for (std::int64_t i = 0; i < rows && x.cols.place(c) == k; ++i) {
        whole[static_cast<std::size_t>(x.rows.place(i))] = x.column(c)[i];
      }
    }
    RanksData::of(ranks).sum(whole);
    double squares = subtract_product(a, whole, r);
    RanksData::of(ranks).sum(r);
    RanksData::of(ranks).sum({&squares, 1});
    for (std::size_t i = 0; i < b.size(); ++i) {
      b[i] = distributed_right_hand_side(static_cast<std::int64_t>(i), k);
      r[i] += b[i];
    }
    const double error = length(r) / (std::sqrt(squares) * length(whole) + length(b));
    if (!(error <= worst)) worst = error;
  }
  return worst;
}

}  // namespace stepwell::bench
