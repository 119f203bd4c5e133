// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace stepwell::engine {

/// How long the tasks of a graph take on one core, by codelet and footprint: measured by a graph
/// that the inserting thread runs, and used by one that is simulated. For tiles of one size.
class TaskTimes {
 public:
  void record(const std::string& codelet, std::uint32_t footprint, double seconds);
  /// The lower quartile of what was recorded, because other programs on the machine only add to it.
  /// For a footprint that was not, on the line through the two
  /// nearest ones: the footprint of a sweep grows with the number of its products. 0 if nothing was
  /// recorded for the codelet.
  double of(const std::string& codelet, std::uint32_t footprint) const;
  bool empty() const { return samples_.empty(); }

 private:
  using Samples = std::vector<double>;
  std::map<std::string, std::map<std::uint32_t, Samples>> samples_;
};

}  // namespace stepwell::engine
