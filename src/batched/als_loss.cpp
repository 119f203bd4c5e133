// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <new>
#include <numeric>

#include "batched/sparse.hpp"
#include "core/buffer.hpp"
#include "core/machine/fp_scope.hpp"
#include "core/memory_error.hpp"
#include "engine/threads/thread_pool.hpp"

/// The loss of alternating least squares, in FP64. All sums are divided in a way that depends on
/// the sizes alone, and so do their bits.
namespace stepwell {
namespace batched {
namespace {

constexpr std::int64_t kPart = 4096;  ///< number of columns or rows in one sum

std::int64_t parts_of(std::int64_t n) {
  return (n + kPart - 1) / kPart;
}

/// Uses several partial sums, for the vector units.
double dot(const float* x, const float* y, std::int64_t k) {
  double sums[8] = {};
  std::int64_t i = 0;
  for (; i + 8 <= k; i += 8) {
    for (int s = 0; s < 8; ++s) sums[s] += static_cast<double>(x[i + s]) * y[i + s];
  }
  for (; i < k; ++i) sums[0] += static_cast<double>(x[i]) * y[i];
  return std::accumulate(sums, sums + 8, 0.0);
}

/// The sum of part(p), p < parts, added in this order; the parts are computed on all threads.
template <class F>
double sum_of_parts(engine::ThreadPool& pool, std::int64_t parts, const F& part) {
  core::Buffer<double> sums(parts);
  pool.for_each(parts, [&](std::int64_t p) {
    const core::FpScope fp;
    sums[p] = part(p);
  });
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

/// sum_j counts[j] ||v_j||^2; all counts are 1 if 'counts' is null.
double squares(MatrixView<const float> v, const std::int64_t* counts, engine::ThreadPool& pool) {
  return sum_of_parts(pool, parts_of(v.cols), [&](std::int64_t p) {
    double sum = 0;
    for (std::int64_t j = p * kPart; j < std::min((p + 1) * kPart, v.cols); ++j) {
      sum += (counts != nullptr ? static_cast<double>(counts[j]) : 1) *
             dot(v.column(j), v.column(j), v.rows);
    }
    return sum;
  });
}

/// The lower triangle of V V', k x k.
core::Buffer<double> gram(MatrixView<const float> v, engine::ThreadPool& pool) {
  const std::int64_t k = v.rows;
  const std::int64_t part = std::max(kPart, v.cols / 32 + 1);
  const std::int64_t parts = (v.cols + part - 1) / part;
  core::Buffer<double> sums(std::max<std::int64_t>(parts, 1) * k * k);
  pool.for_each(parts, [&](std::int64_t p) {
    const core::FpScope fp;
    double* const c = sums.data() + p * k * k;
    for (std::int64_t e = p * part; e < std::min((p + 1) * part, v.cols); ++e) {
      const float* const y = v.column(e);
      for (std::int64_t j = 0; j < k; ++j) {
        const double factor = y[j];
        for (std::int64_t i = j; i < k; ++i) c[i + j * k] += factor * y[i];
      }
    }
  });
  for (std::int64_t p = 1; p < parts; ++p) {
    for (std::int64_t i = 0; i < k * k; ++i) sums[i] += sums[p * k * k + i];
  }
  return sums;
}

/// sum over all pairs of (x_u'y_i)^2 = <X X', Y Y'>.
double all_pairs(MatrixView<const float> x, MatrixView<const float> y, engine::ThreadPool& pool) {
  const std::int64_t k = x.rows;
  const core::Buffer<double> xx = gram(x, pool), yy = gram(y, pool);
  double sum = 0;
  for (std::int64_t j = 0; j < k; ++j) {
    sum += xx[j + j * k] * yy[j + j * k];
    for (std::int64_t i = j + 1; i < k; ++i) sum += 2 * (xx[i + j * k] * yy[i + j * k]);
  }
  return sum;
}

/// The loss of one rating; for implicit counts, without the part that all_pairs() includes.
double loss_of(double rating, double prediction, const AlsOptions& options) {
  if (options.feedback == Feedback::explicit_ratings) {
    return (rating - prediction) * (rating - prediction);
  }
  return (1 + options.alpha * rating) * (1 - prediction) * (1 - prediction) -
         prediction * prediction;
}

}  // namespace
}  // namespace batched

double als_loss(const SparseRows& ratings, MatrixView<const float> users,
                MatrixView<const float> items, const AlsOptions& options) try {
  const std::int64_t entries = batched::check_starts(ratings, "ratings");
  batched::check_vectors(ratings, users, items, "users", "items");
  batched::check_options(options);
  constexpr std::int64_t kFew = 10'000;  // below this many entries, starting threads does not pay
  const bool few_entries = entries + users.cols + items.cols < kFew;
  engine::ThreadPool pool(few_entries ? 1 : engine::threads_of(options.engine.context));
  batched::check_columns(ratings, "ratings", pool);
  const core::FpScope fp;

  core::Buffer<std::int64_t> of_users, of_items;
  if (options.weighted) {
    of_users = core::Buffer<std::int64_t>(ratings.rows);
    of_items = core::Buffer<std::int64_t>(ratings.cols);
    for (std::int64_t u = 0; u < ratings.rows; ++u) {
      of_users[u] = ratings.starts[u + 1] - ratings.starts[u];
    }
    for (std::int64_t e = 0; e < entries; ++e) ++of_items[ratings.columns[e]];
  }
  double loss = options.lambda * (batched::squares(users, of_users.data(), pool) +
                                  batched::squares(items, of_items.data(), pool));
  if (options.feedback == Feedback::implicit_counts) loss += batched::all_pairs(users, items, pool);
  const double fit =
      batched::sum_of_parts(pool, batched::parts_of(ratings.rows), [&](std::int64_t p) {
        constexpr std::int64_t kAhead = 16;
        const std::int64_t last = std::min((p + 1) * batched::kPart, ratings.rows);
        double sum = 0;
        for (std::int64_t u = p * batched::kPart; u < last; ++u) {
          for (std::int64_t e = ratings.starts[u]; e < ratings.starts[u + 1]; ++e) {
            const float* const later =
                items.column(ratings.columns[std::min(e + kAhead, entries - 1)]);
            for (std::int64_t i = 0; i < items.rows; i += 16) __builtin_prefetch(later + i);
            const float* const y = items.column(ratings.columns[e]);
            sum += batched::loss_of(ratings.values[e], batched::dot(users.column(u), y, items.rows),
                                    options);
          }
        }
        return sum;
      });
  return loss + fit;
} catch (const std::bad_alloc&) {
  core::throw_out_of_memory();
}

}  // namespace stepwell
