// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/ladder/cost.hpp"

#include <algorithm>

#include "factor/cholesky/setup.hpp"
#include "factor/setup.hpp"
#include "kernels/table.hpp"

namespace stepwell::solvers {
namespace {

/// Measured on two cores of Emerald Rapids with OpenBLAS, by `stepwell bench factor` and `bench
/// kernel`.
constexpr Rates kMatrixEngine{
    21e9,
    70e9,
    {1.4e12, 0.48e12, 0.24e12, 0.4e12, 0.21e12, 0.115e12, 0.25e12, 0.23e12},
    {1.0e12, 0.42e12, 0.22e12, 0.35e12, 0.2e12, 0.11e12}};

/// Without a matrix engine bf16 products are widened to fp32 ones, and only fp32 pays.
constexpr Rates kVectors{21e9,
                         70e9,
                         {0.13e12, 0.06e12, 0.03e12, 0.05e12, 0.21e12, 0.115e12, 0.02e12, 0.02e12},
                         {0.13e12, 0.06e12, 0.03e12, 0.05e12, 0.2e12, 0.11e12}};

bool has_engine() {
  static const bool yes = kernels::table().update_at(Rung::bf16).isa == core::Isa::amx;
  return yes;
}

}  // namespace

const Rates& rates() {
  return has_engine() ? kMatrixEngine : kVectors;
}

const std::vector<Rung>& ladder_rungs() {
  static const std::vector<Rung> engine = {Rung::bf16, Rung::bf16x2, Rung::bf16x3, Rung::fp64};
  static const std::vector<Rung> vectors = {Rung::fp32, Rung::fp64};
  return has_engine() ? engine : vectors;
}

PrecisionMap covariance_map(std::int64_t n, std::int64_t tile) {
  const bool small = tile == 0 && n <= factor::kSmallOrder;
  const std::int64_t columns = small ? factor::kDefaultTile / factor::kSmallTile : 1;
  return {{Rung::bf16x3, Rung::bf16x2, Rung::bf16}, 0, {columns, 3 * columns}};
}

std::int64_t direct_below(Structure structure) {
  if (structure == Structure::general) return has_engine() ? 672 : 2048;
  return has_engine() ? 768 : 2048;
}

double factor_seconds(Rung rung, std::int64_t n, Structure structure) {
  const auto d = static_cast<double>(n);
  const bool general = structure == Structure::general;
  if (!general && rung == Rung::fp64) rung = factor::fp64_rung({n, factor::choose_tile(n, 0)});
  const auto r = static_cast<std::size_t>(rung);
  const double cubes =
      general ? 2 * d * d * d / 3 / rates().lu[r] : d * d * d / 3 / rates().cholesky[r];
  // 8 n^2 bytes of A are read, or half of that, and the n / 512 diagonal tiles are factored one
  // after the other.
  constexpr double kChain = 3e-6;
  return cubes + (general ? 8 : 4) * d * d / rates().bandwidth + kChain * d;
}

double iteration_seconds(std::optional<Rung> rung, std::int64_t n, std::int64_t columns,
                         Structure structure) {
  const auto d = static_cast<double>(n);
  const auto k = static_cast<double>(columns);
  double bytes = (structure == Structure::general ? 8 : 4) * d * d;
  double flop = 2 * d * d * k;
  if (rung) {
    const int planes = info(*rung).planes;
    bytes += d * d * (planes > 0 ? 2 * planes : has_fp64_accuracy(*rung) ? 8 : 4);
    flop *= 2;
  }
  constexpr double kStart = 2e-5;  // starting the threads, and operations on vectors
  return kStart + std::max(bytes / rates().bandwidth, flop / rates().product);
}

int expected_iterations(Rung rung) {
  switch (rung) {
    case Rung::bf16:
      return 10;
    case Rung::fp16:
      return 7;
    case Rung::bf16x2:
      return 5;
    case Rung::bf16x3:
    case Rung::fp32:
      return 4;
    case Rung::fp64:
    case Rung::int8x14:
    case Rung::int8x15:
      break;
  }
  return 1;
}

double rung_seconds(Rung rung, std::int64_t n, std::int64_t columns, Structure structure) {
  return factor_seconds(rung, n, structure) +
         expected_iterations(rung) * iteration_seconds(rung, n, columns, structure);
}

double direct_seconds(std::int64_t n, std::int64_t columns, Structure structure) {
  const auto d = static_cast<double>(n);
  const auto k = static_cast<double>(columns);
  if (structure == Structure::general) {
    return factor_seconds(Rung::fp64, n, structure) +
           2 * d * d * k / rates().lu[static_cast<std::size_t>(Rung::fp64)] +
           2 * d * d * k / rates().product;
  }
  constexpr double kProbes = 32;
  const double projections = 6 * d * d * kProbes + 20 * d * k * kProbes;
  const double rate = rates().cholesky[static_cast<std::size_t>(Rung::fp64)];
  return factor_seconds(Rung::fp64, n) + (2 * d * d * k + projections) / rate;
}

namespace {

/// FP64 QR by blocks of rows: flop per second of one core.
constexpr double kQrRate = 0.09e12;

double product_of(std::int64_t m, std::int64_t n) {
  return static_cast<double>(m) * static_cast<double>(n);
}

double tall_factor_seconds(const Step& step, std::int64_t m, std::int64_t n) {
  const double mn = product_of(m, n);
  const auto d = static_cast<double>(n);
  if (step.kind == StepKind::qr) return 2 * mn * d / kQrRate + 8 * mn / rates().bandwidth;
  const Rung rung = step.map.layers[0];
  const double rate = rates().cholesky[static_cast<std::size_t>(rung)];
  // Converting A to the rung's format takes about as long as reading it.
  return mn * d / rate + 12 * mn / rates().bandwidth + factor_seconds(gram_factor_rung(rung, n), n);
}

}  // namespace

Rung gram_factor_rung(Rung gram, std::int64_t n) {
  if (n < direct_below() || gram == Rung::fp64) return Rung::fp64;
  return ladder_rungs().size() > 2 && gram != Rung::fp32 ? Rung::bf16x3 : Rung::fp32;
}

double pass_seconds(std::int64_t m, std::int64_t n, std::int64_t columns) {
  const double mn = product_of(m, n);
  const double flop = 4 * mn * static_cast<double>(columns);
  constexpr double kStart = 2e-5;
  return kStart + std::max(8 * mn / rates().bandwidth, flop / rates().product);
}

/// Measured with a condition number of 10. Rounding errors of many rows cancel in the Gram matrix,
/// so that fewer passes are needed than iterations for a square matrix.
int expected_passes(const Step& step) {
  if (step.kind == StepKind::qr) return 1;
  switch (step.map.layers[0]) {
    case Rung::bf16:
    case Rung::fp16:
      return 6;
    case Rung::bf16x2:
      return 4;
    case Rung::bf16x3:
    case Rung::fp32:
      return 3;
    case Rung::fp64:
    case Rung::int8x14:
    case Rung::int8x15:
      break;
  }
  return 2;
}

double step_seconds(const Step& step, std::int64_t m, std::int64_t n, std::int64_t columns) {
  const std::int64_t whole = columns / kBatch;
  const std::int64_t rest = columns % kBatch;
  double passes = static_cast<double>(whole) * pass_seconds(m, n, kBatch);
  if (rest > 0) passes += pass_seconds(m, n, rest);
  return tall_factor_seconds(step, m, n) + expected_passes(step) * passes;
}

}  // namespace stepwell::solvers
