// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "machine.hpp"
#include "work.hpp"

namespace stepwell::scaling {

/// How a tile gets to those who read it.
enum class FanOut : unsigned char {
  direct,  ///< the owner sends one message to each
  tree     ///< those who have it pass it on, as the library does
};
struct Sending {
  FanOut fan_out = FanOut::tree;
  bool by_priority = true;  ///< messages leave by their tiles' priorities, not as they come
};

/// What a replay of the factorization saw.
struct Replayed {
  double seconds = 0;
  double busy = 0;  ///< of all workers together
  std::int64_t tasks = 0;
  std::int64_t messages = 0;
  std::int64_t bytes = 0;
};

/// Runs the factorization on a machine: each rank's workers take the ready task of the highest
/// priority, a finished tile leaves for the ranks that read it, and waits while the receiver has no
/// room for one more column. Consumes the work. Throws Error(internal) if tasks are left.
Replayed replay(Work& work, const Platform& platform, Machine& machine, const Sending& sending);

/// Times that no order of the work can beat.
struct Bounds {
  double compute = 0;  ///< the rank with the most work, its workers always busy
  double network = 0;  ///< the rank that sends or receives the most bytes
  double panel = 0;    ///< from column to column: diagonal tile, inverse there, solve, tile there,
                       ///< its copy, and the product into the next diagonal tile
};
Bounds bounds(const Work& work, const Platform& platform);

/// What the rank with the most needs, in bytes.
struct Memory {
  std::int64_t factor = 0;    ///< its tiles of L
  std::int64_t sums = 0;      ///< and what they are summed up in
  std::int64_t rows = 0;      ///< rows of L in rows order
  std::int64_t received = 0;  ///< columns of other ranks' tiles
  std::int64_t matrix = 0;    ///< its tiles of A in FP64, if they are kept

  std::int64_t all() const { return factor + sums + rows + received; }
};
Memory memory(const Work& work, int workers);

/// One iteration of refinement, by a formula: the product with A from kept tiles or made anew, one
/// reduction of n doubles, and two triangular sweeps with as many steps as there are block columns.
struct Iteration {
  double kept = 0, regenerated = 0;  ///< the product
  double reduction = 0;
  double sweeps = 0;
};
Iteration iteration(const Work& work, const Platform& platform);

}  // namespace stepwell::scaling
