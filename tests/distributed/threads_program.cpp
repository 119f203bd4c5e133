// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <thread>
#include <utility>
#include <vector>

#include "stepwell/distributed.hpp"
#include "stepwell/error.hpp"

/// threads_program same|own|multiple: two threads of each rank call solve_spd() at once, with the
/// same Ranks object ('same'), with separate ones in an MPI without MPI_THREAD_MULTIPLE ('own'), or
/// with separate ones in an MPI that has it ('multiple'). The exit code is 0 if both solve and have
/// the bits of sequential calls, and 1 if not. A refused call ends all ranks with the error's code,
/// or throws on a single rank.

// The MPI functions that are needed here: the program starts MPI for several threads at once.
extern "C" int MPI_Init_thread(int* argc, char*** argv, int required, int* provided);
extern "C" int MPI_Finalize();
constexpr int kThreadMultiple = 3;

namespace stepwell {
namespace {

constexpr std::int64_t kOrder = 600;

struct System {
  double shift;
  std::vector<double> b, x;

  explicit System(double s) : shift(s), b(kOrder), x(kOrder) {
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = std::cos(s * static_cast<double>(i));
  }
  /// 'met' is called for every tile.
  template <class Met>
  Certificate solve(const Ranks& ranks, Met met) {
    SolveOptions options;
    options.tile = 64;
    options.map = uniform(Rung::bf16);
    const auto fill = [&](std::int64_t row, std::int64_t col, MatrixView<double> tile) {
      met();
      for (std::int64_t j = 0; j < tile.cols; ++j) {
        for (std::int64_t i = 0; i < tile.rows; ++i) {
          const auto distance = static_cast<double>(std::abs(row + i - col - j));
          tile(i, j) = std::exp(-distance * shift) + (distance == 0 ? shift : 0);
        }
      }
    };
    return solve_spd(ranks, kOrder, fill, view(std::as_const(b).data(), kOrder, std::int64_t{1}),
                     view(x.data(), kOrder, std::int64_t{1}), options);
  }
};

/// Waits until both calls have started, or long enough to conclude that the other will not start.
class Meeting {
 public:
  void come() {
    ++here_;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (here_ < 2 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  }
  bool both() const { return here_ >= 2; }

 private:
  std::atomic<int> here_{0};
};

/// 0: solved, 1: not solved, else the error's code.
int attempt(System& s, const Ranks& ranks, Meeting& meeting, bool first) {
  std::atomic<bool> met{false};
  if (!first) meeting.come();  // the first thread is inside its call by now
  try {
    return s.solve(
                ranks,
                [&] {
                  if (first && !met.exchange(true)) meeting.come();
                }).ok()
               ? 0
               : 1;
  } catch (const Error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return static_cast<int>(e.code());
  }
}

int run(bool same) {
  const Ranks one = mpi_world();
  const Ranks two = same ? one : mpi_world();
  System a(0.5), b(0.7), other_a(0.5), other_b(0.7);
  const auto nothing = [] {};
  if (!a.solve(one, nothing).ok() || !b.solve(two, nothing).ok()) return 1;
  Meeting meeting;
  int of_a = 0, of_b = 0;
  std::thread first([&] { of_a = attempt(other_a, one, meeting, true); });
  std::thread second([&] { of_b = attempt(other_b, two, meeting, false); });
  first.join();
  second.join();
  if (!meeting.both() || of_a != 0 || a.x != other_a.x) return 1;
  return of_b != 0 ? of_b : b.x == other_b.x ? 0 : 1;
}

}  // namespace
}  // namespace stepwell

int main(int argc, char** argv) {
  if (argc != 2) return 99;
  const bool multiple = std::strcmp(argv[1], "multiple") == 0;
  int given = 0;
  if (multiple) MPI_Init_thread(&argc, &argv, kThreadMultiple, &given);
  const int code =
      multiple && given < kThreadMultiple ? 99 : stepwell::run(std::strcmp(argv[1], "same") == 0);
  if (multiple) MPI_Finalize();
  return code;
}
