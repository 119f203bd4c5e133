// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

#include "stepwell/context.hpp"
#include "stepwell/machine.hpp"

/// StarPU, started when it is needed and paused when it is not. Like StarPU itself, it exists once
/// in a process.
namespace stepwell::engine {

struct Settings {
  int threads = 0;            ///< 0: one for each CPU that the process may use
  std::uint64_t shuffle = 0;  ///< not 0: ready tasks are picked at random, from this seed (tests)
  friend bool operator==(const Settings&, const Settings&) = default;
};

/// The number of CPU workers that this StarPU was built for, and what it is.
int worker_limit();
StarpuIdentity starpu_identity();

/// The number of threads of a call with this context, and what determines it.
struct WorkerCount {
  int threads = 1;
  std::string reason;
};
WorkerCount worker_count(const Context* context);

/// Throws Error(out_of_memory) unless that much memory can be allocated now. StarPU ends the
/// process when an allocation fails; this check makes that unlikely.
void require_reserve(std::int64_t bytes);

/// State of the workers when a session begins. Awake workers without a task poll for one
/// continuously and can take the core of the inserting thread for several milliseconds, a time
/// slice of the operating system.
enum class Workers : unsigned char { awake, asleep };

/// A call's use of the workers: they are awake while at least one session exists that wants them
/// awake. Throws Error(unsupported) in a child of the process that started the workers, or when
/// StarPU can't start, and Error(out_of_memory).
class Session {
 public:
  explicit Session(const Settings& settings, Workers at_first = Workers::awake);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// To be called from one thread; a second call does nothing.
  void wake();

  int workers() const { return workers_; }  ///< workers that run our tasks
  int ids() const { return ids_; }          ///< number of worker ids, including other devices

 private:
  int workers_ = 0;
  int ids_ = 0;
  bool awake_ = false;
};

/// While at least one instance exists, the BLAS has one thread; the last one restores the previous
/// number.
class SingleThreadedBlas {
 public:
  SingleThreadedBlas();
  ~SingleThreadedBlas();
  SingleThreadedBlas(const SingleThreadedBlas&) = delete;
  SingleThreadedBlas& operator=(const SingleThreadedBlas&) = delete;
};

/// Ends the workers if they were started with these settings and no session exists.
void stop_workers(const Settings& settings) noexcept;

}  // namespace stepwell::engine
