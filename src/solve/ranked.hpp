// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "factor/block_source.hpp"
#include "stepwell/ranks.hpp"

namespace stepwell::driver {

/// solve_spd() over ranks where 'a' has this rank's tiles. One that needs no scratch has them in
/// memory, and they are read there: ranked.keep_tiles is for those that are made. Collective.
Certificate solve_ranked(const Ranks& ranks, std::int64_t n, const factor::BlockSource& a,
                         MatrixView<const double> b, MatrixView<double> x,
                         const SolveOptions& options, const RankedOptions& ranked);

}  // namespace stepwell::driver
