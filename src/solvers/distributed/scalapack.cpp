// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <optional>

#include "core/buffer.hpp"
#include "core/machine/system.hpp"
#include "engine/agreement.hpp"
#include "solvers/api/checks.hpp"
#include "solvers/distributed/block_cyclic.hpp"
#include "solvers/distributed/replicated.hpp"
#include "solvers/distributed/solve.hpp"
#include "stepwell/distributed.hpp"
#include "stepwell/error.hpp"
#include "tiles/distribution.hpp"

/// solve_spd() with A, or with A, B and X, in ScaLAPACK's layout.
namespace stepwell {
namespace {

using solvers::BlockCyclicMap;
using Descriptor = std::array<int, 9>;

[[noreturn]] void misuse(const std::string& text) {
  throw Error(ErrorCode::invalid_argument, "solve_spd with ScaLAPACK's layout: " + text);
}

/// Fields of ScaLAPACK's array descriptor, in its order.
enum Field : std::size_t {
  kType,
  kContext,
  kRows,
  kCols,
  kRowBlock,
  kColBlock,
  kFirstRow,
  kFirstCol,
  kLld
};
constexpr const char* kFieldNames[] = {"DTYPE", "CTXT", "M",    "N",  "MB",
                                       "NB",    "RSRC", "CSRC", "LLD"};

/// "M and N of B's descriptor are 3 and 4".
std::string pair_text(const char* name, const Descriptor& d, Field first) {
  return std::string(kFieldNames[first]) + " and " + kFieldNames[first + 1] + " of " + name +
         "'s descriptor are " + std::to_string(d[first]) + " and " + std::to_string(d[first + 1]);
}

/// The grid of processes, and this process's position in it.
struct Processes {
  std::int64_t rows = 1, cols = 1, row = 0, col = 0;

  Processes(const Ranks& ranks, const DistributedOptions& distributed) {
    if (distributed.layout != Layout::grid)
      misuse("the layout must be 'grid', which is ScaLAPACK's");
    cols = tiles::Distribution::choose(ranks.size(), distributed).grid_cols();
    rows = ranks.size() / cols;
    row = ranks.rank() / cols;
    col = ranks.rank() % cols;
  }
  std::string size() const { return std::to_string(rows) + " x " + std::to_string(cols); }
};

/// This process's part of a matrix.
struct Part {
  BlockCyclicMap rows, cols;
  std::int64_t lld;

  template <class T>
  MatrixView<T> view(T* local) const {
    return {local, rows.own(), cols.own(), lld};
  }
};

void require_dense(const char* name, const Descriptor& d) {
  if (d[kType] == 1) return;
  misuse("the type (DTYPE) of " + std::string(name) + "'s descriptor is " +
         std::to_string(d[kType]) + "; it must be 1 (dense)");
}

Part part_of(const char* name, const Descriptor& d, const double* local, const Processes& p) {
  require_dense(name, d);
  if (d[kRows] < 0 || d[kCols] < 0)
    misuse(pair_text(name, d, kRows) + "; they must not be negative");
  if (d[kRowBlock] < 1 || d[kColBlock] < 1) {
    misuse(pair_text(name, d, kRowBlock) + "; they must be at least 1");
  }
  if (d[kFirstRow] < 0 || d[kFirstRow] >= p.rows || d[kFirstCol] < 0 || d[kFirstCol] >= p.cols) {
    misuse(pair_text(name, d, kFirstRow) + ", but the grid of processes is " + p.size() +
           "; they must be the coordinates of a process (DistributedOptions::grid_rows is the "
           "number of rows)");
  }
  const Part part = {{d[kRows], d[kRowBlock], (p.row - d[kFirstRow] + p.rows) % p.rows, p.rows},
                     {d[kCols], d[kColBlock], (p.col - d[kFirstCol] + p.cols) % p.cols, p.cols},
                     d[kLld]};
  const std::int64_t own = part.rows.own();
  if (part.lld < std::max<std::int64_t>(1, own)) {
    misuse("the local leading dimension (LLD) of " + std::string(name) + "'s descriptor is " +
           std::to_string(part.lld) + ", but this process has " + std::to_string(own) +
           " rows; the grid must be " + p.size() +
           " in row-major order (DistributedOptions::grid_rows)");
  }
  if (local == nullptr && own > 0 && part.cols.own() > 0) {
    misuse("there is no local array for " + std::string(name));
  }
  return part;
}

Part part_of_a(const ScalapackMatrix& a, const Processes& p, const SolveOptions& options) {
  const Descriptor& d = a.descriptor;
  require_dense("A", d);
  if (d[kRows] != d[kCols]) misuse(pair_text("A", d, kRows) + "; it must be square");
  if (d[kRowBlock] != d[kColBlock] || d[kRowBlock] < 32 || d[kRowBlock] % 32 != 0) {
    misuse(pair_text("A", d, kRowBlock) +
           "; they must be the same and a multiple of 32 (512 is best): create A with such an MB "
           "and NB, or copy it with PDGEMR2D");
  }
  if (d[kFirstRow] != 0 || d[kFirstCol] != 0) {
    misuse(pair_text("A", d, kFirstRow) + "; process (0, 0) must own the first block");
  }
  if (options.tile != 0 && options.tile != d[kRowBlock]) {
    misuse("the tile is the block size of A, " + std::to_string(d[kRowBlock]) +
           "; omit the option 'tile'");
  }
  return part_of("A", d, a.local, p);
}

/// B and X: any number of columns, distributed in blocks of any size.
struct Vectors {
  Part b, x;
};

Vectors parts_of(const Part& a, const ScalapackMatrix& of_a, const ScalapackMatrix& b,
                 const ScalapackSolution& x, const Processes& p) {
  const Vectors v = {part_of("B", b.descriptor, b.local, p),
                     part_of("X", x.descriptor, x.local, p)};
  if (v.b.rows.size != a.rows.size) {
    misuse("M of B's descriptor is " + std::to_string(v.b.rows.size) +
           "; it must be the order of A, " + std::to_string(a.rows.size));
  }
  if (v.x.rows.size != v.b.rows.size || v.x.cols.size != v.b.cols.size) {
    misuse(pair_text("X", x.descriptor, kRows) + "; they must be " + std::to_string(v.b.rows.size) +
           " and " + std::to_string(v.b.cols.size) + ", as for B");
  }
  const MatrixView<const double> local_b = v.b.view(b.local),
                                 local_x = v.x.view<const double>(x.local);
  if (solvers::overlap(local_x, a.view(of_a.local))) {
    misuse("X overlaps A, which must not change");
  }
  const bool same = x.local == b.local && x.descriptor == b.descriptor;
  if (!same && solvers::overlap(local_x, local_b)) {
    misuse("X overlaps B; it may be B itself, with the same descriptor, but not a part of it");
  }
  return v;
}

/// Adds the fields of a descriptor that must be the same on all processes.
void add_replicated(const char* name, const Descriptor& d, std::vector<solvers::Replicated>& all) {
  for (std::size_t k = kRows; k <= kFirstCol; ++k) {
    all.push_back({std::string(kFieldNames[k]) + " of " + name + "'s descriptor",
                   static_cast<std::uint64_t>(d[k])});
  }
}

/// Checks that there is memory for B and X, which every rank holds in full. Collective.
void require_memory(engine::Agreement& agreement, std::int64_t n, std::int64_t columns) {
  const std::int64_t here = core::size_product(n, columns, 16, "B and X");
  const std::int64_t all = agreement.ranks().sum_on_machine(here);
  agreement.attempt([&] {
    const std::int64_t available = core::memory_allowance().available;
    if (available == 0 || all <= available) return;
    throw Error(ErrorCode::out_of_memory,
                "solve_spd with ScaLAPACK's layout: B and X of " + std::to_string(columns) +
                    " columns take " + std::to_string(all >> 20) +
                    " MiB on all ranks of this machine together, and " +
                    std::to_string(available >> 20) +
                    " MiB are available; solve for fewer columns at a time");
  });
}

/// Calls move(offset in the local array, global row, global column) for each element that this
/// process owns.
template <class Move>
void for_own(const Part& part, Move move) {
  const std::int64_t rows = part.rows.own(), cols = part.cols.own();
  for (std::int64_t c = 0; c < cols; ++c) {
    for (std::int64_t r = 0; r < rows; ++r) {
      move(r + c * part.lld, part.rows.place(r), part.cols.place(c));
    }
  }
}

/// The tiles of A are ScaLAPACK's blocks, read in place from this process's local array.
class LocalBlocks : public factor::BlockSource {
 public:
  LocalBlocks(const Part& part, const double* local) : part_(part), a_(part.view(local)) {}
  MatrixView<const double> block(const factor::Block& at, double*) const override {
    return a_.block(part_.rows.local(at.row), part_.cols.local(at.col), at.rows, at.cols);
  }
  bool needs_scratch() const override { return false; }

 private:
  Part part_;
  MatrixView<const double> a_;
};

Certificate solve_in_place(const Ranks& ranks, const ScalapackMatrix& a, const Part& part,
                           MatrixView<const double> b, MatrixView<double> x,
                           const SolveOptions& options, const DistributedOptions& distributed) {
  SolveOptions with = options;
  with.tile = part.rows.block;
  return solvers::solve_distributed(RanksData::of(ranks), part.rows.size,
                                    LocalBlocks(part, a.local), b, x, with, distributed);
}

Certificate solve_block_cyclic(const Ranks& ranks, const ScalapackMatrix& a,
                               const ScalapackMatrix& b, const ScalapackSolution& x,
                               const SolveOptions& options, const DistributedOptions& distributed) {
  engine::Agreement agreement(RanksData::of(ranks));
  std::optional<Processes> p;
  std::optional<Part> part;
  std::optional<Vectors> v;
  std::vector<solvers::Replicated> replicated;
  agreement.attempt([&] {
    p.emplace(ranks, distributed);
    part = part_of_a(a, *p, options);
    v = parts_of(*part, a, b, x, *p);
    replicated = {{"the layout", static_cast<std::uint64_t>(p->rows)}};
    add_replicated("A", a.descriptor, replicated);
    add_replicated("B", b.descriptor, replicated);
    add_replicated("X", x.descriptor, replicated);
  });
  solvers::require_same(agreement, replicated);
  const std::int64_t n = v->b.rows.size, columns = v->b.cols.size;
  require_memory(agreement, n, columns);
  core::Buffer<double> whole_b, whole_x;
  agreement.attempt([&] {
    whole_b = core::Buffer<double>(n * columns);
    whole_x = core::Buffer<double>(n * columns);
    for_own(v->b, [&](std::int64_t local, std::int64_t row, std::int64_t col) {
      whole_b[row + col * n] = b.local[local];
    });
    // Elements of X that the solve does not write keep their values.
    for_own(v->x, [&](std::int64_t local, std::int64_t row, std::int64_t col) {
      whole_x[row + col * n] = x.local[local];
    });
  });
  // Each element is set on one rank and zero on the others.
  RanksData::of(ranks).sum({whole_b.data(), static_cast<std::size_t>(whole_b.size())});
  const Certificate c =
      solve_in_place(ranks, a, *part, view<const double>(whole_b.data(), n, columns),
                     view(whole_x.data(), n, columns), options, distributed);
  for_own(v->x, [&](std::int64_t local, std::int64_t row, std::int64_t col) {
    x.local[local] = whole_x[row + col * n];
  });
  return c;
}

}  // namespace

Certificate solve_spd(const Ranks& ranks, const ScalapackMatrix& a, MatrixView<const double> b,
                      MatrixView<double> x, const SolveOptions& options,
                      const DistributedOptions& distributed) {
  return solvers::with_all(ranks, [&] {
    std::optional<Part> part;
    engine::Agreement(RanksData::of(ranks)).attempt([&] {
      part = part_of_a(a, Processes(ranks, distributed), options);
    });
    return solve_in_place(ranks, a, *part, b, x, options, distributed);
  });
}

Certificate solve_spd(const Ranks& ranks, const ScalapackMatrix& a, const ScalapackMatrix& b,
                      const ScalapackSolution& x, const SolveOptions& options,
                      const DistributedOptions& distributed) {
  return solvers::with_all(
      ranks, [&] { return solve_block_cyclic(ranks, a, b, x, options, distributed); });
}

}  // namespace stepwell
