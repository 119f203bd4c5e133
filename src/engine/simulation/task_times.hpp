// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "engine/graph.hpp"

namespace stepwell::engine {

/// What a task takes on one core.
struct TaskCost {
  double seconds = 0;
  double shared = 0;  ///< seconds of them, of pieces that other threads may share
  double phases = 0;  ///< how often it shares pieces
  double pieces = 0;  ///< number of all these pieces
};

/// What the tasks of a graph take on one core, by codelet and footprint: measured by a graph
/// that the inserting thread runs, and used by one that is simulated. For tiles of one size.
class TaskTimes {
 public:
  void record(const std::string& codelet, const Footprint& footprint, const TaskCost& cost);
  /// The lowest tenth of what was recorded, because other programs on the machine only add to it.
  /// For a depth that was not, on the line through the two nearest ones; for a variant that was
  /// not, the nearest one. 0 if nothing was recorded for the codelet.
  TaskCost of(const std::string& codelet, const Footprint& footprint) const;
  bool empty() const { return samples_.empty(); }

 private:
  using Samples = std::vector<TaskCost>;
  using ByDepth = std::map<std::uint32_t, Samples>;
  std::map<std::string, std::map<std::uint32_t, ByDepth>> samples_;  ///< by variant
};

}  // namespace stepwell::engine
