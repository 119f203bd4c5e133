// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "engine/communicator.hpp"

#include <algorithm>
#include <array>
#include <mutex>

#include "stepwell/distributed.hpp"
#include "stepwell/error.hpp"

namespace stepwell {

Ranks::Ranks(std::shared_ptr<RanksData> data) : data_(std::move(data)) {}

int Ranks::rank() const {
  return RanksData::of(*this).rank();
}

int Ranks::size() const {
  return RanksData::of(*this).size();
}

namespace engine {
namespace {

struct CommunicatorLocks {
  std::mutex mutex;
  int count = 0;
};

CommunicatorLocks& communicator_locks() {
  // Never destroyed: calls may still end when the program exits.
  static CommunicatorLocks* const locks = new CommunicatorLocks;
  return *locks;
}

}  // namespace

CommunicatorLock::CommunicatorLock(Communicator& ranks) : ranks_(ranks) {
  CommunicatorLocks& all = communicator_locks();
  const std::lock_guard lock(all.mutex);
  if (ranks.locked_) {
    throw Error(
        ErrorCode::invalid_argument,
        "another thread of this process is in a call over the same ranks, and the messages of "
        "two calls can't be told apart; make the calls one after the other, or create "
        "ranks for each thread (with mpi_world() or mpi_ranks())");
  }
  if (all.count > 0 && !ranks.many_threads()) {
    throw Error(ErrorCode::unsupported,
                "another thread of this process is in a call over ranks, and MPI was started for "
                "one thread at a time; make the calls one after the other, or start MPI with "
                "MPI_Init_thread(..., MPI_THREAD_MULTIPLE, ...)");
  }
  ranks.locked_ = true;
  ++all.count;
}

CommunicatorLock::~CommunicatorLock() {
  CommunicatorLocks& all = communicator_locks();
  const std::lock_guard lock(all.mutex);
  ranks_.locked_ = false;
  --all.count;
}

void agree_on_error(Communicator& ranks, int code, const std::string& message) {
  std::int64_t first = code >= 0 ? ranks.size() - ranks.rank() : 0;  // largest for the lowest rank
  ranks.largest({&first, 1});
  if (first == 0) return;
  const auto root = static_cast<int>(ranks.size() - first);
  std::array<char, 1024> text{};
  std::copy_n(message.begin(), std::min(message.size(), text.size() - 1), text.begin());
  ranks.broadcast(std::as_writable_bytes(std::span(text)), root);
  ranks.broadcast(std::as_writable_bytes(std::span(&code, 1)), root);
  throw AgreedError(static_cast<ErrorCode>(code),
                    "rank " + std::to_string(root) + ": " + std::string(text.data()));
}

}  // namespace engine
}  // namespace stepwell
