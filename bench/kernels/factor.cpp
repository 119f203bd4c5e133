// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cblas.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>

#include "bench/baselines/lapack.hpp"
#include "bench/harness/data.hpp"
#include "bench/kernels/kernel.hpp"
#include "core/buffer.hpp"
#include "kernels/kernels.hpp"
#include "kernels/recursive.hpp"
#include "options/requirements.hpp"
#include "stepwell/error.hpp"
#include "tiles/operations.hpp"

/// factor: the task of a diagonal tile: its Cholesky factor, with products at the rung, stored as a
/// tile of L, and the inverses of its diagonal blocks, which the tiles below it are solved with.
/// trsm: B L^-T by multiplication with inverted diagonal blocks.
namespace stepwell::bench {
namespace {

constexpr std::int64_t kInvertedBlock = 128;

void trsm(const float* l, float* b, int n) {
  cblas_strsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, n, n, 1, l, n, b, n);
}

void trsm(const double* l, double* b, int n) {
  cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, n, n, 1, l, n, b, n);
}

/// Symmetric noise of order n has norm 1.15 sqrt(n), and lower triangular noise has a smaller norm.
/// With this diagonal the symmetric matrix is positive definite and both are well conditioned.
template <class T>
void set_diagonal(MatrixView<T> a) {
  for (std::int64_t i = 0; i < a.rows; ++i) {
    a(i, i) = static_cast<T>(2 * std::sqrt(static_cast<double>(a.rows)) + 1);
  }
}

template <class T>
constexpr double roundoff() {
  return info(std::is_same_v<T, float> ? Format::fp32 : Format::fp64).unit_roundoff;
}

/// A matrix, the results of both sides, and scratch memory.
template <class T>
struct Tile {
  Tile(std::int64_t n, std::int64_t scratch_bytes)
      : order(n), source(n * n), ours(n * n), theirs(n * n), scratch(scratch_bytes) {
    fill_noise(view(source.data(), n, n), 1);
  }
  void restore(core::Buffer<T>& to) const {
    std::memcpy(to.data(), source.data(), static_cast<std::size_t>(source.size()) * sizeof(T));
  }
  MatrixView<T> result() const { return view(ours.data(), order, order); }

  std::int64_t order;
  core::Buffer<T> source, ours, theirs;
  core::Buffer<std::byte> scratch;
};

template <class T>
struct Diagonal : Tile<T> {
  Diagonal(std::int64_t n, Rung rung)
      : Tile<T>(n, tiles::scratch_bytes(n)),
        sums{rung, n, n, nullptr},
        inverse{rung, n, info(rung).planes, rung == Rung::fp32},
        memory_sums(sums.bytes()),
        memory_inverse(inverse.bytes()) {
    sums.data = memory_sums.data();
    inverse.data = memory_inverse.data();
    l = {{rung, n, n, sums.ld()}, sums.data};
    if (!l.shape.is_packed()) return;
    memory_l = core::Buffer<std::byte>(l.shape.bytes());
    l.data = memory_l.data();
  }
  MatrixView<T> values() const {
    if constexpr (std::is_same_v<T, double>) return sums.fp64();
    if constexpr (std::is_same_v<T, float>) return sums.fp32();
  }
  void begin() const {
    for (std::int64_t j = 0; j < this->order; ++j) {
      std::copy_n(this->source.data() + j * this->order, this->order, values().column(j));
    }
  }
  bool factor(const kernels::Table& t) const {
    return tiles::factor_diagonal(t, sums, kernels::uniform_layers(sums.rung),
                                  tiles::Rounding::nearest, l, inverse, this->scratch.data())
        .ok();
  }
  tiles::Sums sums;
  tiles::Tile l;
  tiles::Inverse inverse;
  core::Buffer<std::byte> memory_sums, memory_inverse, memory_l;
};

/// The error of one product at a rung relative to the sizes of its terms, with both operands
/// rounded.
double rung_error(Rung rung) {
  return 2.1 * info(rung).unit_roundoff + info(rung).product_error;
}

template <class T>
Bench factor_bench(const KernelCase& c) {
  const kernels::Table& t = kernels::table();
  const auto s = std::make_shared<Diagonal<T>>(c.size, c.rung);
  set_diagonal(view(s->source.data(), c.size, c.size));
  Bench bench;
  Side& candidate = bench.contest.candidate;
  candidate = our_side("factor_diagonal", t.cap, 1);
  candidate.prepare = [s] { s->begin(); };
  candidate.run = [&t, s] {
    if (!s->factor(t)) {
      throw Error(ErrorCode::internal, "factor_diagonal failed on a positive definite matrix");
    }
  };
  bench.check = [s, candidate, rung = c.rung] {
    candidate.prepare();
    candidate.run();
    const MatrixView<T> l = s->values();
    const MatrixView<T> a = view(s->source.data(), s->order, s->order);
    const int planes = info(rung).planes;  // a plain tile is zero above the diagonal
    Verdict verdict;
    for (const std::int64_t j : sample(s->order)) {
      for (const std::int64_t i : sample(s->order)) {
        if (i < j) {
          verdict.expect(l(i, j), planes > 0 ? a(i, j) : 0, 0, i, j);
          continue;
        }
        double sum = 0;
        double size = 0;
        for (std::int64_t k = 0; k <= j; ++k) {
          sum += static_cast<double>(l(i, k)) * l(j, k);
          size += std::abs(static_cast<double>(l(i, k)) * l(j, k));
        }
        // |A - LL'| <= (j + 2) u |L||L'| (Higham, theorem 10.3), plus the error of the rung.
        const double bound = 2 * static_cast<double>(j + 2) * roundoff<T>() + rung_error(rung);
        verdict.expect(sum, a(i, j), bound * size, i, j);
      }
    }
    return verdict.text();
  };
  Side& baseline = bench.contest.baseline;
  baseline = blas_side(std::is_same_v<T, float> ? "spotrf" : "dpotrf", 1);
  baseline.prepare = [s] { s->restore(s->theirs); };
  baseline.run = [s] {
    if (potrf(s->theirs.data(), s->order) != 0) {
      throw Error(ErrorCode::unsupported, "LAPACK's potrf failed on a positive definite matrix");
    }
  };
  const auto n = static_cast<double>(c.size);
  candidate.work = baseline.work = n * (n + 1) * (2 * n + 1) / 6;
  return bench;
}

/// Checks |B - X L'| for sampled elements. Errors of the inverted blocks are multiplied by their
/// condition number, at most 4.
template <class T>
std::string check_solution(const Tile<T>& s, MatrixView<const T> l, MatrixView<const T> x,
                           Rung rung) {
  const MatrixView<T> b = view(s.source.data(), s.order, s.order);
  const double bound = 8 * static_cast<double>(s.order + 2) * roundoff<T>() + 4 * rung_error(rung);
  Verdict verdict;
  for (const std::int64_t j : sample(s.order)) {
    for (const std::int64_t i : sample(s.order)) {
      double sum = 0;
      double size = 0;
      for (std::int64_t k = 0; k <= j; ++k) {
        sum += static_cast<double>(x(i, k)) * l(j, k);
        size += std::abs(static_cast<double>(x(i, k)) * l(j, k));
      }
      verdict.expect(sum, b(i, j), bound * size, i, j);
    }
  }
  return verdict.text();
}

template <class T>
struct Solve : Tile<T> {
  Solve(const kernels::Table& t, std::int64_t n, Rung rung)
      : Tile<T>(n, scratch_bytes(n, rung)), memory_l(n * n), memory_w(n * n) {
    l = view(memory_l.data(), n, n);
    w = view(memory_w.data(), n, n);
    fill_noise(l, 2);
    set_diagonal(l);
    kernels::invert_diagonal_blocks<T>(t, l, kInvertedBlock, w);
    const int planes = info(rung).planes;
    if (planes == 0) return;
    memory_wp = core::Buffer<std::uint16_t>(kernels::packed_elements(n, n, planes));
    memory_xp = core::Buffer<std::uint16_t>(memory_wp.size());
    wp = kernels::packed(memory_wp.data(), n, n, rung, kernels::Order::rows);
    xp = kernels::packed(memory_xp.data(), n, n, rung, kernels::Order::pairs);
    kernels::pack(t, rung, MatrixView<const T>(w), wp);
  }
  static std::int64_t scratch_bytes(std::int64_t n, Rung rung) {
    const std::int64_t plain =
        core::size_product(std::max(n, kInvertedBlock), kInvertedBlock, sizeof(T), "scratch");
    const std::int64_t packed = 2 * kernels::packed_elements(n, kInvertedBlock, info(rung).planes);
    return std::max(plain, packed);
  }
  core::Buffer<T> memory_l, memory_w;
  core::Buffer<std::uint16_t> memory_wp, memory_xp;
  MatrixView<T> l, w;
  kernels::PackedOut wp, xp;
};

template <class T>
Bench trsm_bench(const KernelCase& c) {
  const kernels::Table& t = kernels::table();
  const auto s = std::make_shared<Solve<T>>(t, c.size, c.rung);
  Bench bench;
  Side& candidate = bench.contest.candidate;
  constexpr bool narrow = std::is_same_v<T, float>;
  candidate = our_side(narrow ? "solve_inverted" : "tree_trsm", t.cap, 1);
  candidate.prepare = [s] { s->restore(s->ours); };
  const Rung rung = c.rung;
  candidate.run = [=, &t] {  // '=' because fp64 does not use the rung
    if constexpr (!narrow) {
      kernels::tree_trsm<T>(t, s->l, s->result(), kernels::uniform_layers(Rung::fp64),
                            s->scratch.data());
    } else if (info(rung).planes > 0) {
      kernels::solve_inverted(t, rung, s->wp, kInvertedBlock, s->result(), s->xp,
                              s->scratch.data());
    } else {
      kernels::solve_inverted(t, s->w, kInvertedBlock, s->result(), s->scratch.data());
    }
  };
  bench.check = [s, candidate, rung] {
    candidate.prepare();
    candidate.run();
    return check_solution<T>(*s, s->l, s->result(), rung);
  };
  Side& baseline = bench.contest.baseline;
  baseline = blas_side(narrow ? "cblas_strsm" : "cblas_dtrsm", 1);
  baseline.prepare = [s] { s->restore(s->theirs); };
  baseline.run = [s] { trsm(s->l.data, s->theirs.data(), static_cast<int>(s->order)); };
  const auto n = static_cast<double>(c.size);
  candidate.work = baseline.work = n * n * n;
  return bench;
}

}  // namespace

Bench make_factor(const KernelCase& c) {
  tool::require_memory(core::size_product(c.size, c.size, 64, "tiles"));
  Bench bench = c.rung == Rung::fp64 ? factor_bench<double>(c) : factor_bench<float>(c);
  bench.contest.rate_unit = "Gflop/s";
  return bench;
}

Bench make_trsm(const KernelCase& c) {
  tool::require_memory(core::size_product(c.size, c.size, 64, "tiles"));
  Bench bench = c.rung == Rung::fp64 ? trsm_bench<double>(c) : trsm_bench<float>(c);
  bench.contest.rate_unit = "Gflop/s";
  return bench;
}

}  // namespace stepwell::bench
