// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "refine/operators/symmetric_product.hpp"

#include <algorithm>
#include <bit>

#include "core/machine/fp_scope.hpp"
#include "core/numeric/double_double.hpp"
#include "kernels/scan.hpp"

namespace stepwell::refine {
namespace {

/// Maximum number of strips, and their minimum number of columns on average: enough strips for many
/// cores, few enough to add up their sums.
constexpr std::int64_t kMostStrips = 32;
constexpr std::int64_t kColumnsPerStrip = 192;

std::int64_t strip_count(std::int64_t n) {
  return std::clamp(n / kColumnsPerStrip, std::int64_t{1}, kMostStrips);
}

}  // namespace

SymmetricProduct::SymmetricProduct(engine::ThreadPool& pool, MatrixView<const double> a)
    : pool_(pool), a_(a), strips_(strips_of(a.rows)) {}

std::vector<SymmetricProduct::Strip> SymmetricProduct::strips_of(std::int64_t n) {
  const std::int64_t count = strip_count(n);
  const auto area = [n](std::int64_t c) {
    const auto d = static_cast<double>(c);
    return d * static_cast<double>(n) - d * (d - 1) / 2;
  };
  std::vector<Strip> strips;
  std::int64_t begin = 0;
  for (std::int64_t s = 1; s <= count; ++s) {
    std::int64_t end = begin;
    const double share = area(n) * static_cast<double>(s) / static_cast<double>(count);
    while (end < n && (s == count || area(end) < share)) end = std::min(n, end + kBlockColumns);
    if (end > begin) strips.push_back({begin, end});
    begin = end;
  }
  return strips;
}

std::int64_t SymmetricProduct::workspace_bytes(std::int64_t n, std::int64_t columns) {
  return core::size_product(strip_count(n), n, 8 * columns, "workspace of a product");
}

MatrixView<double> SymmetricProduct::sums_of(std::size_t strip, std::int64_t columns) const {
  const std::int64_t n = a_.rows;
  return view(partial_.data() + static_cast<std::int64_t>(strip) * n * columns, n, columns);
}

void SymmetricProduct::for_strips(std::int64_t columns,
                                  const std::function<void(std::size_t, MatrixView<double>)>& run) {
  const std::int64_t n = a_.rows;
  const auto count = static_cast<std::int64_t>(strips_.size());
  if (partial_.size() < count * n * columns) {
    partial_ = {};  // free the old memory first
    partial_ = core::Buffer<double>(core::size_product(count, n, columns, "workspace"),
                                    core::Contents::any);
  }
  pool_.for_each(count, [&](std::int64_t index) {
    const core::FpScope fp;
    const auto s = static_cast<std::size_t>(index);
    const MatrixView<double> sums = sums_of(s, columns);
    for (std::int64_t c = 0; c < columns; ++c) {
      std::fill(sums.column(c) + strips_[s].begin, sums.column(c) + n, 0.0);
    }
    run(s, sums);
  });
}

/// Calls f(block) for the blocks of a strip.
template <class F>
void SymmetricProduct::for_strip(Strip strip, F f) const {
  const std::int64_t c = strip.begin;
  for_blocks(a_.block(c, c, a_.rows - c, strip.end - c), c, c, f);
}

template <class F>
void SymmetricProduct::add_strips(std::int64_t columns, F done) {
  const std::int64_t n = a_.rows;
  pool_.for_each((n + kBlockRows - 1) / kBlockRows, [&](std::int64_t block) {
    const core::FpScope fp;
    const std::int64_t begin = block * kBlockRows;
    const std::int64_t end = std::min(n, begin + kBlockRows);
    for (std::int64_t c = 0; c < columns; ++c) {
      double* const to = sums_of(0, columns).column(c);
      for (std::size_t s = 1; s < strips_.size(); ++s) {
        const double* const from = sums_of(s, columns).column(c);
        for (std::int64_t i = std::max(begin, strips_[s].begin); i < end; ++i) to[i] += from[i];
      }
      done(c, begin, end, to);
    }
  });
}

void SymmetricProduct::add_strips_to(MatrixView<double> y) {
  add_strips(y.cols, [&](std::int64_t c, std::int64_t begin, std::int64_t end, const double* sum) {
    std::copy(sum + begin, sum + end, y.column(c) + begin);
  });
}

void SymmetricProduct::apply(MatrixView<const double> x, MatrixView<double> y, MatrixScan* found,
                             bool check_symmetry) {
  const std::int64_t n = a_.rows;
  const std::int64_t columns = y.cols + (found != nullptr ? 1 : 0);
  std::vector<kernels::Scan> scans(strips_.size());
  if (found != nullptr) found->checksums = Checksums(n);
  for_strips(columns, [&](std::size_t s, MatrixView<double> sums) {
    for_strip(strips_[s], [&](const SymmetricBlock& block) {
      if (y.cols > 0) add_product(block, x, sums.block(0, 0, n, y.cols));
      if (found == nullptr) return;
      const auto [part, row, col] = block;
      const auto across =
          check_symmetry ? a_.block(col, row, part.cols, part.rows) : MatrixView<const double>{};
      found->checksums.add(block.col, scan_block(block, across, scans[s], sums.column(y.cols)));
    });
  });

  std::vector<double> norms(static_cast<std::size_t>((n + kBlockRows - 1) / kBlockRows));
  add_strips(columns, [&](std::int64_t c, std::int64_t begin, std::int64_t end, const double* sum) {
    if (c < y.cols) {
      std::copy(sum + begin, sum + end, y.column(c) + begin);
    } else {
      norms[static_cast<std::size_t>(begin / kBlockRows)] =
          *std::max_element(sum + begin, sum + end);
    }
  });
  if (found == nullptr) return;
  for (const double norm : norms) found->norm_inf = std::max(found->norm_inf, norm);
  for (const kernels::Scan& scan : scans) kernels::combine(found->scan, scan, 0, 0);
}

namespace {

/// A block column of the copy begins at the diagonal; its columns are whole cache lines apart.
std::int64_t copy_ld(std::int64_t n, std::int64_t col) {
  return core::round_up(n - col, 16);
}

/// The first element of each block column of the copy, and the size of the copy.
std::vector<std::int64_t> copy_begins(std::int64_t n) {
  std::vector<std::int64_t> begins = {0};
  for (std::int64_t c = 0; c < n; c += kBlockColumns) {
    begins.push_back(begins.back() + copy_ld(n, c) * std::min(kBlockColumns, n - c));
  }
  return begins;
}

}  // namespace

std::int64_t SymmetricProduct::copy_bytes(std::int64_t n) {
  return core::size_product(n + 64, n / 2 + 64, 4, "copy of A");
}

MatrixView<float> SymmetricProduct::copy_of(const SymmetricBlock& block) const {
  const std::int64_t first = copy_begin_[static_cast<std::size_t>(block.col / kBlockColumns)];
  return {copy_.data() + first + block.row - block.col, block.a.rows, block.a.cols,
          copy_ld(a_.rows, block.col)};
}

void SymmetricProduct::apply_and_copy(MatrixView<const double> x, MatrixView<double> y,
                                      kernels::Scales scales) {
  if (has_copy()) return apply(x, y);
  copy_begin_ = copy_begins(a_.rows);
  copy_ = core::Buffer<float>(copy_begin_.back(), core::Contents::any);
  for_strips(y.cols, [&](std::size_t s, MatrixView<double> sums) {
    for_strip(strips_[s], [&](const SymmetricBlock& block) {
      add_product(block, x, sums);
      round_block(block, scales, copy_of(block));
    });
  });
  add_strips_to(y);
  copied_ = true;
}

void SymmetricProduct::apply_copy(MatrixView<const double> x, MatrixView<double> y) {
  for_strips(y.cols, [&](std::size_t s, MatrixView<double> sums) {
    for_strip(strips_[s],
              [&](const SymmetricBlock& block) { add_product(block, copy_of(block), x, sums); });
  });
  add_strips_to(y);
}

void SymmetricProduct::release() {
  partial_ = {};
  copy_ = {};
  copied_ = false;
}

void SymmetricProduct::apply_blocked(MatrixView<const double> x, MatrixView<double> y,
                                     Checksums& checksums) {
  const std::int64_t n = a_.rows;
  const std::int64_t r = y.cols;
  for_strips(r, [&](std::size_t s, MatrixView<double> sums) {
    for_strip(strips_[s], [&](const SymmetricBlock& block) {
      checksums.add(block.col, add_blocked_product(block, x, sums));
    });
  });
  pool_.for_each((n + kBlockRows - 1) / kBlockRows, [&](std::int64_t block) {
    const core::FpScope fp;
    const std::int64_t begin = block * kBlockRows;
    const std::int64_t end = std::min(n, begin + kBlockRows);
    for (std::int64_t c = 0; c < r; ++c) {
      // Strips are added in pairs.
      for (std::size_t step = 1; step < strips_.size(); step *= 2) {
        for (std::size_t s = 0; s + step < strips_.size(); s += 2 * step) {
          double* const to = sums_of(s, r).column(c);
          const double* const from = sums_of(s + step, r).column(c);
          for (std::int64_t i = std::max(begin, strips_[s + step].begin); i < end; ++i) {
            to[i] += from[i];
          }
        }
      }
      std::copy(sums_of(0, r).column(c) + begin, sums_of(0, r).column(c) + end,
                y.column(c) + begin);
    }
  });
}

/// Counts the roundings within a strip and in the pairwise sum of the strips.
std::int64_t SymmetricProduct::depth() const {
  std::int64_t deepest = 0;
  for (const Strip& strip : strips_) {
    deepest = std::max(deepest, strip_depth(strip.end - strip.begin, a_.rows - strip.begin));
  }
  return deepest + std::bit_width(std::max<std::size_t>(strips_.size(), 1) - 1);
}

void SymmetricProduct::apply_exactly(MatrixView<const double> x, MatrixView<const double> b,
                                     MatrixView<double> y, MatrixView<double> y_low,
                                     Checksums& checksums) {
  const std::int64_t n = a_.rows;
  const std::int64_t r = y.cols;
  for_strips(2 * r, [&](std::size_t s, MatrixView<double> sums) {
    for_strip(strips_[s], [&](const SymmetricBlock& block) {
      checksums.add(block.col,
                    add_exact_product(block, x, sums.block(0, 0, n, r), sums.block(0, r, n, r)));
    });
  });
  pool_.for_each((n + kBlockRows - 1) / kBlockRows, [&](std::int64_t block) {
    const core::FpScope fp;
    for (std::int64_t i = block * kBlockRows; i < std::min(n, (block + 1) * kBlockRows); ++i) {
      for (std::int64_t c = 0; c < r; ++c) {
        core::DoubleDouble sum{b.empty() ? 0 : b(i, c), 0};
        for (std::size_t s = 0; s < strips_.size() && strips_[s].begin <= i; ++s) {
          const MatrixView<double> sums = sums_of(s, 2 * r);
          sum = sum + core::two_sum(sums(i, c), sums(i, r + c));
        }
        y(i, c) = sum.hi;
        y_low(i, c) = sum.lo;
      }
    }
  });
}

}  // namespace stepwell::refine
