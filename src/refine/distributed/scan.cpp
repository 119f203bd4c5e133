// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <bit>
#include <numeric>
#include <tuple>

#include "kernels/scan.hpp"
#include "refine/distributed/product.hpp"
#include "refine/operators/symmetric_block.hpp"

/// Scan of a distributed A.
namespace stepwell::refine {
namespace {

/// Combines the scans of all ranks: the sums, the largest element and the first non-finite element
/// in column-major order. Collective.
void combine_ranks(engine::Communicator& ranks, std::int64_t n, kernels::Scan& scan,
                   std::span<double> sums) {
  scan.big = sums[0];
  scan.mid = sums[1];
  scan.small = sums[2];
  scan.non_finite = static_cast<std::int64_t>(sums[3]);
  // The bit patterns of non-negative doubles are ordered like their values.
  const bool none = scan.bad_row < 0;
  std::int64_t most[] = {std::bit_cast<std::int64_t>(scan.max_abs),
                         none ? -n * n - 1 : -(scan.bad_col * n + scan.bad_row)};
  ranks.largest(most);
  scan.max_abs = std::bit_cast<double>(most[0]);
  if (scan.non_finite == 0) return;
  scan.bad_row = -most[1] % n;
  scan.bad_col = -most[1] / n;
}

}  // namespace

void DistributedProduct::scan(MatrixView<const double> x, MatrixView<double> y, MatrixScan& found,
                              std::span<Element> elements) {
  const std::int64_t n = grid_.n;
  const std::int64_t r = y.cols;
  const std::int64_t columns = r + 1;  // the last one holds the row sums of |A|
  const std::int64_t in_all = n * columns + std::ssize(elements) + 4;
  // Indices of the elements in the order of the tiles.
  std::vector<std::size_t> order(elements.size());
  const auto place = [&](std::size_t k) {
    return std::pair(elements[k].col / grid_.tile, elements[k].row / grid_.tile);
  };
  std::vector<kernels::Scan> scans(own_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::tuple(place(a), a) < std::tuple(place(b), b);
  });
  for (Element& element : elements) element.value = 0;
  found.checksums = Checksums(n);
  for_lanes(
      columns, in_all,
      [&](MatrixView<const double> tile, std::int64_t row, std::int64_t col, std::size_t lane) {
        const MatrixView<double> sums = sums_of(lane, columns);
        for_blocks(tile, row, col, [&](const SymmetricBlock& block) {
          if (r > 0) add_product(block, x, sums.block(0, 0, n, r));
          found.checksums.add(block.col, scan_block(block, {}, scans[lane], sums.column(r)));
        });
        const std::pair here(col / grid_.tile, row / grid_.tile);
        auto at = std::lower_bound(order.begin(), order.end(), here,
                                   [&](std::size_t k, const auto& key) { return place(k) < key; });
        for (; at != order.end() && place(*at) == here; ++at) {
          elements[*at].value = tile(elements[*at].row - row, elements[*at].col - col);
        }
      });
  for (std::int64_t c = 0; c < columns; ++c) add_lanes(columns, c, whole_.data() + c * n);
  kernels::Scan scan;
  for (const kernels::Scan& of : scans) kernels::combine(scan, of, 0, 0);
  double* more = whole_.data() + n * columns;
  for (const Element& element : elements) *more++ = element.value;
  const double sums[] = {scan.big, scan.mid, scan.small, static_cast<double>(scan.non_finite)};
  std::copy(std::begin(sums), std::end(sums), more);
  agreement_.ranks().sum({whole_.data(), static_cast<std::size_t>(in_all)});
  for (std::int64_t c = 0; c < r; ++c) std::copy_n(whole_.data() + c * n, n, y.column(c));
  const double* const rows = whole_.data() + n * r;
  found.norm_inf = std::max(found.norm_inf, *std::max_element(rows, rows + n));
  const double* in = whole_.data() + n * columns;
  for (Element& element : elements) element.value = *in++;
  combine_ranks(agreement_.ranks(), n, scan, {whole_.data() + in_all - 4, 4});
  kernels::combine(found.scan, scan, 0, 0);
  std::int64_t depth[] = {own_depth()};
  agreement_.ranks().largest(depth);
  depth_ = depth[0];
}

}  // namespace stepwell::refine
