// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "work.hpp"

#include <algorithm>

#include "factor/cholesky/row_copies.hpp"
#include "tiles/tile_matrix.hpp"

namespace stepwell::bench::scaling {
namespace {

/// Calls f(k0, k1) for the copies of row j: chunks of columns, and separately the late last column.
template <class F>
void split_rows(std::int64_t j, std::int64_t k0, std::int64_t k1, const F& f) {
  const std::int64_t late = k1 == j ? k1 - 1 : k1;
  for (std::int64_t k = k0; k < late; k += factor::kChunk) {
    f(k, std::min(k + factor::kChunk, late));
  }
  if (late < k1) f(late, k1);
}

/// Converts the calls of Schedule::walk() to (group, task): the first walk counts the tasks, the
/// second one stores them.
template <class Take>
struct Walker {
  const tiles::Grid& grid;
  const tiles::Distribution& distribution;
  const std::vector<std::vector<int>>& column_owners;
  const std::vector<std::int64_t>& copies_group;
  const Take& take;

  void rows(std::int64_t j, std::int64_t k0, std::int64_t k1) const {
    for (const int rank : column_owners[static_cast<std::size_t>(j)]) {
      const std::int64_t group = copies_group[static_cast<std::size_t>(rank * grid.tiles() + j)];
      split_rows(j, k0, k1, [&](std::int64_t from, std::int64_t to) {
        Task task;
        task.i = task.j = static_cast<std::int32_t>(j);
        task.k0 = static_cast<std::int32_t>(from);
        task.k1 = static_cast<std::int32_t>(to);
        task.rank = rank;
        task.missing = task.k1 - task.k0;
        task.rows = true;
        take(group, task);
      });
    }
  }
  void piece(const factor::Piece& p) const {
    Task task;
    task.i = static_cast<std::int32_t>(p.i);
    task.j = static_cast<std::int32_t>(p.j);
    task.k0 = static_cast<std::int32_t>(p.k0);
    task.k1 = static_cast<std::int32_t>(p.k1);
    task.rank = distribution.owner(p.i, p.j);
    task.missing = 2 * (task.k1 - task.k0) + (p.first ? 0 : 1) + (p.last && p.i > p.j ? 1 : 0);
    task.first = p.first;
    task.last = p.last;
    take(grid.index(p.i, p.j), task);
  }
  void finished(std::int64_t, std::int64_t) const {}
};

void accumulate(std::vector<std::int64_t>& counts) {
  std::int64_t sum = 0;
  for (std::int64_t& c : counts) sum += std::exchange(c, sum);
}

}  // namespace

Work::Work(const tiles::RungMap& map, const tiles::Distribution& distribution,
           const factor::Schedule& schedule, std::int64_t ring)
    : map_(&map), distribution_(&distribution), schedule_(&schedule) {
  const std::int64_t tiles = grid().tiles();
  const int ranks = distribution.ranks();
  std::int64_t groups = grid().count();
  copies_group_.assign(static_cast<std::size_t>(ranks * tiles), -1);
  std::vector<std::vector<int>> column_owners;
  for (std::int64_t j = 0; j < tiles; ++j) {
    std::vector<int> owners = distribution.solvers(grid(), j);
    owners.push_back(distribution.owner(j, j));
    for (const int rank : owners) copies_group_[at(rank, j)] = groups++;
    column_owners.push_back(std::move(owners));
  }
  group_begin_.assign(static_cast<std::size_t>(groups + 1), 0);
  const auto walk = [&](const auto& take) {
    Walker<std::remove_cvref_t<decltype(take)>> walker{grid(), distribution, column_owners,
                                                       copies_group_, take};
    schedule.walk(walker);
  };
  walk([&](std::int64_t group, const Task&) { ++group_begin_[static_cast<std::size_t>(group)]; });
  accumulate(group_begin_);
  tasks_.resize(static_cast<std::size_t>(group_begin_.back()));
  std::vector<std::int64_t> next(group_begin_);
  walk([&](std::int64_t group, const Task& task) {
    tasks_[static_cast<std::size_t>(next[static_cast<std::size_t>(group)]++)] = task;
  });
  list_copies(ring);
  list_owned();
}

void Work::list_copies(std::int64_t ring) {
  struct Lister {
    Work& work;
    std::size_t ring;
    std::vector<std::vector<std::int32_t>> made;  ///< the sets of each rank

    void rows(std::int64_t j, std::int64_t k0, std::int64_t k1) {
      std::vector<int> owners = work.distribution().solvers(work.grid(), j);
      owners.push_back(work.distribution().owner(j, j));
      for (const int rank : owners) {
        const auto set = static_cast<std::int32_t>(work.copies_.size());
        work.copies_.push_back({rank, static_cast<std::int32_t>(j), static_cast<std::int32_t>(k0),
                                static_cast<std::int32_t>(k1)});
        std::vector<std::int32_t>& before = made[static_cast<std::size_t>(rank)];
        const bool waits = before.size() >= ring;
        if (waits) work.copies_[static_cast<std::size_t>(before[before.size() - ring])].next = set;
        before.push_back(set);
        for (Task* task = find(work.row_copies(rank, j), k0);; ++task) {
          task->copies = set;
          task->missing += waits ? 1 : 0;
          if (task->k1 == k1) break;
        }
      }
    }
    void piece(const factor::Piece& p) {
      if (p.k0 == p.k1) return;
      Task& task = *find(work.pieces(p.i, p.j), p.k0);
      task.copies = find(work.row_copies(task.rank, p.j), p.k0)->copies;
      ++work.copies_[static_cast<std::size_t>(task.copies)].readers;
    }
    void finished(std::int64_t, std::int64_t) {}
  };
  Lister lister{*this, static_cast<std::size_t>(ring), {}};
  lister.made.resize(static_cast<std::size_t>(distribution_->ranks()));
  schedule_->walk(lister);
}

void Work::list_owned() {
  const std::int64_t tiles = grid().tiles();
  const auto size = static_cast<std::size_t>(distribution_->ranks() * tiles);
  column_begin_.assign(size + 1, 0);
  row_begin_.assign(size + 1, 0);
  for (std::int64_t j = 0; j < tiles; ++j) {
    for (std::int64_t i = j; i < tiles; ++i) {
      const int rank = distribution_->owner(i, j);
      ++column_begin_[at(rank, j)];
      ++row_begin_[at(rank, i)];
    }
  }
  accumulate(column_begin_);
  accumulate(row_begin_);
  column_.resize(static_cast<std::size_t>(grid().count()));
  row_.resize(static_cast<std::size_t>(grid().count()));
  std::vector<std::int64_t> column_next(column_begin_), row_next(row_begin_);
  for (std::int64_t j = 0; j < tiles; ++j) {
    for (std::int64_t i = j; i < tiles; ++i) {
      const int rank = distribution_->owner(i, j);
      column_[static_cast<std::size_t>(column_next[at(rank, j)]++)] = static_cast<std::int32_t>(i);
      row_[static_cast<std::size_t>(row_next[at(rank, i)]++)] = static_cast<std::int32_t>(j);
    }
  }
}

std::span<Task> Work::group(std::int64_t g) {
  const std::int64_t begin = group_begin_[static_cast<std::size_t>(g)];
  const std::int64_t end = group_begin_[static_cast<std::size_t>(g) + 1];
  return std::span(tasks_).subspan(static_cast<std::size_t>(begin),
                                   static_cast<std::size_t>(end - begin));
}

std::span<Task> Work::row_copies(int rank, std::int64_t j) {
  const std::int64_t g = copies_group_[at(rank, j)];
  return g < 0 ? std::span<Task>() : group(g);
}

Task* Work::find(std::span<Task> tasks, std::int64_t k) {
  const auto found = std::partition_point(tasks.begin(), tasks.end(),
                                          [&](const Task& task) { return task.k1 <= k; });
  return found != tasks.end() && found->k0 <= k ? &*found : nullptr;
}

std::span<const std::int32_t> Work::column(int rank, std::int64_t j) const {
  const auto begin = static_cast<std::size_t>(column_begin_[at(rank, j)]);
  return std::span(column_).subspan(
      begin, static_cast<std::size_t>(column_begin_[at(rank, j) + 1]) - begin);
}

std::span<const std::int32_t> Work::row(int rank, std::int64_t i) const {
  const auto begin = static_cast<std::size_t>(row_begin_[at(rank, i)]);
  return std::span(row_).subspan(begin,
                                 static_cast<std::size_t>(row_begin_[at(rank, i) + 1]) - begin);
}

std::int64_t Work::received_columns() const {
  const std::int64_t window = schedule_->window;
  return std::min(grid().tiles(), window + (window + 1) / 2);
}

double Work::seconds(const Task& task, const Platform& platform) const {
  const auto tile = static_cast<double>(grid().tile);
  const auto rows = static_cast<double>(grid().size(task.i));
  const auto cols = static_cast<double>(grid().size(task.j));
  const Rung rung = map_->at(task.i, task.j);
  const Rates& r = platform.rates_of(rung, grid().tile);
  const auto columns = static_cast<double>(task.k1 - task.k0);
  if (task.rows) {
    return map_->most_planes() == 0 ? 0 : platform.task_seconds + rows * tile * columns / r.reorder;
  }
  const double share = task.i == task.j ? 0.5 : 1;  // only the lower half of a diagonal tile
  double seconds = platform.task_seconds + share * 2 * rows * cols * tile * columns / r.product;
  if (task.first) seconds += share * rows * cols / r.load;
  if (task.last) {
    seconds +=
        task.i == task.j ? rows * cols * cols / 3 / r.diagonal : rows * cols * cols / r.solve;
  }
  return seconds;
}

std::int64_t inverse_message(const tiles::RungMap& map, std::int64_t j) {
  return factor::inverse_of(map, j, nullptr).bytes_to_solve_with();
}

}  // namespace stepwell::bench::scaling
