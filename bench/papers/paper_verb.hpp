// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace CLI {
class App;
}

namespace stepwell::bench {

/// Adds `bench paper`, which measures the figures and tables of the papers on this machine.
void add_paper_bench(CLI::App& bench);

}  // namespace stepwell::bench
