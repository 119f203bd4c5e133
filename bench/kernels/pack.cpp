// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <cstring>
#include <memory>
#include <vector>

#include "bench/harness/data.hpp"
#include "bench/kernels/kernel.hpp"
#include "core/buffer.hpp"
#include "core/numeric/split.hpp"
#include "kernels/kernels.hpp"
#include "options/requirements.hpp"

/// pack: converts an FP64 tile to a rung's operand. load: scales an FP64 tile, narrows it to fp32
/// and scans it. Both are passes over the tile; the rate counts the bytes read from it.
namespace stepwell::bench {
namespace {

struct Tile {
  explicit Tile(std::int64_t n) : memory(n * n), copy(n * n), row(n), col(n) {
    a = view(memory.data(), n, n);
    fill_noise(a, 1);
    for (std::int64_t i = 0; i < n; ++i) {
      row[i] = std::ldexp(1.0, static_cast<int>(i % 5) - 2);
      col[i] = std::ldexp(1.0, static_cast<int>(i % 7) - 3);
    }
  }
  double scaled(std::int64_t i, std::int64_t j) const { return row[i] * a(i, j) * col[j]; }
  double bytes() const { return 8.0 * static_cast<double>(memory.size()); }

  core::Buffer<double> memory, copy, row, col;
  MatrixView<double> a;
};

Side yardstick_pass(const std::shared_ptr<Tile>& tile, const std::string& against) {
  Side side = yardstick(against == "sum" ? "sum of the tile" : "copy of the tile", 1);
  if (against == "sum") {
    side.run = [tile] { keep(sum_elements(tile->memory.data(), tile->memory.size())); };
  } else {
    side.run = [tile] {
      std::memcpy(tile->copy.data(), tile->memory.data(),
                  static_cast<std::size_t>(tile->memory.size()) * sizeof(double));
      keep(tile->copy[0]);
    };
  }
  side.work = tile->bytes();
  return side;
}

}  // namespace

Bench make_pack(const KernelCase& c) {
  struct State : Tile {
    State(std::int64_t n, Rung rung)
        : Tile(n),
          numbers(kernels::packed_elements(n, n, info(rung).planes)),
          out(kernels::packed(numbers.data(), n, n, rung, kernels::Order::pairs)) {}
    core::Buffer<std::uint16_t> numbers;
    kernels::PackedOut out;
  };
  tool::require_memory(core::size_product(c.size, c.size, 24, "tile"));
  const kernels::Table& t = kernels::table();
  const auto s = std::make_shared<State>(c.size, c.rung);
  Bench bench;
  bench.contest.rate_unit = "GB/s";
  Side& candidate = bench.contest.candidate;
  candidate = our_side(t.pack_fp64);
  candidate.work = s->bytes();
  candidate.run = [&t, s, rung = c.rung] {
    kernels::pack(t, rung, MatrixView<const double>(s->a), s->out, kernels::Shape::full,
                  {s->row.data(), s->col.data()});
  };
  bench.check = [s, rung = c.rung, run = candidate.run] {
    run();
    Verdict verdict;
    for (const std::int64_t k : sample(s->a.cols)) {
      for (const std::int64_t i : sample(s->a.rows)) {
        const core::Terms terms = core::split(s->scaled(i, k), rung);
        for (int p = 0; p < s->out.planes; ++p) {
          verdict.expect(s->numbers[s->out.offset(i, k, p)], terms.term[p].bits, 0, i, k);
        }
      }
    }
    return verdict.text();
  };
  bench.contest.baseline = yardstick_pass(s, c.against);
  return bench;
}

Bench make_load(const KernelCase& c) {
  struct State : Tile {
    explicit State(std::int64_t n)
        : Tile(n), narrow(n * n), row_sums(n), out(view(narrow.data(), n, n)) {}
    core::Buffer<float> narrow;
    core::Buffer<double> row_sums;
    MatrixView<float> out;
  };
  tool::require_memory(core::size_product(c.size, c.size, 24, "tile"));
  const kernels::Table& t = kernels::table();
  const auto s = std::make_shared<State>(c.size);
  Bench bench;
  bench.contest.rate_unit = "GB/s";
  Side& candidate = bench.contest.candidate;
  candidate = our_side(t.load);
  candidate.work = s->bytes();
  candidate.run = [&t, s] {
    kernels::LoadArgs args;
    args.a = s->a;
    args.scales = {s->row.data(), s->col.data()};
    args.out32 = s->out;
    args.row_sums = s->row_sums.data();
    kernels::Scan scan;
    kernels::load(t, args, scan);
    keep(scan);
  };
  bench.check = [s, run = candidate.run] {
    for (double& sum : s->row_sums) sum = 0;
    run();
    Verdict verdict;
    for (const std::int64_t i : sample(s->a.rows)) {
      double sum = 0;
      for (std::int64_t j = 0; j < s->a.cols; ++j) {
        sum += std::abs(s->a(i, j));
        verdict.expect(s->out(i, j), static_cast<float>(s->scaled(i, j)), 0, i, j);
      }
      const double bound = 2 * static_cast<double>(s->a.cols) * 0x1p-53 * sum;
      verdict.expect(s->row_sums[i], sum, bound, i, -1);
    }
    return verdict.text();
  };
  bench.contest.baseline = yardstick_pass(s, c.against);
  return bench;
}

}  // namespace stepwell::bench
