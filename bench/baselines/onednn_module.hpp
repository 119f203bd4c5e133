// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

#include "bench/harness/harness.hpp"

/// The only function of the module that contains oneDNN. The module is loaded on demand because
/// oneDNN's constructors run whenever it is linked (and hang on a CPU whose CPUID stops at leaf 1):
/// `stepwell doctor` must not depend on them. Fills 'side', or explains in 'problem' why it can't.
extern "C" __attribute__((visibility("default"))) void stepwell_onednn_matmul(
    std::int64_t m, std::int64_t n, std::int64_t k, stepwell::bench::Side& side,
    std::string& problem);
