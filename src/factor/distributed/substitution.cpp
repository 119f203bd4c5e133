// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "factor/distributed/substitution.hpp"

#include <algorithm>

#include "core/buffer.hpp"
#include "core/machine/fp_scope.hpp"
#include "factor/triangular/substitution_tile.hpp"

namespace stepwell::factor {
namespace {

/// Tags of the messages about block k: its partial sums, and the solved block. The sums of a later
/// block may be complete before those of an earlier one.
int sums_tag(std::int64_t k) {
  return static_cast<int>(2 * k);
}
int solved_tag(std::int64_t k) {
  return static_cast<int>(2 * k + 1);
}

void add_once(std::vector<int>& ranks, int rank) {
  const auto at = std::lower_bound(ranks.begin(), ranks.end(), rank);
  if (at == ranks.end() || *at != rank) ranks.insert(at, rank);
}

}  // namespace

/// Vectors stored in contiguous blocks, so that each block can be a message.
template <class V>
struct DistributedSubstitution::Vectors {
  Vectors(const tiles::Grid& of, std::int64_t columns, std::int64_t most)
      : grid(of), r(columns), solved(of.n * r), sums(of.n * r), inbox(most * of.tile * r) {}

  MatrixView<V> block(const core::Buffer<V>& of, std::int64_t k) const {
    return view(of.data() + k * grid.tile * r, grid.size(k), r);
  }
  static std::span<std::byte> bytes(MatrixView<V> block) {
    return std::as_writable_bytes(
        std::span(block.data, static_cast<std::size_t>(block.rows * block.cols)));
  }

  tiles::Grid grid;
  std::int64_t r;
  core::Buffer<V> solved;  ///< blocks of x whose diagonal tile is here, and received ones
  core::Buffer<V> sums;    ///< what this rank's tiles subtract from blocks not solved yet
  core::Buffer<V> inbox;   ///< sums of a block from other ranks
};

DistributedSubstitution::DistributedSubstitution(engine::ThreadPool& pool,
                                                 engine::Communicator& ranks,
                                                 const tiles::TileMatrix& l)
    : pool_(pool), ranks_(ranks), l_(l), forward_(direction(false)), backward_(direction(true)) {}

std::int64_t DistributedSubstitution::block(const Direction& d, std::int64_t step) const {
  return d.transposed ? l_.grid().tiles() - 1 - step : step;
}

DistributedSubstitution::Place DistributedSubstitution::between(const Direction& d,
                                                                std::int64_t step,
                                                                std::int64_t later) const {
  const std::int64_t a = block(d, step);
  const std::int64_t b = block(d, later);
  return {std::max(a, b), std::min(a, b)};
}

DistributedSubstitution::Direction DistributedSubstitution::direction(bool transposed) const {
  const std::int64_t count = l_.grid().tiles();
  const int rank = ranks_.rank();
  Direction d;
  d.transposed = transposed;
  d.steps.resize(static_cast<std::size_t>(count));
  for (std::int64_t s = 0; s < count; ++s) {
    Step& step = d.steps[static_cast<std::size_t>(s)];
    for (std::int64_t q = s + 1; q < count; ++q) {
      Step& later = d.steps[static_cast<std::size_t>(q)];
      const Place tile = between(d, s, q);
      const int who = l_.distribution().owner(tile.i, tile.j);
      if (who == rank) {
        step.apply_to.push_back(q);
        later.last = s;
        continue;
      }
      if (mine(block(d, s))) add_once(step.readers, who);
      if (mine(block(d, q))) add_once(later.contributors, who);
    }
  }
  return d;
}

template <class V>
void DistributedSubstitution::run(const Direction& d, Vectors<V>& v) const {
  std::vector<engine::Communicator::Request> sent;
  std::fill(v.sums.begin(), v.sums.end(), V{0});
  const auto count = static_cast<std::int64_t>(d.steps.size());
  const auto apply = [&](std::int64_t s, std::int64_t q) {
    const core::FpScope fp;
    const Place tile = between(d, s, q);
    apply_tile<V>(l_.tile(tile.i, tile.j), d.transposed, v.block(v.solved, block(d, s)),
                  v.block(v.sums, block(d, q)));
  };
  // Sums go to the owner of the diagonal tile as soon as they are complete.
  const auto send_part = [&](std::int64_t s, std::int64_t q) {
    const std::int64_t k = block(d, q);
    if (d.steps[static_cast<std::size_t>(q)].last != s || mine(k)) return;
    const int to = l_.distribution().owner(k, k);
    sent.push_back(ranks_.start_send(v.bytes(v.block(v.sums, k)), to, sums_tag(k)));
  };
  const auto solve = [&](const Step& step, std::int64_t k) {
    const MatrixView<V> x = v.block(v.solved, k);
    const std::int64_t size = x.rows * x.cols;
    const auto from = [&](std::size_t c) {
      return view(v.inbox.data() + static_cast<std::int64_t>(c) * size, x.rows, x.cols);
    };
    std::vector<engine::Communicator::Request> coming;
    for (std::size_t c = 0; c < step.contributors.size(); ++c) {
      coming.push_back(ranks_.start_receive(v.bytes(from(c)), step.contributors[c], sums_tag(k)));
    }
    const auto add = [&](const V* sums) {
      for (std::int64_t i = 0; i < size; ++i) x.data[i] += sums[i];
    };
    add(v.block(v.sums, k).data);
    for (std::size_t c = 0; c < coming.size(); ++c) {
      ranks_.wait(coming[c]);
      add(from(c).data);
    }
    solve_tile<V>(l_.tile(k, k), d.transposed, x);
    for (const int to : step.readers) {
      sent.push_back(ranks_.start_send(v.bytes(x), to, solved_tag(k)));
    }
  };
  for (std::int64_t s = 0; s < count; ++s) {
    const Step& step = d.steps[static_cast<std::size_t>(s)];
    const std::int64_t k = block(d, s);
    if (mine(k)) {
      solve(step, k);
    } else if (!step.apply_to.empty()) {
      const int from = l_.distribution().owner(k, k);
      ranks_.wait(ranks_.start_receive(v.bytes(v.block(v.solved, k)), from, solved_tag(k)));
    }
    auto next = step.apply_to.begin();
    if (next != step.apply_to.end() && *next == s + 1) {
      apply(s, *next);
      send_part(s, *next++);
    }
    pool_.for_each(step.apply_to.end() - next,
                   [&, first = next](std::int64_t item) { apply(s, first[item]); });
    for (; next != step.apply_to.end(); ++next) send_part(s, *next);
  }
  for (const auto request : sent) ranks_.wait(request);
}

template <class V>
void DistributedSubstitution::run(MatrixView<V> x) const {
  if (x.empty()) return;
  const core::FpScope fp;
  const tiles::Grid& grid = l_.grid();
  std::size_t most = 0;
  for (const Direction* d : {&forward_, &backward_}) {
    for (const Step& step : d->steps) most = std::max(most, step.contributors.size());
  }
  Vectors<V> v(grid, x.cols, static_cast<std::int64_t>(most));
  for (std::int64_t k = 0; k < grid.tiles(); ++k) {
    if (!mine(k)) continue;
    const MatrixView<V> own = v.block(v.solved, k);
    for (std::int64_t c = 0; c < x.cols; ++c) {
      std::copy_n(x.column(c) + k * grid.tile, own.rows, own.column(c));
    }
  }
  run(forward_, v);
  run(backward_, v);
  // Each element belongs to one rank, and is zero on the others.
  core::Buffer<double> whole(grid.n * x.cols);
  for (std::int64_t k = 0; k < grid.tiles(); ++k) {
    if (!mine(k)) continue;
    const MatrixView<V> own = v.block(v.solved, k);
    for (std::int64_t c = 0; c < x.cols; ++c) {
      std::copy_n(own.column(c), own.rows, whole.data() + c * grid.n + k * grid.tile);
    }
  }
  ranks_.sum({whole.data(), static_cast<std::size_t>(whole.size())});
  for (std::int64_t c = 0; c < x.cols; ++c) {
    for (std::int64_t i = 0; i < grid.n; ++i) x(i, c) = static_cast<V>(whole[c * grid.n + i]);
  }
}

template void DistributedSubstitution::run(MatrixView<float> x) const;
template void DistributedSubstitution::run(MatrixView<double> x) const;

}  // namespace stepwell::factor
