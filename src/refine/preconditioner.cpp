// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "refine/preconditioner.hpp"

#include <utility>

#include "factor/triangular/substitution.hpp"
#include "refine/vectors.hpp"

namespace stepwell::refine {
namespace {

/// If the factor's unit roundoff exceeds this, substitution in fp32 adds nothing to its error.
constexpr double kNarrow = 0x1p-20;

/// Index of element k in the given order.
std::int64_t place(const std::vector<std::int64_t>* order, std::int64_t k) {
  return order == nullptr || order->empty() ? k : (*order)[static_cast<std::size_t>(k)];
}

/// factor[k] / system[k], both in the order given.
std::vector<double> ratios(const std::vector<double>& factor, const std::vector<double>& system,
                           const std::vector<std::int64_t>* order) {
  std::vector<double> out(system.size());
  for (std::size_t k = 0; k < out.size(); ++k) {
    const auto i = static_cast<std::size_t>(place(order, static_cast<std::int64_t>(k)));
    out[k] = factor[i] / system[i];
  }
  return out;
}

}  // namespace

FactorPreconditioner::FactorPreconditioner(engine::ThreadPool& pool,
                                           const tiles::TileMatrix& forward,
                                           const tiles::TileMatrix& backward, double unit_roundoff,
                                           Substitution substitution)
    : pool_(pool),
      forward_(forward),
      backward_(backward),
      narrow_(substitution == Substitution::as_factor && unit_roundoff > kNarrow &&
              !forward.map().uses(Rung::fp64)) {}

/// H^-1 = P' diag(after) (L L')^-1 diag(before) P, where the factor's scale is in the order of the
/// factor.
FactorPreconditioner::FactorPreconditioner(engine::ThreadPool& pool, const FactorData& factor,
                                           const std::vector<double>& row,
                                           const std::vector<double>& col,
                                           Substitution substitution, engine::Communicator* ranks)
    : FactorPreconditioner(pool, factor.l, factor.l, factor.report.unit_roundoff, substitution) {
  if (ranks != nullptr) distributed_.emplace(pool, *ranks, factor.l);
  from_ = to_ = &factor.order;
  before_.resize(row.size());
  after_.resize(row.size());
  for (std::size_t k = 0; k < row.size(); ++k) {
    const auto i = static_cast<std::size_t>(place(from_, static_cast<std::int64_t>(k)));
    before_[k] = factor.scale.row[k] / row[i];
    after_[k] = factor.scale.col[k] / col[i];
  }
}

/// H^-1 = diag(after) P' (G L')^-1 diag(before), H'^-1 = diag(before) (L G')^-1 P diag(after); with
/// butterflies H^-1 = diag(after) V (G L')^-1 U' diag(before).
FactorPreconditioner::FactorPreconditioner(engine::ThreadPool& pool, const LuData& factor,
                                           const std::vector<double>& row,
                                           const std::vector<double>& col, bool transposed,
                                           Substitution substitution)
    : FactorPreconditioner(pool, transposed ? factor.l : factor.g, transposed ? factor.g : factor.l,
                           factor.report.unit_roundoff, substitution) {
  (transposed ? from_ : to_) = &factor.order;
  before_ = ratios(factor.scale.row, row, nullptr);
  after_ = ratios(factor.scale.col, col, &factor.order);
  if (transposed) std::swap(before_, after_);
  if (!factor.butterflies) return;
  first_ = transposed ? &factor.butterflies->v : &factor.butterflies->u;
  last_ = transposed ? &factor.butterflies->u : &factor.butterflies->v;
}

template <class V>
void FactorPreconditioner::apply_in(core::Buffer<V>& memory, MatrixView<const double> r,
                                    MatrixView<double> z) {
  const std::int64_t n = r.rows;
  if (memory.size() < n * r.cols) memory = core::Buffer<V>(n * r.cols);
  const MatrixView<V> x = view(memory.data(), n, r.cols);
  std::vector<double> size(static_cast<std::size_t>(r.cols));
  for (std::int64_t c = 0; c < r.cols; ++c) {
    const double s = normalizer(max_abs(n, r.column(c)));
    size[static_cast<std::size_t>(c)] = s;
    const double* const from = r.column(c);
    for (std::int64_t k = 0; k < n; ++k) {
      x(k, c) = static_cast<V>(from[place(from_, k)] * s * before_[static_cast<std::size_t>(k)]);
    }
    if (first_ != nullptr) first_->apply(true, x.column(c));
  }
  if (distributed_) {
    distributed_->run(x);
  } else {
    factor::substitute(pool_, forward_, backward_, x);
  }
  for (std::int64_t c = 0; c < r.cols; ++c) {
    if (last_ != nullptr) last_->apply(false, x.column(c));
    double* const to = z.column(c);
    const double back = 1 / size[static_cast<std::size_t>(c)];
    for (std::int64_t k = 0; k < n; ++k) {
      to[place(to_, k)] = static_cast<double>(x(k, c)) * after_[static_cast<std::size_t>(k)] * back;
    }
  }
}

void FactorPreconditioner::apply(MatrixView<const double> r, MatrixView<double> z) {
  if (narrow_) {
    apply_in(fp32_, r, z);
  } else {
    apply_in(fp64_, r, z);
  }
}

/// From the order and scale of H to those of the factor, in place.
void FactorPreconditioner::to_factor(double* x) const {
  const std::size_t n = before_.size();
  std::vector<double> kept;
  if (from_ != nullptr && !from_->empty()) kept.assign(x, x + n);
  for (std::size_t k = 0; k < n; ++k) {
    const double from = kept.empty() ? x[k] : kept[static_cast<std::size_t>((*from_)[k])];
    x[k] = from * before_[k];
  }
}

void FactorPreconditioner::from_factor(double* x) const {
  const std::size_t n = after_.size();
  std::vector<double> kept;
  if (to_ != nullptr && !to_->empty()) kept.assign(x, x + n);
  for (std::size_t k = 0; k < n; ++k) {
    if (kept.empty()) {
      x[k] *= after_[k];
    } else {
      x[(*to_)[k]] = kept[k] * after_[k];
    }
  }
}

void FactorPreconditioner::apply_columns(MatrixView<double> x, const factor::Chunks& chunks) {
  factor::Chunks scaled;
  scaled.before = [&](std::int64_t first, MatrixView<double> y) {
    chunks.before(first, y);
    for (std::int64_t c = 0; c < y.cols; ++c) to_factor(y.column(c));
  };
  scaled.after = [&](std::int64_t first, MatrixView<double> y) {
    for (std::int64_t c = 0; c < y.cols; ++c) from_factor(y.column(c));
    chunks.after(first, y);
  };
  factor::substitute_columns(pool_, forward_, backward_, factor::Triangles::both, x, scaled);
}

void DiagonalPreconditioner::apply(MatrixView<const double> r, MatrixView<double> z) {
  for (std::int64_t c = 0; c < r.cols; ++c) {
    for (std::int64_t i = 0; i < r.rows; ++i) {
      z(i, c) = inverse_[static_cast<std::size_t>(i)] * r(i, c);
    }
  }
}

}  // namespace stepwell::refine
