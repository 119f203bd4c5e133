// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tiles/rung_map.hpp"

/// The performance of a node: measured on this machine, or assumed for another one.
namespace stepwell::bench::scaling {

/// The rates of one worker on tiles of one order at one rung. Flops are counted as in
/// docs/bench.md: n^3/3 for a diagonal tile, n^3 for a solve, 2 n^3 for a product.
struct Rates {
  Rung rung = Rung::bf16;
  std::int64_t tile = 512;
  double product = 0;   ///< flop/s
  double diagonal = 0;  ///< flop/s, including the inverse
  double solve = 0;     ///< flop/s
  double load = 0;      ///< elements of A per second
  double reorder = 0;   ///< elements of L per second
};

struct Platform {
  std::string name;
  int workers = 1;           ///< per rank
  int ranks_per_host = 1;    ///< if more than one, they share its cores and memory, not a network
  int cores = 0;             ///< per host; 0: one for each worker
  double task_seconds = 0;   ///< overhead of the engine per task
  double bandwidth = 25e9;   ///< of a node's network in each direction, bytes/s
  double latency = 2e-6;     ///< of a message, seconds
  double memory = 200e9;     ///< memory bandwidth of a node, bytes/s
  double regenerate = 1e9;   ///< elements of A that a node regenerates per second
  std::vector<Rates> rates;  ///< for each known rung and tile order

  /// The rates for the rung with the nearest tile order. Throws Error(invalid_argument) if there
  /// are none.
  const Rates& rates_of(Rung rung, std::int64_t tile) const;
};

/// Reads a JSON file. Throws Error(invalid_argument), which names the file and the key.
Platform read_platform(const std::string& path);

}  // namespace stepwell::bench::scaling
