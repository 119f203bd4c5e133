// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "engine/agreement.hpp"
#include "stepwell/error.hpp"
#include "stepwell/ranks.hpp"
#include "tiles/distribution.hpp"

/// A where ScaLAPACK has it.
namespace stepwell {
namespace {

[[noreturn]] void misuse(const std::string& text) {
  throw Error(ErrorCode::invalid_argument, "solve_spd with ScaLAPACK's layout: " + text);
}

/// Places in the array descriptor, as ScaLAPACK names them.
enum Field : int {
  kType,
  kContext,
  kRows,
  kCols,
  kRowBlock,
  kColBlock,
  kFirstRow,
  kFirstCol,
  kLld
};

/// Rows (or columns) of a matrix of n that process 'who' of 'count' has in blocks: NUMROC.
std::int64_t own_share(std::int64_t n, std::int64_t block, std::int64_t who, std::int64_t count) {
  const std::int64_t blocks = n / block;
  std::int64_t own = blocks / count * block;
  if (who < blocks % count) own += block;
  if (who == blocks % count) own += n % block;
  return own;
}

/// What of a descriptor concerns this rank.
struct Local {
  std::int64_t n = 0, block = 0;
  std::int64_t grid_rows = 1, grid_cols = 1;
  std::int64_t lld = 1;
};

Local read(const ScalapackMatrix& a, int rank, int ranks, const SolveOptions& options,
           const RankedOptions& ranked) {
  const auto& d = a.descriptor;
  const auto text = [&](Field f) { return std::to_string(d[static_cast<std::size_t>(f)]); };
  if (d[kType] != 1) misuse("the descriptor's type is " + text(kType) + "; a dense matrix has 1");
  if (d[kRows] < 0 || d[kRows] != d[kCols]) {
    misuse("A is " + text(kRows) + " x " + text(kCols) + "; it must be square");
  }
  if (d[kRowBlock] != d[kColBlock] || d[kRowBlock] < 32 || d[kRowBlock] % 32 != 0) {
    misuse("A has blocks of " + text(kRowBlock) + " x " + text(kColBlock) +
           "; they must be square and a multiple of 32 (512 is best): create A with such an MB and "
           "NB, or copy it with PDGEMR2D");
  }
  if (d[kFirstRow] != 0 || d[kFirstCol] != 0) {
    misuse("A's first block is with process (" + text(kFirstRow) + ", " + text(kFirstCol) +
           "); it must be with (0, 0)");
  }
  if (ranked.layout != Layout::grid) misuse("the layout must be 'grid', which is ScaLAPACK's");
  if (options.tile != 0 && options.tile != d[kRowBlock]) {
    misuse("the tile is A's block, " + text(kRowBlock) + "; leave it out");
  }
  RankedOptions grid = ranked;
  grid.layout = Layout::grid;
  const tiles::Distribution distribution = tiles::Distribution::choose(ranks, grid);
  Local l;
  l.n = d[kRows];
  l.block = d[kRowBlock];
  l.grid_cols = distribution.grid_cols();
  l.grid_rows = ranks / l.grid_cols;
  l.lld = d[kLld];
  const std::int64_t rows = own_share(l.n, l.block, rank / l.grid_cols, l.grid_rows);
  const std::int64_t cols = own_share(l.n, l.block, rank % l.grid_cols, l.grid_cols);
  if (l.lld < std::max<std::int64_t>(1, rows)) {
    misuse("the local leading dimension is " + text(kLld) + ", and this process has " +
           std::to_string(rows) + " rows; is the grid " + std::to_string(l.grid_rows) + " x " +
           std::to_string(l.grid_cols) + " (RankedOptions::grid_rows), by rows?");
  }
  if (a.local == nullptr && rows > 0 && cols > 0) misuse("there is no local array");
  return l;
}

}  // namespace

Certificate solve_spd(const Ranks& ranks, const ScalapackMatrix& a, MatrixView<const double> b,
                      MatrixView<double> x, const SolveOptions& options,
                      const RankedOptions& ranked) {
  Local l;
  engine::Agreement(ranks.communicator()).attempt([&] {
    l = read(a, ranks.rank(), ranks.size(), options, ranked);
  });
  SolveOptions with = options;
  with.tile = l.block;
  RankedOptions where_it_is = ranked;
  where_it_is.keep_tiles = false;
  const auto fill = [&](std::int64_t row, std::int64_t col, MatrixView<double> tile) {
    const double* const from = a.local + row / l.block / l.grid_rows * l.block +
                               col / l.block / l.grid_cols * l.block * l.lld;
    for (std::int64_t j = 0; j < tile.cols; ++j) {
      std::copy_n(from + j * l.lld, tile.rows, tile.column(j));
    }
  };
  return solve_spd(ranks, l.n, fill, b, x, with, where_it_is);
}

}  // namespace stepwell
