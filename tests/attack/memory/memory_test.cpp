// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <dlfcn.h>
#include <execinfo.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <map>
#include <new>
#include <string_view>

#include "failing_allocations.hpp"
#include "memory_calls.hpp"
#include "stepwell/error.hpp"

/// If one allocation of a call fails, in a separate process, the call either succeeds or throws
/// Error(out_of_memory), and the next call succeeds. A sample of the allocations is tried; all if
/// STEPWELL_EVERY_ALLOCATION is set, which takes minutes.
namespace stepwell::test {
namespace {

enum Ended { kSolved, kRefused, kWrongAnswer, kOtherError, kBadAlloc, kOtherException };
constexpr int kNextFailed = 16;  ///< added to one of these codes
constexpr unsigned kSeconds = 120;

/// Failed allocations inside StarPU, hwloc and libpciaccess are not ours: docs/known_problems.md.
constexpr std::array<std::string_view, 3> kOthers = {"libstarpu", "libhwloc", "libpciaccess"};

int report_to = -1;

/// Reports the library in whose code the process ends: the innermost one that is not the C library;
/// libstdc++ if an uncaught exception ends the process.
void report_who() {
  std::array<void*, 64> frames{};
  const int count = backtrace(frames.data(), static_cast<int>(frames.size()));
  std::string_view who = "?";
  for (int i = 1; i < count && who == "?"; ++i) {
    Dl_info found{};
    if (dladdr(frames[static_cast<std::size_t>(i)], &found) == 0) continue;
    const std::string_view path = found.dli_fname;
    const std::string_view name = path.substr(path.rfind('/') + 1);
    const bool system = name.starts_with("libc.") || name.starts_with("ld-") ||
                        name.starts_with("attack_memory") || name.starts_with("libfailing");
    if (!system) who = name;
  }
  [[maybe_unused]] const auto written = write(report_to, who.data(), who.size());
}

void die(int signal) {
  report_who();
  std::signal(signal, SIG_DFL);
  raise(signal);
}

int attempt(const MemoryCall& call, Context& context) {
  try {
    return call.run(context) ? kSolved : kWrongAnswer;
  } catch (const Error& e) {
    return e.code() == ErrorCode::out_of_memory ? kRefused : kOtherError;
  } catch (const std::bad_alloc&) {
    return kBadAlloc;
  } catch (...) {
    return kOtherException;
  }
}

/// The child process. With 'warm' it has made the call before, so that workers and tables exist.
[[noreturn]] void run_child(const MemoryCall& call, bool warm, long k) {
  alarm(kSeconds);
  std::array<void*, 4> ignored{};
  backtrace(ignored.data(), static_cast<int>(ignored.size()));  // allocates memory the first time
  for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE}) std::signal(signal, die);
  std::atexit(report_who);  // for libraries that call exit()
  Context context(2);
  if (warm) attempt(call, context);
  fail_allocation(k);
  int ended = attempt(call, context);
  const long calls = allocations();
  stop_failing();
  if (k == 0) {
    [[maybe_unused]] const auto written = write(report_to, &calls, sizeof calls);
  }
  if (attempt(call, context) != kSolved) ended += kNextFailed;
  _exit(ended);
}

struct Child {
  int status = 0;
  std::string said;
};

Child child(const MemoryCall& call, bool warm, long k) {
  int ends[2];
  if (pipe(ends) != 0) return {};
  const pid_t id = fork();
  if (id == 0) {
    report_to = ends[1];
    std::freopen("/dev/null", "w", stderr);
    run_child(call, warm, k);
  }
  close(ends[1]);
  Child c;
  char text[256];
  for (ssize_t got; (got = read(ends[0], text, sizeof text)) > 0;) {
    c.said.append(text, static_cast<std::size_t>(got));
  }
  close(ends[0]);
  waitpid(id, &c.status, 0);
  return c;
}

long count_allocations(const MemoryCall& call, bool warm) {
  const Child c = child(call, warm, 0);
  EXPECT_TRUE(WIFEXITED(c.status) && WEXITSTATUS(c.status) == kSolved) << c.status;
  long count = 0;
  EXPECT_EQ(c.said.size(), sizeof count);
  std::memcpy(&count, c.said.data(), std::min(c.said.size(), sizeof count));
  return count;
}

constexpr std::array<const char*, 6> kNames = {"solved anyway",  "Error(out_of_memory)",
                                               "a wrong answer", "another Error code",
                                               "std::bad_alloc", "another exception"};

/// Whether the child ended normally.
bool is_through(const Child& c) {
  return WIFEXITED(c.status) && c.said.empty() &&
         static_cast<std::size_t>(WEXITSTATUS(c.status) % kNextFailed) < kNames.size();
}

std::string describe(const Child& c) {
  if (is_through(c)) {
    const int code = WEXITSTATUS(c.status);
    const std::string name = kNames[static_cast<std::size_t>(code % kNextFailed)];
    return code >= kNextFailed ? name + ", and the next call fails" : name;
  }
  if (WIFEXITED(c.status)) {
    return "exit(" + std::to_string(WEXITSTATUS(c.status)) + ") in " + c.said;
  }
  if (WTERMSIG(c.status) == SIGALRM) return "hang";
  return "signal " + std::to_string(WTERMSIG(c.status)) + " in " + c.said;
}

bool is_allowed(const Child& c) {
  if (is_through(c)) {
    return WEXITSTATUS(c.status) == kSolved || WEXITSTATUS(c.status) == kRefused;
  }
  return std::any_of(kOthers.begin(), kOthers.end(),
                     [&](std::string_view who) { return c.said.starts_with(who); });
}

class MemoryTest : public ::testing::TestWithParam<MemoryCall> {
 protected:
  static void expect_all_survived(bool warm, long samples) {
    const MemoryCall& call = GetParam();
    const long count = count_allocations(call, warm);
    ASSERT_GT(count, 0);
    const bool every = std::getenv("STEPWELL_EVERY_ALLOCATION") != nullptr;
    const long step = every ? 1 : std::max(1L, count / samples);
    std::map<std::string, int> ends;
    for (long k = 1; k <= count; k += step) {
      const Child c = child(call, warm, k);
      ++ends[describe(c)];
      EXPECT_TRUE(is_allowed(c)) << "allocation " << k << " of " << count << ": " << describe(c);
    }
    EXPECT_GT(ends["Error(out_of_memory)"], 0) << "nothing has failed";
    if (!every) return;
    std::printf("%s, %s: %ld allocations\n", call.name.c_str(), warm ? "warm" : "cold", count);
    for (const auto& [what, times] : ends) std::printf("  %5d  %s\n", times, what.c_str());
  }
};

TEST_P(MemoryTest, FailsAtTheFirstCall) {
  expect_all_survived(false, 5);
}

TEST_P(MemoryTest, FailsLater) {
  expect_all_survived(true, 5);
}

INSTANTIATE_TEST_SUITE_P(Calls, MemoryTest, ::testing::ValuesIn(memory_calls()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace stepwell::test
