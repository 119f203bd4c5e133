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

/// Distributed solves: one matrix over many processes. Every rank calls the same functions with the
/// same arguments, one call at a time. Threads that call concurrently need separate Ranks and
/// MPI_THREAD_MULTIPLE; otherwise the second call is an error. An error that only one rank can
/// detect aborts all ranks. In a forked child of a rank every call throws Error(unsupported), and
/// the ranks are not affected.
namespace stepwell {

struct RanksData;

/// The processes that solve a system together. Copies refer to the same processes.
class STEPWELL_API Ranks {
 public:
  int rank() const;
  int size() const;

 private:
  friend struct RanksData;
  explicit Ranks(std::shared_ptr<RanksData> data);

  std::shared_ptr<RanksData> data_;
};

/// The processes of MPI_COMM_WORLD. Collective. Starts MPI with MPI_THREAD_SERIALIZED, the thread
/// support that the library needs, if MPI is not initialized; MPI is then finalized when the
/// program ends. In libstepwell_mpi: link stepwell::mpi. Throws Error(unsupported) if MPI was
/// initialized with less thread support.
STEPWELL_API Ranks mpi_world();
/// The processes of a communicator, given as the handle from MPI_Comm_c2f(); the library uses a
/// duplicate of it. Collective. The program must have initialized MPI.
STEPWELL_API Ranks mpi_ranks(int fortran_communicator);

/// How tiles are distributed over the ranks.
enum class Layout : unsigned char {
  grid,      ///< 2D block-cyclic over a grid of processes: for any number of ranks
  symmetric  ///< symmetric block-cyclic: sends sqrt(2) times less; for 3, 6, 10, ..., r(r-1)/2
             ///< ranks
};

/// Options of distributed solves, in addition to SolveOptions.
struct DistributedOptions {
  Layout layout = Layout::grid;
  int grid_rows = 0;  ///< rows of the process grid of Layout::grid; 0: as square as possible
  /// Keep the tiles of A in FP64 on their ranks (8 bytes per element of the lower triangle). Off:
  /// they are generated again for every product with A.
  bool keep_tiles = true;
  /// Directory for checkpoints; empty: none. Each rank saves the state of the factorization there,
  /// and a later call with the same matrix, options and ranks continues from it and gives the same
  /// bits. The files are removed when a solve has converged.
  std::string checkpoint;
  double checkpoint_interval = 0.1;  ///< fraction of the flops between two checkpoints, in (0, 1]
  /// A name for A: checkpoints with another name are ignored. The diagonal and some tiles of A are
  /// compared in any case.
  std::string checkpoint_name;
};

/// Writes rows [row, row + tile.rows) and columns [col, col + tile.cols) of A into 'tile'. Called
/// only for tiles that touch the lower triangle; of a diagonal tile only the lower triangle is
/// read. Called concurrently by several threads; it must return the same values every time.
using FillTile = std::function<void(std::int64_t row, std::int64_t col, MatrixView<double> tile)>;

/// Distributed solve_spd(). Collective.
/// Entry: A has order n; 'fill' supplies its tiles, each on the rank that owns it. B and X are
/// complete on every rank. options.triangle 'upper' and check_symmetry are not supported, because
/// only the lower triangle is requested. Without a context, a rank uses its part of the machine's
/// cores.
/// Exit: X and the certificate are the same on every rank, except for the times and the factor's
/// bytes, which are those of the rank. An error on one rank is thrown on all ranks, and cancelling
/// on one rank cancels on all.
/// Cost: as solve_spd(), distributed over the ranks. Memory per rank: plan_spd(ranks, ...).bytes.
STEPWELL_API Certificate solve_spd(const Ranks& ranks, std::int64_t n, const FillTile& fill,
                                   MatrixView<const double> b, MatrixView<double> x,
                                   const SolveOptions& options = {},
                                   const DistributedOptions& distributed = {});

/// A or B in ScaLAPACK's layout: the local array of this process, column-major, and the array
/// descriptor.
struct ScalapackMatrix {
  const double* local = nullptr;
  std::array<int, 9> descriptor{};
};

/// X in ScaLAPACK's layout.
struct ScalapackSolution {
  double* local = nullptr;
  std::array<int, 9> descriptor{};
};

/// Distributed solve_spd() with A in ScaLAPACK's layout. Its lower triangle is read in place; A is
/// neither written nor redistributed. The ranks must be the processes of the BLACS grid in row
/// order (BLACS_GRIDINIT's default), and distributed.grid_rows its number of rows. The tile is the
/// block of A: MB = NB, a multiple of 32, with the first block on process (0, 0). For any other
/// layout of A, Error(invalid_argument) says what to do. B and X are complete on every rank.
STEPWELL_API Certificate solve_spd(const Ranks& ranks, const ScalapackMatrix& a,
                                   MatrixView<const double> b, MatrixView<double> x,
                                   const SolveOptions& options = {},
                                   const DistributedOptions& distributed = {});

/// Distributed solve_spd() with A, B and X in ScaLAPACK's layout, as for PDPOSV.
/// Entry: each process has its local parts of A, B and X and all descriptors, also if it has no
/// columns of B. B and X are n x columns, with blocks of any size, starting on any process of the
/// grid; X may be B itself, with the same descriptor.
/// Exit: each process has its part of X, unchanged for outcomes for which solve_spd() does not
/// write X. A is unchanged, and so is B unless it is X.
/// Cost: in addition to the solve, a sum over the ranks of 8 n bytes per column; no communication
/// for X. Memory per rank: 16 n bytes per column in addition to plan_spd(ranks, ...).bytes, because
/// each rank holds complete copies of B and X internally.
STEPWELL_API Certificate solve_spd(const Ranks& ranks, const ScalapackMatrix& a,
                                   const ScalapackMatrix& b, const ScalapackSolution& x,
                                   const SolveOptions& options = {},
                                   const DistributedOptions& distributed = {});

/// The plan of a distributed solve_spd(). Collective. 'bytes' and 'top_bytes' are those of the rank
/// that needs the most memory, including the tiles of A that it keeps.
STEPWELL_API Plan plan_spd(const Ranks& ranks, std::int64_t n, std::int64_t columns,
                           const SolveOptions& options = {},
                           const DistributedOptions& distributed = {});

}  // namespace stepwell
