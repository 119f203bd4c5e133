// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace stepwell::engine {

/// Makes sure that StarPU can write its files about the machine, because it ends the whole process
/// when it can't. The files go where StarPU's own rules say ($STARPU_PERF_MODEL_DIR,
/// $STARPU_HOME/.starpu, $HOME/.starpu) if that is writable, else to a directory of this user under
/// $TMPDIR or /tmp, which is returned and which STARPU_HOME must then be set to. Empty: nothing has
/// to be set. Throws Error(unsupported) if no directory can be used.
std::string prepare_starpu_home();

}  // namespace stepwell::engine
