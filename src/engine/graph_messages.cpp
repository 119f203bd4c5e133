// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <functional>

#include "engine/graph_inside.hpp"

/// What goes from rank to rank in a graph.
namespace stepwell::engine {
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

}  // namespace stepwell::engine
