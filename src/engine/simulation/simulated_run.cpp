// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "engine/simulation/simulated_run.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <tuple>

namespace stepwell::engine {

void SimulatedRun::insert(const std::string& codelet, std::span<const Use> uses, const Hints& hints,
                          double bytes) {
  const std::size_t self = nodes_.size();
  nodes_.emplace_back();
  inserting_ += machine_.insert + machine_.insert_use * static_cast<double>(uses.size());
  double before = 0;
  history_.record(
      self, uses,
      [&](std::size_t earlier) {
        nodes_[earlier].next.push_back(self);
        ++nodes_[self].waits_for;
        before = std::max(before, nodes_[earlier].chain);
      },
      [](std::size_t) { return false; });
  Node& node = nodes_[self];
  node.seconds = times_.of(codelet, hints.footprint) + machine_.take;
  node.bytes = bytes;
  node.inserted = inserting_;
  node.chain = before + node.seconds;
  node.priority = hints.priority;
  total_.work += node.seconds;
  if (machine_.bandwidth > 0) total_.memory += bytes / machine_.bandwidth;
  ++total_.tasks;
}

void SimulatedRun::wait() {
  double longest = 0;
  for (const Node& node : nodes_) longest = std::max(longest, node.chain);
  total_.chain += longest;
  total_.insertion += inserting_;
  total_.seconds += replay();
  nodes_.clear();
  history_.clear();
  inserting_ = 0;
}

double SimulatedRun::replay() {
  struct Ready {
    int priority;
    std::size_t node;
    bool operator<(const Ready& other) const {
      return priority != other.priority ? priority < other.priority : node > other.node;
    }
  };
  using End = std::pair<double, std::size_t>;
  std::priority_queue<Ready> ready;
  std::priority_queue<End, std::vector<End>, std::greater<>> running;
  std::vector<double> demand(nodes_.size());  // bytes per second of a task that runs
  double demands = 0;
  std::size_t inserted = 0;
  // The inserting thread becomes a worker at the end; a single worker is that thread.
  int free = machine_.workers - 1;
  bool inserting = !nodes_.empty();
  double now = 0;
  const auto begin = [&](std::size_t k) {
    Node& node = nodes_[k];
    demand[k] = node.bytes / node.seconds;
    demands += demand[k];
    const bool limited = machine_.bandwidth > 0 && demands > machine_.bandwidth;
    running.push({now + node.seconds * (limited ? demands / machine_.bandwidth : 1), k});
    --free;
  };
  while (inserting || !running.empty() || !ready.empty()) {
    while (free > 0 && !ready.empty()) {
      const std::size_t k = ready.top().node;
      ready.pop();
      begin(k);
    }
    const bool insert_next =
        inserting && (running.empty() || nodes_[inserted].inserted <= running.top().first);
    if (insert_next) {
      now = std::max(now, nodes_[inserted].inserted);
      if (nodes_[inserted].waits_for == 0) ready.push({nodes_[inserted].priority, inserted});
      if (++inserted == nodes_.size()) {
        inserting = false;
        ++free;
      }
      continue;
    }
    const auto [end, k] = running.top();
    running.pop();
    now = end;
    ++free;
    demands -= demand[k];
    for (const std::size_t later : nodes_[k].next) {
      if (--nodes_[later].waits_for == 0 && later < inserted) {
        ready.push({nodes_[later].priority, later});
      }
    }
  }
  return now;
}

}  // namespace stepwell::engine
