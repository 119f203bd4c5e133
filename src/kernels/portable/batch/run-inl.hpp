// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause

// Copies runs of small matrices into a pack and back. The columns of as many matrices as a register
// has lanes are read 16 bytes at a time: blocks at the same position are combined from memory, with
// half of the work done by the load ports, and transposed within 16 bytes. For fp64 this takes 2
// shuffles per register where a transpose of whole registers takes 3, and runs may end anywhere.
//
// Register budget: 16 bytes hold B elements; B vectors in, B vectors out.
// Included once per target: hence a toggling guard instead of a pragma.
#if defined(STEPWELL_BATCH_RUN_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef STEPWELL_BATCH_RUN_INL
#undef STEPWELL_BATCH_RUN_INL
#else
#define STEPWELL_BATCH_RUN_INL
#endif

#include "kernels/portable/batch/vectors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace stepwell::kernels {
namespace HWY_NAMESPACE {
namespace {

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

/// Transposes the B x B elements in each 16 bytes of B vectors.
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

/// Transposes the matrix of 16-byte blocks that 'count' vectors, B apart, form: 4 x 4, 2 x 2 or
/// 1 x 1.
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

/// Transposes a square of as many vectors as a vector has lanes.
template <class T>
HWY_INLINE void transpose_whole(Vec<T> (&v)[kLanes<T>]) {
  constexpr int B = kBlock<T>;
  HWY_UNROLL(8)
  for (int p = 0; p < kLanes<T>; p += B) transpose_blocks(Tag<T>(), v + p);
  HWY_UNROLL(4)
  for (int s = 0; s < B; ++s) exchange_blocks<T>(v + s);
}

/// A run of consecutive elements of a caller's column, and where they are in the pack: at 'first',
/// then each 'step' after the previous one, where 'step' grows by 'growth'. Down a column of L the
/// rows get longer; along a row of L elements are adjacent.
struct Run {
  std::int64_t offset;  ///< offset of the run in the caller's matrix
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

/// Whether masked loads and stores of part of a vector run at full speed and touch nothing else.
constexpr bool kMasked = HWY_TARGET == HWY_AVX3;

/// Whole vectors of each matrix, from element 'from' of a run on; if 'masked', only the run.length
/// elements of the run. Each cache line is touched once, which matters if the matrices are a power
/// of two apart and compete for the same cache sets.
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
      v[s] = hn::Load(d, source);  // a masked run repeats its last element at the end
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

/// Where the whole vectors of a run should begin: at the next cache line, unless that takes more
/// vectors. The alignment of the first matrix is used for all.
template <class T>
HWY_INLINE std::int64_t head_of(const T* first, const Run& run) {
  constexpr std::int64_t R = kLanes<T>;
  const auto address = reinterpret_cast<std::uintptr_t>(first + run.offset);
  const auto head = static_cast<std::int64_t>((0 - address) % (R * sizeof(T)) / sizeof(T));
  return (run.length - head + R - 1) / R + 1 > (run.length + R - 1) / R ? 0 : head;
}

/// Elements [from, from + B) of a run.
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

/// A run of at least B elements: whole vectors, and blocks for the rest at its ends. Blocks may
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

/// The same with overlapping whole vectors: few stores rather than few shuffles.
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
bool in_lines(const BatchMatrices<T>& a) {
  return reinterpret_cast<std::uintptr_t>(a.at[0]) % 64 == 0 && a.ld * sizeof(T) % 64 == 0;
}

/// A run of fewer than B elements, element by element.
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

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace stepwell::kernels
HWY_AFTER_NAMESPACE();

#endif  // STEPWELL_BATCH_RUN_INL
