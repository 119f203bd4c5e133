// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The system's allocator, of which one call can be made to fail: malloc() and its relatives, and
/// mmap() of memory. A program that links this library before the C library's has it; another one
/// is preloaded with it, and then the environment says which call fails
/// (STEPWELL_TEST_FAIL_ALLOCATION) and in which file their number is left (STEPWELL_TEST_COUNT).
namespace stepwell::test {

/// From now on calls are counted, and the k-th fails; 0: none does. With 'all_after' those after it
/// fail, too.
void fail_allocation(long k, bool all_after = false);

/// Nothing fails any more, and nothing is counted.
void stop_failing();

/// Since fail_allocation().
long allocations();

}  // namespace stepwell::test
