// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

/// StarPU, started when it is needed and paused when it is not. One in a process, like StarPU
/// itself.
namespace stepwell::engine {

struct Settings {
  int threads = 0;            ///< 0: as many as the process may have CPUs
  std::uint64_t shuffle = 0;  ///< not 0: ready tasks are picked at random, from this seed (tests)
  friend bool operator==(const Settings&, const Settings&) = default;
};

/// The number of threads that 'asked' comes to: what affinity and quota allow for 0, and never more
/// than StarPU was built for.
int resolve_threads(int asked);

/// Throws Error(out_of_memory) unless that much can be had now. StarPU ends the process where it
/// gets no memory: asked for before, it is most likely there.
void require_reserve(std::int64_t bytes);

/// What the workers do when a session begins. Without a task they look for one all the time, and
/// take the core of the thread that inserts it: several milliseconds, a slice of the system's.
enum class Workers : unsigned char { awake, asleep };

/// A call's hold on the workers: they are awake while at least one session lives that wants them
/// so. The BLAS has one thread meanwhile. Throws Error(unsupported) in a child of the process that
/// started the workers, or when StarPU can't start, and Error(out_of_memory).
class Session {
 public:
  explicit Session(const Settings& settings, Workers at_first = Workers::awake);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// From one thread; again does nothing.
  void wake();

  int workers() const { return workers_; }  ///< that run our tasks
  int ids() const { return ids_; }          ///< above all workers' numbers, other devices included

 private:
  int workers_ = 0;
  int ids_ = 0;
  bool awake_ = false;
};

/// While at least one lives, the BLAS has one thread; the last one restores what was before.
class SingleThreadedBlas {
 public:
  SingleThreadedBlas();
  ~SingleThreadedBlas();
  SingleThreadedBlas(const SingleThreadedBlas&) = delete;
  SingleThreadedBlas& operator=(const SingleThreadedBlas&) = delete;
};

/// Ends the workers if they were started with these settings and no session lives.
void stop_workers(const Settings& settings) noexcept;

}  // namespace stepwell::engine
