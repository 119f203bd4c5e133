// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "stepwell/distributed.hpp"

/// Processes that mpirun, mpiexec or srun has started together.
namespace stepwell::tool {

/// Whether a launcher has started this process.
bool launched();
/// Number of processes according to the launcher's variables; 1 without a launcher.
int launched_ranks();
/// Rank of this process.
int launched_rank();

/// The ranks of MPI_COMM_WORLD. libstepwell_mpi is loaded only here, so that a run without ranks
/// loads no MPI. Throws Error(unsupported) if it is not installed.
Ranks load_ranks();

}  // namespace stepwell::tool
