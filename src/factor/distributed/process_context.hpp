// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <optional>
#include <span>

#include "core/checks.hpp"
#include "engine/communicator.hpp"
#include "kernels/recursive.hpp"
#include "stepwell/context.hpp"
#include "tiles/distribution.hpp"

namespace stepwell::factor {

/// This rank's part of a factorization, and its agreement with the other ranks. A single rank has
/// the whole factorization and agrees with itself at no cost. All functions from together() on are
/// collective.
class ProcessContext {
 public:
  ProcessContext() = default;
  ProcessContext(engine::Communicator& ranks, tiles::Distribution distribution)
      : ranks_(&ranks), rank_(ranks.rank()), distribution_(distribution) {}

  engine::Communicator* ranks() const { return ranks_; }
  const tiles::Distribution& distribution() const { return distribution_; }
  int rank() const { return rank_; }
  bool alone() const { return distribution_.ranks() == 1; }
  bool owns(std::int64_t i, std::int64_t j) const { return distribution_.owner(i, j) == rank_; }

  /// Runs 'run' on this rank; an exception on one rank is thrown on all.
  void together(const std::function<void()>& run) const;
  void sum(std::span<double> x) const;
  /// The largest value over the ranks; NaN is ignored.
  double largest(double here) const;
  bool any(bool here) const;
  /// Bytes that all ranks have sent so far.
  std::int64_t bytes_sent() const;
  /// The failing pivot with the lowest index on any rank.
  kernels::Pivot first(kernels::Pivot here) const;
  /// The first (row, column) on any rank, in the order of columns.
  using Place = std::optional<std::pair<std::int64_t, std::int64_t>>;
  Place first(Place here) const;
  /// The number of workers of this rank: that of the context, or its part of the machine's threads.
  int threads(const Context* context) const;
  /// Throws Error(out_of_memory) unless the machine has the memory that its ranks need together.
  void require_memory(std::int64_t bytes, const std::string& what) const;

 private:
  engine::Communicator* ranks_ = nullptr;
  int rank_ = 0;
  tiles::Distribution distribution_;
};

/// The number of workers of a rank that may use 'allowed' threads, if all ranks of this machine
/// together counted 'claimed' threads.
int part_of_machine(int allowed, std::int64_t claimed);

}  // namespace stepwell::factor
