// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "engine/simulation/task_times.hpp"

#include <algorithm>
#include <iterator>

namespace stepwell::engine {
namespace {

TaskCost tenth(std::vector<TaskCost> samples) {
  const auto at = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 10);
  std::nth_element(samples.begin(), at, samples.end(),
                   [](const TaskCost& a, const TaskCost& b) { return a.seconds < b.seconds; });
  return *at;
}

/// The value at x on the line through (x0, a) and (x1, b), not below zero.
TaskCost on_line(double x, double x0, const TaskCost& a, double x1, const TaskCost& b) {
  const auto at = [&](double TaskCost::*member) {
    const double slope = (b.*member - a.*member) / (x1 - x0);
    return std::max(a.*member + slope * (x - x0), 0.0);
  };
  TaskCost cost{at(&TaskCost::seconds), at(&TaskCost::shared), at(&TaskCost::phases),
                at(&TaskCost::pieces)};
  cost.shared = std::min(cost.shared, cost.seconds);
  return cost;
}

}  // namespace

void TaskTimes::record(const std::string& codelet, const Footprint& footprint,
                       const TaskCost& cost) {
  samples_[codelet][footprint.variant][footprint.depth].push_back(cost);
}

TaskCost TaskTimes::of(const std::string& codelet, const Footprint& footprint) const {
  const auto found = samples_.find(codelet);
  if (found == samples_.end()) return {};
  auto variant = found->second.lower_bound(footprint.variant);
  const bool exact = variant != found->second.end() && variant->first == footprint.variant;
  if (!exact && variant != found->second.begin()) --variant;
  const ByDepth& known = variant->second;
  const std::uint32_t depth = footprint.depth;
  auto next = known.lower_bound(depth);
  if (next != known.end() && next->first == depth) return tenth(next->second);
  if (known.size() == 1) return tenth(known.begin()->second);
  if (next == known.begin()) ++next;
  if (next == known.end()) --next;
  const auto before = std::prev(next);
  return on_line(depth, before->first, tenth(before->second), next->first, tenth(next->second));
}

}  // namespace stepwell::engine
