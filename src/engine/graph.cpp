// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "engine/graph.hpp"

#include <starpu.h>

#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <vector>

#include "core/buffer.hpp"
#include "core/fp_scope.hpp"
#include "core/log.hpp"
#include "engine/messenger.hpp"
#include "stepwell/error.hpp"

namespace stepwell::engine {
namespace {

std::int64_t now() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1'000'000'000 + t.tv_nsec;
}

/// Tasks that may wait at StarPU: enough for any number of workers, little enough memory.
constexpr std::int64_t kMostPending = 4096;

starpu_data_access_mode mode_of(Access access) {
  switch (access) {
    case Access::read:
      return STARPU_R;
    case Access::write:
      return STARPU_W;
    case Access::read_write:
      break;
  }
  return STARPU_RW;
}

}  // namespace

Task::Task(void* const* data, std::byte* scratch) : data_(data), scratch_(scratch), last_(now()) {}

void Task::lap(Phase phase) {
  const std::int64_t t = now();
  spent_[static_cast<std::size_t>(phase)] += t - last_;
  last_ = t;
}

struct Graph::Impl {
  explicit Impl(const GraphOptions& o) : options(o) {
    const bool ranks = options.ranks != nullptr && options.ranks->size() > 1;
    options.workers = options.workers || ranks;
    if (options.workers) session.emplace(options.settings);
    scratch.resize(options.workers ? static_cast<std::size_t>(session->ids()) : 1);
    for (auto& s : scratch) {
      s = core::Buffer<std::byte>(options.scratch_bytes, core::Contents::any);
    }
    if (ranks) start_messenger();
  }

  void start_messenger() {
    messenger.emplace(
        *options.ranks, [this] { stopped = true; },
        [this] { return running.load() >= session->workers(); });
  }

  /// Nothing that has not begun runs any more, here and on other ranks.
  void stop() {
    stopped = true;
    if (messenger) messenger->alarm();
  }

  bool cancelled() const {
    return options.progress != nullptr && options.progress->cancel.load(std::memory_order_relaxed);
  }

  /// Runs a body on this thread, unless the graph has been stopped.
  void run(Body body, const void* arguments, void* const* pointers, std::size_t worker) noexcept {
    if (!stopped && cancelled()) stop();
    if (!stopped && !options.dry) {
      const core::FpScope fp;  // a worker has the state of the thread that started it
      ++running;
      try {
        Task task(pointers, scratch[worker].data());
        body(task, arguments);
        for (int p = 0; p < kPhases; ++p) {
          nanoseconds[static_cast<std::size_t>(p)] += task.nanoseconds(static_cast<Phase>(p));
        }
        if (task.stopped()) stop();
      } catch (...) {
        {
          const std::lock_guard lock(mutex);
          if (!failure) failure = std::current_exception();
        }
        stop();
      }
      --running;
      if (messenger) messenger->look_now();
    }
    if (options.progress != nullptr) ++options.progress->done;
  }

  void began_one() {
    const std::lock_guard lock(mutex);
    ++pending;
  }

  void finished_one() {
    const std::lock_guard lock(mutex);
    --pending;
    if (pending == 0 || pending == kMostPending / 2) progressed.notify_all();
  }

  void wait_until_pending(std::int64_t most) {
    std::unique_lock lock(mutex);
    progressed.wait(lock, [&] { return pending <= most; });
  }

  GraphOptions options;
  SingleThreadedBlas blas;
  std::optional<Session> session;
  std::vector<core::Buffer<std::byte>> scratch;  ///< by worker
  std::vector<void*> memory;                     ///< by DataId
  std::vector<starpu_data_handle_t> handles;     ///< by DataId; with workers only
  std::atomic<bool> stopped{false};
  std::atomic<int> running{0};  ///< tasks
  std::array<std::atomic<std::int64_t>, kPhases> nanoseconds{};
  std::int64_t tasks = 0;
  std::mutex mutex;
  std::condition_variable progressed;
  std::int64_t pending = 0;  ///< tasks and messages
  std::exception_ptr failure;
  std::optional<Messenger> messenger;  ///< the last member: its thread uses the others
};

/// What StarPU keeps of a task for us; the arguments follow it.
struct Header {
  void* graph;
  Body body;
  std::size_t pieces;
  std::uint32_t footprint;
  alignas(16) std::byte arguments[1];
};

struct Codelet::Model {
  starpu_codelet codelet{};
  starpu_perfmodel perf{};
  std::string name;
};

Codelet::Codelet(const std::string& name, Body run) : body_(run), model_(new Model) {
  model_->name = "stepwell_" + name;
  model_->perf.type = STARPU_HISTORY_BASED;
  model_->perf.symbol = model_->name.c_str();
  model_->perf.footprint = [](starpu_task* task) {
    return static_cast<const Header*>(task->cl_arg)->footprint;
  };
  starpu_codelet& cl = model_->codelet;
  cl.cpu_funcs[0] = Graph::run_on_worker;
  cl.nbuffers = STARPU_VARIABLE_NBUFFERS;
  cl.name = model_->name.c_str();
  cl.model = &model_->perf;
}

void Graph::run_on_worker(void* buffers[], void* argument) {
  auto* const header = static_cast<Header*>(argument);
  std::vector<void*> pointers(header->pieces);
  for (std::size_t i = 0; i < pointers.size(); ++i) {
    pointers[i] = reinterpret_cast<void*>(STARPU_VECTOR_GET_PTR(buffers[i]));
  }
  static_cast<Impl*>(header->graph)
      ->run(header->body, header->arguments, pointers.data(),
            static_cast<std::size_t>(starpu_worker_get_id()));
}

Graph::Graph(const GraphOptions& options) : impl_(std::make_unique<Impl>(options)) {}

Graph::~Graph() {
  abandon();
  for (starpu_data_handle_t handle : impl_->handles) starpu_data_unregister(handle);
}

DataId Graph::add(void* data, std::int64_t bytes) {
  impl_->memory.push_back(data);
  if (impl_->options.workers) {
    if (bytes > std::int64_t{UINT32_MAX}) {
      throw Error(ErrorCode::too_large, "a tile of more than 4 GiB; take a smaller tile");
    }
    starpu_data_handle_t handle = nullptr;
    starpu_vector_data_register(&handle, STARPU_MAIN_RAM, reinterpret_cast<uintptr_t>(data),
                                static_cast<std::uint32_t>(bytes), 1);
    impl_->handles.push_back(handle);
  }
  return static_cast<DataId>(impl_->memory.size()) - 1;
}

void Graph::insert(const Codelet& codelet, const void* arguments, std::size_t size,
                   std::span<const Use> uses, const Hints& hints) {
  Impl& g = *impl_;
  ++g.tasks;
  if (!g.options.workers) {
    std::vector<void*> pointers;
    for (const Use& use : uses) pointers.push_back(g.memory[static_cast<std::size_t>(use.data)]);
    return g.run(codelet.body(), arguments, pointers.data(), 0);
  }

  g.wait_until_pending(kMostPending);
  auto* const header = static_cast<Header*>(std::malloc(sizeof(Header) + size));
  starpu_task* const task = starpu_task_create();
  const std::size_t pieces = uses.size();
  auto* const handles =
      static_cast<starpu_data_handle_t*>(std::malloc(pieces * sizeof(starpu_data_handle_t)));
  auto* const modes =
      static_cast<starpu_data_access_mode*>(std::malloc(pieces * sizeof(starpu_data_access_mode)));
  if (header == nullptr || task == nullptr || handles == nullptr || modes == nullptr) {
    throw Error(ErrorCode::out_of_memory, "no memory for a task");
  }
  header->graph = &g;
  header->body = codelet.body();
  header->pieces = pieces;
  header->footprint = hints.footprint;
  std::memcpy(header->arguments, arguments, size);
  for (std::size_t i = 0; i < pieces; ++i) {
    handles[i] = g.handles[static_cast<std::size_t>(uses[i].data)];
    modes[i] = mode_of(uses[i].access);
  }
  task->cl = &codelet.model_->codelet;
  task->cl_arg = header;
  task->cl_arg_size = sizeof(Header) + size;
  task->cl_arg_free = 1;
  task->nbuffers = static_cast<int>(pieces);
  task->dyn_handles = handles;
  task->dyn_modes = modes;
  task->priority = hints.priority;
  task->flops = hints.flops;
  task->callback_func = [](void* graph) { static_cast<Impl*>(graph)->finished_one(); };
  task->callback_arg = &g;
  g.began_one();
  const int failed = starpu_task_submit(task);
  if (failed != 0) {
    g.finished_one();
    throw Error(ErrorCode::internal, "StarPU refused a task (code " + std::to_string(failed) + ")");
  }
}

namespace {

/// A message between the time it is inserted and the time it has gone or come.
struct Message {
  starpu_data_handle_t handle;
  std::span<std::byte> data;
  int peer, tag, priority;
  bool out;
  Messenger* messenger;
  std::function<void()> finished;

  /// The data is ours to read or to write: off it goes.
  static void start(void* of) {
    auto* const m = static_cast<Message*>(of);
    const auto done = [m] {
      starpu_data_release_on_node(m->handle, STARPU_MAIN_RAM);
      m->finished();
      delete m;
    };
    if (m->out) {
      m->messenger->send(m->data, m->peer, m->tag, m->priority, done);
    } else {
      m->messenger->receive(m->data, m->peer, m->tag, done);
    }
  }

  static void submit(Message* m) {
    starpu_data_acquire_on_node_cb(m->handle, STARPU_MAIN_RAM, m->out ? STARPU_R : STARPU_W, start,
                                   m);
  }
};

}  // namespace

void Graph::message(DataId data, std::int64_t bytes, int peer, int tag, int priority, bool out) {
  Impl* const g = impl_.get();
  const auto k = static_cast<std::size_t>(data);
  g->wait_until_pending(kMostPending);
  g->began_one();
  Message::submit(
      new Message{g->handles[k],
                  {static_cast<std::byte*>(g->memory[k]), static_cast<std::size_t>(bytes)},
                  peer,
                  tag,
                  priority,
                  out,
                  &*g->messenger,
                  [g] { g->finished_one(); }});
}

void Graph::send(DataId data, std::int64_t bytes, int to, int tag, int priority) {
  message(data, bytes, to, tag, priority, true);
}

void Graph::receive(DataId data, std::int64_t bytes, int from, int tag) {
  message(data, bytes, from, tag, 0, false);
}

bool Graph::stopped() const {
  return impl_->stopped || impl_->cancelled();
}

void Graph::wait() {
  impl_->wait_until_pending(0);
  if (impl_->messenger) impl_->messenger->finish();
  if (impl_->failure) std::rethrow_exception(impl_->failure);
}

void Graph::go_on() {
  if (impl_->messenger) impl_->start_messenger();
}

void Graph::abandon() noexcept {
  if (impl_->messenger && !impl_->messenger->finished()) {
    // Others wait for messages that will not be inserted any more: there is no way on.
    core::warn_once("the tasks of this rank could not be inserted; all ranks are ended");
    impl_->options.ranks->abort(static_cast<int>(ErrorCode::internal));
  }
  std::unique_lock lock(impl_->mutex);
  if (impl_->pending == 0) return;
  impl_->stopped = true;
  impl_->progressed.wait(lock, [&] { return impl_->pending == 0; });
}

int Graph::workers() const {
  return impl_->session ? impl_->session->workers() : 1;
}

GraphTimes Graph::times() const {
  GraphTimes times;
  for (std::size_t p = 0; p < kPhases; ++p) {
    times.seconds[p] = 1e-9 * static_cast<double>(impl_->nanoseconds[p].load());
  }
  times.tasks = impl_->tasks;
  times.workers = workers();
  return times;
}

}  // namespace stepwell::engine
