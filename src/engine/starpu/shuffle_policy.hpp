// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

struct starpu_sched_policy;

namespace stepwell::engine {

/// A StarPU scheduling policy that picks ready tasks at random: every order that the dependencies
/// allow may occur, so that a test can check whether the result depends on it. Only one may be in
/// use at a time.
starpu_sched_policy* shuffle_policy(std::uint64_t seed);

}  // namespace stepwell::engine
