// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "factor/tall/gram_chunks.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/kernels.hpp"
#include "kernels/scan.hpp"

namespace stepwell::factor {
namespace {

using kernels::Order;

/// Rows of a chunk: C in FP64 is read and written once per chunk, which must cost little compared
/// with the products (4 bytes of it for 2 kRows flop).
constexpr std::int64_t kRows = 4096;
/// A column whose largest element lies between this and its reciprocal needs no scaling.
constexpr double kLeastTame = 0x1p-30;

std::int64_t tile_of(std::int64_t n) {
  return n <= 512 ? 128 : n <= 1280 ? 256 : 512;
}

}  // namespace

GramShapes::GramShapes(std::int64_t m_, std::int64_t n_, Rung rung)
    : m(m_),
      n(n_),
      rows(std::min(kRows, core::round_up(m_, kernels::kDepth))),
      tile(tile_of(n_)),
      planes(info(rung).planes),
      element_bytes(rung == Rung::fp64 ? 8 : 4) {}

double inverse_power(double x) {
  return x > 0 && std::isfinite(x) ? std::ldexp(1.0, -std::clamp(std::ilogb(x), -1000, 1000)) : 1;
}

GramChunks::GramChunks(core::RowReader& a, Rung rung, MatrixView<const double> b, Gram& out)
    : a_(a),
      rung_(rung),
      b_(b),
      out_(out),
      s_(a.rows(), a.cols(), rung),
      known_(!out.power.empty()) {
  const auto n = static_cast<std::size_t>(s_.n);
  out.ab = core::Buffer<double>(core::size_product(s_.n, b.cols, "A'B"));
  out.column.assign(n, {});
  if (!known_) out.power.assign(n, 1);
  for (std::size_t k = 0; k < 2; ++k) {
    operand_[k] = core::Buffer<std::byte>(s_.forms() * s_.form(), core::Contents::any);
    read_[k] = core::Buffer<double>(a.scratch(s_.rows), core::Contents::any);
    ratio_[k].assign(n, 1);
    local_[k].assign(n, 1);
  }
}

/// The chunk's rows. If reading copies them, group 0 reads them and the other groups wait.
core::RowBlock GramChunks::rows_of(std::int64_t chunk, std::int64_t group) {
  const std::size_t p = parity(chunk);
  if (a_.scratch(1) == 0) return a_.read(chunk * s_.rows, rows_in(chunk), nullptr);
  if (group == 0) {
    rows_[p] = a_.read(chunk * s_.rows, rows_in(chunk), read_[p].data());
    chunks_read_.add();
  }
  chunks_read_.wait_for(chunk + 1);
  return rows_[p];
}

void GramChunks::give_up(std::int64_t group) {
  if (a_.scratch(1) != 0 && group == 0) chunks_read_.add();
}

void GramChunks::narrow(std::int64_t chunk, std::int64_t group, double* scratch) {
  const std::int64_t j = group * kColumnGroup;
  if (group == 0) a_.expect((chunk + 2) * s_.rows, s_.rows);
  const core::RowBlock all = rows_of(chunk, group);
  const core::RowBlock rows = all.block(0, j, all.rows(), std::min(kColumnGroup, s_.n - j));
  if (narrow_rows(chunk, rows, j)) return;
  narrow_columns(chunk, by_columns(rows, 0, rows.cols(), scratch, s_.rows), j, scratch);
}

void GramChunks::narrow_columns(std::int64_t chunk, MatrixView<const double> a, std::int64_t j,
                                double* scratch) {
  scan_part(chunk, a, j);
  const double* const local = local_[parity(chunk)].data() + j;
  if (s_.planes > 0) {
    const auto packed = operand(chunk, Order::rows).block(j, 0, a.cols, a.rows);
    kernels::pack_columns(kernels::table(), rung_, a, local, packed);
    kernels::reorder(kernels::table(), packed,
                     operand(chunk, Order::pairs).block(j, 0, a.cols, a.rows));
  } else {
    copy_plain(chunk, a, j, local, scratch + kColumnGroup * s_.rows);
  }
}

/// The same where A is stored by rows and its elements need no scaling: they are packed into pairs
/// order without a transpose. Otherwise returns false and does nothing.
bool GramChunks::narrow_rows(std::int64_t chunk, const core::RowBlock& rows, std::int64_t j) {
  if (!rows.by_rows || s_.planes == 0 || rung_ == Rung::fp16) return false;
  std::array<double, kColumnGroup> most, squares;
  kernels::column_sizes(kernels::table(), rows.stored, most.data(), squares.data());
  const auto w = static_cast<std::size_t>(rows.cols());
  for (std::size_t c = 0; c < w; ++c) {
    const bool tame = most[c] == 0 || (most[c] >= kLeastTame && most[c] <= 1 / kLeastTame);
    if (!tame || !std::isfinite(squares[c])) return false;
  }
  for (std::size_t c = 0; c < w; ++c) {
    kernels::Scan found;
    found.max_abs = most[c];
    found.mid = squares[c];
    // A checksum for each column would cost more, and checksums are compared by blocks of 64
    // columns only.
    if (c == 0) found.checksum = kernels::checksum(kernels::table(), rows.stored);
    book(chunk, static_cast<std::size_t>(j) + c, found, 1);
  }
  const auto pairs = operand(chunk, Order::pairs).block(j, 0, rows.cols(), rows.rows());
  kernels::pack(kernels::table(), rung_, rows.stored, pairs);
  kernels::reorder(kernels::table(), pairs,
                   operand(chunk, Order::rows).block(j, 0, rows.cols(), rows.rows()));
  if (b_.cols > 0) {
    kernels::Products products;
    products.x = b_.block(chunk * s_.rows, 0, rows.rows(), b_.cols);
    products.y = view(out_.ab.data() + j, rows.cols(), b_.cols, s_.n);
    kernels::product(kernels::table(), rows.stored, products);
  }
  return true;
}

/// Records the scan of a column in a chunk, and its scale there.
void GramChunks::book(std::int64_t chunk, std::size_t column, const kernels::Scan& found,
                      double local) {
  const std::size_t p = parity(chunk);
  // The first chunk in which the column is not zero sets its scale in C.
  if (!known_ && out_.column[column].max_abs == 0) {
    out_.power[column] = inverse_power(found.max_abs);
  }
  kernels::combine(out_.column[column], found, chunk * s_.rows, 0);
  local_[p][column] = local;
  ratio_[p][column] = out_.power[column] / local;
}

/// Scans the columns, sets their scale in this chunk, and adds their part of A'B.
void GramChunks::scan_part(std::int64_t chunk, MatrixView<const double> a, std::int64_t j) {
  ColumnScans scans;
  scan_columns(a, scans);
  for (std::int64_t c = 0; c < a.cols; ++c) {
    const kernels::Scan& found = scans[static_cast<std::size_t>(c)];
    book(chunk, static_cast<std::size_t>(j + c), found, inverse_power(found.max_abs));
  }
  if (b_.cols == 0) return;
  kernels::Products products;
  products.w = b_.block(chunk * s_.rows, 0, a.rows, b_.cols);
  products.z = view(out_.ab.data() + j, a.cols, b_.cols, s_.n);
  kernels::product(kernels::table(), a, products);
}

/// Stores the scaled transpose as plain elements of the rung's format.
void GramChunks::copy_plain(std::int64_t chunk, MatrixView<const double> a, std::int64_t j,
                            const double* local, double* scratch) {
  kernels::LoadArgs args;
  args.a = a;
  args.scales.col = local;
  kernels::Scan ignored;
  std::byte* const to = operand_[parity(chunk)].data();
  if (rung_ == Rung::fp64) {
    args.out64 = view(scratch, a.rows, a.cols, s_.rows);
    kernels::load(kernels::table(), args, ignored);
    kernels::transpose(kernels::table(), args.out64,
                       view(reinterpret_cast<double*>(to) + j, a.cols, a.rows, s_.n));
  } else {
    args.out32 = view(reinterpret_cast<float*>(scratch), a.rows, a.cols, s_.rows);
    kernels::load(kernels::table(), args, ignored);
    kernels::transpose(kernels::table(), args.out32,
                       view(reinterpret_cast<float*>(to) + j, a.cols, a.rows, s_.n));
  }
}

kernels::PackedOut GramChunks::operand(std::int64_t chunk, Order order) const {
  std::byte* const at = operand_[parity(chunk)].data() + (order == Order::rows ? 0 : s_.form());
  kernels::PackedOut p =
      kernels::packed(reinterpret_cast<std::uint16_t*>(at), s_.n, s_.rows, rung_, order);
  p.depth = rows_in(chunk);
  return p;
}

}  // namespace stepwell::factor
