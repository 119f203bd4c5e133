// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "engine/graph.hpp"

namespace stepwell::engine {

/// The tasks that last used each piece of data. A task that reads waits for the last one that
/// wrote, and one that writes also for those that have read since. T names a task.
template <class T>
class AccessHistory {
 public:
  /// Records what a task uses, and calls wait_for(earlier) for each task that it has to wait for,
  /// possibly more than once. Tasks for which is_over(earlier) is true are forgotten.
  template <class WaitFor, class IsOver>
  void record(T task, std::span<const Use> uses, const WaitFor& wait_for, const IsOver& is_over) {
    for (const Use& use : uses) {
      const auto data = static_cast<std::size_t>(use.data);
      if (data >= last_.size()) last_.resize(data + 1);
      Last& last = last_[data];
      if (last.writer && !is_over(*last.writer)) wait_for(*last.writer);
      if (use.access == Access::read) {
        if (last.readers.size() == last.readers.capacity()) std::erase_if(last.readers, is_over);
        last.readers.push_back(task);
        continue;
      }
      for (const T reader : last.readers) {
        if (!is_over(reader)) wait_for(reader);
      }
      last.readers.clear();
      last.writer = task;
    }
  }
  void clear() { last_.clear(); }

 private:
  struct Last {
    std::optional<T> writer;
    std::vector<T> readers;  ///< since it was written
  };
  std::vector<Last> last_;  ///< by DataId
};

}  // namespace stepwell::engine
