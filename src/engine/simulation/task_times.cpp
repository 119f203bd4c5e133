// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "engine/simulation/task_times.hpp"

#include <algorithm>
#include <iterator>

namespace stepwell::engine {
namespace {

double quartile(std::vector<double> samples) {
  const auto at = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 4);
  std::nth_element(samples.begin(), at, samples.end());
  return *at;
}

}  // namespace

void TaskTimes::record(const std::string& codelet, std::uint32_t footprint, double seconds) {
  samples_[codelet][footprint].push_back(seconds);
}

double TaskTimes::of(const std::string& codelet, std::uint32_t footprint) const {
  const auto found = samples_.find(codelet);
  if (found == samples_.end()) return 0;
  const auto& known = found->second;
  auto next = known.lower_bound(footprint);
  if (next != known.end() && next->first == footprint) return quartile(next->second);
  if (known.size() == 1) return quartile(known.begin()->second);
  if (next == known.begin()) ++next;
  if (next == known.end()) --next;
  const auto before = std::prev(next);
  const double low = quartile(before->second), high = quartile(next->second);
  const double slope = (high - low) / (next->first - before->first);
  const double seconds = low + slope * (static_cast<double>(footprint) - before->first);
  return std::max(seconds, 0.0);
}

}  // namespace stepwell::engine
