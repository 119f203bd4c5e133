// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "factor_cache.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <utility>

#include "forward.hpp"
#include "settings.hpp"

extern "C" {
void dgetrf_(const int* m, const int* n, double* a, const int* lda, int* ipiv, int* info);
}

namespace stepwell::lapack {
namespace {

/// The marker's bits: sign, exponent and first fraction bit of a quiet NaN, then 19 bits that other
/// NaNs do not have by chance, then the factor's number.
constexpr std::uint64_t kNan = 0x7ff8'0000'0000'0000;
constexpr std::uint64_t kOurs = 0x5'7e9e'0000'0000;
constexpr std::uint64_t kNumber = 0xffff'ffff;

/// Never destroyed: other threads may still make calls while the process exits.
struct Cache {
  std::mutex mutex;
  std::shared_ptr<CachedFactor> last;
  core::Buffer<double> spare;
};

Cache& cache() {
  static Cache* const c = new Cache;
  return *c;
}

std::uint64_t next_id() {
  static std::atomic<std::uint64_t> count{0};
  return ++count & kNumber;
}

/// Drops the cached factor and returns its memory if that is large enough and not far too large,
/// otherwise new memory.
core::Buffer<double> reuse(std::int64_t size) {
  core::Buffer<double> old;
  {
    Cache& c = cache();
    const std::lock_guard lock(c.mutex);
    old = std::move(c.spare);
    const std::shared_ptr<CachedFactor> last = std::move(c.last);
    if (last && last.use_count() == 1) old = std::move(last->matrix);
  }
  if (old.size() >= size && old.size() / 4 <= size) return old;
  old = {};
  return core::Buffer<double>(size, core::Contents::any);
}

void keep_spare(core::Buffer<double> buffer) {
  const std::lock_guard lock(cache().mutex);
  cache().spare = std::move(buffer);
}

void store(std::shared_ptr<CachedFactor> factor) {
  const std::lock_guard lock(cache().mutex);
  cache().last = std::move(factor);
}

void copy(MatrixView<const double> from, MatrixView<double> to) {
  for (std::int64_t j = 0; j < from.cols; ++j) std::copy_n(from.column(j), from.rows, to.column(j));
}

/// Copies the given part of A into 'to', n x n; an upper triangle is transposed to the lower one.
void copy_part(MatrixView<const double> a, Part part, double* to) {
  const std::int64_t n = a.rows;
  if (part == Part::upper) return core::transpose(a, view(to, n, n), Part::lower);
  for (std::int64_t j = 0; j < n; ++j) {
    const auto [first, end] = core::rows_of(part, j, n);
    std::copy(a.column(j) + first, a.column(j) + end, to + j * n + first);
  }
}

std::uint64_t bits(MatrixView<const double> a, std::int64_t i) {
  return std::bit_cast<std::uint64_t>(a(i, i));
}

}  // namespace

CachedFactor::CachedFactor(core::Buffer<double> a, std::int64_t n, Part of)
    : matrix(std::move(a)),
      order(n),
      part(of),
      id(next_id()),
      solver(view(), {}, of == Part::all ? Structure::automatic : Structure::spd) {}

void mark(MatrixView<double> a, Part part, std::uint64_t id) {
  const double nan = std::bit_cast<double>(kNan | kOurs | id);
  for (std::int64_t j = 0; j < a.cols; ++j) {
    const auto [first, end] = core::rows_of(part, j, a.rows);
    std::fill(a.column(j) + first, a.column(j) + end, nan);
  }
}

bool is_marked(MatrixView<const double> a) {
  return (bits(a, 0) & ~kNumber) == (kNan | kOurs) && bits(a, a.rows - 1) == bits(a, 0);
}

Certificate solve_and_cache(MatrixView<double> a, Part part, MatrixView<double> b) {
  const std::int64_t n = a.rows;
  auto matrix = reuse(core::size_product(n, n, "the copy of A"));
  copy_part(a, part, matrix.data());
  const auto factor = std::make_shared<CachedFactor>(std::move(matrix), n, part);
  const core::Buffer<double> x(core::size_product(n, b.cols, "the copy of B"), core::Contents::any);
  const auto solution = view(x.data(), n, b.cols);
  Certificate certificate = factor->solver.solve(b, solution);
  if (certificate.ok()) {
    copy(solution, b);
    mark(a, part, factor->id);
    store(factor);
  } else {
    keep_spare(std::move(factor->matrix));
  }
  return certificate;
}

std::shared_ptr<CachedFactor> factor_for(Call& call, bool valid, MatrixView<const double> a,
                                         Part part) {
  if (!valid || !is_marked(a)) {
    call.forwarded(valid ? Why::unmarked : Why::arguments);
    return nullptr;
  }
  if (!forked_child()) {
    const std::lock_guard lock(cache().mutex);
    const std::shared_ptr<CachedFactor>& last = cache().last;
    const bool known = last && last->id == (bits(a, 0) & kNumber) && last->order == a.rows;
    if (known && (last->part == Part::all) == (part == Part::all)) return last;
  }
  static std::atomic_flag said;
  say_once(
      said,
      "a factor of dposv or dgesv is used after a later call replaced it: only the last factor "
      "is cached, and the result is NaN. STEPWELL_LAPACK=mixed leaves these routines to LAPACK.");
  call.forwarded(Why::not_cached);
  return nullptr;
}

Certificate solve_with(CachedFactor& factor, bool transposed, MatrixView<double> b) {
  const core::Buffer<double> x(core::size_product(b.rows, b.cols, "the copy of B"),
                               core::Contents::any);
  const auto solution = view(x.data(), b.rows, b.cols);
  const std::lock_guard lock(factor.in_use);
  Certificate certificate =
      transposed ? factor.solver.solve_transposed(b, solution) : factor.solver.solve(b, solution);
  if (certificate.ok()) copy(solution, b);
  return certificate;
}

Certificate condition_with(CachedFactor& factor, bool one_norm, double anorm, double& rcond) {
  const std::lock_guard lock(factor.in_use);
  const double norm = anorm > 0 ? factor.solver.inverse_norm(one_norm) : 1;
  const double found = anorm > 0 ? 1 / norm / anorm : 0;
  Certificate certificate;
  if (std::isfinite(norm) && std::isfinite(found)) {
    rcond = found;
  } else {
    certificate.outcome = SolveOutcome::not_converged;
  }
  return certificate;
}

double norm_of(const CachedFactor& factor, bool one_norm) {
  const MatrixView<const double> a = factor.view();
  const bool symmetric = factor.part != Part::all;
  std::vector<double> sums(static_cast<std::size_t>(a.rows));
  for (std::int64_t j = 0; j < a.cols; ++j) {
    double of_column = 0;
    for (std::int64_t i = symmetric ? j : 0; i < a.rows; ++i) {
      const double size = std::abs(a(i, j));
      of_column += size;
      if (symmetric ? i > j : !one_norm) sums[static_cast<std::size_t>(i)] += size;
    }
    if (symmetric || one_norm) sums[static_cast<std::size_t>(j)] += of_column;
  }
  return *std::max_element(sums.begin(), sums.end());
}

template <class Int>
std::optional<Restored<Int>> restore(const CachedFactor& from) noexcept {
  try {
    const std::int64_t n = from.order;
    const auto order = static_cast<int>(n);
    if (order != n) return std::nullopt;
    Restored<Int> made{core::Buffer<double>(n * n, core::Contents::any), {}};
    copy_part(from.view(), from.part == Part::all ? Part::all : Part::lower, made.factor.data());
    int info = 0;
    if (from.part == Part::all) {
      std::vector<int> pivots(static_cast<std::size_t>(n));
      dgetrf_(&order, &order, made.factor.data(), &order, pivots.data(), &info);
      made.pivots.assign(pivots.begin(), pivots.end());
    } else {
      forward<std::int32_t>(Routine::dpotrf, &info, "L", In{&order}, made.factor.data(), In{&order},
                            Out{&info}, kLength);
    }
    if (info == 0) return made;
  } catch (...) {  // no memory: the caller's result is NaN
  }
  return std::nullopt;
}

template std::optional<Restored<std::int32_t>> restore(const CachedFactor&) noexcept;
template std::optional<Restored<std::int64_t>> restore(const CachedFactor&) noexcept;

}  // namespace stepwell::lapack
