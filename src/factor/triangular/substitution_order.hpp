// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "engine/threads/counter.hpp"
#include "engine/threads/thread_pool.hpp"

namespace stepwell::factor {

/// The order in which threads substitute with a triangular matrix of several block rows. Item (s,
/// q) applies the block solved in step s to the block of step q > s. The next block, q = s + 1, is
/// what all others wait for: it comes first in its step, may be divided into parts for several
/// threads, and is solved by the thread that has its last part. A block gets its contributions in
/// the order of the steps: the bits do not depend on the number of threads.
class SubstitutionOrder {
 public:
  /// A range of the elements of the block of step q: part 'index' of 'count'.
  struct Part {
    std::int64_t index = 0, count = 1;
  };

  SubstitutionOrder(std::int64_t steps, std::int64_t parts)
      : steps_(steps), parts_(parts), applied_(static_cast<std::size_t>(steps)) {}

  /// Calls solve(s), apply(s, q, part) and, on a thread that has to wait, fetch(s, q, part) for
  /// what it will apply and fetch(q, q, {}) for what it will solve with. They must not throw. Once.
  template <class Solve, class Apply, class Fetch>
  void run(engine::ThreadPool& pool, const Solve& solve, const Apply& apply, const Fetch& fetch) {
    solve(0);
    solved_.add();
    const std::int64_t items = (steps_ - 1) * parts_ + (steps_ - 1) * (steps_ - 2) / 2;
    pool.for_each(items, [&](std::int64_t index) {
      const Item item = at(index);
      const std::int64_t s = item.step, q = item.to;
      const bool solves = q == s + 1 && item.part.index + 1 == item.part.count;
      if (solved_.value() <= s) {
        fetch(s, q, item.part);
        if (solves) fetch(q, q, Part{});
      }
      solved_.wait_for(s + 1);
      engine::Counter& order = applied_[static_cast<std::size_t>(q)];
      order.wait_for(s);
      apply(s, q, item.part);
      order.add();
      if (!solves) return;
      order.wait_for(s + parts_);
      solve(q);
      solved_.add();
    });
  }

 private:
  struct Item {
    std::int64_t step, to;
    Part part;
  };

  /// Items in order: the parts of (0, 1), then (0, 2) ... (0, T - 1), the parts of (1, 2), ...
  Item at(std::int64_t index) const {
    std::int64_t s = 0;
    const auto items_of = [&](std::int64_t step) { return parts_ + steps_ - 2 - step; };
    while (index >= items_of(s)) index -= items_of(s++);
    if (index < parts_) return {s, s + 1, {index, parts_}};
    return {s, s + 2 + index - parts_, {}};
  }

  std::int64_t steps_, parts_;
  engine::Counter solved_;                ///< blocks solved
  std::vector<engine::Counter> applied_;  ///< blocks, or parts, applied to each step's block
};

}  // namespace stepwell::factor
