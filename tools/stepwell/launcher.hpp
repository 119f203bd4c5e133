// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "stepwell/ranks.hpp"

/// Processes that mpirun, mpiexec or srun has started together.
namespace stepwell::tool {

/// How many there are, as the launcher tells its children; 1: there was none.
int launched_ranks();
/// This one among them.
int launched_rank();

/// The ranks of MPI_COMM_WORLD. libstepwell_mpi is loaded for it: who has one machine loads no MPI.
/// Throws Error(unsupported) where it is not installed.
Ranks load_ranks();

}  // namespace stepwell::tool
