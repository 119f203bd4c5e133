// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "harness.hpp"

namespace stepwell::tool {

/// oneDNN's bf16 matmul C = A B on one thread, C fp32 m x n, A m x k row-major, B packed the way
/// oneDNN likes best beforehand. Throws Error(unsupported) where this build has no oneDNN or the
/// CPU has no bf16 for it.
Side onednn_matmul(std::int64_t m, std::int64_t n, std::int64_t k);

}  // namespace stepwell::tool
