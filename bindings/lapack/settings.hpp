// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

/// The user's settings of the drop-in library, read from the environment at the first call. A
/// program that runs with more rights than its caller (set-user-ID) does not read the environment.
namespace stepwell::lapack {

/// STEPWELL_LAPACK: the routines that are dispatched to Stepwell. Each mode includes the previous
/// ones.
enum class Mode : unsigned char {
  off,     ///< nothing
  mixed,   ///< dsposv and dsgesv, which leave A unchanged
  factor,  ///< also dpotrf and dposv, with LAPACK's factor in A, by exact sums
  all      ///< also dgesv and dgels, and dposv faster: instead of a factor they store NaN in A
};

struct Settings {
  Mode mode = Mode::factor;
  std::int64_t min_n = 0;  ///< STEPWELL_LAPACK_MIN_N: minimum order; 0: where it pays
  bool verbose = false;    ///< STEPWELL_VERBOSE: print the call log at exit
};

/// The first call registers print_call_log() to run at exit if 'verbose' is set.
const Settings& settings();

/// Whether this process was forked after the first call: the parent's other threads do not exist
/// here, neither its workers nor the holders of any locks.
bool forked_child();

}  // namespace stepwell::lapack
