// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "bench/harness/harness.hpp"

namespace stepwell::bench {

/// oneDNN's bf16 matmul C = A B on one thread: C is fp32, m x n; A is m x k, row-major; B is packed
/// beforehand in the layout that oneDNN prefers. Throws Error(unsupported) if this build has no
/// oneDNN or oneDNN has no bf16 for this CPU.
Side onednn_matmul(std::int64_t m, std::int64_t n, std::int64_t k);

}  // namespace stepwell::bench
