// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "engine/messenger.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace stepwell::engine {
namespace {

using std::chrono::microseconds;

/// Pauses between two polls for messages that have not arrived. On a rank with a single core a poll
/// takes 10 microseconds of that core, including a timer and two context switches, so busy workers
/// are not interrupted before they finish their tasks, unless that takes long.
constexpr microseconds kShortest{10};
constexpr microseconds kLongest{20};
constexpr microseconds kWhenBusy{2000};

constexpr int kStatusTag = kLargestTag + 1;
constexpr std::byte kFinished{1};
constexpr std::byte kGivingUp{2};

}  // namespace

/// The notice that a rank gives up goes to the ranks at distance 1, 2, 4, ... above it, each of
/// which forwards it: after log2(P) steps all ranks have it. Every rank sends each of these ranks
/// exactly one status message, so that no receive remains pending.
Messenger::Messenger(Communicator& ranks, std::function<void()> alarmed, std::function<bool()> busy)
    : ranks_(ranks), alarmed_(std::move(alarmed)), busy_(std::move(busy)) {
  for (int d = 1; d < ranks.size(); d *= 2) {
    successors_.push_back((ranks.rank() + d) % ranks.size());
    predecessors_.push_back((ranks.rank() - d + ranks.size()) % ranks.size());
  }
  statuses_.resize(predecessors_.size());
  for (std::size_t k = 0; k < predecessors_.size(); ++k) {
    receive({&statuses_[k], 1}, predecessors_[k], kStatusTag + static_cast<int>(k), [this, k] {
      ++statuses_received_;
      if (statuses_[k] != kGivingUp) return;
      send_status(true);
      if (alarmed_) std::exchange(alarmed_, nullptr)();
    });
  }
  thread_ = std::thread([this] { run(); });
}

Messenger::~Messenger() {
  finish();
}

void Messenger::send(std::span<const std::byte> x, int to, int tag, int priority,
                     std::function<void()> done) {
  const std::lock_guard lock(mutex_);
  queue_.push_back({x, {}, to, tag, priority, std::move(done)});
  changed_.notify_one();
}

void Messenger::receive(std::span<std::byte> x, int from, int tag, std::function<void()> done) {
  const std::lock_guard lock(mutex_);
  queue_.push_back({{}, x, from, tag, 0, std::move(done)});
  changed_.notify_one();
}

void Messenger::poll_now() {
  if (!asleep_) return;
  const std::lock_guard lock(mutex_);
  poll_now_ = true;
  changed_.notify_one();
}

void Messenger::alarm() {
  const std::lock_guard lock(mutex_);
  give_up_ = true;
  changed_.notify_one();
}

void Messenger::finish() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    finishing_ = true;
    changed_.notify_one();
  }
  thread_.join();
}

/// Runs on the messenger thread. Sends this rank's status, once: finished or giving up.
void Messenger::send_status(bool giving_up) {
  if (std::exchange(status_sent_, true)) return;
  status_ = giving_up ? kGivingUp : kFinished;
  for (std::size_t k = 0; k < successors_.size(); ++k) {
    send({&status_, 1}, successors_[k], kStatusTag + static_cast<int>(k), 0, [] {});
  }
}

bool Messenger::start_jobs() {
  std::vector<Job> jobs;
  bool give_up = false;
  {
    const std::lock_guard lock(mutex_);
    jobs.swap(queue_);
    give_up = give_up_;
  }
  if (give_up) send_status(true);
  std::stable_sort(jobs.begin(), jobs.end(),
                   [](const Job& a, const Job& b) { return a.priority > b.priority; });
  for (Job& job : jobs) {
    const Communicator::Request request = job.in.empty()
                                              ? ranks_.start_send(job.out, job.peer, job.tag)
                                              : ranks_.start_receive(job.in, job.peer, job.tag);
    under_way_.emplace(request, std::move(job.done));
  }
  return !jobs.empty();
}

bool Messenger::poll() {
  const std::vector<Communicator::Request> done = ranks_.done();
  for (const Communicator::Request request : done) {
    const auto at = under_way_.find(request);
    const std::function<void()> call = std::move(at->second);
    under_way_.erase(at);
    call();
  }
  return !done.empty();
}

void Messenger::run() noexcept {
  try {
    pass_messages();
  } catch (const std::exception& e) {
    // Other ranks wait for messages of this rank, which has no memory to notify them.
    const auto* const error = dynamic_cast<const Error*>(&e);
    ranks_.abort(static_cast<int>(error != nullptr ? error->code() : ErrorCode::out_of_memory));
  }
}

void Messenger::pass_messages() {
  microseconds pause = kShortest;
  for (;;) {
    const bool started = start_jobs();
    if (poll() || started) {
      pause = kShortest;
      continue;
    }
    std::unique_lock lock(mutex_);
    if (!queue_.empty()) continue;
    if (finishing_ && under_way_.size() == predecessors_.size() - statuses_received_) {
      lock.unlock();
      send_status(false);
      lock.lock();
      if (under_way_.empty() && queue_.empty()) return;
    }
    // An arriving message does not wake this thread. A task that ends after the call of busy_()
    // does: its poll_now() finds the thread asleep.
    asleep_ = true;
    const bool busy = busy_();
    changed_.wait_for(lock, busy ? kWhenBusy : pause, [&] { return !queue_.empty() || poll_now_; });
    asleep_ = poll_now_ = false;
    if (!busy) pause = std::min(2 * pause, kLongest);
  }
}

}  // namespace stepwell::engine
