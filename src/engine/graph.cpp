// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "engine/graph.hpp"

#include <starpu.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <vector>

#include "core/log.hpp"
#include "core/memory_error.hpp"
#include "core/numeric/hash.hpp"
#include "engine/copied_data.hpp"
#include "engine/graph_impl.hpp"
#include "engine/simulation/simulated_run.hpp"
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

int random_priority(std::uint64_t seed, std::int64_t task) {
  return static_cast<int>(core::hash(seed << 32 ^ static_cast<std::uint64_t>(task)) >> 33);
}

/// Where StarPU has put a piece for the task that is about to run.
Piece located(void* buffer) {
  if (static_cast<const starpu_vector_interface*>(buffer)->id == STARPU_MATRIX_INTERFACE_ID) {
    return {reinterpret_cast<std::byte*>(STARPU_MATRIX_GET_PTR(buffer)),
            STARPU_MATRIX_GET_NX(buffer), STARPU_MATRIX_GET_NY(buffer),
            STARPU_MATRIX_GET_LD(buffer),
            static_cast<std::int64_t>(STARPU_MATRIX_GET_ELEMSIZE(buffer))};
  }
  const auto bytes = static_cast<std::int64_t>(STARPU_VECTOR_GET_NX(buffer)) *
                     static_cast<std::int64_t>(STARPU_VECTOR_GET_ELEMSIZE(buffer));
  return {reinterpret_cast<std::byte*>(STARPU_VECTOR_GET_PTR(buffer)), bytes, 1, bytes};
}

}  // namespace

Task::Task(const Piece* pieces, std::byte* scratch, int worker, const PieceRunner* share)
    : pieces_(pieces), scratch_(scratch), worker_(worker), runner_(share), last_(now()) {}

std::byte* Task::joined(std::size_t first, std::size_t count) const {
  for (std::size_t i = first; i + 1 < first + count; ++i) {
    if (pieces_[i + 1].data == pieces_[i].data + pieces_[i].rows) continue;
    throw Error(ErrorCode::unsupported,
                "StarPU has moved data that must stay in one piece; do not set STARPU_USE_NUMA");
  }
  return data(first);
}

void Task::lap(Phase phase) {
  const std::int64_t t = now();
  spent_[static_cast<std::size_t>(phase)] += t - last_;
  last_ = t;
}

/// The data that StarPU keeps for one of our tasks, in memory from malloc() that StarPU frees. The
/// arguments follow, and then room for the pieces of data that the task uses, because a worker that
/// failed to allocate it could not report it.
struct Header {
  void* graph;
  Body body;
  std::size_t pieces;
  std::size_t offset;  ///< offset of the pieces from 'arguments' in bytes
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

const std::string& Codelet::name() const {
  return model_->name;
}

void Graph::run_on_worker(void* buffers[], void* argument) {
  auto* const header = static_cast<Header*>(argument);
  auto* const pieces = reinterpret_cast<Piece*>(header->arguments + header->offset);
  for (std::size_t i = 0; i < header->pieces; ++i) pieces[i] = located(buffers[i]);
  static_cast<Impl*>(header->graph)
      ->run(header->body, header->arguments, pieces,
            static_cast<std::size_t>(starpu_worker_get_id()));
}

Graph::Graph(const GraphOptions& options) : impl_(std::make_unique<Impl>(options)) {}

Graph::~Graph() {
  abandon();
  for (std::size_t k = 0; k < impl_->handles.size(); ++k) {
    starpu_data_handle_t const handle = impl_->handles[k];
    if (handle == nullptr) continue;
    if (impl_->read_only[k]) {
      starpu_data_unregister_no_coherency(handle);  // there is nothing to bring home
    } else {
      starpu_data_unregister(handle);
    }
  }
}

DataId Graph::add(const Memory& m) {
  // Tasks that write to read-only data are rejected when they are inserted.
  auto* const data = static_cast<std::byte*>(const_cast<void*>(m.data));
  impl_->home.push_back({data, m.rows, m.cols, m.ld, m.element});
  impl_->read_only.push_back(m.read_only);
  if (impl_->session) {
    const bool matrix = m.element > 1;  // memory without a shape is counted in bytes
    // StarPU counts in 32 bits. Large memory without a shape is a multiple of 64 bytes.
    const std::int64_t unit = !matrix && m.rows % 64 == 0 ? 64 : 1;
    if (std::max({m.rows / unit, m.cols, m.ld / unit}) > std::int64_t{UINT32_MAX}) {
      throw Error(ErrorCode::too_large, "a tile takes more than 4 GiB; use a smaller tile");
    }
    starpu_data_handle_t& handle = impl_->handles.emplace_back(nullptr);
    const auto at = reinterpret_cast<uintptr_t>(data);
    const auto rows = static_cast<std::uint32_t>(m.rows / unit);
    if (matrix) {
      starpu_matrix_data_register(&handle, STARPU_MAIN_RAM, at, static_cast<std::uint32_t>(m.ld),
                                  rows, static_cast<std::uint32_t>(m.cols),
                                  static_cast<std::size_t>(m.element));
    } else {
      starpu_vector_data_register(&handle, STARPU_MAIN_RAM, at, rows,
                                  static_cast<std::size_t>(unit));
    }
  }
  return static_cast<DataId>(impl_->home.size()) - 1;
}

void Graph::insert(const Codelet& codelet, const void* arguments, std::size_t size,
                   std::span<const Use> uses, const Hints& hints) {
  Impl& g = *impl_;
  for (const Use& use : uses) {
    if (use.access != Access::read && g.read_only[static_cast<std::size_t>(use.data)]) {
      throw Error(ErrorCode::internal, "a task would write to data that is read-only");
    }
  }
  ++g.tasks;
  g.uses += std::ssize(uses);
  if (!g.session) {
    std::vector<Piece>& pieces = g.inserting;
    pieces.clear();
    for (const Use& use : uses) pieces.push_back(g.home[static_cast<std::size_t>(use.data)]);
    if (g.pool) {
      const std::uint64_t seed = g.options.settings.shuffle;
      const int priority = seed == 0 ? hints.priority : random_priority(seed, g.tasks);
      return g.pool->insert(codelet.body(), arguments, size, uses, pieces, priority);
    }
    if (g.options.simulated != nullptr) {
      return g.options.simulated->insert(codelet.name(), uses, pieces, hints);
    }
    if (g.options.measured != nullptr) {
      g.measuring = {};
      const std::int64_t start = now();
      g.run(codelet.body(), arguments, pieces.data(), 0);
      g.measuring.seconds = 1e-9 * static_cast<double>(now() - start);
      return g.options.measured->record(codelet.name(), hints.footprint, g.measuring);
    }
    if (!g.options.copied_data) return g.run(codelet.body(), arguments, pieces.data(), 0);
    const CopiedData copies(uses, pieces);
    g.run(codelet.body(), arguments, copies.pieces(), 0);
    return copies.return_home();
  }

  g.wait_until_pending(kMostPending);
  const std::size_t pieces = uses.size();
  const std::size_t offset = (size + alignof(Piece) - 1) / alignof(Piece) * alignof(Piece);
  const std::size_t bytes = sizeof(Header) + offset + pieces * sizeof(Piece);
  auto header = from_malloc<Header>(bytes);
  auto handles = from_malloc<starpu_data_handle_t[]>(pieces * sizeof(starpu_data_handle_t));
  auto modes = from_malloc<starpu_data_access_mode[]>(pieces * sizeof(starpu_data_access_mode));
  header->graph = &g;
  header->body = codelet.body();
  header->pieces = pieces;
  header->offset = offset;
  header->footprint = 8 * hints.footprint.depth + hints.footprint.variant;
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
  if (impl_->pool) impl_->pool->wait();
  if (impl_->options.simulated != nullptr) impl_->options.simulated->wait();
  impl_->wait_until_pending(0);
  if (impl_->messenger) impl_->messenger->finish();
  impl_->failure.rethrow();
}

void Graph::go_on() {
  if (impl_->messenger) impl_->start_messenger();
}

void Graph::abandon() noexcept {
  if (impl_->pool) {
    impl_->stopped = true;
    impl_->pool->wait();
  }
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
  if (impl_->options.simulated != nullptr) return impl_->options.simulated->workers();
  if (impl_->options.measured != nullptr) return std::max(1, impl_->options.settings.threads);
  return impl_->session ? impl_->session->workers() : impl_->pool ? impl_->pool->threads() : 1;
}

GraphTimes Graph::times() const {
  GraphTimes times;
  for (std::size_t p = 0; p < kPhases; ++p) {
    times.seconds[p] = 1e-9 * static_cast<double>(impl_->nanoseconds[p].load());
  }
  times.tasks = impl_->tasks;
  times.uses = impl_->uses;
  times.workers = workers();
  return times;
}

}  // namespace stepwell::engine
