// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <atomic>
#include <thread>

#include "distributed/system.hpp"
#include "in_child.hpp"
#include "sanitized.hpp"

/// A forked child of a rank is not a rank: distributed calls are refused, it can solve without
/// ranks, and its exit does not affect the parent.
namespace stepwell::distributed::test {
namespace {

using stepwell::test::in_child;

/// Returns 0 if the call is refused in a child, with a helpful message.
template <class Call>
int refused(Call call) {
  try {
    call();
  } catch (const Error& error) {
    const std::string text = error.what();
    if (error.code() != ErrorCode::unsupported) return 2;
    return text.find("forked by an MPI rank") == std::string::npos ? 3 : 0;
  }
  return 1;
}

/// Returns 0 if a child can solve without ranks.
int solves_alone(System s) {
  Context context(1);
  SolveOptions options = with_tile(64);
  options.engine.context = &context;
  const Certificate c = solve_spd(s.a.view(), s.b.view(), s.x.view(), options);
  return c.ok() && s.error() <= c.tolerance * (1 + 1e-6) ? 0 : 4;
}

int all_in_child(System s) {
  int failed = refused([&] { (void)s.solve(with_tile(64), {}); });
  failed += 10 * refused([&] { (void)plan_spd(world(), 100, 1); });
  failed += 10 * refused([] { mpi_world(); });
  failed += 10 * refused([] { mpi_ranks(0); });
  return failed + solves_alone(s);
}

TEST(Fork, OfARankIsNoRank) {
  System s(300, recipe(gallery::Kind::arithmetic));
  expect_solved(s, s.solve(with_tile(64), {}));
  const Dense<double> before = s.x;
  for (int k = 0; k < 3; ++k) {
    EXPECT_EQ(in_child([&] { return all_in_child(s); }), 0);
    EXPECT_EQ(in_child([&] { return Ranks(world()).size() > 0 ? 0 : 1; }), 0);
    expect_solved(s, s.solve(with_tile(64), {}));  // the parent is unaffected
    EXPECT_EQ(s.x.data, before.data);
  }
}

/// A distributed solve does not hang while another thread forks again and again. Not with
/// AddressSanitizer, whose allocator (before LLVM 17) leaves its locks to the child as they are:
/// operator new hangs there.
TEST(Fork, DuringASolveDoesNotHang) {
  if (stepwell::test::kSanitized) {
    GTEST_SKIP() << "the sanitizer's allocator hangs in such a child";
  }
  System s(300, recipe(gallery::Kind::arithmetic));
  const System for_child = s;
  std::atomic<int> forks{0}, failed{0};
  std::atomic<bool> stop{false};
  std::thread forker([&] {
    while (!stop && failed == 0) {
      failed = in_child([&] { return all_in_child(for_child); });
      ++forks;
    }
  });
  const int wanted = 5;
  for (std::int64_t going = 1; going > 0;) {  // all ranks repeat equally often
    expect_solved(s, s.solve(with_tile(64), {}));
    going = forks < wanted && failed == 0 ? 1 : 0;
    communicator().largest({&going, 1});
  }
  stop = true;
  forker.join();
  EXPECT_EQ(failed, 0);
}

}  // namespace
}  // namespace stepwell::distributed::test
