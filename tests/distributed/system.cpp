// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "distributed/system.hpp"

#include <cmath>

#include "gallery/gallery.hpp"

namespace stepwell::distributed::test {

System::System(std::int64_t n, const gallery::Recipe& recipe, std::int64_t columns)
    : a(n, n), b(n, columns), x(n, columns) {
  gallery::fill(a.view(), recipe);
  for (std::size_t k = 0; k < b.data.size(); ++k) b.data[k] = gallery::noise(k);
}

Certificate System::solve(const SolveOptions& options, const DistributedOptions& distributed) {
  return solve_spd(world(), a.rows, tiles_of(a), b.view(), x.view(), options, distributed);
}

double System::error() const {
  double worst = 0;
  for (std::int64_t c = 0; c < b.cols; ++c) {
    long double r = 0, norm = 0, size_x = 0, size_b = 0;
    for (std::int64_t i = 0; i < a.rows; ++i) {
      long double sum = -b(i, c), row = 0;
      for (std::int64_t j = 0; j < a.rows; ++j) {
        sum += static_cast<long double>(a(i, j)) * x(j, c);
        row += std::abs(a(i, j));
      }
      r = std::abs(sum) <= r ? r : std::abs(sum);  // keeps a NaN
      norm = std::max(norm, row);
      size_x = std::max<long double>(size_x, std::abs(x(i, c)));
      size_b = std::max<long double>(size_b, std::abs(b(i, c)));
    }
    const auto error = static_cast<double>(r / (norm * size_x + size_b));
    worst = error <= worst ? worst : error;
  }
  return worst;
}

SolveOptions with_tile(std::int64_t tile) {
  SolveOptions options;
  options.tile = tile;
  return options;
}

gallery::Recipe recipe(gallery::Kind kind, double condition) {
  gallery::Recipe r;
  r.kind = kind;
  r.condition = condition;
  return r;
}

bool same_certificate(const Certificate& c) {
  std::vector<double> all = {static_cast<double>(c.outcome),
                             c.backward_error,
                             static_cast<double>(c.iterations),
                             c.norm,
                             c.condition,
                             static_cast<double>(c.rungs.size()),
                             static_cast<double>(c.pivot),
                             static_cast<double>(c.row),
                             static_cast<double>(c.col),
                             static_cast<double>(c.peak_bytes)};
  for (const LadderStep& rung : c.rungs) all.push_back(rung.error);
  return same_everywhere(all);
}

void expect_solved(const System& s, const Certificate& c) {
  EXPECT_EQ(c.outcome, SolveOutcome::converged) << c.reason;
  EXPECT_LE(c.backward_error, c.tolerance);
  EXPECT_LE(s.error(), c.tolerance * (1 + 1e-6));
  EXPECT_TRUE(same_everywhere(s.x.data));
  EXPECT_TRUE(same_certificate(c));
}

}  // namespace stepwell::distributed::test
