// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "engine/communicator.hpp"
#include "factor/block_source.hpp"
#include "factor/cholesky/workspace.hpp"
#include "stepwell/factor.hpp"
#include "stepwell/ranks.hpp"
#include "tiles/distribution.hpp"

/// cholesky() over ranks.
namespace stepwell::factor {

class Checkpointing;

/// Collective. 'a' has this rank's tiles of a symmetric matrix of order n. Bit for bit the factor
/// of cholesky() for the same map and tile, each rank with the tiles it owns; data().scale is whole
/// on every rank. The report is the same on all ranks, but for bytes, memory and times, which are
/// the rank's own. What is thrown on one rank is thrown on all. options.spread is refused: it mixes
/// rows from all over A. 'checkpoints', if any, are written, and taken up where an earlier run has
/// left them.
Factor distributed_cholesky(engine::Communicator& ranks, const tiles::Distribution& distribution,
                            std::int64_t n, const BlockSource& a, const FactorOptions& options,
                            Checkpointing* checkpoints = nullptr);

/// The peak_bytes that it reports on a rank with so many workers; of an adaptive map at most that.
std::int64_t distributed_factor_bytes(std::int64_t n, const FactorOptions& options,
                                      const tiles::Distribution& distribution, Windows windows,
                                      int rank, int workers);

/// Bytes that all ranks together send for the factor.
std::int64_t distributed_bytes_to_send(std::int64_t n, const FactorOptions& options,
                                       const tiles::Distribution& distribution);

}  // namespace stepwell::factor
