// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "failing_allocations.hpp"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
}

namespace {

std::atomic<bool> armed{false};
std::atomic<bool> all_fail_after{false};
std::atomic<long> failing{0};
std::atomic<long> count{0};

bool fails() {
  if (!armed) return false;
  const long call = ++count;
  const bool bad = call == failing || (all_fail_after && failing > 0 && call > failing);
  if (bad) errno = ENOMEM;
  return bad;
}

[[gnu::constructor]] void arm_by_environment() {
  const char* const k = std::getenv("STEPWELL_TEST_FAIL_ALLOCATION");
  if (k != nullptr) stepwell::test::fail_allocation(std::atol(k));
}

[[gnu::destructor]] void leave_count() {
  const long calls = stepwell::test::allocations();
  stepwell::test::stop_failing();
  const char* const path = std::getenv("STEPWELL_TEST_COUNT");
  FILE* const file = path != nullptr ? std::fopen(path, "w") : nullptr;
  if (file == nullptr) return;
  std::fprintf(file, "%ld\n", calls);
  std::fclose(file);
}

}  // namespace

namespace stepwell::test {

void fail_allocation(long k, bool all_after) {
  count = 0;
  failing = k;
  all_fail_after = all_after;
  armed = true;
}

void stop_failing() {
  armed = false;
}

long allocations() {
  return count;
}

}  // namespace stepwell::test

extern "C" {

[[gnu::visibility("default")]] void* malloc(std::size_t size) {
  return fails() ? nullptr : __libc_malloc(size);
}

[[gnu::visibility("default")]] void* calloc(std::size_t n, std::size_t size) {
  return fails() ? nullptr : __libc_calloc(n, size);
}

[[gnu::visibility("default")]] void* realloc(void* p, std::size_t size) {
  return fails() ? nullptr : __libc_realloc(p, size);
}

[[gnu::visibility("default")]] void* memalign(std::size_t alignment, std::size_t size) {
  return fails() ? nullptr : __libc_memalign(alignment, size);
}

[[gnu::visibility("default")]] void* aligned_alloc(std::size_t alignment, std::size_t size) {
  return fails() ? nullptr : __libc_memalign(alignment, size);
}

[[gnu::visibility("default")]] int posix_memalign(void** p, std::size_t alignment,
                                                  std::size_t size) {
  void* const found = fails() ? nullptr : __libc_memalign(alignment, size);
  if (found == nullptr) return ENOMEM;
  *p = found;
  return 0;
}

[[gnu::visibility("default")]] void* mmap(void* address, std::size_t size, int protection,
                                          int flags, int file, off_t offset) {
  if ((flags & MAP_ANONYMOUS) != 0 && fails()) return MAP_FAILED;
  return reinterpret_cast<void*>(syscall(SYS_mmap, address, size, protection, flags, file, offset));
}

}  // extern "C"
