// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <optional>
#include <span>

#include "core/checked.hpp"
#include "core/checks.hpp"
#include "core/clock.hpp"
#include "core/machine/fp_scope.hpp"
#include "core/numeric/checksum.hpp"
#include "core/numeric/exponent.hpp"
#include "core/numeric/worst.hpp"
#include "engine/runtime.hpp"
#include "factor/cholesky/factor_data.hpp"
#include "factor/cholesky/setup.hpp"
#include "factor/dense/residue_lu.hpp"
#include "factor/triangular/substitution.hpp"
#include "refine/operators/general_product.hpp"
#include "refine/vectors.hpp"
#include "solvers/certify/sketch.hpp"
#include "solvers/ladder/cost.hpp"
#include "solvers/systems/square_solver.hpp"

/// Many right-hand sides: an FP64 factor is applied to all of them by matrix products, without
/// refinement. For a symmetric system random projections certify the result, and the few columns
/// that they leave open are solved as others are, with refinement. The residuals of LU are too
/// large for these bounds, so those of a general system are computed.
namespace stepwell::solvers {
namespace {

/// Columns that are solved together, so that a copy of them takes a fraction of A.
constexpr std::int64_t kTogether = 2048;

/// A seed that depends on every bit of X, but not on the powers of two by which its columns are
/// scaled.
std::uint64_t seed_of(engine::ThreadPool& pool, MatrixView<const double> x) {
  std::vector<std::uint64_t> of_column(static_cast<std::size_t>(x.cols));
  pool.for_each(x.cols, [&](std::int64_t c) {
    const double size = refine::max_abs(x.rows, x.column(c));
    const int power = size > 0 ? -core::exponent_of(size) : 0;
    std::vector<double> scaled(x.column(c), x.column(c) + x.rows);
    if (power != 0) {
      for (double& element : scaled) element = core::times_power_of_two(element, power);
    }
    of_column[static_cast<std::size_t>(c)] = core::checksum(std::as_bytes(std::span(scaled)));
  });
  return core::checksum(std::as_bytes(std::span(of_column)));
}

}  // namespace

bool many_columns(std::int64_t n, std::int64_t columns, const SolveOptions& o,
                  Structure structure) {
  // Below, a chunk of columns is too narrow for matrix products.
  constexpr std::int64_t kFewest = 64;
  const bool plain = !o.prove && o.refine.iterations == 0 && !o.refine.exact_residual &&
                     o.refine.working == Format::fp64 && !o.refine.refiner && o.climb &&
                     (!o.map || *o.map == uniform(Rung::fp64));
  if (!plain || columns < kFewest || n > Sketch::kLargest) return false;
  if (o.map) return true;
  if (structure == Structure::general && n < direct_below(structure)) return false;
  return direct_seconds(n, columns, structure) <
         rung_seconds(ladder_rungs()[0], n, columns, structure);
}

std::int64_t many_columns_bytes(std::int64_t n, std::int64_t columns, Structure structure,
                                int threads) {
  if (structure == Structure::general) {  // vectors of refinement, for more columns at once
    const std::int64_t wide = std::min(columns, wide_batch(n));
    const std::int64_t vectors = core::size_product(n, wide, 9 * 8, "columns");
    if (wide < kForExactSums || !factor::has_residue_engine()) return vectors;
    const std::int64_t solving =
        n >= factor::kResidueLu ? factor::residue_lu_solve_bytes(n, wide, threads) : 0;
    return vectors + refine::GeneralProduct::exact_bytes(n, wide, threads) + solving;
  }
  FactorOptions f;
  f.map = uniform(Rung::fp64);
  return core::size_product(n, std::min(columns, kTogether) + 2 * kBatch + 4 * Sketch::kProbes, 8,
                            "columns") +
         factor::substitute_columns_bytes(factor::choose_grid(n, f), columns, threads);
}

std::int64_t wide_batch(std::int64_t n) {
  return n >= factor::kResidueLu && factor::has_residue_engine() ? 1024 : 256;
}

/// Makes an FP64 factor unless there is one. False if there is none.
bool SquareSolver::factorize_for_columns(Certificate& c) {
  if (made_ && made_->coarsest != Rung::fp64) forget_factor();
  for (std::size_t k = 0; k < ladder_.steps.size(); ++k) {
    if (ladder_.steps[k].map == uniform(Rung::fp64)) {
      ladder_.current = k;
      if (ladder_.steps[k].kind == StepKind::lapack || !general()) break;
    }
  }
  const Climbed climbed = climb(factor_steps(), ladder_, options_.engine.progress, c);
  if (climbed == Climbed::solved) return true;
  conclude(climbed, c);
  return false;
}

/// Solves columns with the factor. Returns whether each of them is finite.
std::vector<char> SquareSolver::apply_factor(MatrixView<const double> b, MatrixView<double> x) {
  const Side& of = side();
  std::vector<std::optional<ScaledColumn>> column(static_cast<std::size_t>(b.cols));
  std::vector<char> finite(static_cast<std::size_t>(b.cols));
  factor::Chunks chunks;
  chunks.before = [&](std::int64_t first, MatrixView<double> y) {
    for (std::int64_t k = 0; k < y.cols; ++k) {
      column[static_cast<std::size_t>(first + k)].emplace(of.exponents, b.column(first + k),
                                                          y.column(k));
    }
  };
  chunks.after = [&](std::int64_t first, MatrixView<double> y) {
    for (std::int64_t k = 0; k < y.cols; ++k) {
      const auto e = static_cast<std::size_t>(first + k);
      finite[e] = column[e]->write(of.exponents, y.column(k), y.column(k)) ? 1 : 0;
    }
  };
  refine::FactorPreconditioner(a_->pool(), FactorData::of(*a_->kept().cholesky),
                               analysis_->scale.row, analysis_->scale.col)
      .apply_columns(x, chunks);
  return finite;
}

/// Certifies columns by random projections. Returns those that are left open.
std::vector<std::int64_t> SquareSolver::certify_by_projections(MatrixView<const double> b,
                                                               MatrixView<const double> x,
                                                               const std::vector<char>& finite,
                                                               std::span<ColumnCertificate> to,
                                                               refine::Checksums& read) {
  const std::int64_t n = order();
  const Sketch sketch(a_->pool(), {a_->kept().a, true, false, analysis_->found.scan.max_abs},
                      seed_of(a_->pool(), x), read);
  constexpr std::int64_t kChunk = 128;
  a_->pool().for_each((x.cols + kChunk - 1) / kChunk, [&](std::int64_t chunk) {
    const core::FpScope fp;
    const std::int64_t first = chunk * kChunk;
    const std::int64_t count = std::min(kChunk, x.cols - first);
    std::vector<Sketch::Bound> bounds(static_cast<std::size_t>(count));
    sketch.bound(b.block(0, first, n, count), x.block(0, first, n, count), bounds.data());
    for (std::int64_t k = 0; k < count; ++k) {
      const Sizes& sizes = bounds[static_cast<std::size_t>(k)].sizes;
      const Measured measured = measured_error(side().norm, sizes, n, 0);
      const auto e = static_cast<std::size_t>(first + k);
      to[e].backward_error = measured.most();
      to[e].measure = Measure::projected;
      to[e].outcome = outcome_of(finite[e] != 0, measured, tolerance());
    }
  });
  std::vector<std::int64_t> open;
  for (std::int64_t k = 0; k < x.cols; ++k) {
    if (to[static_cast<std::size_t>(k)].outcome != SolveOutcome::converged) open.push_back(k);
  }
  return open;
}

/// Solves some of the columns with refinement.
bool SquareSolver::solve_open(const std::vector<std::int64_t>& open, std::int64_t first,
                              MatrixView<const double> b, MatrixView<double> x, Certificate& c) {
  const std::int64_t n = order();
  for (std::size_t at = 0; at < open.size(); at += kBatch) {
    const auto count = std::min<std::int64_t>(kBatch, static_cast<std::int64_t>(open.size() - at));
    const core::Buffer<double> part_of_b(n * count), part_of_x(n * count);
    const MatrixView<double> to = view(part_of_x.data(), n, count);
    for (std::int64_t k = 0; k < count; ++k) {
      std::copy_n(b.column(open[at + static_cast<std::size_t>(k)]), n, part_of_b.data() + k * n);
    }
    Certificate part = blank_certificate(count);
    part.norm = c.norm;
    Batch batch = make_batch(view<const double>(part_of_b.data(), n, count), 0, count);
    const bool solved = solve_batch(batch, to, part);
    for (std::int64_t k = 0; k < count; ++k) {
      const std::int64_t j = open[at + static_cast<std::size_t>(k)];
      std::copy_n(to.column(k), n, x.column(j));
      c.columns[static_cast<std::size_t>(first + j)] = part.columns[static_cast<std::size_t>(k)];
    }
    for (const LadderStep& step : part.rungs) list_step(c, step);
    c.method = part.method;
    c.times.factor += part.times.factor;
    c.times.refine += part.times.refine;
    c.peak_bytes = std::max(c.peak_bytes, part.peak_bytes);
    if (!part.ok()) {
      c.outcome = part.outcome;
      c.row = part.row;
      c.col = part.col;
      c.pivot = part.pivot;
      c.pivot_value = part.pivot_value;
    }
    if (!solved) return false;
  }
  return true;
}

/// True if X was written; otherwise the certificate says why not.
bool SquareSolver::solve_many(MatrixView<const double> b, MatrixView<double> x, Certificate& c) {
  const std::int64_t n = order();
  if (!factorize_for_columns(c)) return false;
  const engine::SingleThreadedBlas blas;
  c.peak_bytes = std::max(c.peak_bytes, c.factor.bytes) +
                 many_columns_bytes(n, b.cols, Structure::spd, a_->pool().size());
  const auto solving = core::Clock::now();
  double certifying = 0;
  std::int64_t changed = -1;
  bool written = true;
  for (std::int64_t first = 0; first < b.cols && written; first += kTogether) {
    const std::int64_t count = std::min(kTogether, b.cols - first);
    core::Buffer<double> copy;
    MatrixView<const double> right = b.block(0, first, n, count);
    if (x.data == b.data) {  // b is still needed when x has overwritten it
      copy = core::Buffer<double>(n * count, core::Contents::any);
      for (std::int64_t k = 0; k < count; ++k) {
        std::copy_n(right.column(k), n, copy.data() + k * n);
      }
      right = view<const double>(copy.data(), n, count);
    }
    const MatrixView<double> left = x.block(0, first, n, count);
    const std::vector<char> finite = apply_factor(right, left);
    const auto start = core::Clock::now();
    refine::Checksums read(n);
    const auto certificates = std::span(c.columns).subspan(static_cast<std::size_t>(first),
                                                           static_cast<std::size_t>(count));
    const std::vector<std::int64_t> open =
        certify_by_projections(right, left, finite, certificates, read);
    certifying += core::seconds_since(start);
    if (changed < 0) {
      changed = side().product.first_difference(analysis_->found.checksums, read);
    }
    written = solve_open(open, first, right, left, c);
    if (options_.engine.progress != nullptr && options_.engine.progress->cancel) {
      c.outcome = SolveOutcome::cancelled;
      written = false;
    }
  }
  if (c.rungs.empty() || c.rungs.back().method.refiner != Refiner::direct) {
    c.method.refiner = Refiner::direct;
    list_step(c, {c.method, true, 1, 0, "", core::seconds_since(solving)});
  }
  c.times.certify += certifying;
  c.times.refine += core::seconds_since(solving) - certifying;
  for (const ColumnCertificate& column : c.columns) {
    c.backward_error = core::worst(c.backward_error, column.backward_error);
  }
  if (changed >= 0) {
    c.outcome = SolveOutcome::changed;
    c.row = c.col = changed;
  }
  return written && changed < 0;
}

/// True if X was written; otherwise the certificate says why not.
bool SquareSolver::solve_many_general(MatrixView<const double> b, MatrixView<double> x,
                                      Certificate& c) {
  if (!factorize_for_columns(c)) return false;
  const engine::SingleThreadedBlas blas;
  c.peak_bytes = std::max(
      c.peak_bytes,
      c.factor.bytes + many_columns_bytes(order(), b.cols, Structure::general, a_->pool().size()));
  // Parts of equal size: the last one is as wide as the others.
  const std::int64_t parts = core::ceil_div(b.cols, wide_batch(order()));
  const std::int64_t wide = core::ceil_div(b.cols, parts);
  for (std::int64_t first = 0; first < b.cols; first += wide) {
    Batch batch = make_batch(b, first, std::min(wide, b.cols - first));
    batch.direct = true;
    if (!solve_batch(batch, x, c)) return false;
  }
  return true;
}

}  // namespace stepwell::solvers
