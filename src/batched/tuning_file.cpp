// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "batched/tuning.hpp"
#include "core/log.hpp"
#include "core/machine/cpu.hpp"
#include "core/machine/environment.hpp"
#include "core/machine/system.hpp"
#include "core/small_file.hpp"
#include "stepwell/error.hpp"
#include "stepwell/version.hpp"

namespace stepwell::batched {
namespace {

using core::Isa;

constexpr std::string_view kMagic = "stepwell batch tuning";
constexpr std::size_t kLongestFile = 1 << 16;  ///< bytes; a table of all orders takes 5,000
constexpr const char* kVariable = "STEPWELL_BATCH_TUNING";

/// Text from the file or the environment, made safe for messages.
std::string printable(std::string_view text) {
  std::string plain(text.substr(0, 200));
  for (char& c : plain) {
    if (c < ' ' || c > '~') c = '?';
  }
  return plain;
}

/// Removes the text up to the next 'separator' from 'rest' and returns it without the separator.
std::string_view next(std::string_view& rest, char separator) {
  const std::size_t at = rest.find(separator);
  const std::string_view part = rest.substr(0, at);
  rest.remove_prefix(at == std::string_view::npos ? rest.size() : at + 1);
  return part;
}

/// A number from 0 to 999, written with digits only.
std::optional<int> number(std::string_view text) {
  int value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || value < 0 || value > 999) return std::nullopt;
  return value;
}

struct Line {
  Format format;
  int n;
  BatchTuning tuning;
};

/// Parses a line like "fp64 17 4x6 2 1".
std::optional<Line> line_of(std::string_view text) {
  const auto format = format_from_string(next(text, ' '));
  const auto n = number(next(text, ' '));
  const auto rows = number(next(text, 'x'));
  const auto cols = number(next(text, ' '));
  const auto vectors = number(next(text, ' '));
  const auto prefetch = number(text);
  if (!format || !n || !rows || !cols || !vectors || !prefetch) return std::nullopt;
  return Line{*format, *n, {*rows, *cols, *vectors, *prefetch}};
}

[[noreturn]] void refuse(int line, const std::string& why) {
  throw Error(ErrorCode::malformed, "line " + std::to_string(line) + ": " + why);
}

bool named_by_variable() {
  return core::variable(kVariable) != nullptr;
}

}  // namespace

std::string tuning_path() {
  if (const char* const value = core::variable(kVariable)) {
    return std::string_view(value) == "off" ? "" : value;
  }
  const std::string directory = core::cache_directory();
  return directory.empty() ? "" : directory + "/batch.txt";
}

std::string tuning_header(Isa isa) {
  // Isa::reference as the cap: probing for the CPU's name needs no matrix engine.
  return std::string(kMagic) + ", version " + version() + ", isa " + std::string(to_string(isa)) +
         ", cpu " + printable(core::probe_cpu(Isa::reference).model);
}

std::string to_text(const TuningTable& table, Isa isa) {
  std::string text = tuning_header(isa) + "\n";
  for (const Format format : {Format::fp32, Format::fp64}) {
    for (std::int64_t n = 1; n <= kBatchOrder; ++n) {
      const BatchTuning& t = table.at(n, format);
      text += std::string(to_string(format)) + ' ' + std::to_string(n) + ' ' +
              std::to_string(t.rows) + 'x' + std::to_string(t.cols) + ' ' +
              std::to_string(t.vectors) + ' ' + std::to_string(t.prefetch) + '\n';
    }
  }
  return text;
}

TuningTable table_from_text(std::string_view text, Isa isa) {
  TuningTable table = shipped_table(isa);
  if (text.substr(0, kMagic.size()) != kMagic) {
    refuse(1, "a file of 'stepwell tune batch' starts with \"" + std::string(kMagic) + "\"");
  }
  if (text.back() != '\n') {
    refuse(1 + static_cast<int>(std::count(text.begin(), text.end(), '\n')),
           "the file ends within this line");
  }
  if (next(text, '\n') != tuning_header(isa)) return table;
  const std::span<const BatchTuning> known = tunings_of(isa);
  std::set<std::pair<Format, int>> seen;
  for (int number = 2; !text.empty(); ++number) {
    const std::string_view written = next(text, '\n');
    const auto line = line_of(written);
    const auto with = [&] { return '\'' + printable(written) + '\''; };
    if (!line) refuse(number, with() + " is not of the form 'fp64 17 4x6 2 1'");
    if (line->format != Format::fp32 && line->format != Format::fp64) {
      refuse(number, with() + " is neither fp32 nor fp64");
    }
    if (line->n < 1 || line->n > kBatchOrder) {
      refuse(number, with() + ": the order is not between 1 and " + std::to_string(kBatchOrder));
    }
    if (std::find(known.begin(), known.end(), line->tuning) == known.end()) {
      refuse(number, with() + ": there is no such variant for " + std::string(to_string(isa)));
    }
    if (!seen.emplace(line->format, line->n).second) refuse(number, with() + " is given twice");
    table.at(line->n, line->format) = line->tuning;
  }
  return table;
}

TuningTable load_tuning_table(Isa isa) {
  const std::string path = tuning_path();
  if (path.empty()) return shipped_table(isa);
  const std::string cure =
      "; batches use the shipped tuning. Run 'stepwell tune batch', delete the file, or set " +
      std::string(kVariable) + "=off";
  try {
    const std::string text = core::read_small_file(path, kLongestFile);
    TuningTable table = table_from_text(text, isa);
    if (text.substr(0, text.find('\n')) != tuning_header(isa)) {
      const std::string note =
          "'" + printable(path) + "' was measured by another version or on another CPU" + cure;
      named_by_variable() ? core::warn_once(note) : core::log(note);
    }
    return table;
  } catch (const std::system_error& e) {
    const bool absent =
        e.code() == std::errc::no_such_file_or_directory || e.code() == std::errc::not_a_directory;
    if (named_by_variable() || !absent) {
      core::warn_once("'" + printable(path) + "' can't be read: " + e.code().message() + cure);
    }
  } catch (const Error& e) {
    core::warn_once("'" + printable(path) + "', " + e.what() + cure);
  }
  return shipped_table(isa);
}

}  // namespace stepwell::batched
