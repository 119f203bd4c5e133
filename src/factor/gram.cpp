// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "factor/gram.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>

#include "core/fp_scope.hpp"
#include "factor/column_scan.hpp"
#include "kernels/kernels.hpp"
#include "kernels/scan.hpp"

/// A'A by chunks of rows. Of each chunk, groups of columns are narrowed into operands of the matrix
/// engine (bound by memory), then tiles of C are updated (bound by the engine). The two kinds of
/// jobs are dealt to the threads alternately, the next chunk's narrowing beside this chunk's
/// products: there are two buffers, and whoever comes too early waits.
namespace stepwell::factor {
namespace {

using engine::Counter;
using kernels::Order;
using kernels::Shape;

static_assert(kColumnGroup % kernels::kPanel == 0);
/// Rows of a chunk: C in FP64 is read and written once a chunk, which must be little beside the
/// products (4 bytes of it for 2 kRows flop).
constexpr std::int64_t kRows = 4096;
/// Numbers of a column whose largest lies between this and its reciprocal need no scale.
constexpr double kLeastTame = 0x1p-30;

std::int64_t tile_of(std::int64_t n) {
  return n <= 512 ? 128 : n <= 1280 ? 256 : 512;
}

/// Where things are: sizes that m, n and the rung fix.
struct Shapes {
  std::int64_t m, n, rows, tile;
  int planes;
  std::int64_t number;  ///< bytes of a number of a plain operand

  Shapes(std::int64_t m_, std::int64_t n_, Rung rung)
      : m(m_),
        n(n_),
        rows(std::min(kRows, core::round_up(m_, kernels::kDepth))),
        tile(tile_of(n_)),
        planes(info(rung).planes),
        number(rung == Rung::fp64 ? 8 : 4) {}

  std::int64_t chunks() const { return (m + rows - 1) / rows; }
  std::int64_t groups() const { return (n + kColumnGroup - 1) / kColumnGroup; }
  std::int64_t tiles() const { return (n + tile - 1) / tile; }
  std::int64_t tile_jobs() const { return tiles() * (tiles() + 1) / 2; }
  /// Bytes of one form of a chunk.
  std::int64_t form() const {
    return planes > 0 ? 2 * kernels::packed_numbers(n, rows, planes)
                      : core::size_product(n, rows, number, "a chunk of A");
  }
  std::int64_t forms() const { return planes > 0 ? 2 : 1; }
  /// Of one thread: a group of columns by columns and as it is scaled, or the sums of a tile.
  std::int64_t scratch() const {
    return std::max(2 * kColumnGroup * rows, tile * kernels::sums_ld(tile)) * 8;
  }
};

/// The 2^-k that brings x into [1, 2); 1 for zero.
double inverse_power(double x) {
  return x > 0 && std::isfinite(x) ? std::ldexp(1.0, -std::clamp(std::ilogb(x), -1000, 1000)) : 1;
}

class GramPass {
 public:
  GramPass(engine::Team& team, core::RowReader& a, Rung rung, MatrixView<const double> b, Gram& out,
           Progress* progress)
      : team_(team),
        a_(a),
        rung_(rung),
        b_(b),
        out_(out),
        progress_(progress),
        s_(a.rows(), a.cols(), rung),
        known_(!out.power.empty()) {
    const auto n = static_cast<std::size_t>(s_.n);
    out.c = core::Buffer<double>(core::size_product(s_.n, s_.n, "the Gram matrix"));
    out.ab = core::Buffer<double>(core::size_product(s_.n, b.cols, "A'B"));
    out.column.assign(n, {});
    if (!known_) out.power.assign(n, 1);
    for (std::size_t k = 0; k < 2; ++k) {
      operand_[k] = core::Buffer<std::byte>(s_.forms() * s_.form(), core::Contents::any);
      read_[k] = core::Buffer<double>(a.scratch(s_.rows), core::Contents::any);
      ratio_[k].assign(n, 1);
      local_[k].assign(n, 1);
    }
    for (std::int64_t t = 0; t < team.size(); ++t) {
      scratch_.emplace_back(s_.scratch(), core::Contents::any);
    }
    group_done_ = std::deque<Counter>(static_cast<std::size_t>(s_.groups()));
    tile_done_ = std::deque<Counter>(static_cast<std::size_t>(s_.tile_jobs()));
  }

  void run() {
    if (progress_ != nullptr) progress_->enter(Phase::factor, s_.chunks());
    // Jobs in order: chunk 0 is narrowed, then each chunk's tiles among the next one's groups.
    const std::int64_t g = s_.groups();
    const std::int64_t t = s_.tile_jobs();
    const std::int64_t per_chunk = g + t;
    std::atomic<std::int64_t> next{0};
    team_.run([&](int thread) {
      const core::FpScope fp;
      for (std::int64_t i = next++; i < s_.chunks() * per_chunk; i = next++) {
        if (i < g) {
          narrow(0, i, thread);
          continue;
        }
        const std::int64_t chunk = (i - g) / per_chunk;
        const std::int64_t k = (i - g) % per_chunk;
        if (chunk + 1 == s_.chunks()) {  // nothing to narrow any more
          multiply(chunk, k, thread);
          continue;
        }
        // Groups and tiles evenly mixed.
        const std::int64_t before = k * g / per_chunk;
        if ((k + 1) * g / per_chunk > before) {
          narrow(chunk + 1, before, thread);
        } else {
          multiply(chunk, k - before, thread);
        }
      }
    });
    out_.cancelled = stopped();
    for (std::int64_t j = 0; j < s_.n; ++j) {
      const double power = out_.power[static_cast<std::size_t>(j)];
      for (std::int64_t k = 0; k < b_.cols; ++k) out_.ab[j + k * s_.n] *= power;
    }
  }

 private:
  bool stopped() const { return a_.failed() || (progress_ != nullptr && progress_->cancel); }
  std::int64_t rows_in(std::int64_t chunk) const {
    return std::min(s_.rows, s_.m - chunk * s_.rows);
  }
  static std::size_t parity(std::int64_t chunk) { return static_cast<std::size_t>(chunk % 2); }

  /// The chunk's rows; whoever comes first has a function give them.
  core::RowBlock rows_of(std::int64_t chunk, std::int64_t group) {
    const std::size_t p = parity(chunk);
    if (a_.scratch(1) == 0) return a_.read(chunk * s_.rows, rows_in(chunk), nullptr);
    if (group == 0) {
      a_.read(chunk * s_.rows, rows_in(chunk), read_[p].data());
      chunks_read_.add();
    }
    chunks_read_.wait_for(chunk + 1);
    return {{read_[p].data(), s_.n, rows_in(chunk), s_.n}, true};
  }

  void narrow(std::int64_t chunk, std::int64_t group, int thread) {
    const std::size_t p = parity(chunk);
    Counter& turn = group_done_[static_cast<std::size_t>(group)];
    // The buffer's last reader was chunk - 2, the group's last writer chunk - 1.
    tiles_done_.wait_for((chunk - 1) * s_.tile_jobs());
    turn.wait_for(chunk);
    if (!stopped()) {
      const std::int64_t j = group * kColumnGroup;
      const std::int64_t w = std::min(kColumnGroup, s_.n - j);
      auto* const scratch =
          reinterpret_cast<double*>(scratch_[static_cast<std::size_t>(thread)].data());
      const core::RowBlock all = rows_of(chunk, group);
      const core::RowBlock rows = all.block(0, j, all.rows(), w);
      if (!narrow_rows(chunk, rows, j))
        narrow_columns(chunk, by_columns(rows, 0, w, scratch, s_.rows), j, scratch);
    } else if (a_.scratch(1) != 0 && group == 0) {
      chunks_read_.add();
    }
    turn.add();
    narrowed_[p].add();
  }

  void narrow_columns(std::int64_t chunk, MatrixView<const double> a, std::int64_t j,
                      double* scratch) {
    look(chunk, a, j);
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

  /// The same where A lies by rows and its numbers are tame: as they are, they need no scale, and
  /// pack into pairs order without a transpose. False, and nothing is done, where they are not.
  bool narrow_rows(std::int64_t chunk, const core::RowBlock& rows, std::int64_t j) {
    if (!rows.by_rows || s_.planes == 0 || rung_ == Rung::fp16) return false;
    std::array<double, kColumnGroup> most, squares;
    kernels::survey(kernels::table(), rows.stored, most.data(), squares.data());
    const auto w = static_cast<std::size_t>(rows.cols());
    for (std::size_t c = 0; c < w; ++c) {
      const bool tame = most[c] == 0 || (most[c] >= kLeastTame && most[c] <= 1 / kLeastTame);
      if (!tame || !std::isfinite(squares[c])) return false;
    }
    for (std::size_t c = 0; c < w; ++c) {
      kernels::Scan found;
      found.max_abs = most[c];
      found.mid = squares[c];
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

  /// What a column holds in a chunk, and its scale there.
  void book(std::int64_t chunk, std::size_t column, const kernels::Scan& found, double local) {
    const std::size_t p = parity(chunk);
    // The first chunk that is not zero sets the scale of the column in C.
    if (!known_ && out_.column[column].max_abs == 0) {
      out_.power[column] = inverse_power(found.max_abs);
    }
    kernels::combine(out_.column[column], found, chunk * s_.rows, 0);
    local_[p][column] = local;
    ratio_[p][column] = out_.power[column] / local;
  }

  /// What the columns hold, their scale in this chunk, and their part of A'B.
  void look(std::int64_t chunk, MatrixView<const double> a, std::int64_t j) {
    std::vector<kernels::Scan> scans;
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

  /// The transpose, scaled, as plain numbers of the rung's format.
  void copy_plain(std::int64_t chunk, MatrixView<const double> a, std::int64_t j,
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

  kernels::PackedOut operand(std::int64_t chunk, Order order) const {
    std::byte* const at = operand_[parity(chunk)].data() + (order == Order::rows ? 0 : s_.form());
    kernels::PackedOut p =
        kernels::packed(reinterpret_cast<std::uint16_t*>(at), s_.n, s_.rows, rung_, order);
    p.depth = rows_in(chunk);
    return p;
  }

  /// C(i, j) += the chunk's product.
  void multiply(std::int64_t chunk, std::int64_t job, int thread) {
    const std::size_t p = parity(chunk);
    narrowed_[p].wait_for((chunk / 2 + 1) * s_.groups());
    if (!stopped()) {
      std::int64_t j = 0;
      std::int64_t i = job;
      for (; i >= s_.tiles() - j; ++j) i -= s_.tiles() - j;
      i += j;
      const std::int64_t i0 = i * s_.tile, j0 = j * s_.tile;
      const std::int64_t rows = std::min(s_.tile, s_.n - i0), cols = std::min(s_.tile, s_.n - j0);
      const Shape shape = i == j ? Shape::lower : Shape::full;
      std::byte* const scratch = scratch_[static_cast<std::size_t>(thread)].data();
      const std::int64_t ld = kernels::sums_ld(rows);
      if (rung_ == Rung::fp64) {
        const MatrixView<double> sums = view(reinterpret_cast<double*>(scratch), rows, cols, ld);
        update_plain<double>(chunk, i0, j0, sums, shape);
        wait_and_add<double>(chunk, job, i0, j0, sums, shape);
      } else {
        const MatrixView<float> sums = view(reinterpret_cast<float*>(scratch), rows, cols, ld);
        if (s_.planes > 0) {
          const auto depth = rows_in(chunk);
          kernels::update(kernels::table(), rung_,
                          operand(chunk, Order::pairs).block(i0, 0, rows, depth),
                          operand(chunk, Order::rows).block(j0, 0, cols, depth), sums, shape,
                          kernels::Write::assign);
        } else {
          update_plain<float>(chunk, i0, j0, sums, shape);
        }
        wait_and_add<float>(chunk, job, i0, j0, sums, shape);
      }
    }
    tile_done_[static_cast<std::size_t>(job)].add();
    const std::int64_t done = tiles_done_.add();
    if (progress_ != nullptr && done % s_.tile_jobs() == 0) ++progress_->done;
  }

  template <class T>
  void update_plain(std::int64_t chunk, std::int64_t i, std::int64_t j, MatrixView<T> sums,
                    Shape shape) {
    const auto* const x = reinterpret_cast<const T*>(operand_[parity(chunk)].data());
    const std::int64_t depth = rows_in(chunk);
    kernels::update(kernels::table(), view(x + i, sums.rows, depth, s_.n),
                    view(x + j, sums.cols, depth, s_.n), sums, shape, kernels::Write::assign);
  }

  /// In the order of the chunks.
  template <class T>
  void wait_and_add(std::int64_t chunk, std::int64_t job, std::int64_t i0, std::int64_t j0,
                    MatrixView<const T> sums, Shape shape) {
    const std::vector<double>& ratio = ratio_[parity(chunk)];
    tile_done_[static_cast<std::size_t>(job)].wait_for(chunk);
    for (std::int64_t j = 0; j < sums.cols; ++j) {
      const double rj = ratio[static_cast<std::size_t>(j0 + j)];
      const double* const ri = ratio.data() + i0;
      const T* const from = sums.column(j);
      double* const to = out_.c.data() + (j0 + j) * s_.n + i0;
      for (std::int64_t i = shape == Shape::lower ? j : 0; i < sums.rows; ++i) {
        to[i] += static_cast<double>(from[i]) * ri[i] * rj;
      }
    }
  }

  engine::Team& team_;
  core::RowReader& a_;
  Rung rung_;
  MatrixView<const double> b_;
  Gram& out_;
  Progress* progress_;
  Shapes s_;
  bool known_;  ///< the scale of the columns in C
  std::array<core::Buffer<std::byte>, 2> operand_;
  std::array<core::Buffer<double>, 2> read_;
  std::array<std::vector<double>, 2> local_;  ///< scale of the columns in a chunk
  std::array<std::vector<double>, 2> ratio_;  ///< of their scale in C to that
  std::vector<core::Buffer<std::byte>> scratch_;
  Counter chunks_read_, tiles_done_;
  std::array<Counter, 2> narrowed_;
  std::deque<Counter> group_done_, tile_done_;
};

bool all_finite(const Gram& g) {
  const auto n = static_cast<std::int64_t>(g.column.size());
  for (std::int64_t j = 0; j < n; ++j) {
    if (g.column[static_cast<std::size_t>(j)].non_finite > 0) return true;  // no other pass helps
  }
  for (std::int64_t j = 0; j < n; ++j) {
    // ||a_j||^2 in the scale of C, which bounds the row and the column; it may have lost all digits
    const double d = g.c[j + j * n];
    const bool zero = g.column[static_cast<std::size_t>(j)].max_abs == 0;
    if (!zero && !(d > 0x1p-900 && d < 0x1p900)) return false;
  }
  return true;
}

}  // namespace

Gram gram(engine::Team& team, core::RowReader& a, Rung rung, MatrixView<const double> b,
          Progress* progress) {
  Gram g;
  const core::FpScope fp;
  GramPass(team, a, rung, b, g, progress).run();
  if (!g.cancelled && !all_finite(g)) {
    for (std::size_t j = 0; j < g.power.size(); ++j) {
      g.power[j] = inverse_power(g.column[j].max_abs);
    }
    GramPass(team, a, rung, b, g, progress).run();
  }
  return g;
}

std::int64_t gram_bytes(std::int64_t m, std::int64_t n, std::int64_t columns, Rung rung,
                        bool in_memory) {
  const Shapes s(m, n, rung);
  const std::int64_t read = in_memory ? 0 : core::size_product(s.rows, n, 16, "rows of A");
  return core::size_product(n, n, 8, "the Gram matrix") + core::size_product(n, columns, 8, "A'B") +
         2 * s.forms() * s.form() + read;
}

}  // namespace stepwell::factor
