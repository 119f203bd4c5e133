// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace CLI {
class App;
}

namespace stepwell::bench {

/// Adds `bench compare`, which reports what became slower between two files of `bench`. Its exit
/// code is 1 if any case did.
void add_compare(CLI::App& bench);

}  // namespace stepwell::bench
