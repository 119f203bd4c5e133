// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "engine/communicator.hpp"

#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <climits>
#include <cstdlib>
#include <memory>

#include "stepwell/distributed.hpp"
#include "stepwell/error.hpp"

/// The ranks of an MPI communicator.
namespace stepwell {
namespace {

using engine::Communicator;

/// Maximum number of elements in one MPI call, whose counts are of type int.
constexpr std::size_t kAtOnce = std::size_t{1} << 28;

void check(int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw Error(ErrorCode::internal, std::string(what) + ": " + std::string(text, text + length));
}

class MpiCommunicator : public Communicator {
 public:
  MpiCommunicator(MPI_Comm of, bool many_threads) : many_threads_(many_threads) {
    check(MPI_Comm_dup(of, &comm_), "MPI_Comm_dup");
    MPI_Comm_rank(comm_, &rank_);
    MPI_Comm_size(comm_, &size_);
    check(MPI_Comm_split_type(comm_, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine_),
          "MPI_Comm_split_type");
  }
  ~MpiCommunicator() override {
    if (!is_here()) return;
    int ended = 0;
    MPI_Finalized(&ended);
    if (ended != 0) return;
    MPI_Comm_free(&machine_);
    MPI_Comm_free(&comm_);
  }
  MpiCommunicator(const MpiCommunicator&) = delete;
  MpiCommunicator& operator=(const MpiCommunicator&) = delete;

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  bool many_threads() const override { return many_threads_; }

  /// Reduces to rank 0 and broadcasts: MPI_Allreduce may give different ranks different bits, and
  /// ranks that decide differently would wait for each other indefinitely.
  void sum(std::span<double> x) override {
    for (std::size_t at = 0; at < x.size(); at += kAtOnce) {
      const auto part = x.subspan(at, std::min(kAtOnce, x.size() - at));
      const auto count = static_cast<int>(part.size());
      check(MPI_Reduce(rank_ == 0 ? MPI_IN_PLACE : part.data(), part.data(), count, MPI_DOUBLE,
                       MPI_SUM, 0, comm_),
            "MPI_Reduce");
      check(MPI_Bcast(part.data(), count, MPI_DOUBLE, 0, comm_), "MPI_Bcast");
    }
  }

  void largest(std::span<std::int64_t> x) override {
    check(MPI_Allreduce(MPI_IN_PLACE, x.data(), static_cast<int>(x.size()), MPI_INT64_T, MPI_MAX,
                        comm_),
          "MPI_Allreduce");
  }

  void broadcast(std::span<std::byte> x, int root) override {
    for (std::size_t at = 0; at < x.size(); at += kAtOnce) {
      const auto part = x.subspan(at, std::min(kAtOnce, x.size() - at));
      check(MPI_Bcast(part.data(), static_cast<int>(part.size()), MPI_BYTE, root, comm_),
            "MPI_Bcast");
    }
  }

  void barrier() override { check(MPI_Barrier(comm_), "MPI_Barrier"); }

  std::int64_t sum_on_machine(std::int64_t x) override {
    check(MPI_Allreduce(MPI_IN_PLACE, &x, 1, MPI_INT64_T, MPI_SUM, machine_), "MPI_Allreduce");
    return x;
  }

  Request start_send(std::span<const std::byte> x, int to, int tag) override {
    bytes_sent_ += std::ssize(x);
    ++messages_sent_;
    MPI_Request request{};
    check(MPI_Isend(x.data(), count_of(x.size()), MPI_BYTE, to, tag, comm_, &request), "MPI_Isend");
    return keep(request);
  }

  Request start_receive(std::span<std::byte> x, int from, int tag) override {
    MPI_Request request{};
    check(MPI_Irecv(x.data(), count_of(x.size()), MPI_BYTE, from, tag, comm_, &request),
          "MPI_Irecv");
    return keep(request);
  }

  void wait(Request request) override {
    for (std::size_t k = 0; k < ids_.size(); ++k) {
      if (ids_[k] != request) continue;
      check(MPI_Wait(&requests_[k], MPI_STATUS_IGNORE), "MPI_Wait");
      forget(k);
      return;
    }
  }

  std::vector<Request> done() override {
    std::vector<Request> found;
    if (requests_.empty()) return found;
    int count = 0;
    places_.resize(requests_.size());
    check(MPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &count, places_.data(),
                       MPI_STATUSES_IGNORE),
          "MPI_Testsome");
    if (count == MPI_UNDEFINED) return found;
    for (int k = 0; k < count; ++k) {
      found.push_back(ids_[static_cast<std::size_t>(places_[static_cast<std::size_t>(k)])]);
    }
    for (std::size_t k = requests_.size(); k-- > 0;) {
      if (requests_[k] == MPI_REQUEST_NULL) forget(k);
    }
    return found;
  }

  std::int64_t bytes_sent() const override { return bytes_sent_; }
  std::int64_t messages_sent() const override { return messages_sent_; }

  void abort(int code) override {
    MPI_Abort(comm_, code);
    std::abort();
  }

 private:
  static int count_of(std::size_t bytes) {
    if (bytes > static_cast<std::size_t>(INT_MAX)) {
      throw Error(ErrorCode::too_large, "a message has more than 2 GiB; use a smaller tile");
    }
    return static_cast<int>(bytes);
  }

  Request keep(MPI_Request request) {
    requests_.push_back(request);
    ids_.push_back(next_);
    return next_++;
  }

  void forget(std::size_t k) {
    requests_[k] = requests_.back();
    ids_[k] = ids_.back();
    requests_.pop_back();
    ids_.pop_back();
  }

  const bool many_threads_;
  MPI_Comm comm_ = MPI_COMM_NULL;
  MPI_Comm machine_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 1;
  std::vector<MPI_Request> requests_;  ///< pending requests
  std::vector<Request> ids_;           ///< id of each pending request
  std::vector<int> places_;
  Request next_ = 0;
  std::int64_t bytes_sent_ = 0;
  std::int64_t messages_sent_ = 0;
};

/// The process that uses MPI, from the first call on; 0 before.
std::atomic<pid_t> owner{0};

void refuse_forked_child() {
  pid_t none = 0;
  const pid_t self = getpid();
  engine::require_own_process(owner.compare_exchange_strong(none, self) || none == self);
}

/// Starts MPI and registers its finalization at program exit.
void start_mpi() {
  int given = 0;
  if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &given) != MPI_SUCCESS) {
    throw Error(ErrorCode::unsupported, "MPI can't start; was this process started by mpirun?");
  }
  std::atexit([] {
    if (owner != getpid()) return;  // exit of a forked child
    int ended = 0;
    MPI_Finalized(&ended);
    if (ended == 0) MPI_Finalize();
  });
}

Ranks ranks_of(MPI_Comm comm) {
  int given = 0;
  MPI_Query_thread(&given);
  if (given < MPI_THREAD_SERIALIZED) {
    throw Error(ErrorCode::unsupported,
                "MPI was started for a single thread, but another thread sends the messages; start "
                "MPI with "
                "MPI_Init_thread(..., MPI_THREAD_SERIALIZED, ...) or above");
  }
  try {
    return RanksData::make(std::make_unique<MpiCommunicator>(comm, given == MPI_THREAD_MULTIPLE));
  } catch (const std::bad_alloc&) {
    throw Error(ErrorCode::out_of_memory, "out of memory");
  }
}

}  // namespace

Ranks mpi_world() {
  refuse_forked_child();
  int started = 0;
  MPI_Initialized(&started);
  if (started == 0) start_mpi();
  return ranks_of(MPI_COMM_WORLD);
}

Ranks mpi_ranks(int fortran_communicator) {
  refuse_forked_child();
  int started = 0;
  MPI_Initialized(&started);
  if (started == 0) {
    throw Error(ErrorCode::invalid_argument, "mpi_ranks: MPI has not been initialized");
  }
  return ranks_of(MPI_Comm_f2c(fortran_communicator));
}

}  // namespace stepwell
