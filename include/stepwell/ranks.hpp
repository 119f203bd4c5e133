// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "stepwell/export.hpp"
#include "stepwell/solve.hpp"
#include "stepwell/view.hpp"

/// One matrix over many processes. Every rank calls the same functions with the same arguments, one
/// call at a time: threads that call at once need ranks of their own and MPI_THREAD_MULTIPLE, or
/// are refused. A refusal that one rank alone hears of ends all ranks; a forked child of a rank is
/// refused with Error(unsupported), and nobody else hears of it.
namespace stepwell {

namespace engine {
class Communicator;
}

/// The processes that solve together. Copies are the same ranks.
class STEPWELL_API Ranks {
 public:
  int rank() const;
  int size() const;

  /// The inside, for the library itself.
  explicit Ranks(std::shared_ptr<engine::Communicator> inside);
  engine::Communicator& communicator() const { return *inside_; }

 private:
  std::shared_ptr<engine::Communicator> inside_;
};

/// Those of MPI_COMM_WORLD. MPI is started, if it is not, with the thread support the library needs
/// (MPI_THREAD_SERIALIZED), and then ended when the program ends. In libstepwell_mpi: link
/// stepwell::mpi. Throws Error(unsupported) if MPI was started with less.
STEPWELL_API Ranks mpi_world();
/// Those of a communicator, as MPI_Comm_c2f() gives it; a duplicate of it is used. The program has
/// started MPI.
STEPWELL_API Ranks mpi_ranks(int fortran_communicator);

/// How tiles are dealt out to ranks.
enum class Layout : unsigned char {
  grid,      ///< 2D block-cyclic over a grid of processes: for any number of ranks
  symmetric  ///< symmetric block-cyclic: sends sqrt(2) times less; for 3, 6, 10, ..., r(r-1)/2
             ///< ranks
};

struct DistributedOptions {
  Layout layout = Layout::grid;
  int grid_rows = 0;  ///< of Layout::grid; 0: as square as can be
  /// Keep A's tiles in FP64 on their ranks (8 bytes for an element of the lower triangle). Off:
  /// they are made anew for every product with A.
  bool keep_tiles = true;
  /// A directory; not empty: each rank writes there how far the factorization has come, and a later
  /// call with the same matrix, options and ranks goes on from there, to the same bits. The files
  /// go when a solve has converged.
  std::string checkpoint;
  double checkpoint_share = 0.1;  ///< of the work between two checkpoints, above 0 and at most 1
  /// A name for A: checkpoints of another name are left alone. Its diagonal and some of its tiles
  /// are compared in any case.
  std::string checkpoint_name;
};

/// Writes rows [row, row + tile.rows) and columns [col, col + tile.cols) of A into 'tile'. It is
/// asked for tiles that touch the lower triangle; of one on the diagonal only that part is read.
/// Called by several threads at once, and must give the same numbers every time.
using FillTile = std::function<void(std::int64_t row, std::int64_t col, MatrixView<double> tile)>;

/// solve_spd() over ranks: A of order n comes from 'fill', tile by tile, each on the rank that owns
/// it. B and X are whole on every rank, and so is the certificate: the same everywhere but for
/// times and the factor's bytes, which are the rank's own. An error on one rank is thrown on all of
/// them, and a cancel on one is a cancel on all.
///
/// Not for options.triangle 'upper' and check_symmetry: the lower triangle is all that is asked
/// for. Without a context a rank takes its part of the machine's cores.
///
/// Memory of a rank: plan_spd(ranks, ...).bytes.
STEPWELL_API Certificate solve_spd(const Ranks& ranks, std::int64_t n, const FillTile& fill,
                                   MatrixView<const double> b, MatrixView<double> x,
                                   const SolveOptions& options = {},
                                   const DistributedOptions& distributed = {});

/// A, or B, as ScaLAPACK holds it: this process's part of it, by columns, and the array descriptor.
struct ScalapackMatrix {
  const double* local = nullptr;
  std::array<int, 9> descriptor{};
};

/// X, likewise.
struct ScalapackSolution {
  double* local = nullptr;
  std::array<int, 9> descriptor{};
};

/// The same with A where ScaLAPACK has it: its lower triangle is read in place, and nothing is
/// written or sent. The ranks are the processes of its grid, by rows (BLACS_GRIDINIT's default),
/// and distributed.grid_rows is its number of rows. The tile is A's block: MB = NB, a multiple of
/// 32, and the first block is with process (0, 0). Another A is refused with what to do. B and X
/// are whole on every rank.
STEPWELL_API Certificate solve_spd(const Ranks& ranks, const ScalapackMatrix& a,
                                   MatrixView<const double> b, MatrixView<double> x,
                                   const SolveOptions& options = {},
                                   const DistributedOptions& distributed = {});

/// The same with B and X where ScaLAPACK has them, as for PDPOSV. Entry: each process has its part
/// of A, of B and of X, and the descriptors; a process without columns of B has a descriptor of it
/// all the same. B and X are n x columns, in blocks of any size that begin with any process of the
/// grid; X may be B itself, with the same descriptor. Exit: each process has its part of X, or what
/// was there where solve_spd() would not have written; A and B are as they were.
///
/// Cost: one sum over ranks of 8 n bytes a column; nothing is sent for X. Memory of a rank: 16 n
/// bytes a column beside plan_spd(ranks, ...).bytes, for B and X are whole on every rank inside.
STEPWELL_API Certificate solve_spd(const Ranks& ranks, const ScalapackMatrix& a,
                                   const ScalapackMatrix& b, const ScalapackSolution& x,
                                   const SolveOptions& options = {},
                                   const DistributedOptions& distributed = {});

/// The plan of solve_spd() over ranks; bytes are those of the rank that needs the most, A's kept
/// tiles included.
STEPWELL_API Plan plan_spd(const Ranks& ranks, std::int64_t n, std::int64_t columns,
                           const SolveOptions& options = {},
                           const DistributedOptions& distributed = {});

}  // namespace stepwell
