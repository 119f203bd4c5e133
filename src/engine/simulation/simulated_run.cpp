// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "engine/simulation/simulated_run.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <tuple>

namespace stepwell::engine {

void SimulatedRun::insert(const std::string& codelet, std::span<const Use> uses,
                          std::span<const Piece> pieces, const Hints& hints) {
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
  for (std::size_t k = 0; k < uses.size() && machine_.bandwidth > 0; ++k) {
    const auto data = static_cast<std::size_t>(uses[k].data);
    if (data >= bytes_.size()) bytes_.resize(data + 1);
    bytes_[data] = static_cast<double>(pieces[k].rows * pieces[k].element) *
                   static_cast<double>(pieces[k].cols);
    node.uses.push_back(uses[k].data);
  }
  node.inserted = inserting_;
  node.chain = before + node.seconds;
  node.priority = hints.priority;
  total_.work += node.seconds;
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

double SimulatedRun::from_memory(const Node& node) {
  double bytes = 0;
  for (const DataId data : node.uses) {
    const auto k = static_cast<std::size_t>(data);
    bytes += cache_.use(k, bytes_[k]);
  }
  return bytes;
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
    const Node& node = nodes_[k];
    double slower = 1;  // if the tasks that run want more than there is, it gets its share
    if (machine_.bandwidth > 0) {
      const double bytes = std::min(from_memory(node), node.seconds * machine_.core_bandwidth);
      total_.memory += bytes / machine_.bandwidth;
      demand[k] = bytes / node.seconds;
      demands += demand[k];
      slower = std::max(1.0, demands / machine_.bandwidth);
    }
    running.push({now + node.seconds * slower, k});
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
