// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "engine/communicator.hpp"

#include <algorithm>
#include <array>
#include <mutex>

#include "stepwell/error.hpp"
#include "stepwell/ranks.hpp"

namespace stepwell {

Ranks::Ranks(std::shared_ptr<engine::Communicator> inside) : inside_(std::move(inside)) {}

int Ranks::rank() const {
  return inside_->rank();
}

int Ranks::size() const {
  return inside_->size();
}

namespace engine {
namespace {

struct Holds {
  std::mutex mutex;
  int count = 0;
};

Holds& holds() {
  static Holds* const h = new Holds;  // never destroyed: calls may still end when the program exits
  return *h;
}

}  // namespace

Hold::Hold(Communicator& ranks) : ranks_(ranks) {
  Holds& all = holds();
  const std::lock_guard lock(all.mutex);
  if (ranks.held_) {
    throw Error(ErrorCode::invalid_argument,
                "another thread of this process is in a call over the same ranks, which can't tell "
                "two calls apart; call one after the other, or give each thread ranks of its own "
                "(each mpi_world() and mpi_ranks() makes some)");
  }
  if (all.count > 0 && !ranks.many_threads()) {
    throw Error(ErrorCode::unsupported,
                "another thread of this process is in a call over ranks, and MPI was started for "
                "one thread at a time; call one after the other, or start it with "
                "MPI_Init_thread(..., MPI_THREAD_MULTIPLE, ...)");
  }
  ranks.held_ = true;
  ++all.count;
}

Hold::~Hold() {
  Holds& all = holds();
  const std::lock_guard lock(all.mutex);
  ranks_.held_ = false;
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
