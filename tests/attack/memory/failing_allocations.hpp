// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The system's allocator, one call of which can be made to fail: malloc() and related functions,
/// and mmap() of memory. A program uses it by linking this library before the C library, or by
/// preloading it; then the environment says which call fails (STEPWELL_TEST_FAIL_ALLOCATION) and
/// which file receives the number of calls (STEPWELL_TEST_COUNT).
namespace stepwell::test {

/// Starts counting calls; the k-th fails (0: none). With 'all_after' all later ones fail, too.
void fail_allocation(long k, bool all_after = false);

/// Stops failing and counting.
void stop_failing();

/// The number of calls since fail_allocation().
long allocations();

}  // namespace stepwell::test
