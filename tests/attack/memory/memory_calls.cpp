// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "memory_calls.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

#include "stepwell/stepwell.h"
#include "stepwell/stepwell.hpp"

namespace stepwell::test {
namespace {

/// A system that can be solved with every structure, and memory for the answer.
struct System {
  explicit System(std::int64_t order) : n(order) {
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t i = 0; i < n; ++i) {
        a.push_back(std::exp(-0.1 * std::abs(static_cast<double>(i - j))) + (i == j ? 1 : 0));
      }
    }
    b.assign(static_cast<std::size_t>(n), 1.0);
    x.assign(b.size(), 0.0);
  }
  MatrixView<const double> matrix() const { return view<const double>(a.data(), n, n); }
  MatrixView<const double> right() const { return view<const double>(b.data(), n, 1); }
  MatrixView<double> left() { return view(x.data(), n, 1); }

  /// Checks ||b - A x|| / ||b||; the condition number of the matrix is below 100.
  bool is_solved() const {
    double worst = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      double r = b[static_cast<std::size_t>(i)];
      for (std::int64_t j = 0; j < n; ++j) r -= matrix()(i, j) * x[static_cast<std::size_t>(j)];
      worst = std::max(worst, std::abs(r));
    }
    return worst < 1e-11;
  }

  std::int64_t n;
  std::vector<double> a, b, x;
};

SolveOptions options_for(Context& context) {
  SolveOptions options;
  options.engine.context = &context;
  return options;
}

/// Small tiles, so that the workers have tasks.
SolveOptions with_workers(Context& context) {
  SolveOptions options = options_for(context);
  options.map = uniform(Rung::fp32);
  options.tile = 128;
  return options;
}

template <class Solve>
MemoryCall solving(const std::string& name, std::int64_t n, Solve solve) {
  return {name, [s = std::make_shared<System>(n), solve](Context& context) {
            std::fill(s->x.begin(), s->x.end(), 0.0);
            return solve(*s, context) && s->is_solved();
          }};
}

/// From n = 1024 on refinement reads an fp32 copy of A, which a solver keeps.
SolveOptions with_copy(Context& context) {
  SolveOptions options = options_for(context);
  options.map = uniform(Rung::bf16);
  return options;
}

/// Uses one solver for two systems, and tries again if the first solve failed.
bool reuse(System& s, const SolveOptions& options) {
  Solver solver(s.matrix(), options, Structure::spd);
  try {
    if (!solver.solve(s.right(), s.left()).ok()) return false;
  } catch (const Error&) {
    if (!solver.solve(s.right(), s.left()).ok() || !s.is_solved()) return false;
    throw;
  }
  return solver.solve(s.right(), s.left()).ok();
}

bool through_c(System& s, Context&) {
  const int code = stepwell_solve(STEPWELL_SPD, s.n, 1, s.a.data(), s.n, s.b.data(), s.n,
                                  s.x.data(), s.n, nullptr, nullptr);
  if (code < 0) throw Error(static_cast<ErrorCode>(-code), stepwell_last_error());
  return code == STEPWELL_CONVERGED;
}

/// All arguments of the calls are made before an allocation fails: they are not under test.
struct TallSystem {
  TallSystem() {
    for (std::int64_t j = 0; j < kCols; ++j) {
      for (std::int64_t i = 0; i < kRows; ++i) {
        a.push_back(std::cos(0.37 * static_cast<double>((i + 1) * (j + 3))) +
                    (i % kCols == j ? 2 : 0));
      }
    }
  }
  bool solve(Context& context) {
    LeastSquaresOptions options;
    options.engine.context = &context;
    return lstsq(view<const double>(a.data(), kRows, kCols), view<const double>(b.data(), kRows, 1),
                 view(x.data(), kCols, 1), options)
        .ok();
  }

  static constexpr std::int64_t kRows = 2000, kCols = 70;
  std::vector<double> a, b = std::vector<double>(kRows, 1.0), x = std::vector<double>(kCols);
};

struct Batch {
  Batch() {
    const System one(kOrder);
    for (std::int64_t k = 0; k < kCount; ++k) a.insert(a.end(), one.a.begin(), one.a.end());
  }
  bool solve(Context& context) {
    std::fill(x.begin(), x.end(), 1.0);
    BatchOptions options;
    options.engine.context = &context;
    return batch_solve(batch<const double>(a.data(), kCount, kOrder, kOrder),
                       batch(x.data(), kCount, kOrder, 1), options)
        .ok();
  }

  static constexpr std::int64_t kOrder = 24, kCount = 200;
  std::vector<double> a, x = std::vector<double>(kOrder * kCount);
};

struct Ratings {
  Ratings() {
    for (std::int64_t u = 0; u <= kUsers; ++u) starts.push_back(u * kEach);
    for (std::int32_t e = 0; e < kUsers * kEach; ++e) columns.push_back(7 * e % kItems);
    for (int e = 0; e < kItems * kSize; ++e) items.push_back(std::cos(static_cast<float>(e)));
  }
  bool step(Context& context) {
    AlsOptions options;
    options.engine.context = &context;
    const SparseRows rows{kUsers, kItems, starts.data(), columns.data(), values.data()};
    return als_step(rows, view<const float>(items.data(), kSize, kItems),
                    view(users.data(), kSize, kUsers), options)
        .ok();
  }

  static constexpr std::int64_t kUsers = 400, kItems = 60, kSize = 16, kEach = 20;
  std::vector<std::int64_t> starts;
  std::vector<std::int32_t> columns;
  std::vector<float> values = std::vector<float>(kUsers * kEach, 1.0f), items;
  std::vector<float> users = std::vector<float>(kUsers * kSize);
};

/// Factors, operations with them, and products.
struct Level3 {
  Level3() {
    options.map = uniform(Rung::fp64);
    options.tile = 128;
  }
  bool run(Context& context) {
    options.engine.context = with.engine.context = &context;
    const Factor factor = cholesky(s.matrix(), options);
    const LuFactor general = lu(s.matrix(), options);
    factor.copy_to(view(copy.data(), s.n, s.n));
    std::fill(s.x.begin(), s.x.end(), 1.0);
    (void)trsm(factor, view(s.x.data(), 1, s.n), with);
    (void)syrk(1, s.matrix(), 0, view(copy.data(), s.n, s.n), with);
    return factor.ok() && general.ok();
  }

  FactorOptions options;
  Level3Options with;
  System s = System(400);
  std::vector<double> copy = std::vector<double>(400 * 400);
};

bool plans(Context& context) {
  const bool planned = plan_spd(3000, 1, options_for(context)).bytes > 0 &&
                       plan_general(3000, 1, options_for(context)).bytes > 0 &&
                       plan_lstsq(3000, 200, 1).bytes > 0;
  return planned && !describe_machine().isa.empty() && to_string(parse_map("bf16x2")) == "bf16x2";
}

}  // namespace

std::vector<MemoryCall> memory_calls() {
  const auto spd = [](System& s, Context& c) {
    return solve_spd(s.matrix(), s.right(), s.left(), options_for(c)).ok();
  };
  const auto general = [](System& s, Context& c) {
    return solve_general(s.matrix(), s.right(), s.left(), options_for(c)).ok();
  };
  const auto spd_with_workers = [](System& s, Context& c) {
    return solve_spd(s.matrix(), s.right(), s.left(), with_workers(c)).ok();
  };
  const auto general_with_workers = [](System& s, Context& c) {
    return solve_general(s.matrix(), s.right(), s.left(), with_workers(c)).ok();
  };
  return {
      solving("spd_300", 300, spd),
      solving("spd_1500", 1500, spd),
      solving("spd_with_workers", 600, spd_with_workers),
      solving("general_300", 300, general),
      solving("general_with_workers", 600, general_with_workers),
      solving("reuse", 600, [](System& s, Context& c) { return reuse(s, with_workers(c)); }),
      solving("reuse_copy", 1100, [](System& s, Context& c) { return reuse(s, with_copy(c)); }),
      solving("c_interface", 200, through_c),
      {"least_squares", [s = std::make_shared<TallSystem>()](Context& c) { return s->solve(c); }},
      {"batch", [s = std::make_shared<Batch>()](Context& c) { return s->solve(c); }},
      {"als", [s = std::make_shared<Ratings>()](Context& c) { return s->step(c); }},
      {"level3", [s = std::make_shared<Level3>()](Context& c) { return s->run(c); }},
      {"plans", plans}};
}

}  // namespace stepwell::test
