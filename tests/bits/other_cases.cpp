// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include "bits/cases.hpp"
#include "stepwell/als.hpp"
#include "stepwell/batch.hpp"
#include "stepwell/lstsq.hpp"

namespace stepwell::bits {
namespace {

enum class Storage { columns, rows, function };

/// One least squares problem. Each column of A contains 'overlap' times its left neighbour; with 1,
/// the last column is also replaced by the sum of two others.
struct Tall {
  std::string name;
  std::int64_t m, n, columns = 1;
  double overlap = 0.5;
  Storage storage = Storage::columns;
  LeastSquaresOptions options = {};
};

Matrix tall(const Tall& t) {
  Matrix a = noise(t.m, t.n, 7);
  for (std::int64_t j = 1; j < t.n; ++j) {
    for (std::int64_t i = 0; i < t.m; ++i) a(i, j) += t.overlap * a(i, j - 1);
  }
  for (std::int64_t i = 0; i < t.m && t.overlap == 1; ++i) a(i, t.n - 1) = a(i, 0) + a(i, 3);
  return a;
}

void add_tall(std::vector<Case>& cases, const Tall& t) {
  cases.push_back({t.name, [t](Context& context, Digest& digest) {
                     Matrix a = tall(t);
                     const Matrix b = noise(t.m, t.columns, 8);
                     Matrix x(t.n, t.columns), rows(t.n, t.m);
                     for (std::int64_t j = 0; j < t.n; ++j) {
                       for (std::int64_t i = 0; i < t.m; ++i) rows(j, i) = a(i, j);
                     }
                     TallMatrix matrix = a.view();
                     if (t.storage == Storage::rows) matrix = by_rows(rows.data.data(), t.m, t.n);
                     if (t.storage == Storage::function) {
                       matrix = from_function(t.m, t.n, [&](auto first, auto count, double* out) {
                         std::copy_n(rows.data.data() + first * t.n, count * t.n, out);
                       });
                     }
                     LeastSquaresOptions options = t.options;
                     options.engine.context = &context;
                     digest.add(lstsq(matrix, b.view(), x.view(), options));
                     digest.add(x.data);
                   }});
}

/// Symmetric systems stored consecutively: noise with a diagonal of n; every 13th is not positive
/// definite.
template <class T>
std::vector<T> systems(std::int64_t count, std::int64_t n) {
  const Matrix random = noise(n * n, count, 9);
  std::vector<T> a(random.data.begin(), random.data.end());
  for (std::int64_t m = 0; m < count; ++m) {
    T* const at = a.data() + m * n * n;
    for (std::int64_t j = 0; j < n; ++j) {
      at[j + j * n] = static_cast<T>(m % 13 == 7 && j == n / 2 ? -1 : n);
      for (std::int64_t i = j + 1; i < n; ++i) at[j + i * n] = at[i + j * n];
    }
  }
  return a;
}

template <class T>
void add_batch(std::vector<Case>& cases, const std::string& name, std::int64_t n,
               std::int64_t columns, const BatchOptions& o) {
  cases.push_back({name, [=](Context& context, Digest& digest) {
                     constexpr std::int64_t kCount = 45;
                     std::vector<T> a = systems<T>(kCount, n);
                     const Matrix random = noise(n * columns, kCount, 10);
                     std::vector<T> b(random.data.begin(), random.data.end());
                     std::vector<std::int32_t> pivots(kCount);
                     std::vector<double> determinants(kCount), errors(kCount);
                     BatchOptions options = o;
                     options.engine.context = &context;
                     BatchOutputs outputs;
                     outputs.pivots = pivots;
                     if (!o.mixed) outputs.log_determinants = determinants;
                     outputs.backward_errors = errors;
                     const auto systems_a = batch(a.data(), kCount, n, n);
                     const auto systems_b = batch(b.data(), kCount, n, columns);
                     const BatchReport report =
                         o.mixed ? batch_solve(systems_a, systems_b, options, outputs)
                                 : batch_factor_solve(systems_a, systems_b, options, outputs);
                     digest.add(report.failures);
                     digest.add(report.solved_in_fp64);
                     digest.add(report.backward_error);
                     digest.add(std::vector<std::int64_t>(pivots.begin(), pivots.end()));
                     digest.add(determinants);
                     digest.add(errors);
                     digest.add(a);
                     digest.add(b);
                   }});
}

void add_als(std::vector<Case>& cases, Feedback feedback) {
  cases.push_back({feedback == Feedback::implicit_counts ? "als implicit" : "als explicit",
                   [feedback](Context& context, Digest& digest) {
                     constexpr std::int64_t kUsers = 60, kItems = 40, kFactors = 12, kRatings = 9;
                     OwnedSparseRows r{kUsers, kItems, {0}, {}, {}};
                     for (std::int64_t u = 0; u < kUsers; ++u) {
                       for (std::int64_t k = 0; k < kRatings; ++k) {
                         r.columns.push_back(static_cast<std::int32_t>((u * 7 + k * 4) % kItems));
                         r.values.push_back(static_cast<float>(1 + (u + k) % 5));
                       }
                       std::sort(r.columns.end() - kRatings, r.columns.end());
                       r.starts.push_back(static_cast<std::int64_t>(r.columns.size()));
                     }
                     const Matrix random = noise(kFactors, kItems, 11);
                     const std::vector<float> items(random.data.begin(), random.data.end());
                     std::vector<float> users(static_cast<std::size_t>(kFactors * kUsers));
                     AlsOptions options;
                     options.feedback = feedback;
                     options.engine.context = &context;
                     const AlsReport report =
                         als_step(r.view(), view(items.data(), kFactors, kItems),
                                  view(users.data(), kFactors, kUsers), options);
                     digest.add(report.failures);
                     digest.add(users);
                   }});
}

}  // namespace

void add_least_squares_cases(std::vector<Case>& cases) {
  for (const Rung rung : mixable_rungs) {
    for (const Refiner refiner : all_refiners) {
      LeastSquaresOptions o;
      o.map = uniform(rung);
      o.refine.refiner = refiner;
      const bool plain = rung == Rung::bf16x2 || refiner == Refiner::cg;
      if (!plain) continue;
      add_tall(cases,
               {"lstsq " + std::string(to_string(rung)) + " " + std::string(to_string(refiner)),
                500, 60, 2, 0.5, Storage::columns, o});
    }
  }
  add_tall(cases, {"lstsq auto", 900, 130});
  add_tall(cases, {"lstsq columns", 700, 90, 20});
  add_tall(cases, {"lstsq rows", 900, 130, 2, 0.5, Storage::rows});
  add_tall(cases, {"lstsq function", 900, 130, 2, 0.5, Storage::function});
  add_tall(cases, {"lstsq rank deficient", 400, 50, 1, 1});
  add_tall(cases, {"lstsq near", 600, 80, 1, 0.99});
  LeastSquaresOptions qr;
  qr.qr = true;
  add_tall(cases, {"lstsq qr", 400, 50, 2, 0.5, Storage::columns, qr});
  LeastSquaresOptions ridge;
  ridge.lambda = 0.25;
  add_tall(cases, {"lstsq ridge", 400, 50, 2, 0.5, Storage::columns, ridge});
  ridge.weights.assign(50, 1.0);
  ridge.weights[0] = 0;
  add_tall(cases, {"lstsq weights", 400, 50, 1, 0.5, Storage::columns, ridge});
}

void add_batch_cases(std::vector<Case>& cases) {
  for (const std::int64_t n : {1, 5, 16, 24, 33, 64, 128}) {
    const std::string order = " " + std::to_string(n);
    BatchOptions o;
    add_batch<double>(cases, "batch fp64" + order, n, 1, o);
    add_batch<float>(cases, "batch fp32" + order, n, 3, o);
    o.mixed = true;
    add_batch<double>(cases, "batch mixed" + order, n, 2, o);
  }
  BatchOptions fast;
  fast.fast = true;
  add_batch<double>(cases, "batch fast", 20, 1, fast);
  BatchOptions upper;
  upper.triangle = Triangle::upper;
  upper.both_triangles = true;
  add_batch<double>(cases, "batch upper", 20, 1, upper);
  add_als(cases, Feedback::explicit_ratings);
  add_als(cases, Feedback::implicit_counts);
}

}  // namespace stepwell::bits
