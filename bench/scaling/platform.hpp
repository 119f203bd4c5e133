// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tiles/rung_map.hpp"

/// What a node can do: measured here, or assumed of a machine that is elsewhere.
namespace stepwell::scaling {

/// How fast one worker is on tiles of one order at one rung. Flops count as docs/bench.md does:
/// n^3/3 of a diagonal tile, n^3 of a solve, 2 n^3 of a product.
struct Rates {
  Rung rung = Rung::bf16;
  std::int64_t tile = 512;
  double product = 0;   ///< flop/s
  double diagonal = 0;  ///< flop/s, the inverse included
  double solve = 0;     ///< flop/s
  double load = 0;      ///< elements of A a second
  double reorder = 0;   ///< elements of L a second
};

struct Platform {
  std::string name;
  int workers = 1;           ///< of a rank
  int ranks_per_host = 1;    ///< more than one: they share its cores and its memory, not a network
  int cores = 0;             ///< of a host; 0: one for each worker
  double task_seconds = 0;   ///< what the engine takes for a task
  double bandwidth = 25e9;   ///< bytes/s of a node's network, each way
  double latency = 2e-6;     ///< seconds of a message
  double memory = 200e9;     ///< bytes/s that a node's workers read from memory
  double regenerate = 1e9;   ///< elements of A a second that a node makes anew
  std::vector<Rates> rates;  ///< for each rung and order of tiles that is known

  /// Those of the rung with the nearest order of tiles. Throws Error(invalid_argument) if there are
  /// none.
  const Rates& rates_of(Rung rung, std::int64_t tile) const;
};

/// Reads a JSON file. Throws Error(invalid_argument) that names the file and the key.
Platform read_platform(const std::string& path);

}  // namespace stepwell::scaling
