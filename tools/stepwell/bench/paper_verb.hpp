// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace CLI {
class App;
}

namespace stepwell::tool {

/// Adds `bench paper`, which measures the figures and tables of the papers on this machine.
void add_paper_bench(CLI::App& bench);

/// Adds --mkl to a verb that has oneMKL as a baseline.
void add_mkl_option(CLI::App& verb);

}  // namespace stepwell::tool
