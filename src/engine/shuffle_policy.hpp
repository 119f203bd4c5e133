// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

struct starpu_sched_policy;

namespace stepwell::engine {

/// A StarPU scheduling policy that hands out ready tasks at random: any order that the dependencies
/// allow may happen, so that a test can see whether the result depends on it. One at a time.
starpu_sched_policy* shuffle_policy(std::uint64_t seed);

}  // namespace stepwell::engine
