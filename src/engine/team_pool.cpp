// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "engine/team_pool.hpp"

#include <unistd.h>

#include <mutex>
#include <utility>

#include "core/system.hpp"

namespace stepwell::engine {
namespace {

struct Idle {
  std::mutex mutex;
  std::unique_ptr<Team> team;
  int threads = 0;
  int process = 0;
};

/// Never destroyed: its threads sleep, and the process's end does not wait for them.
Idle& idle() {
  static Idle* const it = new Idle;
  return *it;
}

/// Holds the pool, or nothing: a child forked while another thread held it would wait for ever.
std::unique_lock<std::mutex> try_hold() {
  return std::unique_lock<std::mutex>(idle().mutex, std::try_to_lock);
}

}  // namespace

int team_threads(const Context* context) {
  return context == nullptr ? core::threads_allowed() : context->threads();
}

BorrowedTeam::BorrowedTeam(int threads) : threads_(threads) {
  if (threads > 1) {
    if (const auto held = try_hold();
        held && idle().team && idle().threads == threads && idle().process == getpid()) {
      team_ = std::move(idle().team);
    }
  }
  if (!team_) team_ = std::make_unique<Team>(threads);
}

BorrowedTeam::~BorrowedTeam() {
  if (threads_ <= 1) return;
  std::unique_ptr<Team> old;  // joined after the lock is gone
  if (const auto held = try_hold(); held) {
    old = std::exchange(idle().team, std::move(team_));
    idle().threads = threads_;
    idle().process = getpid();
  }
}

}  // namespace stepwell::engine
