// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "engine/simulation/simulated_run.hpp"

#include <algorithm>
#include <cmath>

namespace stepwell::engine {
namespace {

/// Sets the work of a task. Other threads can only help where a phase has several pieces.
void set_work(SimulatedTask& task, const TaskCost& cost, const SimulatedMachine& machine) {
  task.own = cost.seconds + machine.take;
  const std::int64_t phases = std::llround(cost.phases);
  const std::int64_t pieces =
      phases == 0 ? 0 : std::llround(cost.pieces / static_cast<double>(phases));
  if (pieces < 2 || machine.workers == 1) return;
  task.phases = phases;
  task.pieces = pieces;
  task.own += machine.share * static_cast<double>(phases) - cost.shared;
  task.piece = cost.shared / static_cast<double>(phases * pieces);
}

}  // namespace

void SimulatedRun::insert(const std::string& codelet, std::span<const Use> uses,
                          std::span<const Piece> pieces, const Hints& hints) {
  const std::size_t self = tasks_.size();
  SimulatedTask& task = tasks_.emplace_back();
  inserting_ += machine_.insert + machine_.insert_use * static_cast<double>(uses.size());
  double before = 0;
  history_.record(
      self, uses,
      [&](std::size_t earlier) {
        tasks_[earlier].next.push_back(self);
        ++task.waits_for;
        before = std::max(before, chain_[earlier]);
      },
      [](std::size_t) { return false; });
  const TaskCost cost = times_.of(codelet, hints.footprint);
  set_work(task, cost, machine_);
  task.inserted = inserting_;
  task.priority = hints.priority;
  seconds_.push_back(cost.seconds + machine_.take);
  chain_.push_back(before + task.own + task.piece * static_cast<double>(task.phases));
  std::vector<DataId>& used = uses_.emplace_back();
  for (std::size_t k = 0; k < uses.size() && machine_.bandwidth > 0; ++k) {
    const auto data = static_cast<std::size_t>(uses[k].data);
    if (data >= bytes_.size()) bytes_.resize(data + 1);
    bytes_[data] = static_cast<double>(pieces[k].rows * pieces[k].element) *
                   static_cast<double>(pieces[k].cols);
    used.push_back(uses[k].data);
  }
  total_.work += seconds_.back();
  ++total_.tasks;
}

void SimulatedRun::wait() {
  total_.chain += chain_.empty() ? 0 : *std::max_element(chain_.begin(), chain_.end());
  total_.insertion += inserting_;
  total_.seconds += replay();
  tasks_.clear();
  seconds_.clear();
  chain_.clear();
  uses_.clear();
  history_.clear();
  inserting_ = 0;
}

double SimulatedRun::from_memory(std::size_t task) {
  double bytes = 0;
  for (const DataId data : uses_[task]) {
    const auto k = static_cast<std::size_t>(data);
    bytes += cache_.use(k, bytes_[k]);
  }
  return bytes;
}

double SimulatedRun::replay() {
  if (machine_.bandwidth == 0) return Replay(tasks_, machine_.workers, {}).run();
  std::vector<double> demand(tasks_.size());  // bytes per second of a task that runs
  double demands = 0;
  // If the tasks that run want more than there is, each gets its share.
  const auto slower = [&](std::size_t k) {
    const double bytes = std::min(from_memory(k), seconds_[k] * machine_.core_bandwidth);
    total_.memory += bytes / machine_.bandwidth;
    demand[k] = bytes / seconds_[k];
    demands += demand[k];
    return std::max(1.0, demands / machine_.bandwidth);
  };
  const auto ended = [&](std::size_t k) { demands -= demand[k]; };
  return Replay(tasks_, machine_.workers, {slower, ended}).run();
}

}  // namespace stepwell::engine
