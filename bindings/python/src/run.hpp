// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <functional>

#include "stepwell/context.hpp"
#include "stepwell/progress.hpp"

namespace stepwell::python {

namespace nb = nanobind;

/// The context of calls that use 'threads' threads; null for 0. Contexts are kept: a separate
/// context for each call would start and stop worker threads every time.
Context* context(int threads);

/// Whether a call with this many multiplications ends before a user would press Ctrl-C.
inline bool brief(double products) {
  return products < 1e9;
}

/// Runs 'work' without the GIL. A brief call without a progress callback runs on the caller's
/// thread. Any other call runs on a separate thread while the caller's thread checks for signals
/// and calls callback(phase, done, total) twenty times a second: Python runs signal handlers in the
/// main thread only. If a handler or the callback raises, the work is cancelled and the exception
/// is passed to the caller.
void run(Progress& progress, const nb::object& callback, bool is_brief,
         const std::function<void()>& work);

}  // namespace stepwell::python
