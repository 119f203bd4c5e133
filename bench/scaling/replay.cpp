// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replay.hpp"

#include <algorithm>
#include <queue>

#include "factor/distributed/broadcast_tree.hpp"
#include "stepwell/error.hpp"
#include "tiles/tile_matrix.hpp"

namespace stepwell::bench::scaling {
namespace {

class Replay : public Listener {
 public:
  Replay(Work& work, const Platform& platform, Machine& machine, const Sending& sending)
      : work_(work),
        grid_(work.map().grid()),
        platform_(platform),
        machine_(machine),
        sending_(sending),
        nodes_(static_cast<std::size_t>(work.distribution().ranks())) {
    for (Node& node : nodes_) {
      node.free = platform.workers;
      node.left.assign(static_cast<std::size_t>(grid_.tiles()), 0);
      node.held.resize(static_cast<std::size_t>(grid_.tiles()));
    }
    for (const Task& task : work.tasks()) {
      for (std::int32_t k = task.k0; k < task.k1; ++k) ++left(task.rank, k);
    }
  }

  Replayed run() {
    for (Task& task : work_.tasks()) {
      if (task.missing == 0) ready(task);
    }
    settled();
    result_.seconds = machine_.run(*this);
    if (result_.tasks != std::ssize(work_.tasks())) {
      throw Error(ErrorCode::internal,
                  "the replay ended with " +
                      std::to_string(std::ssize(work_.tasks()) - result_.tasks) + " tasks left");
    }
    return result_;
  }

  void worked(std::int64_t which) override {
    const Task& task = work_.tasks()[static_cast<std::size_t>(which)];
    ++result_.tasks;
    if (task.rows) {
      copied(task);
    } else if (!task.last) {
      give(*(&work_.tasks()[static_cast<std::size_t>(which)] + 1), 1);
    } else {
      finished(task);
    }
    for (std::int32_t k = task.k0; k < task.k1; ++k) read(task.rank, k);
    if (!task.rows && task.k0 < task.k1) {
      copies_read(work_.copies()[static_cast<std::size_t>(task.copies)]);
    }
    Node& node = nodes_[static_cast<std::size_t>(task.rank)];
    ++node.free;
    touch(node);
  }

  void settled() override {
    for (Node* const node : touched_) {
      node->touched = false;
      take(*node);
    }
    touched_.clear();
  }

  void arrived(const Message& message) override {
    if (message.i == message.k) {
      invert(message.to, message.k);
    } else {
      available(message.to, message.i, message.k);
    }
    if (message.begin < message.end) {
      pass_on(message.to, message.i, message.k,
              factor::receivers(work_.distribution(), grid_, message.i, message.k), message.begin,
              message.end);
    }
  }

 private:
  struct Waiting {
    int priority = 0;
    std::int64_t order = 0;
    std::int64_t task = 0;
    bool operator<(const Waiting& other) const {  // the next task is the largest
      return priority != other.priority ? priority < other.priority : order > other.order;
    }
  };
  struct Node {
    int free = 0;  ///< workers
    bool touched = false;
    std::priority_queue<Waiting> waiting;
    std::vector<std::int64_t> left;          ///< remaining tasks that read each column
    std::vector<std::vector<Message>> held;  ///< messages of each column, until there is memory
  };

  std::int64_t& left(int rank, std::int64_t k) {
    return nodes_[static_cast<std::size_t>(rank)].left[static_cast<std::size_t>(k)];
  }

  void ready(Task& task) {
    Node& node = nodes_[static_cast<std::size_t>(task.rank)];
    node.waiting.push(
        {factor::priority(grid_, task.i, task.j), order_++, &task - work_.tasks().data()});
    touch(node);
  }

  void touch(Node& node) {
    if (!node.touched) touched_.push_back(&node);
    node.touched = true;
  }

  void take(Node& node) {
    while (node.free > 0 && !node.waiting.empty()) {
      const std::int64_t which = node.waiting.top().task;
      node.waiting.pop();
      --node.free;
      const Task& task = work_.tasks()[static_cast<std::size_t>(which)];
      const double seconds = work_.seconds(task, platform_);
      result_.busy += seconds;
      machine_.work(task.rank, seconds, which);
    }
  }

  void give(Task& task, std::int32_t count) {
    task.missing -= count;
    if (task.missing == 0) ready(task);
  }

  /// A copy of row j is complete: the pieces of column j on that rank may read it.
  void copied(const Task& copy) {
    for (const std::int32_t i : work_.column(copy.rank, copy.j)) {
      const std::span<Task> pieces = work_.pieces(i, copy.j);
      for (std::int32_t k = copy.k0; k < copy.k1;) {
        Task& piece = *Work::find(pieces, k);
        const std::int32_t end = std::min(piece.k1, copy.k1);
        give(piece, end - k);
        k = end;
      }
    }
  }

  /// A piece has read a set of copies: after its last reader the next set may use the memory.
  void copies_read(Copies& set) {
    if (--set.readers > 0 || set.next < 0) return;
    const Copies& next = work_.copies()[static_cast<std::size_t>(set.next)];
    for (Task* task = Work::find(work_.row_copies(next.rank, next.j), next.k0);; ++task) {
      give(*task, 1);
      if (task->k1 == next.k1) break;
    }
  }

  void finished(const Task& task) {
    if (task.i == task.j) {
      invert(task.rank, task.j);
    } else {
      available(task.rank, task.i, task.j);
    }
    const std::vector<int> to = factor::receivers(work_.distribution(), grid_, task.i, task.j);
    pass_on(task.rank, task.i, task.j, to, 0, static_cast<std::int32_t>(to.size()));
  }

  /// Sends to to[begin, end): to each of them, or to the roots of the subtrees of a binomial tree.
  void pass_on(int from, std::int32_t i, std::int32_t k, const std::vector<int>& to,
               std::int32_t begin, std::int32_t end) {
    const std::int64_t bytes =
        i == k ? inverse_message(work_.map(), k) : shape_of(work_.map(), i, k).bytes();
    const int first = sending_.by_priority ? factor::priority(grid_, i, k) : 0;
    const bool tree = sending_.fan_out == FanOut::tree;
    while (begin < end) {
      const auto next = static_cast<std::int32_t>(
          tree ? factor::passed_on(static_cast<std::size_t>(begin), static_cast<std::size_t>(end))
               : static_cast<std::size_t>(begin) + 1);
      send({from, to[static_cast<std::size_t>(begin)], i, k, bytes, first, begin + 1, next});
      begin = next;
    }
  }

  /// L(i, k) is on this rank.
  void available(int rank, std::int32_t i, std::int32_t k) {
    const std::span<const std::int32_t> columns = work_.row(rank, i);
    for (auto j = std::upper_bound(columns.begin(), columns.end(), k); j != columns.end(); ++j) {
      give(*Work::find(work_.pieces(i, *j), k), 1);
    }
    if (Task* const copy = Work::find(work_.row_copies(rank, i), k)) give(*copy, 1);
  }

  /// The inverse of diagonal tile j is on this rank.
  void invert(int rank, std::int32_t j) {
    for (const std::int32_t i : work_.column(rank, j)) {
      if (i > j) give(work_.pieces(i, j).back(), 1);
    }
  }

  void send(const Message& message) {
    ++result_.messages;
    result_.bytes += message.bytes;
    const std::int64_t before = message.k - work_.received_columns();
    if (before >= 0 && left(message.to, before) > 0) {
      Node& node = nodes_[static_cast<std::size_t>(message.to)];
      node.held[static_cast<std::size_t>(message.k)].push_back(message);
    } else {
      machine_.send(message);
    }
  }

  /// A task of this rank has finished reading a column.
  void read(int rank, std::int64_t k) {
    const std::int64_t next = k + work_.received_columns();
    if (--left(rank, k) > 0 || next >= grid_.tiles()) return;
    std::vector<Message> free;
    free.swap(nodes_[static_cast<std::size_t>(rank)].held[static_cast<std::size_t>(next)]);
    for (const Message& message : free) machine_.send(message);
  }

  Work& work_;
  const tiles::Grid& grid_;
  const Platform& platform_;
  Machine& machine_;
  Sending sending_;
  std::vector<Node> nodes_;
  std::vector<Node*> touched_;  ///< nodes that may have work for a free worker
  std::int64_t order_ = 0;
  Replayed result_;
};

}  // namespace

Replayed replay(Work& work, const Platform& platform, Machine& machine, const Sending& sending) {
  return Replay(work, platform, machine, sending).run();
}

}  // namespace stepwell::bench::scaling
