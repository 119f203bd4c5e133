// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

#include "harness.hpp"

/// The one function of the module that holds oneDNN. A module, loaded when the baseline is asked
/// for, because oneDNN's constructors run whenever it is linked (and hang on a CPU whose CPUID
/// stops at leaf 1): `stepwell doctor` must not depend on them. Fills 'side' or says in 'problem'
/// why it can't.
extern "C" __attribute__((visibility("default"))) void stepwell_onednn_matmul(
    std::int64_t m, std::int64_t n, std::int64_t k, stepwell::tool::Side& side,
    std::string& problem);
