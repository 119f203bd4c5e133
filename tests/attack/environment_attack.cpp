// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <bit>
#include <cfenv>
#include <optional>

#include "attack/attacks.hpp"
#include "attack/seeds.hpp"
#include "stepwell/batch.hpp"
#include "stepwell/lstsq.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

/// Callers that set their own rounding mode, flush-to-zero or traps get answers with the same bits,
/// and their floating-point environment is restored.
namespace stepwell::attack {
namespace {

/// Sets a floating-point environment for the lifetime of the object.
class Environment {
 public:
  explicit Environment(int which) {
    std::fegetenv(&saved_);
    constexpr int kRounding[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    if (which < 3) std::fesetround(kRounding[which]);
    if (which == kTraps) feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW);
#if defined(__x86_64__)
    if (which == 4 || which == 5) _mm_setcsr(_mm_getcsr() | 0x8040);  // FTZ and DAZ
    if (which == 5) std::fesetround(FE_UPWARD);
#endif
  }
  ~Environment() {
    std::fesetenv(&saved_);
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

  /// The part of the environment that could leak, including the exception flags.
  static std::uint64_t state() {
#if defined(__x86_64__)
    return _mm_getcsr() | static_cast<std::uint64_t>(std::fegetround()) << 32;
#else
    return static_cast<std::uint64_t>(std::fegetround());
#endif
  }

  static constexpr int kTraps = 3;
  static constexpr int kCount = 6;
  static constexpr const char* kNames[kCount] = {"upward", "downward",      "toward-zero",
                                                 "traps",  "flush-to-zero", "flush-and-upward"};

 private:
  std::fenv_t saved_;
};

struct Problem {
  Named named;
  std::vector<double> b;
  Choice choice;
  int kind = 0;  ///< 0 and 1 solve(), 2 lstsq(), 3 batch_solve()
};

Problem random_problem(std::uint64_t seed) {
  Random random(seed, "environment");
  Problem problem;
  problem.kind = static_cast<int>(random.integer(0, 3));
  if (problem.kind == 2) {
    const std::int64_t n = random.integer(1, 40);
    problem.named = random_tall(n + random.integer(0, 200), n, random);
    problem.choice.options.engine.context = &random_context(random);
  } else {
    const bool medium = problem.kind < 2 && random.chance(0.1);
    const std::int64_t n = random_order(medium ? Size::medium : Size::small, random);
    problem.named = problem.kind == 1 ? random_general(std::min<std::int64_t>(n, 128), random)
                                      : random_spd(std::min<std::int64_t>(n, 128), random);
    scale_at_random(problem.named, problem.kind != 1, random);
    problem.choice = random_choice(random_structure(problem.kind != 1, random), random);
  }
  problem.b.resize(problem.named.a.rows);
  fill_right_side(problem.named.a, problem.b.data(), random);
  return problem;
}

/// The bits of the answer and of the certificate's claims.
std::vector<std::uint64_t> answer(const Problem& problem) {
  const Matrix& a = problem.named.a;
  const auto b = view(problem.b.data(), a.rows, 1);
  std::vector<double> x(a.cols);
  Certificate certificate;
  if (problem.kind == 2) {
    LeastSquaresOptions options;
    options.engine.context = problem.choice.options.engine.context;
    certificate = lstsq(TallMatrix(a.view()), b, view(x.data(), a.cols, 1), options);
  } else if (problem.kind == 3) {
    x = problem.b;
    const BatchReport report =
        batch_solve(batch(a.data.data(), 1, a.rows, a.cols), batch(x.data(), 1, a.rows, 1));
    certificate.iterations = static_cast<int>(report.failures.size());
  } else {
    certificate = solve(a.view(), b, view(x.data(), a.cols, 1), problem.choice.options,
                        problem.choice.structure);
  }
  x.push_back(certificate.backward_error);
  x.push_back(certificate.condition);
  for (const ColumnCertificate& column : certificate.columns) {
    x.push_back(column.proven_backward_error);
    x.push_back(column.forward_error);
  }
  std::vector<std::uint64_t> bits(1, static_cast<std::uint64_t>(certificate.outcome));
  for (const double e : x) bits.push_back(std::bit_cast<std::uint64_t>(e));
  return bits;
}

void attack_environment(std::uint64_t seed, Report& report) {
  const Problem problem = random_problem(seed);
  const std::string system =
      text("%lld x %lld, %s, %s", static_cast<long long>(problem.named.a.rows),
           static_cast<long long>(problem.named.a.cols), problem.named.name.c_str(),
           problem.choice.name.c_str());
  report.describe(system);
  std::vector<std::uint64_t> expected;
  if (!survives([&] { expected = answer(problem); }, report)) return;
  for (int which = 0; which < Environment::kCount; ++which) {
    report.describe(system + ", " + Environment::kNames[which]);
    report.count("environments");
    std::vector<std::uint64_t> got;
    std::uint64_t before = 0, after = 0;
    const auto call = [&] {
      const Environment environment(which);
      before = Environment::state();
      got = answer(problem);
      after = Environment::state();
    };
    if (!survives(call, report)) continue;
    if (got != expected) report.found(Finding::bits, "other bits");
    if (after != before) {
      report.found(Finding::memory, text("the environment was %llx and is %llx",
                                         static_cast<unsigned long long>(before),
                                         static_cast<unsigned long long>(after)));
    }
  }
}

}  // namespace
}  // namespace stepwell::attack

int main(int argc, char** argv) {
  using namespace stepwell::attack;
  return attack_seeds(
      "environment_attack", argc, argv, {}, 600, [](const Request&, std::uint64_t seed) {
        return Attack{"", [seed](Report& report) { attack_environment(seed, report); }};
      });
}
