// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "engine/communicator.hpp"
#include "factor/block_source.hpp"
#include "factor/cholesky/workspace.hpp"
#include "stepwell/distributed.hpp"
#include "stepwell/factor.hpp"
#include "tiles/distribution.hpp"

/// cholesky() of a distributed matrix.
namespace stepwell::factor {

class Checkpointing;

/// Collective. 'a' has this rank's tiles of a symmetric matrix of order n. The factor is bit for
/// bit that of cholesky() for the same map and tile; each rank holds the tiles that it owns, and
/// data().scale is complete on every rank. The report is the same on all ranks, except for bytes,
/// memory and times, which are the rank's own. An exception on one rank is thrown on all.
/// options.spread is rejected, because it mixes rows from all parts of A. 'checkpoints', if given,
/// are written, and those of an earlier run are resumed.
Factor distributed_cholesky(engine::Communicator& ranks, const tiles::Distribution& distribution,
                            std::int64_t n, const BlockSource& a, const FactorOptions& options,
                            Checkpointing* checkpoints = nullptr);

/// The peak_bytes that distributed_cholesky reports on a rank with so many workers; for an adaptive
/// map an upper bound.
std::int64_t distributed_factor_bytes(std::int64_t n, const FactorOptions& options,
                                      const tiles::Distribution& distribution, Windows windows,
                                      int rank, int workers);

/// Bytes that all ranks together send during the factorization.
std::int64_t distributed_bytes_to_send(std::int64_t n, const FactorOptions& options,
                                       const tiles::Distribution& distribution);

}  // namespace stepwell::factor
