// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdint>

#include "kernels/portable/portable.hpp"
#include "kernels/reference/reference.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/portable/batch_move.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/portable/target-inl.hpp"

/// Packs of small matrices in and out. The columns of as many matrices as a register has lanes are
/// taken 16 bytes at a time: blocks of the same place are put together from memory, half of it done
/// by the load ports, and transposed within 16 bytes. For fp64 that is 2 shuffles a register where
/// a transpose of whole registers takes 3, and runs may end anywhere.
///
/// Registers: 16 bytes hold B numbers; B vectors in, B vectors out.
HWY_BEFORE_NAMESPACE();
namespace stepwell::kernels {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <class T>
using Tag = hn::CappedTag<T, 64 / sizeof(T)>;
template <class T>
using Vec = hn::Vec<Tag<T>>;
template <class T>
constexpr std::int64_t kLanes = hn::MaxLanes(Tag<T>());
template <class T>
constexpr int kBlock = 16 / sizeof(T);

/// 16 bytes at 'offset' of the matrices at[0], at[B], at[2 B], ...
template <class D, class T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> gather_blocks(D d, const T* const* at, std::int64_t offset) {
  if constexpr (hn::MaxLanes(d) <= kBlock<T>) {
    return hn::LoadU(d, at[0] + offset);
  } else {
    const hn::Half<D> half;
    return hn::Combine(
        d, gather_blocks(half, at + static_cast<std::int64_t>(hn::MaxLanes(half)), offset),
        gather_blocks(half, at, offset));
  }
}

template <class D, class T = hn::TFromD<D>>
HWY_INLINE void scatter_blocks(D d, hn::Vec<D> v, T* const* at, std::int64_t offset) {
  if constexpr (hn::MaxLanes(d) <= kBlock<T>) {
    hn::StoreU(v, d, at[0] + offset);
  } else {
    const hn::Half<D> half;
    scatter_blocks(half, hn::LowerHalf(half, v), at, offset);
    scatter_blocks(half, hn::UpperHalf(half, v), at + static_cast<std::int64_t>(hn::MaxLanes(half)),
                   offset);
  }
}

/// Transposes the B x B numbers in each 16 bytes of B vectors.
HWY_INLINE void transpose_blocks(Tag<double> d, Vec<double>* v) {
  const auto low = hn::InterleaveLower(d, v[0], v[1]);
  v[1] = hn::InterleaveUpper(d, v[0], v[1]);
  v[0] = low;
}
HWY_INLINE void transpose_blocks(Tag<float> d, Vec<float>* v) {
  const hn::Repartition<double, Tag<float>> wide;
  const auto l01 = hn::BitCast(wide, hn::InterleaveLower(d, v[0], v[1]));
  const auto u01 = hn::BitCast(wide, hn::InterleaveUpper(d, v[0], v[1]));
  const auto l23 = hn::BitCast(wide, hn::InterleaveLower(d, v[2], v[3]));
  const auto u23 = hn::BitCast(wide, hn::InterleaveUpper(d, v[2], v[3]));
  v[0] = hn::BitCast(d, hn::InterleaveLower(wide, l01, l23));
  v[1] = hn::BitCast(d, hn::InterleaveUpper(wide, l01, l23));
  v[2] = hn::BitCast(d, hn::InterleaveLower(wide, u01, u23));
  v[3] = hn::BitCast(d, hn::InterleaveUpper(wide, u01, u23));
}

/// Transposes the matrix of 16 byte blocks that 'count' vectors, B apart, are: 4 x 4, 2 x 2 or one.
template <class T>
HWY_INLINE void exchange_blocks(Vec<T>* v) {
  const Tag<T> d;
  constexpr int B = kBlock<T>;
  constexpr int count = static_cast<int>(kLanes<T>) / B;
  if constexpr (count == 2) {
    const Vec<T> low = hn::ConcatLowerLower(d, v[B], v[0]);
    v[B] = hn::ConcatUpperUpper(d, v[B], v[0]);
    v[0] = low;
  } else if constexpr (count == 4) {
    const Vec<T> l02 = hn::ConcatLowerLower(d, v[2 * B], v[0]);
    const Vec<T> u02 = hn::ConcatUpperUpper(d, v[2 * B], v[0]);
    const Vec<T> l13 = hn::ConcatLowerLower(d, v[3 * B], v[B]);
    const Vec<T> u13 = hn::ConcatUpperUpper(d, v[3 * B], v[B]);
    v[0] = hn::OddEvenBlocks(hn::SwapAdjacentBlocks(l13), l02);
    v[B] = hn::OddEvenBlocks(l13, hn::SwapAdjacentBlocks(l02));
    v[2 * B] = hn::OddEvenBlocks(hn::SwapAdjacentBlocks(u13), u02);
    v[3 * B] = hn::OddEvenBlocks(u13, hn::SwapAdjacentBlocks(u02));
  }
}

/// Transposes as many vectors as a vector has lanes.
template <class T>
HWY_INLINE void transpose_whole(Vec<T> (&v)[kLanes<T>]) {
  constexpr int B = kBlock<T>;
  HWY_UNROLL(8)
  for (int p = 0; p < kLanes<T>; p += B) transpose_blocks(Tag<T>(), v + p);
  HWY_UNROLL(4)
  for (int s = 0; s < B; ++s) exchange_blocks<T>(v + s);
}

/// Where the elements of a run of a caller's column are in the pack: 'first', and each next one
/// 'step' after it, which grows by 'growth'. Down a column of L rows get longer; along a row of it
/// elements are neighbours.
struct Run {
  std::int64_t offset;  ///< of the run in the caller's matrix
  std::int64_t length;
  std::int64_t first;
  std::int64_t step;
  std::int64_t growth;

  std::int64_t element(std::int64_t t) const {
    return first + t * step + growth * (t * (t - 1) / 2);
  }
};

Run column_run(std::int64_t j, std::int64_t n, std::int64_t ld, Triangle triangle) {
  using Pack = BatchPack<double>;
  if (triangle == Triangle::lower) return {j * ld + j, n - j, Pack::before(j, n) + j, j + 1, 1};
  return {j * ld, j + 1, Pack::before(j, n), 1, 0};
}

/// Whether part of a vector is read and written at full speed, and nothing beside it.
constexpr bool kMasked = HWY_TARGET == HWY_AVX3;

/// 'used' elements of a run from 'from' on, whole vectors of each matrix: a cache line is touched
/// once, which counts where the matrices are a power of two apart and compete for the same sets.
template <class T, bool masked>
HWY_INLINE void load_whole(const T* const* at, const Run& run, std::int64_t from,
                           T* HWY_RESTRICT pack, std::int64_t lanes) {
  const Tag<T> d;
  const auto part = hn::FirstN(d, static_cast<std::size_t>(masked ? run.length : kLanes<T>));
  T* const out = pack + run.element(from) * lanes;
  for (std::int64_t q = 0; q < lanes; q += kLanes<T>) {
    Vec<T> v[kLanes<T>];
    HWY_UNROLL(16)
    for (int s = 0; s < kLanes<T>; ++s) {
      const T* const x = at[q + s] + run.offset + from;
      v[s] = masked ? hn::MaskedLoad(part, d, x) : hn::LoadU(d, x);
    }
    transpose_whole<T>(v);
    T* to = out + q;
    HWY_UNROLL(16)
    for (int s = 0; s < kLanes<T>; ++s) {
      if (masked && s == run.length) break;
      hn::Store(v[s], d, to);
      to += (run.step + run.growth * (from + s)) * lanes;
    }
  }
}

template <class T, bool masked>
HWY_INLINE void store_whole(const T* HWY_RESTRICT pack, std::int64_t lanes, T* const* at,
                            const Run& run, std::int64_t from) {
  const Tag<T> d;
  const auto part = hn::FirstN(d, static_cast<std::size_t>(masked ? run.length : kLanes<T>));
  const T* const in = pack + run.element(from) * lanes;
  for (std::int64_t q = 0; q < lanes; q += kLanes<T>) {
    Vec<T> v[kLanes<T>];
    const T* source = in + q;
    HWY_UNROLL(16)
    for (int s = 0; s < kLanes<T>; ++s) {
      v[s] = hn::Load(d, source);  // a masked run's last element again, not what follows it
      if (!masked || s + 1 < run.length) source += (run.step + run.growth * (from + s)) * lanes;
    }
    transpose_whole<T>(v);
    HWY_UNROLL(16)
    for (int s = 0; s < kLanes<T>; ++s) {
      T* const x = at[q + s] + run.offset + from;
      if constexpr (masked) {
        hn::BlendedStore(v[s], part, d, x);
      } else {
        hn::StoreU(v[s], d, x);
      }
    }
  }
}

/// Where whole vectors of a run should begin: at the next cache line, if that takes no more of
/// them. The first matrix speaks for all.
template <class T>
HWY_INLINE std::int64_t head_of(const T* first, const Run& run) {
  constexpr std::int64_t R = kLanes<T>;
  const auto address = reinterpret_cast<std::uintptr_t>(first + run.offset);
  const auto head = static_cast<std::int64_t>((0 - address) % (R * sizeof(T)) / sizeof(T));
  return (run.length - head + R - 1) / R + 1 > (run.length + R - 1) / R ? 0 : head;
}

/// Elements from .. from + B.
template <class T>
HWY_INLINE void load_block(const T* const* at, const Run& run, std::int64_t from,
                           T* HWY_RESTRICT pack, std::int64_t lanes) {
  const Tag<T> d;
  constexpr int B = kBlock<T>;
  T* const out = pack + run.element(from) * lanes;
  for (std::int64_t q = 0; q < lanes; q += kLanes<T>) {
    Vec<T> v[B];
    HWY_UNROLL(4)
    for (int s = 0; s < B; ++s) v[s] = gather_blocks(d, at + q + s, run.offset + from);
    transpose_blocks(d, v);
    T* to = out + q;
    HWY_UNROLL(4)
    for (int s = 0; s < B; ++s) {
      hn::Store(v[s], d, to);
      to += (run.step + run.growth * (from + s)) * lanes;
    }
  }
}

template <class T>
HWY_INLINE void store_block(const T* HWY_RESTRICT pack, std::int64_t lanes, T* const* at,
                            const Run& run, std::int64_t from) {
  const Tag<T> d;
  constexpr int B = kBlock<T>;
  const T* const in = pack + run.element(from) * lanes;
  for (std::int64_t q = 0; q < lanes; q += kLanes<T>) {
    Vec<T> v[B];
    const T* source = in + q;
    HWY_UNROLL(4)
    for (int s = 0; s < B; ++s) {
      v[s] = hn::Load(d, source);
      source += (run.step + run.growth * (from + s)) * lanes;
    }
    transpose_blocks(d, v);
    HWY_UNROLL(4)
    for (int s = 0; s < B; ++s) scatter_blocks(d, v[s], at + q + s, run.offset + from);
  }
}

/// A run of at least B elements: whole vectors, and blocks for what is left at its ends. Blocks may
/// overlap.
template <class T>
HWY_INLINE void load_run(const T* const* at, const Run& run, T* HWY_RESTRICT pack,
                         std::int64_t lanes) {
  constexpr int B = kBlock<T>;
  std::int64_t t = 0;
  if (kMasked && run.length < kLanes<T> && 2 * run.length > kLanes<T>) {
    return load_whole<T, true>(at, run, 0, pack, lanes);
  }
  if (run.length >= kLanes<T>) {
    const std::int64_t head = head_of(at[0], run);
    for (; t < head; t += B) load_block(at, run, t, pack, lanes);
    for (t = head; t + kLanes<T> <= run.length; t += kLanes<T>) {
      load_whole<T, false>(at, run, t, pack, lanes);
    }
  }
  for (; t < run.length; t += B) load_block(at, run, std::min(t, run.length - B), pack, lanes);
}

/// The same with whole vectors that overlap: few stores rather than few shuffles.
template <class T>
HWY_INLINE void store_run(const T* HWY_RESTRICT pack, std::int64_t lanes, T* const* at,
                          const Run& run) {
  constexpr int B = kBlock<T>;
  if (kMasked && run.length < kLanes<T> && 2 * run.length > kLanes<T>) {
    return store_whole<T, true>(pack, lanes, at, run, 0);
  }
  if (run.length >= kLanes<T>) {
    const std::int64_t head = head_of<T>(at[0], run);
    if (head > 0) store_whole<T, false>(pack, lanes, at, run, 0);
    for (std::int64_t t = head; t < run.length; t += kLanes<T>) {
      store_whole<T, false>(pack, lanes, at, run, std::min(t, run.length - kLanes<T>));
    }
    return;
  }
  for (std::int64_t t = 0; t < run.length; t += B) {
    store_block(pack, lanes, at, run, std::min(t, run.length - B));
  }
}

/// Whether the columns of the first matrix begin at cache lines.
template <class T>
bool in_lines(const BatchPlaces<T>& a) {
  return reinterpret_cast<std::uintptr_t>(a.at[0]) % 64 == 0 && a.ld * sizeof(T) % 64 == 0;
}

/// A run of fewer than B elements, number by number.
template <class T>
HWY_INLINE void load_short(const T* const* at, const Run& run, T* HWY_RESTRICT pack,
                           std::int64_t lanes) {
  for (std::int64_t t = 0; t < run.length; ++t) {
    T* const out = pack + run.element(t) * lanes;
    for (std::int64_t q = 0; q < lanes; ++q) out[q] = at[q][run.offset + t];
  }
}

template <class T>
HWY_INLINE void store_short(const T* HWY_RESTRICT pack, std::int64_t lanes, T* const* at,
                            const Run& run) {
  for (std::int64_t t = 0; t < run.length; ++t) {
    const T* const in = pack + run.element(t) * lanes;
    for (std::int64_t q = 0; q < lanes; ++q) at[q][run.offset + t] = in[q];
  }
}

template <class T>
HWY_INLINE void load_any(const T* const* at, const Run& run, T* pack, std::int64_t lanes) {
  run.length < kBlock<T> ? load_short(at, run, pack, lanes) : load_run(at, run, pack, lanes);
}

template <class T>
HWY_INLINE void store_any(const T* pack, std::int64_t lanes, T* const* at, const Run& run) {
  run.length < kBlock<T> ? store_short(pack, lanes, at, run) : store_run(pack, lanes, at, run);
}

/// The lower triangles, by strips of as many rows as a line has numbers: along a strip the pack is
/// read in its order, and lines are written whole. For matrices whose columns begin at lines.
template <class T>
void store_strips(const BatchPack<T>& pack, const BatchPlaces<T>& a) {
  constexpr std::int64_t R = kLanes<T>;
  for (std::int64_t r = 0; r < pack.n; r += R) {
    const std::int64_t rows = std::min(R, pack.n - r);
    for (std::int64_t j = 0; j < r + rows; ++j) {
      const std::int64_t i = std::max(r, j);
      const Run run{j * a.ld + i, r + rows - i, pack.before(i, pack.n) + j, i + 1, 1};
      if (run.length == R) {
        store_whole<T, false>(pack.data, pack.lanes, a.at, run, 0);
      } else {
        store_any<T>(pack.data, pack.lanes, a.at, run);
      }
    }
  }
}

/// Whether the pack's systems are all there, each with its elements one after the other.
template <class T>
bool apart(const BatchPlaces<T>& places, std::int64_t lanes) {
  return places.step == 1 && places.count == lanes;
}

/// Whether they are all there, interleaved as in the pack.
template <class T>
bool together(const BatchPlaces<T>& places, std::int64_t lanes) {
  if (places.count != lanes) return false;
  for (std::int64_t q = 1; q < lanes; ++q) {
    if (places.at[q] != places.at[0] + q) return false;
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
void load(BatchPlaces<const T> a, Triangle triangle, BatchPack<T> pack) noexcept {
  const bool separate = apart(a, pack.lanes);
  if (!separate && !together(a, pack.lanes)) return reference_batch_load(a, triangle, pack);
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
void store(BatchPack<T> pack, BatchPlaces<T> a, Triangle triangle, bool both,
           const std::int32_t* pivots) noexcept {
  const bool separate = apart(a, pack.lanes);
  if (!all_good(pivots, pack.lanes) || (!separate && !together(a, pack.lanes))) {
    return reference_batch_store(pack, a, triangle, both, pivots);
  }
  const auto write = [&](Triangle part) {
    if (separate && part == Triangle::lower && in_lines(a)) {
      return store_strips(pack, a);
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
void load_columns(BatchPlaces<const T> b, BatchPack<T> pack) noexcept {
  if (!apart(b, pack.lanes)) return reference_batch_load_columns(b, pack);
  for (std::int64_t c = 0; c < pack.rhs; ++c) {
    load_any(b.at, rhs_run(c, pack.n, b.ld), pack.data, pack.lanes);
  }
}

template <class T>
void store_columns(BatchPack<T> pack, BatchPlaces<T> b, const std::int32_t* pivots) noexcept {
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
