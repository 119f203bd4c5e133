// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bench/problems/als_problem.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "bench/baselines/lapack.hpp"
#include "bench/harness/data.hpp"
#include "core/numeric/hash.hpp"
#include "stepwell/error.hpp"

namespace stepwell::bench {
namespace {

double uniform(std::uint64_t index) {
  return static_cast<double>(core::hash(index) >> 11) * 0x1p-53;
}

/// The solution of one row's system in FP64 and the condition number in the infinity norm.
struct ExactRow {
  std::vector<double> x;
  double condition = 0;
};

double norm(const std::vector<double>& a, std::int64_t k) {
  double most = 0;
  for (std::int64_t i = 0; i < k; ++i) {
    double sum = 0;
    for (std::int64_t j = 0; j < k; ++j) sum += std::abs(a[static_cast<std::size_t>(i + j * k)]);
    most = std::max(most, sum);
  }
  return most;
}

ExactRow solve_row(const SparseRows& ratings, MatrixView<const float> from,
                   const std::vector<double>& base, const AlsOptions& options, std::int64_t u) {
  const std::int64_t k = from.rows;
  const bool counts = options.feedback == Feedback::implicit_counts;
  std::vector<double> a = base;
  std::vector<double> right(static_cast<std::size_t>(k * (k + 1)));  // b, then the identity matrix
  for (std::int64_t e = ratings.starts[u]; e < ratings.starts[u + 1]; ++e) {
    const float* const y = from.column(ratings.columns[e]);
    const double weight = counts ? options.alpha * ratings.values[e] : 1.0;
    const double coefficient = counts ? 1 + weight : ratings.values[e];
    for (std::int64_t j = 0; j < k; ++j) {
      for (std::int64_t i = 0; i < k; ++i) {
        a[static_cast<std::size_t>(i + j * k)] += weight * y[i] * y[j];
      }
      right[static_cast<std::size_t>(j)] += coefficient * y[j];
    }
  }
  for (std::int64_t i = 0; i < k; ++i) {
    a[static_cast<std::size_t>(i + i * k)] += options.lambda;
    right[static_cast<std::size_t>(k + i + i * k)] = 1;
  }
  ExactRow exact;
  exact.condition = norm(a, k);
  if (posv(a.data(), k, right.data(), k + 1) != 0) {
    throw Error(ErrorCode::internal, "a system of the benchmark is not positive definite in FP64");
  }
  exact.x.assign(right.begin(), right.begin() + k);
  right.erase(right.begin(), right.begin() + k);
  exact.condition *= norm(right, k);
  return exact;
}

double worst_of(const SparseRows& ratings, MatrixView<const float> from, MatrixView<const float> to,
                const AlsOptions& options) {
  const std::int64_t k = from.rows;
  std::vector<double> base(static_cast<std::size_t>(k * k));
  for (std::int64_t c = 0; options.feedback == Feedback::implicit_counts && c < from.cols; ++c) {
    const float* const y = from.column(c);
    for (std::int64_t j = 0; j < k; ++j) {
      for (std::int64_t i = 0; i < k; ++i) {
        base[static_cast<std::size_t>(i + j * k)] += static_cast<double>(y[i]) * y[j];
      }
    }
  }
  double worst = 0;
  for (const std::int64_t u : sample(ratings.rows)) {
    if (ratings.starts[u] == ratings.starts[u + 1]) continue;
    const ExactRow exact = solve_row(ratings, from, base, options, u);
    double off = 0, all = 0;
    for (std::int64_t i = 0; i < k; ++i) {
      off = std::max(off, std::abs(to(i, u) - exact.x[static_cast<std::size_t>(i)]));
      all = std::max(all, std::abs(exact.x[static_cast<std::size_t>(i)]));
      if (std::isnan(to(i, u))) return to(i, u);
    }
    worst = std::max(worst, off / all / exact.condition * 0x1p24);
  }
  return worst;
}

}  // namespace

AlsProblem::AlsProblem(const AlsBenchRequest& r) : k(r.factors), items(r.factors * r.items) {
  options.feedback = r.implicit ? Feedback::implicit_counts : Feedback::explicit_ratings;
  options.lambda = 1;
  options.alpha = 1;
  by_user.rows = r.users;
  by_user.cols = r.items;
  by_user.starts.push_back(0);
  // A power law: at least a quarter of the mean, at most fifty times the mean.
  const double least = 0.25 * static_cast<double>(r.ratings_per_user);
  std::uint64_t random = 0;
  for (std::int64_t u = 0; u < r.users; ++u) {
    const double count = least * std::pow(1 - uniform(random++), -0.8);
    const auto rated = std::clamp<std::int64_t>(std::llround(count), 1, 50 * r.ratings_per_user);
    for (std::int64_t e = 0; e < rated; ++e) {
      const double popularity = std::pow(uniform(random++), 2);
      by_user.columns.push_back(
          static_cast<std::int32_t>(popularity * static_cast<double>(r.items)));
      by_user.values.push_back(static_cast<float>(1 + 4 * uniform(random++)));
    }
    by_user.starts.push_back(static_cast<std::int64_t>(by_user.columns.size()));
  }
  by_item = transpose(by_user.view());
  for (std::int64_t i = 0; i < items.size(); ++i) {
    items[i] =
        static_cast<float>(uniform((std::uint64_t{1} << 40) + static_cast<std::uint64_t>(i)));
  }
}

void iterate(const AlsProblem& p, AlsVectors& out, const std::function<AlsStepFn>& step) {
  const auto users = view(out.users.data(), p.k, p.by_user.rows);
  step(p.by_user.view(), p.start(), users);
  step(p.by_item.view(), users, view(out.items.data(), p.k, p.by_user.cols));
}

double worst_error(const AlsProblem& p, const AlsVectors& out) {
  const auto users = view<const float>(out.users.data(), p.k, p.by_user.rows);
  const auto items = view<const float>(out.items.data(), p.k, p.by_user.cols);
  const double first = worst_of(p.by_user.view(), p.start(), users, p.options);
  const double second = worst_of(p.by_item.view(), users, items, p.options);
  return first >= second || std::isnan(first) ? first : second;
}

double largest_difference(const core::Buffer<float>& x, const core::Buffer<float>& y,
                          std::int64_t k) {
  double worst = 0;
  for (std::int64_t first = 0; first < y.size(); first += k) {
    double off = 0, all = 0;
    for (std::int64_t i = first; i < first + k; ++i) {
      off = std::max<double>(off, std::abs(x[i] - y[i]));
      all = std::max<double>(all, std::abs(y[i]));
    }
    if (off > worst * all) worst = off / all;
  }
  return worst;
}

}  // namespace stepwell::bench
