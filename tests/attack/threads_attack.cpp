// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <bit>
#include <mutex>
#include <thread>

#include "attack/attacks.hpp"
#include "attack/seeds.hpp"
#include "stepwell/batch.hpp"
#include "stepwell/lstsq.hpp"

/// All solvers on two workers give the same bits one after the other and from several threads at
/// once. Under the thread sanitizer (preset 'tsan') this shows data races.
namespace stepwell::attack {
namespace {

/// Large enough to be split into tasks, small enough for a sanitizer.
constexpr std::int64_t kOrder = 960;

struct Job {
  const char* name;
  std::vector<double> (*run)(Context& context, std::uint64_t seed);
};

Matrix friendly(std::int64_t n, bool symmetric, Random& random) {
  Matrix a(n, n);
  for (double& x : a.data) x = random.between(-1, 1);
  if (symmetric) copy_to_upper(a);
  for (std::int64_t i = 0; i < n; ++i) a(i, i) = static_cast<double>(n);
  return a;
}

template <int kColumns>
std::vector<double> solve_with(const char* map, Structure structure, Context& context,
                               std::uint64_t seed) {
  Random random(seed, "threads");
  const Matrix a = friendly(kOrder, structure == Structure::spd, random);
  std::vector<double> b(kOrder * kColumns), x(b.size());
  for (double& e : b) e = random.normal();
  SolveOptions options;
  options.engine.context = &context;
  options.condition = true;
  options.prove = true;
  options.tile = 256;
  if (*map != 0) options.map = parse_map(map);
  (void)solve(a.view(), view(b.data(), kOrder, kColumns), view(x.data(), kOrder, kColumns), options,
              structure);
  return x;
}

std::vector<double> solve_tall(Context& context, std::uint64_t seed) {
  Random random(seed, "tall");
  constexpr std::int64_t m = 6000, n = 150;
  Matrix a(m, n);
  for (double& e : a.data) e = random.normal();
  std::vector<double> b(m, 1.0), x(n);
  LeastSquaresOptions options;
  options.engine.context = &context;
  (void)lstsq(TallMatrix(a.view()), view(b.data(), m, 1), view(x.data(), n, 1), options);
  return x;
}

std::vector<double> solve_batch(Context& context, std::uint64_t seed) {
  Random random(seed, "batch");
  constexpr std::int64_t count = 2000, n = 20;
  const Matrix one = friendly(n, true, random);
  std::vector<double> a, x(count * n);
  for (std::int64_t c = 0; c < count; ++c) a.insert(a.end(), one.data.begin(), one.data.end());
  for (double& e : x) e = random.normal();
  BatchOptions options;
  options.engine.context = &context;
  options.mixed = seed % 2 == 0;
  (void)batch_solve(batch<const double>(a.data(), count, n, n), batch(x.data(), count, n, 1),
                    options);
  return x;
}

constexpr Job kJobs[] = {
    {"spd", [](Context& c, std::uint64_t s) { return solve_with<1>("", Structure::spd, c, s); }},
    {"spd bf16",
     [](Context& c, std::uint64_t s) { return solve_with<2>("bf16", Structure::spd, c, s); }},
    {"spd fp64",
     [](Context& c, std::uint64_t s) { return solve_with<1>("fp64", Structure::spd, c, s); }},
    {"general",
     [](Context& c, std::uint64_t s) { return solve_with<1>("", Structure::general, c, s); }},
    {"general bf16x2",
     [](Context& c, std::uint64_t s) { return solve_with<2>("bf16x2", Structure::general, c, s); }},
    {"lstsq", solve_tall},
    {"batch", solve_batch},
};

bool same_bits(const std::vector<double>& x, const std::vector<double>& y) {
  return std::equal(x.begin(), x.end(), y.begin(), y.end(), [](double p, double q) {
    return std::bit_cast<std::uint64_t>(p) == std::bit_cast<std::uint64_t>(q);
  });
}

void attack_threads(std::uint64_t seed, Report& report) {
  std::vector<std::vector<double>> expected;
  Context two(2);
  for (const Job& job : kJobs) expected.push_back(job.run(two, seed));

  std::mutex mutex;
  const auto caller = [&](int workers, std::size_t start) {
    Context context(workers);
    for (std::size_t k = 0; k < std::size(kJobs); ++k) {
      const std::size_t which = (start + k) % std::size(kJobs);
      const bool same = same_bits(kJobs[which].run(context, seed), expected[which]);
      const std::lock_guard lock(mutex);
      report.count("calls");
      if (!same) {
        report.found(Finding::bits, text("%s on %d workers among others has other bits",
                                         kJobs[which].name, workers));
      }
    }
  };
  std::thread first(caller, 2, 0), second(caller, 2, 3), third(caller, 1, 5);
  first.join();
  second.join();
  third.join();
}

}  // namespace
}  // namespace stepwell::attack

int main(int argc, char** argv) {
  using namespace stepwell::attack;
  return attack_seeds("threads_attack", argc, argv, {}, 1800,
                      [](const Request&, std::uint64_t seed) {
                        return Attack{"", [seed](Report& report) { attack_threads(seed, report); }};
                      });
}
