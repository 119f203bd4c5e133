// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "engine/runtime.hpp"

#include <pthread.h>
#include <sched.h>
#include <starpu.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <string>
#include <utility>

#include "core/log.hpp"
#include "core/machine/environment.hpp"
#include "core/machine/threads.hpp"
#include "core/memory_error.hpp"
#include "engine/starpu/home.hpp"
#include "engine/starpu/shuffle_policy.hpp"
#include "kernels/blas/blas.hpp"
#include "kernels/table.hpp"
#include "stepwell/error.hpp"

namespace stepwell::engine {
namespace {

struct State {
  std::mutex mutex;
  bool running = false;
  bool guest = false;  ///< the program started StarPU, and also pauses and stops it
  Settings settings;
  int sessions = 0;
  int awake = 0;  ///< sessions that want the workers awake
};

State& state() {
  static State* const s = new State;  // never destroyed: workers outlive static destructors
  return *s;
}

/// The process that the workers belong to; 0 before there are any. Read without a lock: in a forked
/// child a mutex may be held indefinitely by a thread that does not exist there.
std::atomic<pid_t> owner{0};

void refuse_forked_child() {
  pid_t none = 0;
  const pid_t self = getpid();
  if (owner.compare_exchange_strong(none, self) || none == self) return;
  throw Error(
      ErrorCode::unsupported,
      "this process was forked after StarPU had started its workers in the parent, and threads do "
      "not survive a fork; start a new process instead, or fork before the first call over ranks");
}

/// Environment variables for the start of StarPU and hwloc, which have no other way to be
/// configured; variables that the user has set are kept. hwloc's plugins search for devices that we
/// do not use, with libraries (libpciaccess, libX11, OpenCL) that take time and do not survive a
/// lack of memory.
core::Variables starting_environment() {
  core::Variables variables;
  for (const auto& [name, value] :
       {std::pair("STARPU_SILENT", "1"), std::pair("HWLOC_PLUGINS_PATH", ""),
        std::pair("HWLOC_COMPONENTS", "-pci")}) {
    if (core::variable(name) == nullptr) variables.emplace_back(name, value);
  }
  if (std::string home = prepare_starpu_home(); !home.empty()) {
    variables.emplace_back("STARPU_PERF_MODEL_DIR", home + "/.starpu/sampling");
    variables.emplace_back("STARPU_HOME", std::move(home));
  }
  return variables;
}

/// StarPU and hwloc end the process when they get no memory, so they are started only if there is
/// enough for them and for the stacks of the workers and of one or two threads of StarPU's own.
void require_memory_for_workers(int threads) {
  constexpr std::int64_t kOwn = std::int64_t{32} << 20;
  pthread_attr_t attributes;
  std::size_t stack = 0;
  if (pthread_getattr_default_np(&attributes) != 0) core::throw_out_of_memory();
  pthread_attr_getstacksize(&attributes, &stack);
  pthread_attr_destroy(&attributes);
  require_reserve(kOwn + (threads + 2) * static_cast<std::int64_t>(stack));
}

/// StarPU binds worker i to core i, which may not be one of ours (taskset) or may be used by
/// another program: restore the caller's affinity.
void unbind_workers() {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return;
  starpu_execute_on_each_worker(
      [](void* set) { sched_setaffinity(0, sizeof(cpu_set_t), static_cast<cpu_set_t*>(set)); },
      &allowed, STARPU_CPU);
}

int workers_for(const Settings& settings) {
  const int threads = settings.threads > 0 ? settings.threads : core::default_threads();
  if (threads > worker_limit()) {
    core::warn_once("this StarPU has room for " + std::to_string(worker_limit()) +
                    " workers, so a rank uses that many of " + std::to_string(threads) +
                    " threads; see 'stepwell doctor'");
  }
  return std::min(threads, worker_limit());
}

void start(State& s, const Settings& settings) {
  kernels::table();  // requests the matrix engine from the OS before any thread uses it
  if (starpu_is_initialized() != 0) {
    s.running = s.guest = true;
    s.settings = settings;
    return;
  }
  const int threads = workers_for(settings);
  require_memory_for_workers(threads);
  const core::EnvironmentScope scope(starting_environment());
  starpu_conf conf;
  starpu_conf_init(&conf);
  conf.ncpus = threads;
  conf.ncuda = conf.nopencl = conf.nmic = conf.nmpi_ms = 0;
  conf.catch_signals = 0;  // signals belong to the program
  if (settings.shuffle != 0) {
    conf.sched_policy = shuffle_policy(settings.shuffle);
    conf.precedence_over_environment_variables = 1;
  } else {
    conf.sched_policy_name = "prio";
  }
  const int failed = starpu_init(&conf);
  if (failed != 0) {
    throw Error(ErrorCode::unsupported, "StarPU can't start (code " + std::to_string(failed) +
                                            "); try STARPU_SILENT=0 to see why, or threads = 1");
  }
  unbind_workers();
  starpu_pause();
  s.running = true;
  s.guest = false;
  s.settings = settings;
}

void wake_workers(State& s) {
  if (s.awake++ == 0 && !s.guest) starpu_resume();
}

void stop(State& s) {
  if (!s.guest) {
    starpu_resume();
    starpu_shutdown();
  }
  s.running = s.guest = false;
}

}  // namespace

void require_reserve(std::int64_t bytes) {
  // Not with malloc(), which would keep large blocks from then on.
  const auto size = static_cast<std::size_t>(bytes);
  void* const reserve =
      mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (reserve == MAP_FAILED) core::throw_out_of_memory();
  munmap(reserve, size);
}

int worker_limit() {
  return STARPU_MAXCPUS;
}

StarpuIdentity starpu_identity() {
  int major = 0, minor = 0, release = 0;
  starpu_get_version(&major, &minor, &release);
  StarpuIdentity is;
  is.version = std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(release);
#ifdef STEPWELL_STARPU_BUNDLED
  is.bundled = true;
#endif
  return is;
}

WorkerCount worker_count(const Context* context) {
  const int asked = context == nullptr ? 0 : context->requested();
  const core::ThreadCount allowed = core::thread_count();
  if (asked > 0) return {asked, "requested"};
  return {allowed.threads, to_string(allowed.source)};
}

Session::Session(const Settings& settings, Workers at_first) {
  refuse_forked_child();
  State& s = state();
  const std::lock_guard lock(s.mutex);
  if (s.running && s.sessions == 0 && !s.guest && s.settings != settings) stop(s);
  if (!s.running) start(s, settings);
  ++s.sessions;
  workers_ = static_cast<int>(starpu_cpu_worker_get_count());
  ids_ = static_cast<int>(starpu_worker_get_count());
  if (at_first == Workers::awake) wake_workers(s);
  awake_ = at_first == Workers::awake;
}

void Session::wake() {
  if (awake_) return;
  State& s = state();
  const std::lock_guard lock(s.mutex);
  wake_workers(s);
  awake_ = true;
}

Session::~Session() {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  --s.sessions;
  if (awake_ && --s.awake == 0 && !s.guest) starpu_pause();
}

void stop_workers(const Settings& settings) noexcept {
  if (owner.load() != getpid()) return;
  State& s = state();
  const std::lock_guard lock(s.mutex);
  if (!s.running || s.sessions > 0 || s.settings != settings) return;
  stop(s);
  owner.store(0);
}

namespace {

struct BlasState {
  std::mutex mutex;
  int users = 0;
  int before = 0;
};

/// fork() waits for the lock; a child could otherwise find it held by a thread that does not exist
/// there.
BlasState& blas_state() {
  static BlasState* const s = [] {
    auto* const made = new BlasState;
    pthread_atfork([] { blas_state().mutex.lock(); }, [] { blas_state().mutex.unlock(); },
                   [] { blas_state().mutex.unlock(); });
    return made;
  }();
  return *s;
}

}  // namespace

SingleThreadedBlas::SingleThreadedBlas() {
  BlasState& s = blas_state();
  const std::lock_guard lock(s.mutex);
  if (s.users++ == 0) s.before = kernels::set_blas_threads(1);
}

SingleThreadedBlas::~SingleThreadedBlas() {
  BlasState& s = blas_state();
  const std::lock_guard lock(s.mutex);
  if (--s.users == 0 && s.before > 0) kernels::set_blas_threads(s.before);
}

}  // namespace stepwell::engine
