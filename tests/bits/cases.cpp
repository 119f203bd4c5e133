// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bits/cases.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/numeric/hash.hpp"

namespace stepwell::bits {

void Digest::add(double value) {
  if (std::isnan(value)) value = std::numeric_limits<double>::quiet_NaN();
  sum_.add(std::as_bytes(std::span(&value, 1)));
}

void Digest::add(std::int64_t value) {
  sum_.add(std::as_bytes(std::span(&value, 1)));
}

void Digest::add(const std::string& text) {
  add(static_cast<std::int64_t>(text.size()));
  sum_.add(text);
}

void Digest::add(const FactorReport& r) {
  for (const std::int64_t value :
       {static_cast<std::int64_t>(r.outcome), r.pivot, r.row, r.col, r.tile,
        static_cast<std::int64_t>(r.scaling), static_cast<std::int64_t>(r.toward_zero)}) {
    add(value);
  }
  for (const Rung rung : all_rungs) {  // a rung that is not used does not change other digests
    const std::int64_t count = r.tiles[static_cast<std::size_t>(rung)];
    if (count > 0 || info(rung).residues == 0) add(count);
  }
  for (const double value :
       {r.pivot_value, r.mu, r.shift, r.unit_roundoff, r.growth, r.norm, r.max_abs}) {
    add(value);
  }
  add(to_string(r.map));
  for (const RecoveryStep& a : r.attempts) {
    add(to_string(a.map));
    add(a.shift);
    add(static_cast<std::int64_t>(a.toward_zero));
    add(a.pivot);
    add(a.pivot_value);
  }
}

void Digest::add(const Certificate& c) {
  for (const std::int64_t value :
       {static_cast<std::int64_t>(c.outcome), static_cast<std::int64_t>(c.iterations), c.pivot,
        c.row, c.col, static_cast<std::int64_t>(c.in_b), c.rank}) {
    add(value);
  }
  for (const double value :
       {c.backward_error, c.tolerance, c.shift, c.norm, c.condition, c.pivot_value}) {
    add(value);
  }
  add(to_string(c.structure));
  add(map_text(c.method));
  add(refiner_text(c.method));
  add(c.dependent);
  for (const LadderStep& r : c.rungs) {
    add(map_text(r.method));
    add(refiner_text(r.method));
    add(static_cast<std::int64_t>(r.factored));
    add(static_cast<std::int64_t>(r.iterations));
    add(r.error);
  }
  for (const ColumnCertificate& column : c.columns) {
    add(static_cast<std::int64_t>(column.outcome));
    for (const double value : {column.backward_error, column.residual_norm,
                               column.proven_backward_error, column.forward_error}) {
      add(value);
    }
    add(column.measure == Measure::normwise ? "" : to_string(column.measure));
    add(static_cast<std::int64_t>(column.iterations));
    add(column.history);
  }
  add(c.factor);
}

Matrix noise(std::int64_t m, std::int64_t n, std::uint64_t seed) {
  Matrix a(m, n);
  std::uint64_t index = core::hash(seed);
  for (double& x : a.data) {
    x = static_cast<double>(static_cast<std::int64_t>(core::hash(index++)) >> 11) * 0x1p-52;
  }
  return a;
}

Matrix random_walk(std::int64_t n) {
  Matrix a(n, n);
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = 0; i < n; ++i) a(i, j) = static_cast<double>(std::min(i, j) + 1);
  }
  return a;
}

Matrix mixed(std::int64_t n) {
  Matrix a = noise(n, n, 2);
  for (std::int64_t j = 0; j < n; ++j) {
    a(j, j) += 3;
    for (std::int64_t i = 0; i < n; ++i) a(i, j) *= std::ldexp(1, static_cast<int>(i % 7) - 3);
  }
  return a;
}

}  // namespace stepwell::bits
