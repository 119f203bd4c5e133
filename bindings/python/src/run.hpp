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

/// The workers of a call that asked for 'threads' of them; null for 0. They are kept: a context of
/// each call's own would start and stop them every time.
Context* context(int threads);

/// Whether a call of so many multiplications ends before anybody would think of Ctrl-C.
inline bool brief(double products) {
  return products < 1e9;
}

/// Runs 'work' without the GIL. A brief call without a watcher runs on the caller's thread. Any
/// other runs on a thread of its own while the caller's looks for signals and calls
/// watcher(phase, done, total) twenty times a second: Python runs signal handlers in the main
/// thread only. Where one raises, the work is cancelled and the exception is the caller's.
void run(Progress& progress, const nb::object& watcher, bool is_brief,
         const std::function<void()>& work);

}  // namespace stepwell::python
