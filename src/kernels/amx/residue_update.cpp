// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "kernels/amx/amx.hpp"
#include "kernels/amx/tile_scope.hpp"
#include "kernels/residue_bytes.hpp"

/// Products of one plane of residues on the matrix engine, 32 x 32 sums at a time.
///
/// Tile budget, as in update.cpp: 0-3 the block's sums, 4-5 the two halves of a panel of B, 6-7 the
/// two halves of a panel of A. B's panel (32 rows x 1024, 32 KiB) stays in L1, A (512 x 1024,
/// 512 KiB) streams from L2; the next panel of B and the next call's A are prefetched into L2.
///
/// The int32 sums of a block go through 4 KiB of scratch. While the next block is multiplied, they
/// are stored between its first products, reduced to one byte and added to the residues of earlier
/// sums: the vector units work while the engine does, and a tile's running sums take 1 byte an
/// element instead of 4, so that the 256 KiB of a 512 x 512 tile's plane stay in L2.
namespace stepwell::kernels {
namespace {

/// Part 'part' of 'parts' of a run of memory that is prefetched into L2 while a block is
/// multiplied, a few cache lines at each of its steps of depth.
struct Fetch {
  const char* next = nullptr;
  std::int64_t lines = 0;  ///< of a step; 0: nothing

  Fetch() = default;
  Fetch(const std::int8_t* run, std::int64_t bytes, std::int64_t part, std::int64_t parts,
        std::int64_t steps) {
    const std::int64_t slice = core::round_up(bytes / parts, 64);
    next = reinterpret_cast<const char*>(run) + part * slice;
    lines = steps > 0 ? (slice / 64 + steps - 1) / steps : 0;
  }
  void step() {
    for (std::int64_t l = 0; l < lines; ++l, next += 64) _mm_prefetch(next, _MM_HINT_T1);
  }
};

/// The sums of a finished block, which are reduced in 16 groups of 4 columns x 16 rows.
template <bool first, bool shallow>
class Reduction {
 public:
  explicit Reduction(const ModulusVectors& m) : m_(m) {}
  void begin(const std::int32_t* sums, std::int8_t* residues) {
    sums_ = sums;
    residues_ = residues;
    next_ = 0;
  }
  STEPWELL_VNNI void groups(int count) {
    for (int g = 0; g < count && next_ < 16; ++g, ++next_) {
      reduce_sums<first, shallow>(sums_ + 64 * next_, residues_ + 64 * next_, m_);
    }
  }

 private:
  const ModulusVectors& m_;
  const std::int32_t* sums_ = nullptr;
  std::int8_t* residues_ = nullptr;
  int next_ = 16;
};

inline void multiply_depth_block(const std::int8_t* a, const std::int8_t* b) {
  amx::load_streamed<6>(a);
  amx::load<4>(b);
  amx::multiply_bytes<0, 4, 6>();
  amx::load_streamed<7>(a + 1024);
  amx::multiply_bytes<1, 4, 7>();
  amx::load<5>(b + 1024);
  amx::multiply_bytes<2, 5, 6>();
  amx::multiply_bytes<3, 5, 7>();
}

/// The first depth block of a block of sums: stores the sums of the block before, one tile between
/// two products, because a store waits for the last product of its tile.
inline void begin_block(const std::int8_t* a, const std::int8_t* b, std::int32_t* sums_before) {
  amx::load_streamed<6>(a);
  amx::load<4>(b);
  amx::store<0>(sums_before);
  amx::zero<0>();
  amx::multiply_bytes<0, 4, 6>();
  amx::load_streamed<7>(a + 1024);
  amx::store<1>(sums_before + 256);
  amx::zero<1>();
  amx::multiply_bytes<1, 4, 7>();
  amx::load<5>(b + 1024);
  amx::store<2>(sums_before + 512);
  amx::zero<2>();
  amx::multiply_bytes<2, 5, 6>();
  amx::store<3>(sums_before + 768);
  amx::zero<3>();
  amx::multiply_bytes<3, 5, 7>();
}

inline void store_sums(std::int32_t* sums) {
  amx::store<0>(sums);
  amx::store<1>(sums + 256);
  amx::store<2>(sums + 512);
  amx::store<3>(sums + 768);
}

/// What is prefetched during product q of block (pi, pj): the panel of B after this one, and the
/// same panel of A in the next call.
Fetch next_of_b(const ResidueUpdate& u, std::size_t q, std::int64_t pi, std::int64_t pj,
                std::int64_t row_panels) {
  const bool here = (pj + 1) * kResiduePanel < u.sums.cols;
  if (!here && q >= u.next.size()) return {};
  const ResiduesIn& b = here ? u.products[q].b : u.next[q].b;
  const std::int8_t* const run = here ? b.at(u.plane, pj + 1, 0) : b.at(u.next_plane, 0, 0);
  return {run, b.depth_blocks() * kResidueBlock, pi, row_panels, u.products[q].a.depth_blocks()};
}
Fetch next_of_a(const ResidueUpdate& u, std::size_t q, std::int64_t pi, std::int64_t pj,
                std::int64_t col_panels) {
  if (q >= u.next.size() || pi >= u.next[q].a.panels()) return {};
  const ResiduesIn& a = u.next[q].a;
  return {a.at(u.next_plane, pi, 0), a.depth_blocks() * kResidueBlock, pj, col_panels,
          u.products[q].a.depth_blocks()};
}

template <bool first, bool shallow>
STEPWELL_VNNI void update_plane(const ResidueUpdate& u, std::int64_t steps) {
  alignas(64) std::int32_t scratch[2][1024];
  const ModulusVectors m = modulus_vectors(u.plane);
  const std::int64_t row_panels = (u.sums.rows + 31) / 32, col_panels = (u.sums.cols + 31) / 32;
  const std::int64_t others = std::max<std::int64_t>(1, steps - 1);
  const auto groups = static_cast<int>((16 + others - 1) / others);
  Reduction<first, shallow> reduction(m);
  std::int8_t* before = nullptr;  // residues of the block whose sums are in the tiles
  int turn = 0;
  for (std::int64_t pj = 0; pj < col_panels; ++pj) {
    const std::int64_t top = u.shape == Shape::lower ? pj : 0;
    for (std::int64_t pi = top; pi < row_panels; ++pi, turn ^= 1) {
      bool begins = true;
      for (std::size_t q = 0; q < u.products.size(); ++q) {
        const ResidueFactors& f = u.products[q];
        Fetch fetch_b = next_of_b(u, q, pi - top, pj, row_panels - top);
        Fetch fetch_a = next_of_a(u, q, pi, pj, col_panels);
        const std::int8_t* a = f.a.at(u.plane, pi, 0);
        const std::int8_t* b = f.b.at(u.plane, pj, 0);
        const std::int8_t* const end = a + f.a.depth_blocks() * kResidueBlock;
        for (; a < end; a += kResidueBlock, b += kResidueBlock) {
          if (begins) {
            begin_block(a, b, scratch[turn]);
            if (before != nullptr) reduction.begin(scratch[turn], before);
            begins = false;
          } else {
            multiply_depth_block(a, b);
            reduction.groups(groups);
          }
          fetch_b.step();
          fetch_a.step();
        }
      }
      reduction.groups(16);
      before = u.sums.at(u.plane, pi, pj);
    }
  }
  if (before == nullptr) return;  // there was no block
  store_sums(scratch[turn]);
  reduction.begin(scratch[turn], before);
  reduction.groups(16);
}

void update(const ResidueUpdate& u) noexcept {
  const amx::TileScope tiles;
  std::int64_t steps = 0;
  for (const ResidueFactors& f : u.products) steps += f.a.depth_blocks();
  if (steps * kResidueDepth <= kShallowDepth) {
    u.first ? update_plane<true, true>(u, steps) : update_plane<false, true>(u, steps);
  } else {
    u.first ? update_plane<true, false>(u, steps) : update_plane<false, false>(u, steps);
  }
}

}  // namespace

void fill_amx_residue_update(Table& t) {
  t.residues.update = {&update, "residue_update_amx_32x32", core::Isa::amx};
}

}  // namespace stepwell::kernels
