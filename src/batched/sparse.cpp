// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "batched/sparse.hpp"
#include "core/checks.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <new>
#include <numeric>

#include "core/checked.hpp"
#include "core/memory_error.hpp"
#include "factor/setup.hpp"
#include "stepwell/batch.hpp"
#include "stepwell/error.hpp"

namespace stepwell {
namespace batched {
namespace {

constexpr std::int64_t kMaxIndex = std::numeric_limits<std::int32_t>::max();

[[noreturn]] void refuse(const std::string& text) {
  throw Error(ErrorCode::invalid_argument, text);
}

/// Whether all indices are from 0 to cols - 1.
bool in_range(const std::int32_t* first, const std::int32_t* last, std::int64_t cols) {
  const auto limit = static_cast<std::uint32_t>(std::min(cols, kMaxIndex + 1));
  bool good = true;
  for (; first != last; ++first) good &= static_cast<std::uint32_t>(*first) < limit;
  return good;
}

}  // namespace

std::int64_t check_starts(const SparseRows& a, const std::string& what) {
  const std::string size = std::to_string(a.rows) + " x " + std::to_string(a.cols);
  if (a.rows < 0 || a.cols < 0) refuse(what + " is " + size + "; sizes can't be negative");
  core::size_product(a.rows, 8, what.c_str());
  if (a.rows == 0) return 0;
  if (a.starts == nullptr) {
    refuse(what + " is " + size + " and has no starts; give rows + 1 offsets that begin with 0");
  }
  if (a.starts[0] != 0) {
    refuse(what + ": starts[0] is " + std::to_string(a.starts[0]) + "; it must be 0");
  }
  for (std::int64_t u = 0; u < a.rows; ++u) {
    if (a.starts[u + 1] < a.starts[u]) {
      refuse(what + ": starts[" + std::to_string(u + 1) + "] is " +
             std::to_string(a.starts[u + 1]) + " after " + std::to_string(a.starts[u]) +
             "; starts must not decrease");
    }
  }
  const std::int64_t entries = a.starts[a.rows];
  core::size_product(entries, 4, what.c_str());
  if (entries > 0 && (a.columns == nullptr || a.values == nullptr)) {
    refuse(what + " has " + std::to_string(entries) + " entries and no " +
           (a.columns == nullptr ? "columns" : "values"));
  }
  return entries;
}

void check_columns(const SparseRows& a, const std::string& what, engine::ThreadPool& pool) {
  constexpr std::int64_t kPiece = std::int64_t{1} << 18;
  const std::int64_t entries = a.rows > 0 ? a.starts[a.rows] : 0;
  std::atomic<bool> good{true};
  pool.for_each((entries + kPiece - 1) / kPiece, [&](std::int64_t piece) {
    const std::int32_t* const first = a.columns + piece * kPiece;
    const std::int32_t* const last = first + std::min(kPiece, entries - piece * kPiece);
    if (!in_range(first, last, a.cols)) good = false;
  });
  if (good) return;
  const std::int32_t* const bad = std::find_if(
      a.columns, a.columns + entries, [&](std::int32_t c) { return c < 0 || c >= a.cols; });
  const std::int64_t e = bad - a.columns;
  const std::int64_t row = std::upper_bound(a.starts, a.starts + a.rows + 1, e) - a.starts - 1;
  refuse(what + ": columns[" + std::to_string(e) + "], in row " + std::to_string(row) + ", is " +
         std::to_string(*bad) + "; it must be from 0 to " + std::to_string(a.cols - 1));
}

void check_vectors(const SparseRows& a, MatrixView<const float> of_rows,
                   MatrixView<const float> of_cols, const std::string& row_name,
                   const std::string& col_name) {
  const std::int64_t k = of_cols.rows;
  if (k < 1 || k > kBatchOrder) {
    refuse(col_name + " has vectors of " + std::to_string(k) +
           " elements; their length must be 1 to " + std::to_string(kBatchOrder));
  }
  const auto check = [&](MatrixView<const float> v, std::int64_t cols, const std::string& name) {
    core::require_view(v.data, v.rows, v.cols, v.ld, name);
    if (v.rows == k && v.cols == cols) return;
    throw Error(ErrorCode::shape, name + " is " + std::to_string(v.rows) + " x " +
                                      std::to_string(v.cols) + " and must be " + std::to_string(k) +
                                      " x " + std::to_string(cols) + ", a column each");
  };
  check(of_cols, a.cols, col_name);
  check(of_rows, a.rows, row_name);
}

void check_options(const AlsOptions& options) {
  const auto say = [](const char* name, float value) {
    refuse(std::string(name) + " = " + std::to_string(value) +
           "; it must be finite and at least 0");
  };
  if (!(options.lambda >= 0) || std::isinf(options.lambda)) say("lambda", options.lambda);
  if (!(options.alpha >= 0) || std::isinf(options.alpha)) say("alpha", options.alpha);
}

std::vector<std::int64_t> cut_rows(const SparseRows& a, double overhead, double cost) {
  std::vector<std::int64_t> firsts{0};
  double sum = 0;
  for (std::int64_t u = 0; u < a.rows; ++u) {
    sum += static_cast<double>(a.starts[u + 1] - a.starts[u]) + overhead;
    if (sum < cost && u + 1 < a.rows) continue;
    firsts.push_back(u + 1);
    sum = 0;
  }
  return firsts;
}

}  // namespace batched

OwnedSparseRows transpose(const SparseRows& a) try {
  const std::string what = "the sparse matrix";
  const std::int64_t entries = batched::check_starts(a, what);
  engine::ThreadPool alone(1);
  batched::check_columns(a, what, alone);
  if (std::max(a.rows, a.cols) - 1 > batched::kMaxIndex) {
    throw Error(ErrorCode::too_large, what + " is " + std::to_string(a.rows) + " x " +
                                          std::to_string(a.cols) +
                                          "; indices have 32 bits: at most 2147483648 of each");
  }
  try {
    OwnedSparseRows t;
    t.rows = a.cols;
    t.cols = a.rows;
    t.starts.assign(static_cast<std::size_t>(a.cols + 1), 0);
    t.columns.resize(static_cast<std::size_t>(entries));
    t.values.resize(static_cast<std::size_t>(entries));
    std::int64_t* const starts = t.starts.data();
    for (std::int64_t e = 0; e < entries; ++e) ++starts[a.columns[e] + 1];
    std::partial_sum(starts, starts + a.cols + 1, starts);
    std::vector<std::int64_t> next(t.starts.begin(), t.starts.end() - 1);
    for (std::int64_t u = 0; u < a.rows; ++u) {
      for (std::int64_t e = a.starts[u]; e < a.starts[u + 1]; ++e) {
        const auto place = static_cast<std::size_t>(next[static_cast<std::size_t>(a.columns[e])]++);
        t.columns[place] = static_cast<std::int32_t>(u);
        t.values[place] = a.values[e];
      }
    }
    return t;
  } catch (const std::bad_alloc&) {
    throw Error(ErrorCode::out_of_memory,
                "the transpose of " + std::to_string(entries) +
                    " entries does not fit into memory; transpose fewer rows at a time");
  }
} catch (const std::bad_alloc&) {
  core::throw_out_of_memory();
}

}  // namespace stepwell
