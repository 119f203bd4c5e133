// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

/// What the user wants of the drop-in: read from the environment at the first call. A program that
/// runs with more rights than its caller (set-user-ID) does not read it.
namespace stepwell::lapack {

/// STEPWELL_LAPACK. Each takes what those before it dispatch.
enum class Mode : unsigned char {
  off,    ///< nothing
  mixed,  ///< dsposv and dsgesv, which leave A as it is
  all     ///< dposv, dgesv and dgels too: their factor in A becomes NaN
};

struct Settings {
  Mode mode = Mode::mixed;
  std::int64_t min_n = 0;  ///< STEPWELL_LAPACK_MIN_N: taken from this order on; 0: where it pays
  bool verbose = false;    ///< STEPWELL_VERBOSE: the call log is printed at exit
};

/// The first call registers the call log for the process's end.
const Settings& settings();

/// Whether this process was forked after the first call: the parent's workers, and whatever its
/// other threads held, are not here.
bool forked_child();

}  // namespace stepwell::lapack
