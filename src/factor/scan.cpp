// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "factor/scan.hpp"

#include "kernels/kernels.hpp"

namespace stepwell::factor {

double symmetric_norm(const kernels::Scan& lower, const Diagonal& diagonal) {
  kernels::Scan middle;
  kernels::LoadArgs args;
  args.a = view(diagonal.value.data(), std::ssize(diagonal.value), std::int64_t{1});
  kernels::load(kernels::table(), args, middle);
  kernels::Scan both;  // each element below the diagonal counts twice
  both.big = 2 * lower.big - middle.big;
  both.mid = 2 * lower.mid - middle.mid;
  both.small = 2 * lower.small - middle.small;
  return kernels::frobenius(both);
}

ProcessContext::Place first_non_finite(const BlockSource& source, const tiles::Grid& grid,
                                       const ProcessContext& process) {
  core::Buffer<double> scratch;
  if (source.needs_scratch()) {
    scratch = core::Buffer<double>(grid.tile * grid.tile, core::Contents::any);
  }
  for (std::int64_t j = 0; j < grid.tiles(); ++j) {
    ProcessContext::Place first;
    for (std::int64_t i = j; i < grid.tiles(); ++i) {
      if (!process.owns(i, j)) continue;
      kernels::Scan scan;
      kernels::LoadArgs args;
      args.a = source.block_of_a({i * grid.tile, j * grid.tile, grid.size(i), grid.size(j)},
                                 scratch.data());
      args.shape = i == j ? kernels::Shape::lower : kernels::Shape::full;
      kernels::load(kernels::table(), args, scan);
      if (scan.non_finite == 0) continue;
      const std::pair found{i * grid.tile + scan.bad_row, j * grid.tile + scan.bad_col};
      if (!first || found.second < first->second ||
          (found.second == first->second && found.first < first->first)) {
        first = found;
      }
    }
    if (first) return first;
  }
  return std::nullopt;
}

}  // namespace stepwell::factor
