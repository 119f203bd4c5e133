// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cblas.h>
#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <memory>

#include <nlohmann/json.hpp>
#include "bench/baselines/baseline_mkl.hpp"
#include "bench/baselines/lapack.hpp"
#include "bench/experiments/large.hpp"
#include "bench/harness/data.hpp"
#include "core/buffer.hpp"
#include "factor/cholesky/factor_data.hpp"
#include "factor/cholesky/graph.hpp"
#include "factor/cholesky/workspace.hpp"
#include "gallery/gallery.hpp"
#include "kernels/kernels.hpp"
#include "options/requirements.hpp"
#include "stepwell/error.hpp"
#include "stepwell/factor.hpp"
#include "tiles/operations.hpp"

/// `bench factor`: cholesky() against LAPACK's potrf, or against itself on one thread or at another
/// map.
namespace stepwell::bench {
namespace {

using nlohmann::ordered_json;

struct Cholesky {
  explicit Cholesky(const LargeRequest& r)
      : request(r), n(r.n), a(core::size_product(r.n, r.n, "matrix")), context(r.threads) {
    const MatrixView<double> m = view(a.data(), n, n);
    if (r.kind == "dominant") gallery::fill_dominant(m, 1);
    if (r.kind == "matern") gallery::fill_matern(m, {});
    if (r.kind == "geometric") gallery::fill_geometric(m, r.condition, 3, 1);
    options.map = parse_map(r.map);
    options.tile = r.tile;
    options.low_memory = r.low_memory;
    options.engine.context = &context;
  }

  Factor factorize(Context& workers, const PrecisionMap& map) {
    FactorOptions o = options;
    o.map = map;
    o.engine.context = &workers;
    Factor f = cholesky(view(static_cast<const double*>(a.data()), n, n), o);
    if (!f.ok()) {
      throw Error(ErrorCode::unsupported,
                  fmt::format("the factorization ended with '{}' at pivot {}; nothing to time",
                              to_string(f.report().outcome), f.report().pivot));
    }
    return f;
  }

  LargeRequest request;
  std::int64_t n;
  core::Buffer<double> a;
  core::Buffer<double> copy;  ///< what LAPACK overwrites, fp64 or fp32; empty until needed
  core::Buffer<double> l64;   ///< LAPACK's FP64 factor; empty until needed
  Context context;
  Context one{1};
  FactorOptions options;
  Factor factor;
};

/// Row i of the stored factor, in the scale of A.
std::vector<double> row_of(const Factor& factor, std::int64_t i) {
  const FactorData& d = FactorData::of(factor);
  const tiles::Grid& grid = d.l.grid();
  const std::int64_t block = i / grid.tile;
  std::vector<double> row(static_cast<std::size_t>(grid.n), 0.0);
  std::vector<double> tile(static_cast<std::size_t>(grid.tile * grid.tile));
  for (std::int64_t k = 0; k <= block; ++k) {
    const auto out = view(tile.data(), grid.size(block), grid.size(k));
    tiles::copy_tile(kernels::table(), d.l.tile(block, k), {}, out);
    for (std::int64_t c = 0; c < out.cols; ++c) {
      row[static_cast<std::size_t>(k * grid.tile + c)] =
          out(i % grid.tile, c) /
          (d.scale.row[static_cast<std::size_t>(i)] * std::sqrt(d.scale.gain));
    }
  }
  return row;
}

/// Checks |A - LL'| for pairs of a few rows against the rungs' bound: wrong results are not timed.
void check(const Cholesky& s, const Factor& factor) {
  const std::vector<std::int64_t> picked = sample(s.n, 6);
  std::vector<std::vector<double>> rows;
  for (const std::int64_t i : picked) rows.push_back(row_of(factor, i));
  const FactorReport& r = factor.report();
  // Four rung errors (operands, inverted diagonal blocks and the last rounding), sums of n terms in
  // fp32 or fp64, and the shift.
  const double sums = (r.unit_roundoff == 0x1p-53 ? 0x1p-53 : 0x1p-24) * static_cast<double>(s.n);
  const double bound = 10 * r.unit_roundoff + 2 * sums + r.shift * r.unit_roundoff;
  Verdict verdict;
  for (std::size_t p = 0; p < rows.size(); ++p) {
    for (std::size_t q = 0; q <= p; ++q) {
      double sum = 0;
      double size = 0;
      for (std::int64_t k = 0; k < s.n; ++k) {
        const double product =
            rows[p][static_cast<std::size_t>(k)] * rows[q][static_cast<std::size_t>(k)];
        sum += product;
        size += std::abs(product);
      }
      const double norm = std::sqrt(s.a[picked[p] * (s.n + 1)] * s.a[picked[q] * (s.n + 1)]);
      verdict.expect(sum, s.a[picked[p] + picked[q] * s.n], bound * (size + norm), picked[p],
                     picked[q]);
    }
  }
  if (verdict.text().empty()) return;
  throw Error(ErrorCode::internal, "the factor is wrong and is not timed: " + verdict.text());
}

/// Seconds of StarPU alone for the same graph: tasks are scheduled but not run. Median of seven.
double engine_seconds(const Cholesky& s, const Factor& factor) {
  if (factor.report().times.workers == 1) return 0;
  const tiles::TileMatrix l(FactorData::of(factor).l.map());
  const factor::StoredBlocks source(view(static_cast<const double*>(s.a.data()), s.n, s.n), {});
  factor::CholeskyState state;
  state.source = &source;
  state.scale = &FactorData::of(factor).scale;
  state.l = &l;
  const factor::Schedule schedule =
      factor::schedule_for(l.map(), l.distribution(), factor::Windows::by_memory);
  std::vector<double> seconds;
  for (int i = 0; i < 7; ++i) {
    engine::GraphOptions g;
    g.settings.threads = s.context.threads();
    g.dry = true;
    const auto start = std::chrono::steady_clock::now();
    engine::Graph graph(g);
    factor::left_looking(graph, state, schedule);
    seconds.push_back(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return summarize(seconds).median;
}

/// Bytes of a field of /proc/self/status, 0 if it is not there.
std::int64_t process_bytes(const std::string& field) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind(field + ":", 0) == 0) return std::stoll(line.substr(field.size() + 1)) * 1024;
  }
  return 0;
}

/// Peak memory of a factorization as counted by the operating system, or 0 if it does not report
/// the peak.
std::int64_t measured_peak(Cholesky& s) {
  s.factor = Factor();
  if (!(std::ofstream("/proc/self/clear_refs") << 5)) return 0;  // resets the peak
  const std::int64_t before = process_bytes("VmRSS");
  s.factor = s.factorize(s.context, s.options.map);
  return process_bytes("VmHWM") - before;
}

/// ||A - LL'||_F / ||A||_F and ||L - L64||_F / ||L64||_F, not sampled, with LAPACK's FP64 factor.
ordered_json errors(Cholesky& s, const Factor& factor) {
  const std::int64_t n = s.n;
  core::Buffer<double> l(n * n);
  core::Buffer<double> r(n * n);
  factor.copy_to(view(l.data(), n, n));
  std::memcpy(r.data(), s.a.data(), static_cast<std::size_t>(n * n) * 8);
  const auto squares = [&](const core::Buffer<double>& m, const double* minus) {
    double twice = 0;
    double once = 0;
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t i = j; i < n; ++i) {
        const double x = m[i + j * n] - (minus == nullptr ? 0 : minus[i + j * n]);
        (i == j ? once : twice) += x * x;
      }
    }
    return std::pair{once + 2 * twice, once + twice};
  };
  const double norm = std::sqrt(squares(r, nullptr).first);
  constexpr std::int64_t kBlock = 512;
  for (std::int64_t j = 0; j < n; j += kBlock) {
    const auto w = static_cast<int>(std::min(kBlock, n - j));
    const auto ld = static_cast<int>(n);
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, static_cast<int>(n - j), w,
                static_cast<int>(j + w), -1, l.data() + j, ld, l.data() + j, ld, 1,
                r.data() + j + j * n, ld);
  }
  const double residual = std::sqrt(squares(r, nullptr).first);
  if (s.l64.size() == 0) {
    s.l64 = std::move(r);
    std::memcpy(s.l64.data(), s.a.data(), static_cast<std::size_t>(n * n) * 8);
    if (potrf(s.l64.data(), n) != 0) {
      s.l64 = {};
      return {{"residual", residual / norm}, {"factor", nullptr}};
    }
  }
  const double exact = std::sqrt(squares(s.l64, nullptr).second);
  const double difference = std::sqrt(squares(l, s.l64.data()).second);
  return {{"residual", residual / norm}, {"factor", difference / exact}};
}

ordered_json report_json(Cholesky& s) {
  const std::int64_t measured = measured_peak(s);
  const FactorReport& r = s.factor.report();
  ordered_json tiles = ordered_json::object();
  std::int64_t all = 0;
  for (const std::int64_t count : r.tiles) all += count;
  for (const Rung rung : all_rungs) {
    const std::int64_t count = r.tiles[static_cast<std::size_t>(rung)];
    if (count > 0) {
      tiles[std::string(to_string(rung))] = static_cast<double>(count) / static_cast<double>(all);
    }
  }
  ordered_json attempts = ordered_json::array();
  for (const RecoveryStep& a : r.attempts) {
    attempts.push_back({{"map", to_string(a.map)},
                        {"shift", a.shift},
                        {"toward_zero", a.toward_zero},
                        {"pivot", a.pivot},
                        {"seconds", a.seconds}});
  }
  const double engine = engine_seconds(s, s.factor);
  ordered_json details = {
      {"matrix", s.request.kind},
      {"tile", r.tile},
      {"tiles", tiles},
      {"shift", r.shift},
      {"attempts", attempts},
      {"bytes", {{"factor", r.bytes}, {"peak", r.peak_bytes}, {"peak_measured", measured}}},
      {"engine", {{"seconds", engine}, {"share", engine / r.times.wall}}}};
  if (s.request.errors) details["error"] = errors(s, s.factor);
  return details;
}

template <class T>
Side lapack_side(const std::shared_ptr<Cholesky>& s, Side side, int (*potrf)(T*, std::int64_t)) {
  if (s->copy.size() == 0) s->copy = core::Buffer<double>(s->n * s->n);
  T* const copy = reinterpret_cast<T*>(s->copy.data());
  side.prepare = [s, copy] {
    for (std::int64_t j = 0; j < s->n; ++j) {
      for (std::int64_t i = j; i < s->n; ++i) {
        copy[i + j * s->n] = static_cast<T>(s->a[i + j * s->n]);
      }
    }
  };
  side.run = [s, copy, potrf] {
    if (potrf(copy, s->n) != 0) {
      throw Error(ErrorCode::unsupported,
                  "LAPACK's potrf failed: the matrix is not positive "
                  "definite in its precision; nothing to compare with");
    }
  };
  return side;
}

Side baseline_of(const std::shared_ptr<Cholesky>& s, const std::string& against) {
  const int threads = s->request.threads;
  if (against == "dpotrf") {
    return lapack_side<double>(s, blas_side("dpotrf", threads), potrf);
  }
  if (against == "spotrf") return lapack_side<float>(s, blas_side("spotrf", threads), potrf);
  if (against == "mkl-dpotrf") {
    return lapack_side<double>(s, mkl_side("dpotrf", threads), [](double* a, std::int64_t n) {
      const auto order = static_cast<int>(n);
      int failed = 0;
      mkl().potrf("L", &order, a, &order, &failed);
      return failed;
    });
  }
  const bool other = against.starts_with(kAgainstMap);
  const PrecisionMap map = other ? parse_map(against.substr(kAgainstMap.size())) : s->options.map;
  Side side = our_side("cholesky", kernels::table().cap, other ? threads : 1);
  if (other) side.name += " " + to_string(map);
  side.run = [s, map, other] { (void)s->factorize(other ? s->context : s->one, map); };
  return side;
}

}  // namespace

LargeBench make_factor_bench(const LargeRequest& request) {
  const std::int64_t matrix = core::size_product(request.n, request.n, 8, "matrix");
  const bool ours = request.against == "one-worker" || request.against.starts_with(kAgainstMap);
  const bool copies = !ours || request.errors;
  tool::require_memory(matrix + (copies ? matrix : 0) + (request.errors ? matrix : matrix / 4));
  const auto s = std::make_shared<Cholesky>(request);
  const auto n = static_cast<double>(request.n);
  const double work = n * (n + 1) * (2 * n + 1) / 6;
  LargeBench bench;
  bench.candidate = [s, work](const std::string& text) {
    const PrecisionMap map = parse_map(text);
    s->factor = s->factorize(s->context, map);
    check(*s, s->factor);
    Side side = our_side("cholesky", kernels::table().cap, s->request.threads);
    side.work = work;
    side.prepare = [s] { s->factor = Factor(); };
    side.run = [s, map] { s->factor = s->factorize(s->context, map); };
    return side;
  };
  bench.baseline = [s, work](const std::string& against) {
    Side side = baseline_of(s, against);
    side.work = work;
    return side;
  };
  bench.times = [s] { return s->factor.report().times; };
  bench.details = [s] { return report_json(*s); };
  bench.errors = [s] { return errors(*s, s->factor); };
  return bench;
}

}  // namespace stepwell::bench
