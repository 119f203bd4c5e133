// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "factor/blas3/residue_gemm.hpp"

#include <algorithm>
#include <atomic>

#include "core/checked.hpp"
#include "kernels/kernels.hpp"

namespace stepwell::factor {
namespace {

constexpr int kPlanes = kernels::kWidePlanes;

/// Columns of B that one thread converts at a time.
constexpr std::int64_t kColumns = 64;
/// The fewest columns of a product: with fewer, converting A takes as long as the products.
constexpr std::int64_t kFewest = 128;

}  // namespace

bool has_residue_engine() {
  return kernels::table().residues.update.isa == core::Isa::amx;
}

std::int64_t ResidueGemm::bytes(std::int64_t largest, std::int64_t rows, std::int64_t cols,
                                std::int64_t depth, int threads) {
  const std::int64_t block = kernels::residue_bytes(cols, depth, kPlanes);
  return core::size_product(core::ceil_div(rows, depth), block, "residues") +
         core::size_product(threads, tiles::residue_product_bytes(largest, cols, depth),
                            "residues of products");
}

void ResidueGemm::set_right(MatrixView<const double> b, std::int64_t depth, bool transposed) {
  const std::int64_t rows = transposed ? b.cols : b.rows;
  cols_ = transposed ? b.rows : b.cols;
  depth_ = depth;
  const std::int64_t count = core::ceil_div(rows, depth), chunks = core::ceil_div(cols_, kColumns);
  const std::int64_t bytes = kernels::residue_bytes(cols_, depth, kPlanes);
  const std::int64_t all = core::size_product(bytes, count, "residues");
  if (right_.size() < all) {
    right_ = {};
    right_ = core::Buffer<std::int8_t>(all, core::Contents::any);
  }
  const auto width = [this](std::int64_t first) { return std::min(kColumns, cols_ - first); };
  tiles::LineSizes sizes(cols_);
  pool_.for_each(chunks, [&](std::int64_t chunk) {
    const std::int64_t first = chunk * kColumns;
    if (transposed) {
      sizes.add_rows(kernels::table(), b.block(first, 0, width(first), rows), first);
    } else {
      sizes.add_columns(b.block(0, first, rows, width(first)), first);
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
    const std::int64_t first = item % chunks * kColumns;
    convert(b, transposed, item / chunks, first, width(first));
  });
}

/// Columns [first, first + count) of block k of B.
void ResidueGemm::convert(MatrixView<const double> b, bool transposed, std::int64_t k,
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

void ResidueGemm::subtract(std::int64_t count, std::int64_t largest,
                           const std::function<Rows(std::int64_t)>& rows) {
  if (count == 0 || cols_ == 0) return;
  // All columns at once, so that A is converted once, unless there are more threads than products.
  const int threads = pool_.size();
  const std::int64_t parts =
      std::clamp<std::int64_t>(2 * threads / count, 1, core::ceil_div(cols_, kFewest));
  const std::int64_t width = core::round_up(core::ceil_div(cols_, parts), kernels::kResiduePanel);
  const std::int64_t bytes = tiles::residue_product_bytes(largest, width, depth_);
  scratch_.resize(std::max(scratch_.size(), static_cast<std::size_t>(threads)));
  std::atomic<std::int64_t> next{0};
  pool_.run([&](int thread) {
    auto& scratch = scratch_[static_cast<std::size_t>(thread)];
    std::vector<kernels::ResiduesIn> blocks(blocks_.size());
    for (std::int64_t item = next++; item < count * parts; item = next++) {
      if (scratch.size() < bytes) {
        scratch = {};
        scratch = core::Buffer<std::byte>(bytes, core::Contents::any);
      }
      const Rows r = rows(item / parts);
      // A triangle is not divided.
      const bool whole = r.shape == kernels::Shape::lower;
      if (whole && item % parts > 0) continue;
      const std::int64_t first = item % parts * width;
      const std::int64_t columns = whole ? r.c.cols : std::min(width, r.c.cols - first);
      if (columns <= 0) continue;
      for (std::size_t k = 0; k < blocks.size(); ++k) {
        blocks[k] = blocks_[k].block(r.column + first, 0, columns, blocks_[k].depth);
      }
      tiles::subtract_residue_product(
          kernels::table(), r.a, {blocks, scales_.back.data() + r.column + first},
          r.c.block(0, first, r.c.rows, columns), scratch.data(), r.shape);
    }
  });
}

}  // namespace stepwell::factor
