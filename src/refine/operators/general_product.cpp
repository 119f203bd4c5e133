// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "refine/operators/general_product.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "core/numeric/double_double.hpp"
#include "kernels/kernels.hpp"
#include "kernels/scan.hpp"

namespace stepwell::refine {
namespace {

/// Size of the blocks of A that a kernel is called with. 2048 rows of x and y are 32 KiB: they stay
/// in L1 while the columns of A are streamed, and the block stays in L2 for the next columns of x.
constexpr std::int64_t kRows = 2048;
constexpr std::int64_t kColumns = 64;

/// Approximate number of strips, and their minimum number of rows: enough strips for many cores,
/// and long contiguous accesses.
constexpr std::int64_t kStrips = 32;
constexpr std::int64_t kLeast = 256;

struct Range {
  std::int64_t begin, size;
};

std::int64_t strip_size(std::int64_t n) {
  return std::clamp(core::round_up((n + kStrips - 1) / kStrips, kColumns), kLeast, kRows);
}

/// The strips of n rows or columns.
std::vector<Range> strips_of(std::int64_t n) {
  const std::int64_t size = strip_size(n);
  std::vector<Range> strips;
  for (std::int64_t s = 0; s < n; s += size) strips.push_back({s, std::min(size, n - s)});
  return strips;
}

/// Calls f(range) for the pieces of 'all', each at most 'size' long.
template <class F>
void for_pieces(Range all, std::int64_t size, F f) {
  for (std::int64_t k = 0; k < all.size; k += size) {
    f(Range{all.begin + k, std::min(size, all.size - k)});
  }
}

/// Calls f(rows, columns) for the blocks of A that contribute to a strip of A x or of A' x.
template <class F>
void for_blocks(std::int64_t n, Range strip, bool transposed, F f) {
  for_pieces(transposed ? strip : Range{0, n}, kColumns, [&](Range cols) {
    for_pieces(transposed ? Range{0, n} : strip, kRows, [&](Range rows) { f(rows, cols); });
  });
}

/// Calls f(strip) on all threads.
template <class F>
void for_strips(engine::ThreadPool& pool, std::int64_t n, F f) {
  const std::vector<Range> strips = strips_of(n);
  pool.for_each(static_cast<std::int64_t>(strips.size()), [&](std::int64_t s) {
    const core::FpScope fp;
    f(strips[static_cast<std::size_t>(s)]);
  });
}

}  // namespace

void GeneralProduct::apply(MatrixView<const double> x, MatrixView<double> y) {
  const std::int64_t r = x.cols;
  for_strips(pool_, a_.rows, [&](Range strip) {
    for (std::int64_t c = 0; c < r; ++c) std::fill_n(y.column(c) + strip.begin, strip.size, 0.0);
    for_blocks(a_.rows, strip, transposed_, [&](Range rows, Range cols) {
      kernels::Products p;
      if (transposed_) {
        p.w = x.block(rows.begin, 0, rows.size, r);
        p.z = y.block(cols.begin, 0, cols.size, r);
      } else {
        p.x = x.block(cols.begin, 0, cols.size, r);
        p.y = y.block(rows.begin, 0, rows.size, r);
      }
      kernels::product(kernels::table(), a_.block(rows.begin, cols.begin, rows.size, cols.size), p);
    });
  });
}

/// Number of blocks of 64 columns, or for A' of slabs of 256 rows, that are summed up before they
/// are added to y.
constexpr std::int64_t kRun = 8;

/// Rows of A, or columns for A', of a strip that are processed together, so that the sums of a run
/// stay in L1.
constexpr std::int64_t kPart = kernels::kBlockedRows;

void GeneralProduct::apply_blocked(MatrixView<const double> x, MatrixView<double> y,
                                   Checksums& checksums) {
  const std::int64_t n = a_.rows, r = x.cols;
  const kernels::Table& t = kernels::table();
  // sums of a part += A or A' times x of a run.
  const auto add_run = [&](Range part, Range run, MatrixView<double> sums) {
    const Range rows = transposed_ ? run : part, cols = transposed_ ? part : run;
    for_pieces(cols, kernels::kBlockedColumns, [&](Range c) {
      for_pieces(rows, kernels::kBlockedRows, [&](Range i) {
        kernels::Products p;
        if (transposed_) {
          p.w = x.block(i.begin, 0, i.size, r);
          p.z = sums.block(c.begin - cols.begin, 0, c.size, r);
        } else {
          p.x = x.block(c.begin, 0, c.size, r);
          p.y = sums.block(i.begin - rows.begin, 0, i.size, r);
        }
        checksums.add(c.begin,
                      kernels::blocked_product(t, a_.block(i.begin, c.begin, i.size, c.size), p));
      });
    });
  };
  const std::int64_t run = kRun * (transposed_ ? kernels::kBlockedRows : kernels::kBlockedColumns);
  const auto strips = static_cast<std::int64_t>(strips_of(n).size());
  const core::Buffer<double> memory(core::size_product(strips, kPart, r, "sums of runs"),
                                    core::Contents::any);
  for_strips(pool_, n, [&](Range strip) {
    double* const own = memory.data() + strip.begin / strip_size(n) * kPart * r;
    for_pieces(strip, kPart, [&](Range part) {
      const MatrixView<double> sums = view(own, part.size, r);
      for (std::int64_t c = 0; c < r; ++c) std::fill_n(y.column(c) + part.begin, part.size, 0.0);
      for_pieces({0, n}, run, [&](Range some) {
        std::fill_n(sums.data, part.size * r, 0.0);
        add_run(part, some, sums);
        for (std::int64_t c = 0; c < r; ++c) {
          double* const to = y.column(c) + part.begin;
          for (std::int64_t i = 0; i < part.size; ++i) to[i] += sums(i, c);
        }
      });
    });
  });
}

/// Counts the roundings within a block, within a run and in the sum of the runs.
std::int64_t GeneralProduct::depth() const {
  const std::int64_t block = transposed_ ? kernels::kBlockedRows : kernels::kBlockedColumns;
  const std::int64_t blocks = (a_.rows + block - 1) / block;
  return (transposed_ ? kernels::kBlockedDepthZ : kernels::kBlockedDepthY) +
         std::min(blocks, kRun) + (blocks + kRun - 1) / kRun;
}

void GeneralProduct::apply_exactly(MatrixView<const double> x, MatrixView<const double> b,
                                   MatrixView<double> y, MatrixView<double> y_low,
                                   Checksums& checksums) {
  for_strips(pool_, a_.rows, [&](Range strip) {
    for (std::int64_t c = 0; c < x.cols; ++c) {
      double* const high = y.column(c);
      double* const low = y_low.column(c);
      for (std::int64_t i = strip.begin; i < strip.begin + strip.size; ++i) {
        high[i] = b.empty() ? 0 : b(i, c);
        low[i] = 0;
      }
      for_blocks(a_.rows, strip, transposed_, [&](Range rows, Range cols) {
        kernels::ExactProducts p;
        if (transposed_) {
          p.w = x.column(c) + rows.begin;
          p.z = high + cols.begin;
          p.z_low = low + cols.begin;
        } else {
          p.x = x.column(c) + cols.begin;
          p.y = high + rows.begin;
          p.y_low = low + rows.begin;
        }
        const std::uint64_t checksum = kernels::exact_product(
            kernels::table(), a_.block(rows.begin, cols.begin, rows.size, cols.size), p);
        if (c == 0) checksums.add(cols.begin, checksum);  // each column of x reads all of A
      });
      for (std::int64_t i = strip.begin; i < strip.begin + strip.size; ++i) {
        const core::DoubleDouble sum = core::two_sum(high[i], low[i]);
        high[i] = sum.hi;
        low[i] = sum.lo;
      }
    }
  });
}

MatrixScan scan_general(engine::ThreadPool& pool, MatrixView<const double> a) {
  const std::int64_t n = a.rows;
  const std::vector<Range> strips = strips_of(n);
  const auto count = static_cast<std::int64_t>(strips.size());
  const core::Buffer<double> row_sums(core::size_product(count, n, "sums of rows"));
  std::vector<double> col_sums(static_cast<std::size_t>(n));
  std::vector<kernels::Scan> scans(strips.size());
  MatrixScan found;
  found.checksums = Checksums(n);
  pool.for_each(count, [&](std::int64_t s) {
    const core::FpScope fp;
    const Range strip = strips[static_cast<std::size_t>(s)];
    for_blocks(n, strip, true, [&](Range rows, Range cols) {
      kernels::LoadArgs args;
      args.a = a.block(rows.begin, cols.begin, rows.size, cols.size);
      args.row_sums = row_sums.data() + s * n + rows.begin;
      args.col_sums = col_sums.data() + cols.begin;
      kernels::Scan block;
      kernels::load(kernels::table(), args, block);
      kernels::combine(scans[static_cast<std::size_t>(s)], block, rows.begin, cols.begin);
      found.checksums.add(cols.begin, block.checksum);
    });
  });
  for (const kernels::Scan& scan : scans) kernels::combine(found.scan, scan, 0, 0);
  found.least_row = found.least_col = HUGE_VAL;
  for (std::int64_t i = 0; i < n; ++i) {
    double sum = 0;
    for (std::int64_t s = 0; s < count; ++s) sum += row_sums[s * n + i];
    found.norm_inf = std::max(found.norm_inf, sum);
    found.norm_1 = std::max(found.norm_1, col_sums[static_cast<std::size_t>(i)]);
    found.least_row = std::min(found.least_row, sum);
    found.least_col = std::min(found.least_col, col_sums[static_cast<std::size_t>(i)]);
  }
  return found;
}

std::int64_t scan_bytes(std::int64_t n) {
  const std::int64_t strips = (n + strip_size(n) - 1) / strip_size(n);
  return core::size_product(strips + 1, n, 8, "sums of rows and columns");
}

bool is_symmetric_with_positive_diagonal(engine::ThreadPool& pool, MatrixView<const double> a) {
  const std::int64_t n = a.rows;
  for (std::int64_t i = 0; i < n; ++i) {
    if (!(a(i, i) > 0)) return false;
  }
  std::atomic<bool> symmetric = true;
  for_strips(pool, n, [&](Range strip) {
    // 64 x 64: a block and its transpose stay in L2.
    for_pieces(strip, kColumns, [&](Range cols) {
      for_pieces({cols.begin, n - cols.begin}, kColumns, [&](Range rows) {
        if (!symmetric) return;
        for (std::int64_t j = cols.begin; j < cols.begin + cols.size; ++j) {
          for (std::int64_t i = std::max(j + 1, rows.begin); i < rows.begin + rows.size; ++i) {
            if (a(i, j) == a(j, i)) continue;
            symmetric = false;
            return;
          }
        }
      });
    });
  });
  return symmetric;
}

}  // namespace stepwell::refine
