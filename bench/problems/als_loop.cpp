// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "bench/baselines/baseline_mkl.hpp"
#include "bench/baselines/lapack.hpp"
#include "bench/problems/als_problem.hpp"
#include "stepwell/error.hpp"

extern "C" {
void ssyrk_(const char* uplo, const char* trans, const int* n, const int* k, const float* alpha,
            const float* a, const int* lda, const float* beta, float* c, const int* ldc,
            std::size_t, std::size_t);
void sgemv_(const char* trans, const int* m, const int* n, const float* alpha, const float* a,
            const int* lda, const float* x, const int* incx, const float* beta, float* y,
            const int* incy, std::size_t);
void sposv_(const char* uplo, const int* n, const int* nrhs, float* a, const int* lda, float* b,
            const int* ldb, int* info, std::size_t);
}

/// Alternating least squares written with LAPACK: a sequence of calls for each row.
namespace stepwell::bench {
namespace {

using Syrk = void(const char*, const char*, const int*, const int*, const float*, const float*,
                  const int*, const float*, float*, const int*);
using Gemv = void(const char*, const int*, const int*, const float*, const float*, const int*,
                  const float*, const int*, const float*, float*, const int*);
using Posv = void(const char*, const int*, const int*, float*, const int*, float*, const int*,
                  int*);

void syrk(const char* uplo, const char* trans, const int* n, const int* k, const float* alpha,
          const float* a, const int* lda, const float* beta, float* c, const int* ldc) {
  ssyrk_(uplo, trans, n, k, alpha, a, lda, beta, c, ldc, 1, 1);
}
void gemv(const char* trans, const int* m, const int* n, const float* alpha, const float* a,
          const int* lda, const float* x, const int* incx, const float* beta, float* y,
          const int* incy) {
  sgemv_(trans, m, n, alpha, a, lda, x, incx, beta, y, incy, 1);
}
void posv32(const char* uplo, const int* n, const int* nrhs, float* a, const int* lda, float* b,
            const int* ldb, int* info) {
  sposv_(uplo, n, nrhs, a, lda, b, ldb, info, 1);
}

/// Number of vectors gathered for one call of ssyrk. More than fit the cache would slow it down.
constexpr std::int64_t kGathered = 512;

}  // namespace

struct LapackLoop::Routines {
  Syrk* syrk;
  Gemv* gemv;
  Posv* posv;

  static const Routines& of(bool from_mkl) {
    if (!from_mkl) {
      static const Routines linked{&bench::syrk, &bench::gemv, &posv32};
      return linked;
    }
    static const Routines mkls{mkl_function<Syrk>("ssyrk"), mkl_function<Gemv>("sgemv"),
                               mkl_function<Posv>("sposv")};
    return mkls;
  }
};

LapackLoop::LapackLoop(const AlsOptions& options, int threads, bool mkl)
    : options_(options), pool_(threads), routines_(Routines::of(mkl)) {}

void LapackLoop::row(const SparseRows& ratings, MatrixView<const float> from, const float* base,
                     std::int64_t u, float* gathered, float* a, float* x) const {
  const auto k = static_cast<int>(from.rows);
  const int step = 1;
  const bool counts = options_.feedback == Feedback::implicit_counts;
  const float one = 1;
  float beta = 0;
  std::fill_n(x, k, 0.0f);
  if (base != nullptr) {
    std::copy_n(base, k * k, a);
    beta = 1;
  }
  // ssyrk takes no weights, so the vectors are scaled by the square roots of the weights.
  float* const coefficients = gathered + kGathered * k;
  const std::int64_t end = ratings.starts[u + 1];
  for (std::int64_t first = ratings.starts[u]; first < end; first += kGathered) {
    const auto count = static_cast<int>(std::min(kGathered, end - first));
    for (int e = 0; e < count; ++e) {
      const float* const y = from.column(ratings.columns[first + e]);
      const float value = ratings.values[first + e];
      float* const to = gathered + e * k;
      if (counts) {
        const float weight = options_.alpha * value, root = std::sqrt(weight);
        coefficients[e] = (1 + weight) / root;
        for (int i = 0; i < k; ++i) to[i] = root * y[i];
      } else {
        coefficients[e] = value;
        std::copy_n(y, k, to);
      }
    }
    routines_.syrk("L", "N", &k, &count, &one, gathered, &k, &beta, a, &k);
    routines_.gemv("N", &k, &count, &one, gathered, &k, coefficients, &step, &one, x, &step);
    beta = 1;
  }
  for (int i = 0; i < k; ++i) a[i + i * k] += options_.lambda;
  int failed = 0;
  routines_.posv("L", &k, &step, a, &k, x, &k, &failed);
  if (failed != 0) x[0] = std::numeric_limits<float>::quiet_NaN();
}

void LapackLoop::step(const SparseRows& ratings, MatrixView<const float> from,
                      MatrixView<float> to) {
  const auto k = static_cast<int>(from.rows);
  core::Buffer<float> base;
  if (options_.feedback == Feedback::implicit_counts) {
    const auto cols = static_cast<int>(from.cols);
    const float one = 1, zero = 0;
    base = core::Buffer<float>(from.rows * from.rows);
    routines_.syrk("L", "N", &k, &cols, &one, from.data, &k, &zero, base.data(), &k);
  }
  const engine::ThreadPoolGuard guard(pool_);  // our side needs the process's threads, too
  constexpr std::int64_t rows = 64;            // that a thread takes at a time
  std::vector<core::Buffer<float>> scratch;
  const std::int64_t room = (kGathered + 1) * k + kGathered;
  for (int t = 0; t < pool_.size(); ++t) scratch.emplace_back(room + from.rows * from.rows);
  std::atomic<std::int64_t> next{0};
  pool_.run([&](int thread) {
    float* const gathered = scratch[static_cast<std::size_t>(thread)].data();
    for (std::int64_t first = next.fetch_add(rows); first < ratings.rows;
         first = next.fetch_add(rows)) {
      for (std::int64_t u = first; u < std::min(first + rows, ratings.rows); ++u) {
        if (ratings.starts[u] == ratings.starts[u + 1]) {
          std::fill_n(to.column(u), k, 0.0f);
        } else {
          row(ratings, from, base.data(), u, gathered, gathered + room, to.column(u));
        }
      }
    }
  });
}

}  // namespace stepwell::bench
