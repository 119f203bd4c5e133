// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "engine/graph.hpp"

#include <starpu.h>

#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <vector>

#include "core/log.hpp"
#include "core/memory_error.hpp"
#include "engine/graph_impl.hpp"
#include "stepwell/error.hpp"

namespace stepwell::engine {
namespace {

std::int64_t now() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1'000'000'000 + t.tv_nsec;
}

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

/// The data that StarPU keeps for one of our tasks, in memory from malloc() that StarPU frees. The
/// arguments follow, and then room for the pointers to the task's data, because a worker that
/// failed to allocate them could not report it.
struct Header {
  void* graph;
  Body body;
  std::size_t pieces;
  std::size_t pointers;  ///< their offset from 'arguments' in bytes
  std::uint32_t footprint;
  alignas(16) std::byte arguments[1];
};

struct Freed {
  void operator()(void* p) const { std::free(p); }
};
template <class T>
using FromMalloc = std::unique_ptr<T, Freed>;

template <class T>
FromMalloc<T> from_malloc(std::size_t bytes) {
  FromMalloc<T> memory(static_cast<std::remove_extent_t<T>*>(std::malloc(bytes)));
  if (memory == nullptr && bytes > 0) core::throw_out_of_memory();
  return memory;
}

struct Codelet::Model {
  starpu_codelet codelet{};
  starpu_perfmodel perf{};
  std::string name;
};

Codelet::Codelet(const std::string& name, Body run) : body_(run) {
  auto made = std::make_unique<Model>();
  made->name = "stepwell_" + name;
  model_ = made.release();
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
  auto* const pointers = reinterpret_cast<void**>(header->arguments + header->pointers);
  for (std::size_t i = 0; i < header->pieces; ++i) {
    pointers[i] = reinterpret_cast<void*>(STARPU_VECTOR_GET_PTR(buffers[i]));
  }
  static_cast<Impl*>(header->graph)
      ->run(header->body, header->arguments, pointers,
            static_cast<std::size_t>(starpu_worker_get_id()));
}

Graph::Graph(const GraphOptions& options) : impl_(std::make_unique<Impl>(options)) {}

Graph::~Graph() {
  abandon();
  for (starpu_data_handle_t handle : impl_->handles) {
    if (handle != nullptr) starpu_data_unregister(handle);
  }
}

DataId Graph::add(void* data, std::int64_t bytes) {
  impl_->memory.push_back(data);
  if (impl_->options.workers) {
    if (bytes > std::int64_t{UINT32_MAX}) {
      throw Error(ErrorCode::too_large, "a tile takes more than 4 GiB; use a smaller tile");
    }
    starpu_data_handle_t& handle = impl_->handles.emplace_back(nullptr);
    starpu_vector_data_register(&handle, STARPU_MAIN_RAM, reinterpret_cast<uintptr_t>(data),
                                static_cast<std::uint32_t>(bytes), 1);
  }
  return static_cast<DataId>(impl_->memory.size()) - 1;
}

void Graph::insert(const Codelet& codelet, const void* arguments, std::size_t size,
                   std::span<const Use> uses, const Hints& hints) {
  Impl& g = *impl_;
  ++g.tasks;
  if (!g.options.workers) {
    std::vector<void*> data;
    for (const Use& use : uses) data.push_back(g.memory[static_cast<std::size_t>(use.data)]);
    return g.run(codelet.body(), arguments, data.data(), 0);
  }

  g.wait_until_pending(kMostPending);
  const std::size_t pieces = uses.size();
  const std::size_t pointers = (size + alignof(void*) - 1) / alignof(void*) * alignof(void*);
  const std::size_t bytes = sizeof(Header) + pointers + pieces * sizeof(void*);
  auto header = from_malloc<Header>(bytes);
  auto handles = from_malloc<starpu_data_handle_t[]>(pieces * sizeof(starpu_data_handle_t));
  auto modes = from_malloc<starpu_data_access_mode[]>(pieces * sizeof(starpu_data_access_mode));
  header->graph = &g;
  header->body = codelet.body();
  header->pieces = pieces;
  header->pointers = pointers;
  header->footprint = hints.footprint;
  std::memcpy(header->arguments, arguments, size);
  for (std::size_t i = 0; i < pieces; ++i) {
    handles[i] = g.handles[static_cast<std::size_t>(uses[i].data)];
    modes[i] = mode_of(uses[i].access);
  }
  starpu_task* const task = starpu_task_create();
  task->cl = &codelet.model_->codelet;
  task->cl_arg = header.release();
  task->cl_arg_size = bytes;
  task->cl_arg_free = 1;
  task->nbuffers = static_cast<int>(pieces);
  task->dyn_handles = handles.release();
  task->dyn_modes = modes.release();
  task->priority = hints.priority;
  task->flops = hints.flops;
  task->callback_func = [](void* graph) { static_cast<Impl*>(graph)->finished_one(); };
  task->callback_arg = &g;
  g.began_one();
  const int failed = starpu_task_submit(task);
  if (failed != 0) {
    g.finished_one();
    throw Error(ErrorCode::internal,
                "StarPU rejected a task (code " + std::to_string(failed) + ")");
  }
  if (g.tasks == kBeforeWorkers) g.session->wake();
}

bool Graph::stopped() const {
  return impl_->stopped || impl_->cancelled();
}

void Graph::wait() {
  impl_->wait_until_pending(0);
  if (impl_->messenger) impl_->messenger->finish();
  impl_->failure.rethrow();
}

void Graph::go_on() {
  if (impl_->messenger) impl_->start_messenger();
}

void Graph::abandon() noexcept {
  if (impl_->messenger && !impl_->messenger->finished()) {
    // Other ranks wait for messages that will never be inserted, so the run cannot continue.
    core::warn_once("the tasks of this rank could not be inserted; aborting all ranks");
    impl_->options.ranks->abort(static_cast<int>(ErrorCode::internal));
  }
  {
    const std::lock_guard lock(impl_->mutex);
    if (impl_->pending == 0) return;
    impl_->stopped = true;
  }
  impl_->wait_until_pending(0);
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
