// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "options/verb.hpp"

namespace stepwell::bench {

/// Adds `tune batch`, which finds the fastest variant of the batch kernels on this machine for each
/// order.
void add_tune_batch(tool::Verb tune);

}  // namespace stepwell::bench
