// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "options/verb.hpp"

namespace stepwell::bench {

/// Adds `bench paper`, which measures the figures and tables of the papers on this machine.
void add_paper_bench(tool::Verb bench);

}  // namespace stepwell::bench
