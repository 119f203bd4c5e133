// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "distributed/fixture.hpp"

#include <cstring>
#include <limits>

namespace stepwell::distributed::test {

const Ranks& world() {
  static const Ranks ranks = mpi_world();
  return ranks;
}

engine::Communicator& communicator() {
  return RanksData::of(world());
}

std::vector<DistributedOptions> layouts() {
  const int size = world().size();
  std::vector<DistributedOptions> found(1);
  if (size > 1) {
    found.emplace_back();
    found.back().grid_rows = 1;
  }
  if (size == 1 || size == 3 || size == 6) {
    found.emplace_back();
    found.back().layout = Layout::symmetric;
  }
  return found;
}

std::vector<tiles::Distribution> distributions() {
  std::vector<tiles::Distribution> found;
  for (const DistributedOptions& options : layouts()) {
    found.push_back(tiles::Distribution::choose(world().size(), options));
  }
  return found;
}

Dense<double> symmetric(std::int64_t n, double diagonal, std::uint64_t seed) {
  Random random(seed);
  Dense<double> a = kernels::test::gaussian(n, n, random);
  for (std::int64_t j = 0; j < n; ++j) {
    a(j, j) += diagonal;
    for (std::int64_t i = 0; i < j; ++i) a(i, j) = a(j, i);
  }
  return a;
}

FillTile tiles_of(const Dense<double>& a) {
  return [&a](std::int64_t row, std::int64_t col, MatrixView<double> tile) {
    for (std::int64_t j = 0; j < tile.cols; ++j) {
      for (std::int64_t i = 0; i < tile.rows; ++i) {
        const bool upper = row + i < col + j;
        tile(i, j) = upper ? std::numeric_limits<double>::quiet_NaN() : a(row + i, col + j);
      }
    }
  };
}

bool same_everywhere(const double* x, std::int64_t size) {
  std::vector<double> first(x, x + size);
  communicator().broadcast(std::as_writable_bytes(std::span(first)), 0);
  std::int64_t differs =
      std::memcmp(first.data(), x, static_cast<std::size_t>(size) * sizeof(double)) != 0 ? 1 : 0;
  communicator().largest({&differs, 1});
  return differs == 0;
}

}  // namespace stepwell::distributed::test
