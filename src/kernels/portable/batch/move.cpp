// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdint>

#include "kernels/portable/portable.hpp"
#include "kernels/reference/reference.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/portable/batch/move.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/portable/batch/run-inl.hpp"
#include "kernels/portable/target-inl.hpp"

/// Copies small matrices into a pack and back: selects the runs of the caller's memory and their
/// order.
HWY_BEFORE_NAMESPACE();
namespace stepwell::kernels {
namespace HWY_NAMESPACE {
namespace {

/// Calls body(run) for the runs of the lower triangle, strip by strip; a strip has as many rows as
/// a cache line has elements. The pack is traversed in its own order, and each cache line is
/// touched once. For matrices whose columns begin at cache lines.
template <class T, class Body>
HWY_INLINE void strips(std::int64_t n, std::int64_t ld, const Body& body) {
  constexpr std::int64_t R = kLanes<T>;
  for (std::int64_t r = 0; r < n; r += R) {
    const std::int64_t end = std::min(r + R, n);
    for (std::int64_t j = 0; j < end; ++j) {
      const std::int64_t i = std::max(r, j);
      body(Run{j * ld + i, end - i, BatchPack<T>::before(i, n) + j, i + 1, 1});
    }
  }
}

/// Whether all systems of the pack exist, each with contiguous elements.
template <class T>
bool apart(const BatchMatrices<T>& matrices, std::int64_t lanes) {
  return matrices.step == 1 && matrices.count == lanes;
}

/// Whether all systems exist, interleaved as in the pack.
template <class T>
bool together(const BatchMatrices<T>& matrices, std::int64_t lanes) {
  if (matrices.count != lanes) return false;
  for (std::int64_t q = 1; q < lanes; ++q) {
    if (matrices.at[q] != matrices.at[0] + q) return false;
  }
  return true;
}

bool all_good(const std::int32_t* pivots, std::int64_t lanes) {
  return std::all_of(pivots, pivots + lanes, [](std::int32_t p) { return p < 0; });
}

template <class T>
HWY_INLINE void copy_element(const T* from, T* to, std::int64_t lanes) {
  const Tag<T> d;
  for (std::int64_t q = 0; q < lanes; q += kLanes<T>) {
    hn::StoreU(hn::LoadU(d, from + q), d, to + q);
  }
}

template <class T>
void load(BatchMatrices<const T> a, Triangle triangle, BatchPack<T> pack) noexcept {
  const bool separate = apart(a, pack.lanes);
  if (!separate && !together(a, pack.lanes)) return reference_batch_load(a, triangle, pack);
  // In larger matrices a strip jumps too far for the hardware prefetcher.
  if (separate && triangle == Triangle::lower && in_lines(a) && pack.n <= 2 * kLanes<T>) {
    return strips<T>(pack.n, a.ld, [&](const Run& run) {
      if (run.length == kLanes<T>) {
        load_whole<T, false>(a.at, run, 0, pack.data, pack.lanes);
      } else {
        load_any(a.at, run, pack.data, pack.lanes);
      }
    });
  }
  for (std::int64_t j = 0; j < pack.n; ++j) {
    const Run run = column_run(j, pack.n, a.ld, triangle);
    if (separate) {
      load_any(a.at, run, pack.data, pack.lanes);
      continue;
    }
    for (std::int64_t t = 0; t < run.length; ++t) {
      copy_element(a.at[0] + (run.offset + t) * a.step, pack.data + run.element(t) * pack.lanes,
                   pack.lanes);
    }
  }
}

template <class T>
void store(BatchPack<T> pack, BatchMatrices<T> a, Triangle triangle, bool both,
           const std::int32_t* pivots) noexcept {
  const bool separate = apart(a, pack.lanes);
  if (!all_good(pivots, pack.lanes) || (!separate && !together(a, pack.lanes))) {
    return reference_batch_store(pack, a, triangle, both, pivots);
  }
  const auto write = [&](Triangle part) {
    if (separate && part == Triangle::lower && in_lines(a)) {
      return strips<T>(pack.n, a.ld, [&](const Run& run) {
        if (run.length == kLanes<T>) {
          store_whole<T, false>(pack.data, pack.lanes, a.at, run, 0);
        } else {
          store_any<T>(pack.data, pack.lanes, a.at, run);
        }
      });
    }
    for (std::int64_t j = 0; j < pack.n; ++j) {
      const Run run = column_run(j, pack.n, a.ld, part);
      if (separate) {
        store_any(pack.data, pack.lanes, a.at, run);
        continue;
      }
      for (std::int64_t t = 0; t < run.length; ++t) {
        copy_element(pack.data + run.element(t) * pack.lanes, a.at[0] + (run.offset + t) * a.step,
                     pack.lanes);
      }
    }
  };
  write(triangle);
  if (both) write(triangle == Triangle::lower ? Triangle::upper : Triangle::lower);
}

Run rhs_run(std::int64_t c, std::int64_t n, std::int64_t ld) {
  return {c * ld, n, BatchPack<double>::before(n + c, n), 1, 0};
}

template <class T>
void load_columns(BatchMatrices<const T> b, BatchPack<T> pack) noexcept {
  if (!apart(b, pack.lanes)) return reference_batch_load_columns(b, pack);
  for (std::int64_t c = 0; c < pack.rhs; ++c) {
    load_any(b.at, rhs_run(c, pack.n, b.ld), pack.data, pack.lanes);
  }
}

template <class T>
void store_columns(BatchPack<T> pack, BatchMatrices<T> b, const std::int32_t* pivots) noexcept {
  if (!apart(b, pack.lanes) || !all_good(pivots, pack.lanes)) {
    return reference_batch_store_columns(pack, b, pivots);
  }
  for (std::int64_t c = 0; c < pack.rhs; ++c) {
    store_any<T>(pack.data, pack.lanes, b.at, rhs_run(c, pack.n, b.ld));
  }
}

template <class T>
void fill(BatchEntries<T>& entries) {
  constexpr auto isa = STEPWELL_TARGET_ISA;
  entries.load = {&load<T>, "batch_load_" STEPWELL_TARGET_NAME, isa};
  entries.store = {&store<T>, "batch_store_" STEPWELL_TARGET_NAME, isa};
  entries.load_columns = {&load_columns<T>, "batch_load_columns_" STEPWELL_TARGET_NAME, isa};
  entries.store_columns = {&store_columns<T>, "batch_store_columns_" STEPWELL_TARGET_NAME, isa};
}

}  // namespace

void fill_portable_batch_move(Table& t) {
  fill(t.batch_fp32);
  fill(t.batch_fp64);
}

}  // namespace HWY_NAMESPACE
}  // namespace stepwell::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stepwell::kernels {
STEPWELL_EXPORT_FILL(fill_portable_batch_move)
}  // namespace stepwell::kernels
#endif
