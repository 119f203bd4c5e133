// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <queue>

#include "machine.hpp"
#include "stepwell/error.hpp"

namespace stepwell::bench::scaling {
namespace {

struct Event {
  double time = 0;
  std::int64_t order = 0;  ///< simultaneous events are processed in the order of creation
  enum Kind : unsigned char { worked, left, arrived } kind = worked;
  std::int64_t which = 0;  ///< task, rank whose port has become free, or slot of the message

  bool operator<(const Event& other) const {  // the earliest event is the largest
    return time != other.time ? time > other.time : order > other.order;
  }
};

class EventMachine : public Machine {
 public:
  EventMachine(const Platform& platform, int ranks)
      : platform_(platform), ports_(static_cast<std::size_t>(ranks)) {
    if (platform.ranks_per_host != 1) {
      throw Error(ErrorCode::invalid_argument,
                  "only SimGrid supports several ranks per host; use --engine simgrid");
    }
  }

  void work(int, double seconds, std::int64_t task) override {
    push(now_ + seconds, Event::worked, task);
  }

  void send(const Message& message) override {
    Port& port = ports_[static_cast<std::size_t>(message.from)];
    port.queue.push(message);
    touched_.push_back(message.from);
  }

  double run(Listener& listener) override {
    while (!events_.empty()) {
      const Event event = events_.top();
      events_.pop();
      now_ = event.time;
      switch (event.kind) {
        case Event::worked:
          listener.worked(event.which);
          break;
        case Event::left:
          ports_[static_cast<std::size_t>(event.which)].busy = false;
          touched_.push_back(static_cast<int>(event.which));
          break;
        case Event::arrived: {
          const Message message = slots_[static_cast<std::size_t>(event.which)];
          free_.push_back(event.which);
          listener.arrived(message);
          break;
        }
      }
      if (events_.empty() || events_.top().time > now_) settle(listener);
    }
    return now_;
  }

 private:
  struct Port {
    Outbox queue;
    bool busy = false;
    double in_free = 0;
  };

  void push(double time, Event::Kind kind, std::int64_t which) {
    events_.push({time, order_++, kind, which});
  }

  void settle(Listener& listener) {
    listener.settled();
    for (const int rank : touched_) leave(rank);
    touched_.clear();
  }

  /// Starts to send the next message of a rank: it waits for the receiver's port, and the messages
  /// behind it wait, too. A network in which messages overtake would be faster; one that shares the
  /// bandwidth fairly among all messages is about as fast.
  void leave(int rank) {
    Port& port = ports_[static_cast<std::size_t>(rank)];
    if (port.busy || port.queue.empty()) return;
    port.busy = true;
    const Message message = port.queue.pop();
    const double takes = static_cast<double>(message.bytes) / platform_.bandwidth;
    Port& to = ports_[static_cast<std::size_t>(message.to)];
    to.in_free = std::max(now_ + platform_.latency, to.in_free) + takes;
    push(to.in_free - platform_.latency, Event::left, rank);
    push(to.in_free, Event::arrived, keep(message));
  }

  std::int64_t keep(const Message& message) {
    if (free_.empty()) {
      slots_.push_back(message);
      return std::ssize(slots_) - 1;
    }
    const std::int64_t slot = free_.back();
    free_.pop_back();
    slots_[static_cast<std::size_t>(slot)] = message;
    return slot;
  }

  Platform platform_;
  std::vector<Port> ports_;
  std::priority_queue<Event> events_;
  std::vector<Message> slots_;
  std::vector<std::int64_t> free_;
  std::vector<int> touched_;  ///< ranks whose next message may leave
  std::int64_t order_ = 0;
  double now_ = 0;
};

}  // namespace

std::unique_ptr<Machine> event_machine(const Platform& platform, int ranks) {
  return std::make_unique<EventMachine>(platform, ranks);
}

}  // namespace stepwell::bench::scaling
