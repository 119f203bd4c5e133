// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "engine/communicator.hpp"
#include "kernels/fixture.hpp"
#include "stepwell/ranks.hpp"
#include "tiles/distribution.hpp"

/// What the tests over ranks share. Every rank runs the same tests with the same numbers; a test
/// that fails on one of them fails.
namespace stepwell::distributed::test {

using kernels::test::Dense;
using kernels::test::kU32;
using kernels::test::kU64;
using kernels::test::Random;

/// MPI_COMM_WORLD's.
const Ranks& world();
engine::Communicator& communicator();

/// Of all ranks: the most square grid, one with a single row, and the symmetric layout where there
/// is one.
std::vector<tiles::Distribution> distributions();

/// The options that lead to them.
std::vector<DistributedOptions> layouts();

/// Symmetric, both triangles, with random numbers and 'diagonal' added to the diagonal.
Dense<double> symmetric(std::int64_t n, double diagonal, std::uint64_t seed = 1);

/// Tiles of A; the strict upper triangle is NaN: it is not to be read.
FillTile tiles_of(const Dense<double>& a);

/// Whether all ranks have the same bits. Collective.
bool same_everywhere(const double* x, std::int64_t size);
inline bool same_everywhere(const std::vector<double>& x) {
  return same_everywhere(x.data(), std::ssize(x));
}

}  // namespace stepwell::distributed::test
