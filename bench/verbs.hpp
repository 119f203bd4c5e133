// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace CLI {
class App;
}

namespace stepwell::bench {

/// Adds `bench` and its verbs.
void add_bench(CLI::App& app);

}  // namespace stepwell::bench
