// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "machine.hpp"
#include "work.hpp"

namespace stepwell::bench::scaling {

/// How a tile is sent to the ranks that read it.
enum class FanOut : unsigned char {
  direct,  ///< the owner sends one message to each reader
  tree     ///< receivers forward it along a broadcast tree, as in the library
};
struct Sending {
  FanOut fan_out = FanOut::tree;
  bool by_priority = true;  ///< send by the priority of the tiles; false: in order of arrival
};

/// The result of a replay of the factorization.
struct Replayed {
  double seconds = 0;
  double busy = 0;  ///< seconds, summed over all workers
  std::int64_t tasks = 0;
  std::int64_t messages = 0;
  std::int64_t bytes = 0;
};

/// Runs the factorization on a machine: each rank's workers take the ready task with the highest
/// priority; a finished tile is sent to the ranks that read it, but waits while the receiver has no
/// memory for one more column. Consumes the work. Throws Error(internal) if tasks are left.
Replayed replay(Work& work, const Platform& platform, Machine& machine, const Sending& sending);

/// Lower bounds on the time for any order of the work.
struct Bounds {
  double compute = 0;  ///< the rank with the most work, its workers always busy
  double network = 0;  ///< the rank that sends or receives the most bytes
  double panel = 0;    ///< the chain from column to column: diagonal tile, sending its inverse,
                       ///< solve, sending that tile, its copy, product into the next diagonal tile
};
Bounds bounds(const Work& work, const Platform& platform);

/// The memory of the rank that needs the most, in bytes.
struct Memory {
  std::int64_t factor = 0;    ///< its tiles of L
  std::int64_t sums = 0;      ///< the sums of these tiles
  std::int64_t rows = 0;      ///< rows of L in rows order
  std::int64_t received = 0;  ///< columns of other ranks' tiles
  std::int64_t matrix = 0;    ///< its tiles of A in FP64, if they are kept

  std::int64_t all() const { return factor + sums + rows + received; }
};
Memory memory(const Work& work, int workers);

/// Seconds of one iteration of refinement, by a formula: the product with A, whose tiles are kept
/// or regenerated, one reduction of n doubles, and two triangular sweeps with as many steps as
/// there are block columns.
struct Iteration {
  double kept = 0, regenerated = 0;  ///< the product
  double reduction = 0;
  double sweeps = 0;
};
Iteration iteration(const Work& work, const Platform& platform);

}  // namespace stepwell::bench::scaling
