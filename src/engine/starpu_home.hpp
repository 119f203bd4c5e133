// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace stepwell::engine {

/// Sees to it that StarPU can write its files about the machine: it ends the whole process when it
/// can't. They go where its own rules say ($STARPU_PERF_MODEL_DIR, $STARPU_HOME/.starpu,
/// $HOME/.starpu) if that can be written, else to a directory of this user's under $TMPDIR or /tmp,
/// which is what STARPU_HOME has to be then. Empty: nothing has to be set. Throws
/// Error(unsupported) if no directory will do.
std::string prepare_starpu_home();

}  // namespace stepwell::engine
