// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "engine/threads/counter.hpp"
#include "engine/threads/thread_pool.hpp"

namespace stepwell::factor {

/// The order in which threads substitute with a triangular matrix of several block rows. Item (s,
/// q) applies the block solved in step s to the block of step q > s; the item that makes the next
/// block ready also solves it, and comes first in its step, so that no thread waits for a diagonal
/// tile while there is a tile to apply. A block gets its contributions in the order of the steps:
/// the bits do not depend on the number of threads.
class SubstitutionOrder {
 public:
  explicit SubstitutionOrder(std::int64_t steps)
      : steps_(steps), applied_(static_cast<std::size_t>(steps)) {}

  /// Calls solve(s) and apply(s, q), which must not throw. Once.
  template <class Solve, class Apply>
  void run(engine::ThreadPool& pool, const Solve& solve, const Apply& apply) {
    solve(0);
    solved_.add();
    if (steps_ == 1) return;
    pool.for_each(steps_ * (steps_ - 1) / 2, [&](std::int64_t index) {
      // Items in order: (0,1) (0,2) ... (0,T-1) (1,2) ...
      std::int64_t s = 0;
      while (index >= steps_ - 1 - s) index -= steps_ - 1 - s++;
      const std::int64_t q = s + 1 + index;
      solved_.wait_for(s + 1);
      engine::Counter& order = applied_[static_cast<std::size_t>(q)];
      order.wait_for(s);
      apply(s, q);
      if (q > s + 1) {
        order.add();
        return;
      }
      solve(q);
      solved_.add();
    });
  }

 private:
  std::int64_t steps_;
  engine::Counter solved_;                ///< blocks solved
  std::vector<engine::Counter> applied_;  ///< blocks applied to each step's block
};

}  // namespace stepwell::factor
