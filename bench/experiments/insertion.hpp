// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "options/verb.hpp"

namespace stepwell::bench {

/// Adds `bench graph`: how long one rank of many takes to insert its tasks and messages, if none of
/// them does any work.
void add_graph_bench(tool::Verb bench);

}  // namespace stepwell::bench
