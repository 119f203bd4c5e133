// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

#include "core/machine/isa.hpp"
#include "stepwell/batch.hpp"

/// Which register block, how many registers side by side and how far ahead, for each order. The
/// order of the sums is the same in all variants, so a table changes the time alone and never the
/// bits: that is why one may come from a file that anybody can write.
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

/// What somebody would write without measuring: a square register block, one register, no prefetch.
BatchTuning plain_tuning(core::Isa isa);

/// Measured where we could; see docs/performance/batch.md.
TuningTable shipped_table(core::Isa isa);

/// The table of this process: the user's own if there is one that fits, else the shipped one. Made
/// at the first call; thread-safe.
const TuningTable& tuning_table();

// The file. A header line, then "fp64 17 4x6 2 1" for a format, an order, a register block, vectors
// and prefetch. Orders that it does not name are as shipped.

/// Where the user's own table is: what STEPWELL_BATCH_TUNING says, else stepwell/batch.txt below
/// the cache's directory. Empty: there is none, or it is switched off.
std::string tuning_path();

/// The header of a file that was measured here: version, instruction set and CPU.
std::string tuning_header(core::Isa isa);

/// The whole file of a table.
std::string to_text(const TuningTable& table, core::Isa isa);

/// The table in 'text', or of 'isa' as shipped if it was measured elsewhere. Throws
/// Error(malformed) that says which line is wrong.
TuningTable table_from_text(std::string_view text, core::Isa isa);

/// As tuning_table(), made anew: looks at the environment and the file now. A file that can't be
/// used is ignored with a warning; one that isn't there, silently unless the variable names it.
TuningTable load_tuning_table(core::Isa isa);

}  // namespace stepwell::batched
