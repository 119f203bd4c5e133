// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

#include "core/machine/isa.hpp"
#include "stepwell/batch.hpp"

/// Selects the register block, the number of registers per element and the prefetching for each
/// order. The order of summation is the same in all variants, so a table changes the time only,
/// never the bits: that is why a table may come from a file that any user can write.
namespace stepwell::batched {

/// A tuning for each order of both formats.
struct TuningTable {
  std::array<BatchTuning, kBatchOrder> fp32;
  std::array<BatchTuning, kBatchOrder> fp64;

  const BatchTuning& at(std::int64_t n, Format format) const {
    return (format == Format::fp64 ? fp64 : fp32)[static_cast<std::size_t>(n - 1)];
  }
  BatchTuning& at(std::int64_t n, Format format) {
    return (format == Format::fp64 ? fp64 : fp32)[static_cast<std::size_t>(n - 1)];
  }
  friend bool operator==(const TuningTable&, const TuningTable&) = default;
};

/// All variants that are compiled for an instruction set, the same for both formats.
std::span<const BatchTuning> tunings_of(core::Isa isa);

/// The obvious choice without measurements: a square register block, one register, no prefetch.
BatchTuning plain_tuning(core::Isa isa);

/// The shipped tunings, measured where machines were available; see docs/performance/batch.md.
TuningTable shipped_table(core::Isa isa);

/// The table of this process: the user's own if there is one that fits, otherwise the shipped one.
/// Created at the first call; thread-safe.
const TuningTable& tuning_table();

// File format: a header line, then lines like "fp64 17 4x6 2 1" with a format, an order, a register
// block, vectors and prefetch. Orders that the file does not name are as shipped.

/// Path of the user's own table: the value of STEPWELL_BATCH_TUNING, otherwise stepwell/batch.txt
/// in the cache directory. Empty: there is none, or it is switched off.
std::string tuning_path();

/// The header of a file that was measured on this machine: version, instruction set and CPU.
std::string tuning_header(core::Isa isa);

/// The contents of the file for a table.
std::string to_text(const TuningTable& table, core::Isa isa);

/// The table in 'text', or the shipped table for 'isa' if 'text' was measured elsewhere. Throws
/// Error(malformed) that names the wrong line.
TuningTable table_from_text(std::string_view text, core::Isa isa);

/// As tuning_table(), but reads the environment and the file at each call. A file that can't be
/// used is ignored with a warning; a missing file is ignored silently unless the variable names it.
TuningTable load_tuning_table(core::Isa isa);

}  // namespace stepwell::batched
