// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "engine/communicator.hpp"
#include "kernels/fixture/fixture.hpp"
#include "stepwell/distributed.hpp"
#include "tiles/distribution.hpp"

/// Code shared by the distributed tests. Every rank runs the same tests with the same data; a test
/// fails if it fails on any rank.
namespace stepwell::distributed::test {

using kernels::test::Dense;
using kernels::test::kU32;
using kernels::test::kU64;
using kernels::test::Random;

/// The ranks of MPI_COMM_WORLD.
const Ranks& world();
engine::Communicator& communicator();

/// Distributions over all ranks: the most square grid, a grid with a single row, and the symmetric
/// layout if it exists for this number of ranks.
std::vector<tiles::Distribution> distributions();

/// The options that select these distributions.
std::vector<DistributedOptions> layouts();

/// A symmetric matrix with both triangles stored: random, with 'diagonal' added to the diagonal.
Dense<double> symmetric(std::int64_t n, double diagonal, std::uint64_t seed = 1);

/// Fills tiles of A; the strict upper triangle is NaN because it must not be read.
FillTile tiles_of(const Dense<double>& a);

/// Whether all ranks have the same bits. Collective.
bool same_everywhere(const double* x, std::int64_t size);
inline bool same_everywhere(const std::vector<double>& x) {
  return same_everywhere(x.data(), std::ssize(x));
}

}  // namespace stepwell::distributed::test
