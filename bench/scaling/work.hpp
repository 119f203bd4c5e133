// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "factor/cholesky/schedule.hpp"
#include "platform.hpp"
#include "tiles/distribution.hpp"

/// The task graph that the library would submit, for all ranks at once.
namespace stepwell::bench::scaling {

/// One task: a piece of the work on tile (i, j), on its owner, or the copy of L(j, k0..k1) in rows
/// order, on one of the ranks that own tiles of column j.
struct Task {
  std::int32_t i = 0, j = 0, k0 = 0, k1 = 0;
  std::int32_t rank = 0;
  std::int32_t missing = 0;  ///< dependencies: operands, copies, the previous piece, the inverse
  std::int32_t copies = -1;  ///< the set of copies that the task writes or reads
  bool rows = false;
  bool first = false, last = false;
};

/// The copies of a row, for the columns of a window, on one rank. The library has memory for a few
/// such sets.
struct Copies {
  std::int32_t rank = 0, j = 0, k0 = 0, k1 = 0;
  std::int32_t readers = 0;  ///< tasks that have not yet read them
  std::int32_t next = -1;    ///< the set that reuses this memory and waits for the readers
};

class Work {
 public:
  /// 'ring': the number of sets of copies that a rank has memory for.
  Work(const tiles::RungMap& map, const tiles::Distribution& distribution,
       const factor::Schedule& schedule, std::int64_t ring);

  const tiles::RungMap& map() const { return *map_; }
  const tiles::Distribution& distribution() const { return *distribution_; }
  const factor::Schedule& schedule() const { return *schedule_; }
  std::vector<Task>& tasks() { return tasks_; }
  const std::vector<Task>& tasks() const { return tasks_; }
  std::vector<Copies>& copies() { return copies_; }

  /// The pieces of tile (i, j), in order.
  std::span<Task> pieces(std::int64_t i, std::int64_t j) { return group(grid().index(i, j)); }
  /// The copies of row j on a rank, in order; empty if the rank owns no tile of column j.
  std::span<Task> row_copies(int rank, std::int64_t j);
  /// The task whose columns include k; null if there is none.
  static Task* find(std::span<Task> tasks, std::int64_t k);
  /// The rows i >= j of the tiles that a rank owns in column j, and the columns j <= i of those
  /// that it owns in row i.
  std::span<const std::int32_t> column(int rank, std::int64_t j) const;
  std::span<const std::int32_t> row(int rank, std::int64_t i) const;

  /// The number of columns of other ranks' tiles that a rank has memory for, as in factor::Needs:
  /// the next column waits until the tasks that read the first one are done.
  std::int64_t received_columns() const;

  double seconds(const Task& task, const Platform& platform) const;

 private:
  const tiles::Grid& grid() const { return map_->grid(); }
  std::span<Task> group(std::int64_t g);
  std::size_t at(int rank, std::int64_t j) const {
    return static_cast<std::size_t>(rank * grid().tiles() + j);
  }
  void list_copies(std::int64_t ring);
  void list_owned();

  const tiles::RungMap* map_;
  const tiles::Distribution* distribution_;
  const factor::Schedule* schedule_;
  std::vector<Task> tasks_;                 ///< grouped by tile, then by copies of a row on a rank
  std::vector<std::int64_t> group_begin_;   ///< begin of each group, and the end
  std::vector<std::int64_t> copies_group_;  ///< group of (rank, j); -1: none
  std::vector<Copies> copies_;              ///< in the order in which they are written
  std::vector<std::int64_t> column_begin_, row_begin_;
  std::vector<std::int32_t> column_, row_;
};

/// Bytes of the message with the inverse of diagonal tile j.
std::int64_t inverse_message(const tiles::RungMap& map, std::int64_t j);

}  // namespace stepwell::bench::scaling
