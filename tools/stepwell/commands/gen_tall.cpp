// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>

#include "commands/gen.hpp"
#include "core/buffer.hpp"
#include "core/checked.hpp"
#include "core/machine/threads.hpp"
#include "engine/threads/thread_pool.hpp"
#include "gallery/gallery.hpp"
#include "gallery/tall.hpp"
#include "io/matrix_file.hpp"
#include "io/npy_header.hpp"
#include "io/sink.hpp"
#include "options/requirements.hpp"
#include "report/progress_line.hpp"
#include "stepwell/error.hpp"

/// `gen tall`: matrices with many rows, which may be larger than the memory.
namespace stepwell::tool {
namespace {

/// Approximate number of elements in the rows that a thread makes at once: they stay in its cache.
constexpr std::int64_t kElements = 1 << 17;
constexpr double kNoise = 0.1;  ///< of the right-hand sides, relative to A x of size about 1

/// Random streams of the seed for x and for the noise.
constexpr std::uint64_t kAnswer = 0x7861, kError = 0x7862;

gallery::TallRecipe tall_recipe(const GenRequest& r) {
  if (r.kind != "tall" && r.kind != "tall-clustered") {
    throw Error(ErrorCode::invalid_argument,
                "there is no kind of matrix '" + r.kind + "'; 'stepwell gen --help' lists them");
  }
  if (r.m < r.n) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("a tall matrix needs --m, its number of rows, which must be at least "
                            "its number of columns, {}",
                            r.n));
  }
  return {r.condition, r.kind == "tall-clustered", r.seed};
}

/// Makes rows of A and their part of the right-hand sides.
class TallMaker {
 public:
  TallMaker(const GenRequest& r, const gallery::TallRecipe& recipe)
      : rows_(r.n, recipe),
        seed_(r.seed),
        pool_(core::default_threads()),
        x_(r.n * r.columns),
        b_(r.rhs.empty() ? 0 : core::size_product(r.m, r.columns, "right-hand sides")),
        m_(r.m),
        columns_(r.rhs.empty() ? 0 : r.columns),
        piece_(std::clamp<std::int64_t>(kElements / r.n, 8, 512)) {
    for (std::int64_t i = 0; i < x_.size(); ++i) x_[i] = at(kAnswer, i);
  }

  std::int64_t block() { return piece_ * pool_.size(); }
  const core::Buffer<double>& b() const { return b_; }

  /// Makes rows [first, first + count) in 'out', and their part of b.
  void make(std::int64_t first, std::int64_t count, double* out) {
    pool_.for_each((count + piece_ - 1) / piece_, [&](std::int64_t piece) {
      const std::int64_t begin = piece_ * piece, end = std::min(count, begin + piece_);
      double* const rows = out + begin * rows_.cols();
      rows_.fill(first + begin, end - begin, rows);
      for (std::int64_t c = 0; c < columns_; ++c) {
        for (std::int64_t i = begin; i < end; ++i) {
          const double* const row = out + i * rows_.cols();
          const double* const x = x_.data() + c * rows_.cols();
          double sum = kNoise * at(kError, c * m_ + first + i);
          for (std::int64_t j = 0; j < rows_.cols(); ++j) sum += row[j] * x[j];
          b_[c * m_ + first + i] = sum;
        }
      }
    });
  }

 private:
  double at(std::uint64_t part, std::int64_t index) const {
    return gallery::noise(gallery::stream(seed_, part) + static_cast<std::uint64_t>(index));
  }

  gallery::TallRows rows_;
  std::uint64_t seed_;
  engine::ThreadPool pool_;
  core::Buffer<double> x_, b_;
  std::int64_t m_, columns_, piece_;
};

/// Writes in C order, one block of rows after the other.
void write_rows(const GenRequest& r, TallMaker& maker, std::int64_t bytes, Progress* progress) {
  io::Sink sink(r.out, progress, bytes);
  sink.write(io::npy_header({"<f8", false, r.m, r.n}));
  const core::Buffer<double> rows(maker.block() * r.n);
  for (std::int64_t i = 0; i < r.m; i += maker.block()) {
    const std::int64_t count = std::min(maker.block(), r.m - i);
    maker.make(i, count, rows.data());
    sink.write(rows.data(), 8 * count * r.n);
  }
  sink.commit();
}

/// Matrix Market is column-major, so the whole matrix must be in memory.
void write_whole(const GenRequest& r, TallMaker& maker, Progress* progress) {
  const core::Buffer<double> rows(maker.block() * r.n), a(r.m * r.n);
  for (std::int64_t i = 0; i < r.m; i += maker.block()) {
    const std::int64_t count = std::min(maker.block(), r.m - i);
    maker.make(i, count, rows.data());
    for (std::int64_t j = 0; j < r.n; ++j) {
      for (std::int64_t k = 0; k < count; ++k) a[j * r.m + i + k] = rows[k * r.n + j];
    }
  }
  io::write_matrix(r.out, view<const double>(a.data(), r.m, r.n), false, progress);
}

}  // namespace

void generate_tall(const GenRequest& r) {
  const gallery::TallRecipe recipe = tall_recipe(r);
  const std::int64_t bytes = core::size_product(r.m, r.n, 8, "matrix");
  const bool streamed = r.out.ends_with(".npy");
  const std::int64_t rhs_bytes =
      r.rhs.empty() ? 0 : core::size_product(r.m, r.columns, 8, "right-hand sides");
  require_memory(streamed ? rhs_bytes : core::checked_add(bytes, rhs_bytes).value_or(INT64_MAX));
  require_place(r.out, {r.rhs});
  require_place(r.rhs, {});
  ProgressLine line(!r.quiet,
                    {{Phase::writing, "writing", static_cast<double>(bytes) / kWriteRate}});
  TallMaker maker(r, recipe);
  if (streamed) {
    write_rows(r, maker, bytes, line.progress());
  } else {
    write_whole(r, maker, line.progress());
  }
  if (r.rhs.empty()) return;
  io::write_matrix(r.rhs, view<const double>(maker.b().data(), r.m, r.columns), false,
                   line.progress());
}

std::string tall_help() {
  return "\nTall matrices, --m rows and --n columns, for lstsq:\n"
         "  tall, tall-clustered\n"
         "      random rows; the largest singular value is about --cond times the smallest;\n"
         "      clustered: all except one are about equal. --rhs: A x with a random x, plus\n"
         "      noise. An NPY file is written row by row and may be larger than the memory\n";
}

}  // namespace stepwell::tool
