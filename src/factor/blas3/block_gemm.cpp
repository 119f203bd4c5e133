// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "factor/blas3/block_gemm.hpp"

#include <algorithm>
#include <atomic>

#include "core/checked.hpp"
#include "core/machine/fp_scope.hpp"
#include "kernels/blas/lapack.hpp"
#include "kernels/kernels.hpp"

namespace stepwell::factor {
namespace {

constexpr int kPlanes = kernels::kWidePlanes;

/// Rows of A, or columns of B, that one thread measures or converts at a time.
constexpr std::int64_t kColumns = 64;
/// The fewest columns of a product: with fewer, converting A takes as long as the products.
constexpr std::int64_t kFewest = 128;
/// Columns that one thread multiplies by the BLAS, whose bits depend on it.
constexpr std::int64_t kBlasColumns = 512;

using tiles::ProductOut;

/// Rows and columns of C.
std::int64_t rows_of(const BlockGemm::Rows& r) {
  return r.out == ProductOut::replace_transposed ? r.c.cols : r.c.rows;
}
std::int64_t cols_of(const BlockGemm::Rows& r) {
  return r.out == ProductOut::replace_transposed ? r.c.rows : r.c.cols;
}

/// Columns [first, first + width) of C as it is stored.
MatrixView<double> columns_of(const BlockGemm::Rows& r, std::int64_t first, std::int64_t width) {
  return r.out == ProductOut::replace_transposed ? r.c.block(first, 0, width, r.c.cols)
                                                 : r.c.block(0, first, r.c.rows, width);
}

/// The columns of C before its triangle.
std::int64_t full_columns(const BlockGemm::Rows& r) {
  return r.shape == kernels::Shape::lower ? cols_of(r) - rows_of(r) : cols_of(r);
}

}  // namespace

bool has_residue_engine() {
  return kernels::table().residues.update.isa == core::Isa::amx;
}

LeftOperand::LeftOperand(engine::ThreadPool& pool, Products products, MatrixView<const double> a,
                         bool transposed, double factor, Lines part)
    : a_(a), transposed_(transposed), factor_(factor) {
  if (products == Products::blas) return;
  const std::int64_t lines = transposed ? a.cols : a.rows, length = transposed ? a.rows : a.cols;
  tiles::LineSizes sizes(lines);
  pool.for_each(core::ceil_div(lines, kColumns), [&](std::int64_t chunk) {
    const std::int64_t first = chunk * kColumns, count = std::min(kColumns, lines - first);
    const Lines::Range of = part.of(first, length);
    if (transposed) {
      sizes.add_columns(kernels::table(), a.block(of.first, first, of.count, count), first);
    } else {
      sizes.add_rows(kernels::table(), a.block(first, of.first, count, of.count), first);
    }
  });
  scales_ = tiles::LineScales(sizes, length);
  for (double& back : scales_.back) back *= factor;
}

tiles::ProductLeft LeftOperand::rows(std::int64_t first, std::int64_t count, std::int64_t depth,
                                     std::int64_t column) const {
  const auto block = [this, first, count, depth, column](std::int64_t k) {
    const std::int64_t from = column + k * depth;
    const std::int64_t size = std::min(depth, (transposed_ ? a_.rows : a_.cols) - from);
    return transposed_ ? a_.block(from, first, size, count) : a_.block(first, from, count, size);
  };
  tiles::ProductLeft rows{block, transposed_};
  rows.factor = factor_;
  if (!scales_.to.empty()) {
    rows.to = scales_.to.data() + first;
    rows.back = scales_.back.data() + first;
  }
  return rows;
}

std::int64_t BlockGemm::bytes(Products products, std::int64_t largest, std::int64_t rows,
                              std::int64_t cols, std::int64_t depth, int threads) {
  if (products == Products::blas) return core::size_product(rows, cols, 8, "a right operand");
  const std::int64_t block = kernels::residue_bytes(cols, depth, kPlanes);
  return core::size_product(core::ceil_div(rows, depth), block, "residues") +
         core::size_product(threads, tiles::residue_product_bytes(largest, cols, depth),
                            "residues of products");
}

void BlockGemm::set_right(MatrixView<const double> b, std::int64_t depth, bool transposed,
                          Lines lines) {
  const std::int64_t rows = transposed ? b.cols : b.rows;
  rows_ = rows;
  cols_ = transposed ? b.rows : b.cols;
  depth_ = depth;
  lines_ = lines;
  const std::int64_t count = core::ceil_div(rows, depth);
  const std::int64_t chunks = core::ceil_div(cols_, kColumns);
  const auto width = [this](std::int64_t first) { return std::min(kColumns, cols_ - first); };
  if (products_ == Products::blas) {
    if (copied_.size() < rows * cols_) {
      copied_ = {};
      copied_ = core::Buffer<double>(core::size_product(rows, cols_, "a right operand"),
                                     core::Contents::any);
    }
    copy_ = view(copied_.data(), rows, cols_);
    pool_.for_each(cols_, [&](std::int64_t j) {
      const Lines::Range of = lines.of(j, rows);
      for (std::int64_t i = of.first; i < of.first + of.count; ++i) {
        copy_(i, j) = transposed ? b(j, i) : b(i, j);
      }
    });
    return;
  }
  const std::int64_t bytes = kernels::residue_bytes(cols_, depth, kPlanes);
  const std::int64_t all = core::size_product(bytes, count, "residues");
  if (right_.size() < all) {
    right_ = {};
    right_ = core::Buffer<std::int8_t>(all, core::Contents::any);
  }
  tiles::LineSizes sizes(cols_);
  pool_.for_each(chunks, [&](std::int64_t chunk) {
    const std::int64_t first = chunk * kColumns;
    const Lines::Range of = lines.of(first, rows);
    if (transposed) {
      sizes.add_rows(kernels::table(), b.block(first, of.first, width(first), of.count), first);
    } else {
      sizes.add_columns(kernels::table(), b.block(of.first, first, of.count, width(first)), first);
    }
  });
  scales_ = tiles::LineScales(sizes, rows);
  blocks_.clear();
  for (std::int64_t k = 0; k < count; ++k) {
    blocks_.push_back(kernels::residues(right_.data() + k * bytes, cols_,
                                        std::min(depth, rows - k * depth), kPlanes,
                                        kernels::ResidueOrder::rows));
  }
  pool_.for_each(count * chunks, [&](std::int64_t item) {
    const std::int64_t first = item % chunks * kColumns, k = item / chunks;
    const Lines::Range of = lines.of(first, rows);
    if (k * depth >= of.first && k * depth < of.first + of.count) {
      convert(b, transposed, k, first, width(first));
    }
  });
}

/// Columns [first, first + count) of block k of B.
void BlockGemm::convert(MatrixView<const double> b, bool transposed, std::int64_t k,
                        std::int64_t first, std::int64_t count) {
  const kernels::Table& t = kernels::table();
  const kernels::ResiduesOut& block = blocks_[static_cast<std::size_t>(k)];
  const kernels::ResiduesOut out = block.block(first, 0, count, block.depth);
  const double* const scale = scales_.to.data() + first;
  if (!transposed) {
    return kernels::to_residues(t, b.block(k * depth_, first, block.depth, count), scale, out);
  }
  const core::Buffer<std::int8_t> memory(kernels::residue_bytes(count, block.depth, kPlanes),
                                         core::Contents::any);
  const kernels::ResiduesOut quads =
      kernels::residues(memory.data(), count, block.depth, kPlanes, kernels::ResidueOrder::quads);
  kernels::to_residues(t, b.block(first, k * depth_, count, block.depth), scale, quads);
  kernels::reorder(t, quads, out);
}

void BlockGemm::subtract(std::int64_t count, std::int64_t largest,
                         const std::function<Rows(std::int64_t)>& rows) {
  if (count == 0 || cols_ == 0) return;
  const int threads = pool_.size();
  std::int64_t width = kBlasColumns;
  if (products_ == Products::exact) {
    // All columns at once, so that A is converted once, unless there are more threads than
    // products.
    const std::int64_t parts =
        std::clamp<std::int64_t>(2 * threads / count, 1, core::ceil_div(cols_, kFewest));
    width = core::round_up(core::ceil_div(cols_, parts), kernels::kResiduePanel);
    scratch_bytes_ = tiles::residue_product_bytes(largest, cols_, depth_);
    scratch_.resize(std::max(scratch_.size(), static_cast<std::size_t>(threads)));
  }
  const std::int64_t parts = core::ceil_div(cols_, width);
  std::atomic<std::int64_t> next{0};
  pool_.run([&](int thread) {
    for (std::int64_t item = next++; item < count * parts; item = next++) {
      const Rows r = rows(item / parts);
      // A triangle is not divided: it has at most 'largest' columns.
      const std::int64_t unit = r.shape == kernels::Shape::lower ? largest : 1;
      const std::int64_t step = r.in_place ? cols_of(r) : core::round_up(width, unit);
      const std::int64_t first = item % parts * step;
      const std::int64_t columns = std::min(step, cols_of(r) - first);
      if (columns <= 0) continue;
      if (products_ == Products::exact) {
        subtract_exactly(r, first, columns, thread);
      } else {
        subtract_by_blas(r, first, columns);
      }
    }
  });
}

std::int64_t BlockGemm::count_blocks(const Rows& rows) const {
  return rows.blocks > 0 ? rows.blocks : core::ceil_div(rows_, depth_) - rows.first_block;
}

/// Columns [first, first + width) of C, divided where B begins further down, and before a triangle.
std::vector<tiles::ProductStrip> BlockGemm::strips_of(const Rows& r, std::int64_t first,
                                                      std::int64_t width) const {
  const bool stairs = lines_.part == Lines::Part::from_diagonal;
  const std::int64_t full = full_columns(r);
  std::vector<tiles::ProductStrip> strips;
  for (std::int64_t j = first; j < first + width;) {
    const bool triangle = j >= full;
    const std::int64_t step = (r.column + j) / depth_;  // of the stairs
    std::int64_t end = triangle ? first + width : std::min(first + width, full);
    if (stairs && !triangle) end = std::min(end, (step + 1) * depth_ - r.column);
    strips.push_back({j - first, end - j,
                      stairs ? std::max<std::int64_t>(0, step - r.first_block) : 0,
                      triangle ? kernels::Shape::lower : kernels::Shape::full});
    j = end;
  }
  return strips;
}

void BlockGemm::subtract_exactly(const Rows& r, std::int64_t first, std::int64_t width,
                                 int thread) {
  auto& scratch = scratch_[static_cast<std::size_t>(thread)];
  if (scratch.size() < scratch_bytes_) {
    scratch = {};
    scratch = core::Buffer<std::byte>(scratch_bytes_, core::Contents::any);
  }
  std::vector<kernels::ResiduesIn> blocks;
  for (std::int64_t k = 0; k < count_blocks(r); ++k) {
    const kernels::ResiduesOut& block = blocks_[static_cast<std::size_t>(r.first_block + k)];
    blocks.push_back(block.block(r.column + first, 0, width, block.depth));
  }
  tiles::subtract_residue_product(
      kernels::table(), r.a, {blocks, scales_.back.data() + r.column + first},
      strips_of(r, first, width), columns_of(r, first, width), scratch.data(), r.out);
}

void BlockGemm::subtract_by_blas(const Rows& r, std::int64_t first, std::int64_t width) const {
  const core::FpScope fp;
  const bool replaces = r.out != ProductOut::subtract;
  const std::int64_t rows = rows_of(r);
  core::Buffer<double> memory;
  MatrixView<double> c = columns_of(r, first, width);
  if (replaces) {
    memory = core::Buffer<double>(rows * width);
    c = view(memory.data(), rows, width);
  }
  for (const tiles::ProductStrip& strip : strips_of(r, first, width)) {
    for (std::int64_t j = strip.first; j < strip.first + strip.count; j += kBlasColumns) {
      const std::int64_t cols = std::min(kBlasColumns, strip.first + strip.count - j);
      for (std::int64_t k = strip.block; k < count_blocks(r); ++k) {
        const std::int64_t row = (r.first_block + k) * depth_;
        kernels::subtract_product(
            r.a.block(k),
            copy_.block(row, r.column + first + j, std::min(depth_, rows_ - row), cols),
            c.block(0, j, rows, cols), {r.a.transposed, false});
      }
    }
  }
  if (!replaces) return;
  const MatrixView<double> to = columns_of(r, first, width);
  for (std::int64_t j = 0; j < width; ++j) {
    for (std::int64_t i = std::max<std::int64_t>(0, first + j - full_columns(r)); i < rows; ++i) {
      (r.out == ProductOut::replace ? to(i, j) : to(j, i)) = r.a.factor * c(i, j);
    }
  }
}

}  // namespace stepwell::factor
