// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cblas.h>
#include <fmt/format.h>

#include <atomic>
#include <functional>
#include <limits>

#include "bench/baselines/baseline_mkl.hpp"
#include "bench/baselines/batch_compact.hpp"
#include "bench/baselines/lapack.hpp"
#include "bench/harness/data.hpp"
#include "bench/problems/batch_data.hpp"
#include "stepwell/error.hpp"

extern "C" {
void spotrs_(const char* uplo, const int* n, const int* nrhs, const float* a, const int* lda,
             float* b, const int* ldb, int* info, std::size_t);
void dpotrs_(const char* uplo, const int* n, const int* nrhs, const double* a, const int* lda,
             double* b, const int* ldb, int* info, std::size_t);
}

/// The usual alternatives: a LAPACK call for each matrix, or oneMKL's compact routines.
namespace stepwell::bench {
namespace {

/// Number of matrices that a thread takes at a time in a loop of LAPACK calls.
constexpr std::int64_t kLoopChunk = 32;

bool factors(const BatchCase& c) {
  return c.operation != BatchOperation::substitute;
}
bool substitutes(const BatchCase& c) {
  return c.operation != BatchOperation::cholesky;
}

void require_zero(int info) {
  if (info == 0) return;
  throw Error(ErrorCode::unsupported,
              fmt::format("the baseline failed with info = {}; nothing to compare with", info));
}

/// Calls potrf(uplo, n, a, ld, info) and potrs(uplo, n, nrhs, a, ld, b, ldb, info) for each matrix,
/// on all threads or, if 'alone', only on the calling thread.
template <class T, class Potrf, class Potrs>
void loop(BatchData<T>& d, bool alone, const Potrf& potrf, const Potrs& potrs) {
  const auto n = static_cast<int>(d.c.n), nrhs = static_cast<int>(d.c.columns);
  const char* const uplo = d.c.triangle == Triangle::lower ? "L" : "U";
  const bool factor = factors(d.c), substitute = substitutes(d.c);
  std::atomic<int> failed{0};
  const auto work = [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t m = first; m < last; ++m) {
      T* const a = d.pa[static_cast<std::size_t>(m)];
      T* const b = d.pb[static_cast<std::size_t>(m)];
      int info = 0;
      if (factor) potrf(uplo, &n, a, &n, &info);
      if (info == 0 && substitute) potrs(uplo, &n, &nrhs, a, &n, b, &n, &info);
      if (info != 0) failed = info;
    }
  };
  alone ? work(0, d.c.count) : d.in_chunks(kLoopChunk, work);
  require_zero(failed);
}

template <class T>
void refuse_interleaved(const BatchData<T>& d, const char* name) {
  if (d.lanes == 0) return;
  throw Error(ErrorCode::unsupported,
              fmt::format("{} can't work on an interleaved batch; compare with mkl-compact, "
                          "one-thread or untuned, or use --layout strided",
                          name));
}

std::string routines(const BatchCase& c, const char* first, const char* second) {
  if (!factors(c)) return second;
  return substitutes(c) ? fmt::format("{} + {}", first, second) : first;
}

template <class T>
constexpr const char* letter = std::is_same_v<T, double> ? "d" : "s";

/// A chunk's matrices in oneMKL's layout.
template <class T>
struct Packed {
  core::Buffer<T> a, b;
};

template <class T>
class CompactRunner {
 public:
  CompactRunner(const std::shared_ptr<BatchData<T>>& d, std::int64_t chunk)
      : d_(d), m_(mkl_compact<T>()), chunk_(core::round_up(chunk, m_.lanes)) {
    const auto n = static_cast<int>(d->c.n), nrhs = static_cast<int>(d->c.columns);
    const auto count = static_cast<int>(chunk_);
    const auto size = [&](int columns) {
      return m_.size(n, columns, m_.format, count) / static_cast<std::int64_t>(sizeof(T));
    };
    for (int t = 0; d->lanes == 0 && t < d->pool.size(); ++t) {
      room_.push_back({core::Buffer<T>(size(n)), core::Buffer<T>(size(nrhs))});
    }
  }

  std::int64_t chunk() const { return chunk_; }

  void run() const {
    BatchData<T>& d = *d_;
    const std::int64_t chunks = (d.c.count + chunk_ - 1) / chunk_;
    std::atomic<std::int64_t> next{0};
    d.pool.run([&](int thread) {
      for (std::int64_t k = next++; k < chunks; k = next++) {
        const std::int64_t first = k * chunk_, last = std::min(d.c.count, first + chunk_);
        const auto count = static_cast<int>(last - first);
        if (d.lanes != 0) {
          solve(d.a.data() + d.at(first, 0, 0, d.c.n), d.b.data() + d.at(first, 0, 0, d.c.columns),
                count);
        } else {
          solve_chunk(room_[static_cast<std::size_t>(thread)], first, count);
        }
      }
    });
  }

 private:
  void solve_chunk(const Packed<T>& room, std::int64_t first, int count) const {
    const BatchData<T>& d = *d_;
    const auto n = static_cast<int>(d.c.n), nrhs = static_cast<int>(d.c.columns);
    T* const* const pa = d.pa.data() + first;
    T* const* const pb = d.pb.data() + first;
    m_.pack(CblasColMajor, n, n, pa, n, room.a.data(), n, m_.format, count);
    if (substitutes(d.c)) {
      m_.pack(CblasColMajor, n, nrhs, pb, n, room.b.data(), n, m_.format, count);
    }
    solve(room.a.data(), room.b.data(), count);
    if (substitutes(d.c)) {
      m_.unpack(CblasColMajor, n, nrhs, pb, n, room.b.data(), n, m_.format, count);
    }
    const bool keeps_factor =
        d.c.operation == BatchOperation::cholesky || d.c.operation == BatchOperation::factor_solve;
    if (keeps_factor) m_.unpack(CblasColMajor, n, n, pa, n, room.a.data(), n, m_.format, count);
  }

  /// Factors and solves matrices that are packed already.
  void solve(T* a, T* b, int count) const {
    const BatchCase& c = d_->c;
    const auto n = static_cast<int>(c.n), nrhs = static_cast<int>(c.columns);
    const bool lower = c.triangle == Triangle::lower;
    const int uplo = lower ? CblasLower : CblasUpper;
    int info = 0;
    if (factors(c)) m_.potrf(CblasColMajor, uplo, n, a, n, &info, m_.format, count);
    if (!substitutes(c)) return;
    for (const int trans : {lower ? CblasNoTrans : CblasTrans, lower ? CblasTrans : CblasNoTrans}) {
      m_.trsm(CblasColMajor, CblasLeft, uplo, trans, CblasNonUnit, n, nrhs, 1, a, n, b, n,
              m_.format, count);
    }
  }

  std::shared_ptr<BatchData<T>> d_;
  const MklCompact<T>& m_;
  std::int64_t chunk_;
  std::vector<Packed<T>> room_;  ///< one per thread
};

/// The index of the fastest of several ways to run a baseline on this machine.
template <class T>
std::size_t fastest_of(const std::shared_ptr<BatchData<T>>& d,
                       const std::vector<std::function<void()>>& ways) {
  std::vector<Side> sides;
  for (const std::function<void()>& way : ways) {
    Side side;
    side.run = way;
    side.prepare = [d] { d->restore(); };
    sides.push_back(std::move(side));
  }
  RotateOptions options;
  options.rounds = 3;
  options.warm_up = false;
  const auto seconds = rotate(sides, Clock::wall, options);
  std::size_t best = 0;
  const auto fastest = [&](std::size_t k) {
    return *std::min_element(seconds[k].begin(), seconds[k].end());
  };
  for (std::size_t k = 1; k < ways.size(); ++k) {
    if (fastest(k) < fastest(best)) best = k;
  }
  return best;
}

/// A loop of LAPACK calls as a baseline: on all threads, or on one thread where the library's own
/// locks make all threads slower, as OpenBLAS's do for the smallest orders.
template <class T, class Potrf, class Potrs>
Side loop_side(Side side, const std::shared_ptr<BatchData<T>>& d, const Potrf& potrf,
               const Potrs& potrs) {
  const auto run = [=](bool alone) {
    return std::function<void()>([=] { loop(*d, alone, potrf, potrs); });
  };
  const std::vector<std::function<void()>> ways = {run(false), run(true)};
  const std::size_t best = d->c.threads > 1 ? fastest_of(d, ways) : 1;
  side.threads = best == 1 ? 1 : d->c.threads;
  side.run = ways[best];
  return side;
}

/// The runner with the fastest of several chunk sizes; the largest is a thread's whole part of the
/// batch.
template <class T>
std::shared_ptr<CompactRunner<T>> best_runner(const std::shared_ptr<BatchData<T>>& d) {
  std::vector<std::shared_ptr<CompactRunner<T>>> runners;
  const std::int64_t share = (d->c.count + d->pool.size() - 1) / d->pool.size();
  for (const std::int64_t lanes : {1, 2, 4, 8, 16, 32, 64}) {
    const std::int64_t chunk = lanes * mkl_compact<T>().lanes;
    if (chunk >= share) break;
    runners.push_back(std::make_shared<CompactRunner<T>>(d, chunk));
  }
  runners.push_back(std::make_shared<CompactRunner<T>>(d, share));
  std::vector<std::function<void()>> ways;
  for (const auto& runner : runners) ways.push_back([runner] { runner->run(); });
  return runners[fastest_of(d, ways)];
}

}  // namespace

template <class T>
Side lapack_loop(const std::shared_ptr<BatchData<T>>& d) {
  refuse_interleaved(*d, "lapack-loop");
  const std::string l = letter<T>;
  Side side = blas_side(routines(d->c, (l + "potrf").c_str(), (l + "potrs").c_str()).c_str(), 1);
  if constexpr (std::is_same_v<T, double>) {
    return loop_side(
        std::move(side), d, [](auto... x) { dpotrf_(x..., 1); },
        [](auto... x) { dpotrs_(x..., 1); });
  } else {
    return loop_side(
        std::move(side), d, [](auto... x) { spotrf_(x..., 1); },
        [](auto... x) { spotrs_(x..., 1); });
  }
}

template <class T>
Side mkl_loop(const std::shared_ptr<BatchData<T>>& d) {
  using Potrf = void(const char*, const int*, T*, const int*, int*);
  using Potrs =
      void(const char*, const int*, const int*, const T*, const int*, T*, const int*, int*);
  refuse_interleaved(*d, "mkl-loop");
  const std::string l = letter<T>;
  Side side = mkl_side(routines(d->c, (l + "potrf").c_str(), (l + "potrs").c_str()).c_str(), 1);
  return loop_side(std::move(side), d, mkl_function<Potrf>(l + "potrf"),
                   mkl_function<Potrs>(l + "potrs"));
}

template <class T>
Side mkl_compact_side(const std::shared_ptr<BatchData<T>>& d) {
  if (d->lanes != 0 && d->lanes != mkl_compact<T>().lanes) {
    throw Error(ErrorCode::unsupported,
                fmt::format("oneMKL interleaves {} matrices on this machine and Stepwell {}: no "
                            "interleaved batch suits both",
                            mkl_compact<T>().lanes, d->lanes));
  }
  Side side = mkl_side("", 1);
  side.threads = d->c.threads;
  const auto runner = best_runner(d);
  const std::string l = letter<T>;
  side.name = fmt::format(
      "{}, {} at a time",
      routines(d->c, (l + "potrf_compact").c_str(), ("2 " + l + "trsm_compact").c_str()),
      runner->chunk());
  side.run = [runner] { runner->run(); };
  return side;
}

template Side lapack_loop(const std::shared_ptr<BatchData<float>>&);
template Side lapack_loop(const std::shared_ptr<BatchData<double>>&);
template Side mkl_loop(const std::shared_ptr<BatchData<float>>&);
template Side mkl_loop(const std::shared_ptr<BatchData<double>>&);
template Side mkl_compact_side(const std::shared_ptr<BatchData<float>>&);
template Side mkl_compact_side(const std::shared_ptr<BatchData<double>>&);

}  // namespace stepwell::bench
