// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <functional>
#include <new>

#include "engine/graph_impl.hpp"

/// Messages between ranks in a graph.
namespace stepwell::engine {
namespace {

/// A message from its insertion until it has been sent or received.
struct Message {
  starpu_data_handle_t handle;
  std::span<std::byte> data;
  int peer, tag, priority;
  bool out;
  Messenger* messenger;
  Communicator* ranks;
  std::function<void()> finished;

  /// Called by StarPU, which does not support exceptions, when the data may be read or written:
  /// starts the message.
  static void start(void* of) noexcept {
    auto* const m = static_cast<Message*>(of);
    try {
      m->go();
    } catch (const std::bad_alloc&) {  // the other rank would wait indefinitely
      m->ranks->abort(static_cast<int>(ErrorCode::out_of_memory));
    }
  }

  void go() {
    const auto done = [this] {
      starpu_data_release_on_node(handle, STARPU_MAIN_RAM);
      finished();
      delete this;
    };
    if (out) {
      messenger->send(data, peer, tag, priority, done);
    } else {
      messenger->receive(data, peer, tag, done);
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
  auto* const made = new Message{g->handles[k],
                                 {g->home[k].data, static_cast<std::size_t>(bytes)},
                                 peer,
                                 tag,
                                 priority,
                                 out,
                                 &*g->messenger,
                                 g->options.ranks,
                                 [g] { g->finished_one(); }};
  g->began_one();
  Message::submit(made);
}

void Graph::send(DataId data, std::int64_t bytes, int to, int tag, int priority) {
  message(data, bytes, to, tag, priority, true);
}

void Graph::receive(DataId data, std::int64_t bytes, int from, int tag) {
  message(data, bytes, from, tag, 0, false);
}

}  // namespace stepwell::engine
