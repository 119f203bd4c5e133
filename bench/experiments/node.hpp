// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "options/verb.hpp"

namespace stepwell::bench {

/// Adds `bench node`: how long a factorization takes on machines with more cores than this one, by
/// simulation of its graph with the times of its tasks here.
void add_node_bench(tool::Verb bench);

}  // namespace stepwell::bench
