// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "options/verb.hpp"

namespace stepwell::bench {

/// Adds `bench` and its verbs.
void add_bench(tool::Verb app);

}  // namespace stepwell::bench
