// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <thread>
#include <vector>

#include "sanitized.hpp"
#include "stepwell/stepwell.hpp"

/// Many application threads that call all solvers at once get the same bits as sequential calls,
/// and the library starts no more threads than for one caller.
namespace stepwell {
namespace {

constexpr int kCallers = 8;
constexpr int kCalls = test::kSanitized ? 160 : 1000;

/// A pseudorandom value in [-1, 1).
double number(std::uint64_t seed) {
  std::uint64_t s = seed + 0x9e3779b97f4a7c15;
  s = (s ^ (s >> 30)) * 0xbf58476d1ce4e5b9;
  s = (s ^ (s >> 27)) * 0x94d049bb133111eb;
  return static_cast<double>((s ^ (s >> 31)) >> 11) * 0x1p-52 - 1;
}

struct Matrix {
  Matrix(std::int64_t m, std::int64_t n)
      : rows(m), cols(n), data(static_cast<std::size_t>(m * n)) {}
  std::int64_t rows, cols;
  std::vector<double> data;
  operator MatrixView<const double>() const { return view(data.data(), rows, cols); }
  MatrixView<double> out() { return view(data.data(), rows, cols); }
};

Matrix random(std::int64_t rows, std::int64_t cols, std::uint64_t seed) {
  Matrix a(rows, cols);
  for (std::size_t i = 0; i < a.data.size(); ++i) a.data[i] = number(seed * 1'000'003 + i);
  return a;
}

Matrix spd(std::int64_t n, std::uint64_t seed) {
  Matrix a = random(n, n, seed);
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = 0; i < j; ++i) a.out()(i, j) = a.out()(j, i);
    a.out()(j, j) = static_cast<double>(n);
  }
  return a;
}

/// Matrices of all kinds and sizes, made once; each call uses one of them.
struct Systems {
  std::vector<Matrix> definite, general, tall, small;
  Systems() {
    for (const std::int64_t n : {30, 200, 700, 1100, 1300}) {
      definite.push_back(spd(n, static_cast<std::uint64_t>(n)));
      general.push_back(random(n, n, static_cast<std::uint64_t>(n)));
    }
    for (const std::int64_t m : {50, 900, 6000}) {
      tall.push_back(random(m, 40, static_cast<std::uint64_t>(m)));
    }
    for (std::uint64_t k = 0; k < 200; ++k) small.push_back(spd(24, k));
  }

  std::vector<double> call(int index) const {
    const auto k = static_cast<std::uint64_t>(index);
    const auto which = [&](const std::vector<Matrix>& of) -> const Matrix& {
      return of[(k / 5) % of.size()];
    };
    SolveOptions low;  // also where the plan would choose FP64
    low.map = uniform(Rung::bf16x2);
    const SolveOptions options = index % 3 == 0 ? low : SolveOptions{};
    switch (index % 5) {
      case 0: {
        const Matrix& a = which(definite);
        Matrix x = random(a.rows, 1 + index % 3, k);
        check(solve_spd(a, x, x.out(), options));
        return x.data;
      }
      case 1: {
        const Matrix& a = which(general);
        Matrix x = random(a.rows, 1 + index % 3, k);
        check(solve_general(a, x, x.out(), options));
        return x.data;
      }
      case 2: {
        const Matrix& a = which(tall);
        Matrix x(a.cols, 2);
        check(lstsq(MatrixView<const double>(a), random(a.rows, 2, k), x.out()));
        return x.data;
      }
      case 3: {
        const Matrix& a = which(index % 2 == 0 ? definite : general);
        Solver solver(a, options);
        Matrix x = random(a.rows, 1, k), y = x;
        check(solver.factor());
        check(solver.solve(x, x.out()));
        check(solver.solve_transposed(y, y.out()));
        x.data.insert(x.data.end(), y.data.begin(), y.data.end());
        return x.data;
      }
      default: {
        std::vector<const double*> a;
        for (const Matrix& s : small) a.push_back(s.data.data());
        const auto count = static_cast<std::int64_t>(a.size());
        std::vector<double> x = random(24, count, k).data;
        EXPECT_TRUE(
            batch_solve(batch(a.data(), count, 24, 24, 24), batch(x.data(), count, 24, 1)).ok());
        return x;
      }
    }
  }

  static void check(const Certificate& c) { EXPECT_TRUE(c.ok()) << c.reason; }
};

std::int64_t threads_alive() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return std::distance(begin(tasks), end(tasks));
}

TEST(MixedCalls, FromManyThreadsGiveTheSameBitsWithTheSameThreads) {
  const std::int64_t at_first = threads_alive();  // includes the threads of the BLAS
  const Systems systems;
  std::vector<std::vector<double>> expected(kCalls);
  for (int i = 0; i < kCalls; ++i) expected[static_cast<std::size_t>(i)] = systems.call(i);
  // StarPU's workers, which sleep while a call refines, and a thread pool in addition to its
  // caller.
  const std::int64_t allowed = Context().threads();
  const std::int64_t ours = allowed + (allowed - 1);
  EXPECT_LE(threads_alive(), at_first + ours);

  std::atomic<int> next{0}, done{0}, wrong{0};
  std::vector<std::thread> callers;
  for (int c = 0; c < kCallers; ++c) {
    callers.emplace_back([&] {
      for (int i = next++; i < kCalls; i = next++) {
        const std::vector<double> x = systems.call(i);
        const std::vector<double>& e = expected[static_cast<std::size_t>(i)];
        if (x.size() != e.size() || std::memcmp(x.data(), e.data(), 8 * x.size()) != 0) ++wrong;
      }
      ++done;
    });
  }
  std::int64_t most = 0;
  while (done < kCallers) {
    most = std::max(most, threads_alive());
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_LE(most, at_first + ours + kCallers);
}

}  // namespace
}  // namespace stepwell
