// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "batched/tuning.hpp"

#include <algorithm>
#include <new>
#include <vector>

#include "core/memory_error.hpp"
#include "kernels/table.hpp"
#include "stepwell/error.hpp"

namespace stepwell {
namespace batched {
namespace {

using core::Isa;

constexpr int kPrefetch[] = {0, 1, 2};

/// AVX-512 has 32 registers; the blocks of the other instruction sets are small enough for 16.
bool has_32_registers(Isa isa) {
  return isa >= Isa::avx512;
}

/// Every register block that was compiled for 'isa', with every prefetch setting.
std::vector<BatchTuning> make_tunings(Isa isa) {
  std::vector<BatchTuning> all;
  for (const kernels::BatchBlock b : kernels::make_table(isa).batch_fp64.blocks) {
    for (const int prefetch : kPrefetch) all.push_back({b.rows, b.cols, b.vectors, prefetch});
  }
  return all;
}

/// The tuning for the orders above the previous range's 'last', up to this 'last'.
struct Range {
  std::int64_t last;
  BatchTuning tuning;
};
// For small orders, two registers per element hide the latency of the chain of square roots; for
// larger orders, what counts is how often an operand is used once it is loaded.
constexpr Range kFp64With32[] = {
    {16, {3, 4, 2, 2}}, {24, {4, 6, 1, 2}}, {36, {4, 4, 1, 2}}, {kBatchOrder, {4, 6, 1, 2}}};
constexpr Range kFp32With32[] = {
    {10, {2, 2, 2, 2}}, {36, {3, 4, 2, 2}}, {kBatchOrder, {4, 6, 1, 1}}};
constexpr Range kFp64With16[] = {{24, {2, 2, 2, 1}}, {kBatchOrder, {3, 4, 1, 2}}};
constexpr Range kFp32With16[] = {{24, {2, 2, 2, 0}}, {kBatchOrder, {3, 4, 1, 1}}};

void fill(std::array<BatchTuning, kBatchOrder>& column, std::span<const Range> ranges) {
  auto at = column.begin();
  for (const Range& r : ranges) {
    const auto last = column.begin() + r.last;
    std::fill(at, last, r.tuning);
    at = last;
  }
}

void require_format(Format format, const char* caller) {
  if (format == Format::fp64 || format == Format::fp32) return;
  throw Error(
      ErrorCode::invalid_argument,
      std::string(caller) + ": batches are fp32 or fp64, not " + std::string(to_string(format)));
}

}  // namespace

std::span<const BatchTuning> tunings_of(Isa isa) {
  static const std::vector<BatchTuning> of_32 = make_tunings(Isa::avx512);
  static const std::vector<BatchTuning> of_16 = make_tunings(Isa::reference);
  return has_32_registers(isa) ? of_32 : of_16;
}

BatchTuning plain_tuning(Isa isa) {
  return has_32_registers(isa) ? BatchTuning{4, 4, 1, 0} : BatchTuning{3, 3, 1, 0};
}

TuningTable shipped_table(Isa isa) {
  TuningTable table;
  fill(table.fp64, has_32_registers(isa) ? std::span<const Range>(kFp64With32) : kFp64With16);
  fill(table.fp32, has_32_registers(isa) ? std::span<const Range>(kFp32With32) : kFp32With16);
  return table;
}

const TuningTable& tuning_table() {
  static const TuningTable table = load_tuning_table(kernels::table().cap);
  return table;
}

}  // namespace batched

std::span<const BatchTuning> batch_tunings(Format format) try {
  batched::require_format(format, "batch_tunings");
  return batched::tunings_of(kernels::table().cap);
} catch (const std::bad_alloc&) {
  core::throw_out_of_memory();
}

BatchTuning batch_tuning(std::int64_t n, Format format) try {
  batched::require_format(format, "batch_tuning");
  if (n < 1 || n > kBatchOrder) {
    throw Error(ErrorCode::invalid_argument, "batch_tuning: the order " + std::to_string(n) +
                                                 " is not between 1 and " +
                                                 std::to_string(kBatchOrder));
  }
  return batched::tuning_table().at(n, format);
} catch (const std::bad_alloc&) {
  core::throw_out_of_memory();
}

}  // namespace stepwell
