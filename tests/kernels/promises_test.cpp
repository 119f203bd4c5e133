// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstdlib>
#include <new>
#include <thread>

#include "kernels/blas/blas.hpp"
#include "kernels/fixture/workbench.hpp"

#if defined(__x86_64__)
#include <immintrin.h>

#include "kernels/amx/tile.hpp"
#endif

/// Every kernel leaves the floating-point environment, the tile registers and the heap unchanged,
/// and needs only a small stack and no other thread.

namespace {
thread_local std::int64_t allocations = 0;
}  // namespace

#if defined(__GLIBC__) && !STEPWELL_SANITIZED
// Replaces the whole program's allocator and counts: operator new and every library use it.
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);

void* malloc(std::size_t bytes) noexcept {
  ++allocations;
  return __libc_malloc(bytes);
}
void* calloc(std::size_t count, std::size_t bytes) noexcept {
  ++allocations;
  return __libc_calloc(count, bytes);
}
void* realloc(void* old, std::size_t bytes) noexcept {
  ++allocations;
  return __libc_realloc(old, bytes);
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) noexcept {
  ++allocations;
  return __libc_memalign(alignment, bytes);
}
int posix_memalign(void** out, std::size_t alignment, std::size_t bytes) noexcept {
  ++allocations;
  *out = __libc_memalign(alignment, bytes);
  return *out == nullptr ? 12 : 0;
}
}
#endif

namespace stepwell::kernels::test {
namespace {

/// CBLAS runs in one thread, as in the engine's tasks: with more, OpenBLAS keeps its queues on the
/// stack, where its kernels for some CPUs (Haswell) need more than 64 KiB.
class PromiseTest : public PerIsa {
 public:
  ~PromiseTest() override {
    if (blas_threads_ > 0) set_blas_threads(blas_threads_);
  }

 private:
  const int blas_threads_ = set_blas_threads(1);
};
INSTANTIATE_TEST_SUITE_P(Kernels, PromiseTest, every_isa(), isa_name);

#if defined(__x86_64__)

TEST_P(PromiseTest, TheFloatingPointEnvironmentIsNeitherUsedNorChanged) {
  constexpr unsigned kDefault = 0x1f80, kFlushToZero = 0x8000, kDenormalsAreZero = 0x40;
  constexpr unsigned kFlags = 0x3f, kDown = 0x2000, kUp = 0x4000, kToZero = 0x6000;
  constexpr unsigned kTrapEverything = 0;
  const Workbench bench(table_);
  for (const Job& job : bench.jobs()) {
    const Bytes expected = run_once(job);
    for (unsigned environment :
         {kDefault | kFlushToZero, kDefault | kDenormalsAreZero, kDefault | kDown, kDefault | kUp,
          kDefault | kToZero, kDefault | kFlags, kTrapEverything,
          kDefault | kFlushToZero | kDenormalsAreZero | kUp | kFlags}) {
      job.prepare();
      const unsigned before = _mm_getcsr();
      _mm_setcsr(environment);
      job.run();
      const unsigned after = _mm_getcsr();
      _mm_setcsr(before);
      EXPECT_EQ(after, environment) << job.name;
      EXPECT_TRUE(job.result() == expected) << job.name << " under MXCSR " << environment;
    }
  }
}

TEST_P(PromiseTest, UnconfiguredTilesStayUnconfigured) {
  if (GetParam() != core::Isa::amx) GTEST_SKIP() << "needs the matrix engine";
  const Workbench bench(table_);
  for (const Job& job : bench.jobs()) {
    amx::release();
    run_once(job);
    amx::Config config;
    config.palette = 0xff;
    amx::store_config(config);
    const Bytes bytes(reinterpret_cast<const std::byte*>(&config),
                      reinterpret_cast<const std::byte*>(&config + 1));
    EXPECT_TRUE(bytes == Bytes(64)) << job.name << " leaves the tiles configured";
    amx::release();
  }
}

template <std::size_t... tmm>
void load_tiles(const amx::TileBytes* from, std::index_sequence<tmm...>) {
  (amx::load<static_cast<int>(tmm)>(from + tmm), ...);
}
template <std::size_t... tmm>
void store_tiles(amx::TileBytes* to, std::index_sequence<tmm...>) {
  (amx::store<static_cast<int>(tmm)>(to + tmm), ...);
}

TEST_P(PromiseTest, ACallersTilesKeepTheirShapeAndContents) {
  if (GetParam() != core::Isa::amx) GTEST_SKIP() << "needs the matrix engine";
  constexpr auto kUsed = std::make_index_sequence<6>{};  // two tile registers have no rows
  const Workbench bench(table_);
  amx::Config config;
  config.palette = 1;
  constexpr std::array<std::uint8_t, 6> rows = {16, 1, 7, 16, 3, 15};
  constexpr std::array<std::uint16_t, 6> row_bytes = {64, 4, 64, 12, 60, 32};
  for (int i = 0; i < 6; ++i) {
    config.rows[i] = rows[i];
    config.row_bytes[i] = row_bytes[i];
  }
  Random random(kSeed);
  std::vector<amx::TileBytes> contents(8), before(8), after(8);
  for (amx::TileBytes& tile : contents) {
    for (char& byte : tile.bytes) byte = static_cast<char>(random.bits());
  }
  for (const Job& job : bench.jobs()) {
    const Bytes expected = run_once(job);
    job.prepare();
    std::fill(before.begin(), before.end(), amx::TileBytes{});
    std::fill(after.begin(), after.end(), amx::TileBytes{});
    amx::Config config_after;
    amx::load_config(config);
    load_tiles(contents.data(), kUsed);
    store_tiles(before.data(), kUsed);
    job.run();
    amx::store_config(config_after);
    const bool same_config = std::memcmp(&config, &config_after, sizeof config) == 0;
    if (same_config) store_tiles(after.data(), kUsed);
    amx::release();
    EXPECT_TRUE(same_config) << job.name;
    EXPECT_EQ(std::memcmp(before.data(), after.data(), 8 * sizeof before[0]), 0) << job.name;
    EXPECT_TRUE(job.result() == expected) << job.name;
  }
}

#endif

/// Runs a job on a stack of exactly this size, above a guard page. (A thread's stack would also
/// hold the thread-local variables of every library.)
class SmallStack {
 public:
  explicit SmallStack(std::size_t bytes) : bytes_(bytes), guard_(sysconf(_SC_PAGESIZE)) {
    memory_ =
        mmap(nullptr, guard_ + bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory_ == MAP_FAILED || mprotect(memory_, guard_, PROT_NONE) != 0) throw std::bad_alloc();
  }
  SmallStack(const SmallStack&) = delete;
  SmallStack& operator=(const SmallStack&) = delete;
  ~SmallStack() { munmap(memory_, guard_ + bytes_); }

  void run(const Job& job) {
    job_ = &job;
    ucontext_t caller, callee;
    getcontext(&callee);
    callee.uc_stack.ss_sp = static_cast<std::byte*>(memory_) + guard_;
    callee.uc_stack.ss_size = bytes_;
    callee.uc_link = &caller;
    makecontext(
        &callee, [] { job_->run(); }, 0);
    swapcontext(&caller, &callee);
  }

 private:
  static inline const Job* job_ = nullptr;  // makecontext passes only ints
  std::size_t bytes_, guard_;
  void* memory_;
};

TEST_P(PromiseTest, AStackOf64KiBIsEnough) {
  if (kSanitized) GTEST_SKIP() << "the sanitizer pads every variable of a frame";
  const Workbench bench(table_);
  SmallStack stack(64 << 10);
  for (const Job& job : bench.jobs()) {
    const Bytes expected = run_once(job);
    job.prepare();
    stack.run(job);
    EXPECT_TRUE(job.result() == expected) << job.name;
  }
}

TEST_P(PromiseTest, NothingIsAllocated) {
  if (kSanitized) GTEST_SKIP() << "the sanitizer owns the allocator";
  const std::int64_t at_first = allocations;
  const Workbench bench(table_);
  ASSERT_GT(allocations, at_first) << "allocations are not counted here";
  for (const Job& job : bench.jobs()) {
    if (job.calls_blas) continue;  // CBLAS libraries have their own buffers
    job.prepare();
    const std::int64_t before = allocations;
    job.run();
    EXPECT_EQ(allocations, before) << job.name;
  }
}

TEST_P(PromiseTest, TwoThreadsAtOnceGetTheBitsOfOne) {
  const Workbench first(table_), second(table_);
  for (std::size_t j = 0; j < first.jobs().size(); ++j) {
    const Bytes expected = run_once(first.jobs()[j]);
    bool same[2] = {true, true};
    const auto repeat = [&](const Workbench& bench, bool& result) {
      for (int i = 0; i < (kSanitized ? 2 : 5); ++i)
        result = result && run_once(bench.jobs()[j]) == expected;
    };
    std::thread other([&] { repeat(second, same[1]); });
    repeat(first, same[0]);
    other.join();
    EXPECT_TRUE(same[0] && same[1]) << first.jobs()[j].name;
  }
}

}  // namespace
}  // namespace stepwell::kernels::test
