// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "gallery/basis.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

#include "core/buffer.hpp"
#include "gallery/gallery.hpp"

namespace stepwell::gallery {
namespace {

constexpr std::int64_t kLanes = Basis::kLanes;

/// (a, b) <- (a + b, a - b), a cache line each.
void butterfly2(double* a, double* b) noexcept {
  for (std::int64_t k = 0; k < kLanes; ++k) {
    const double s = a[k] + b[k];
    b[k] = a[k] - b[k];
    a[k] = s;
  }
}

/// Two butterfly steps in one pass, which halves the cache traffic.
void butterfly4(double* __restrict a, double* __restrict b, double* __restrict c,
                double* __restrict d) noexcept {
  for (std::int64_t k = 0; k < kLanes; ++k) {
    const double ac = a[k] + c[k], a_c = a[k] - c[k];
    const double bd = b[k] + d[k], b_d = b[k] - d[k];
    a[k] = ac + bd;
    b[k] = ac - bd;
    c[k] = a_c + b_d;
    d[k] = a_c - b_d;
  }
}

/// The Walsh-Hadamard transform of p elements without its factor 1 / sqrt(p). It is recursive, so
/// that it is cache-oblivious.
void hadamard(double* x, std::int64_t p) noexcept {
  if (p == 2) butterfly2(x, x + kLanes);
  if (p <= 2) return;
  const std::int64_t quarter = p / 4 * kLanes;
  for (std::int64_t i = 0; i < quarter; i += kLanes) {
    butterfly4(x + i, x + i + quarter, x + i + 2 * quarter, x + i + 3 * quarter);
  }
  if (p == 4) return;
  for (int part = 0; part < 4; ++part) hadamard(x + part * quarter, p / 4);
}

/// x <- diag(signs) x.
void multiply(double* x, const std::vector<double>& signs) noexcept {
  for (const double sign : signs) {
    for (std::int64_t k = 0; k < kLanes; ++k) x[k] *= sign;
    x += kLanes;
  }
}

std::vector<double> random_signs(std::int64_t n, std::uint64_t index, double size) {
  std::vector<double> signs(static_cast<std::size_t>(n));
  for (double& s : signs) s = noise(index++) < 0 ? -size : size;
  return signs;
}

std::vector<std::int64_t> random_order(std::int64_t n, std::uint64_t index) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[hash(index++) % i]);
  return order;
}

/// Calls body(first, count, x, scratch) for groups of kLanes out of 'vectors' vectors of n
/// elements, with per-thread arrays x and scratch.
void for_lanes(std::int64_t vectors, std::int64_t n, engine::ThreadPool& pool,
               const std::function<void(std::int64_t, std::int64_t, double*, double*)>& body) {
  std::vector<core::Buffer<double>> memory;
  for (int t = 0; t < pool.size(); ++t) memory.emplace_back(2 * kLanes * n);
  std::atomic<std::int64_t> next{0};
  pool.run([&](int thread) {
    double* const x = memory[static_cast<std::size_t>(thread)].data();
    for (std::int64_t i = next.fetch_add(kLanes); i < vectors; i = next.fetch_add(kLanes)) {
      body(i, std::min(kLanes, vectors - i), x, x + kLanes * n);
    }
  });
}

}  // namespace

Basis::Basis(std::int64_t n, std::uint64_t seed, std::uint64_t part)
    : n_(n), p_(static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(n)))) {
  const double size = 1 / std::sqrt(static_cast<double>(std::max<std::int64_t>(1, p_)));
  for (std::uint64_t r = 0; r < rounds_.size(); ++r) {
    const auto run = [&](std::uint64_t what) { return stream(seed, 16 * part + 4 * r + what); };
    Round& round = rounds_[r];
    round.from = random_order(n_, run(0));
    round.first_signs = random_signs(p_, run(1), size);
    if (p_ < n_) round.last_signs = random_signs(p_, run(2), size);
  }
  signs_ = random_signs(n_, stream(seed, 16 * part + 15), 1);
}

double* Basis::apply(double* x, double* scratch) const noexcept {
  for (const Round& round : rounds_) {
    for (std::int64_t i = 0; i < n_; ++i) {
      const double sign = i < p_ ? round.first_signs[static_cast<std::size_t>(i)] : 1;
      const double* const from = x + kLanes * round.from[static_cast<std::size_t>(i)];
      for (std::int64_t k = 0; k < kLanes; ++k) scratch[kLanes * i + k] = sign * from[k];
    }
    hadamard(scratch, p_);
    if (p_ < n_) {
      double* const last = scratch + kLanes * (n_ - p_);
      multiply(last, round.last_signs);
      hadamard(last, p_);
    }
    std::swap(x, scratch);
  }
  multiply(x, signs_);
  return x;
}

double* Basis::apply_transposed(double* x, double* scratch) const noexcept {
  multiply(x, signs_);
  for (auto round = rounds_.rbegin(); round != rounds_.rend(); ++round) {
    if (p_ < n_) {
      double* const last = x + kLanes * (n_ - p_);
      hadamard(last, p_);
      multiply(last, round->last_signs);
    }
    hadamard(x, p_);
    for (std::int64_t i = 0; i < n_; ++i) {
      const double sign = i < p_ ? round->first_signs[static_cast<std::size_t>(i)] : 1;
      double* const to = scratch + kLanes * round->from[static_cast<std::size_t>(i)];
      for (std::int64_t k = 0; k < kLanes; ++k) to[k] = sign * x[kLanes * i + k];
    }
    std::swap(x, scratch);
  }
  return x;
}

void set_scaled_basis(MatrixView<double> a, const Basis& q, std::span<const double> d,
                      engine::ThreadPool& pool) {
  const std::int64_t n = q.order();
  for_lanes(a.cols, n, pool, [&](std::int64_t j, std::int64_t count, double* x, double* scratch) {
    std::fill_n(x, kLanes * n, 0.0);
    for (std::int64_t k = 0; k < count; ++k) {
      x[kLanes * (j + k) + k] = d[static_cast<std::size_t>(j + k)];
    }
    const double* const y = q.apply(x, scratch);
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t k = 0; k < count; ++k) a(i, j + k) = y[kLanes * i + k];
    }
  });
}

void multiply_transposed(MatrixView<double> a, const Basis& q, Part part,
                         engine::ThreadPool& pool) {
  const std::int64_t n = q.order();
  for_lanes(a.rows, n, pool, [&](std::int64_t i, std::int64_t count, double* x, double* scratch) {
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t k = 0; k < count; ++k) x[kLanes * j + k] = a(i + k, j);
    }
    const double* const y = q.apply(x, scratch);
    const std::int64_t end = part == Part::lower ? i + count : n;
    for (std::int64_t j = 0; j < end; ++j) {
      for (std::int64_t k = 0; k < count; ++k) a(i + k, j) = y[kLanes * j + k];
    }
  });
}

}  // namespace stepwell::gallery
