// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>

#include <nlohmann/json.hpp>
#include "bench/baselines/lapack.hpp"
#include "bench/harness/report.hpp"
#include "bench/papers/paper_solve.hpp"
#include "core/buffer.hpp"
#include "gallery/gallery.hpp"
#include "io/matrix_file.hpp"
#include "stepwell/solve.hpp"

/// `bench paper`, part matrices: the general matrices of the SuiteSparse collection that our tests
/// use, solved by solve_general() and by dgesv.
namespace stepwell::bench {
namespace {

using nlohmann::ordered_json;

constexpr std::array kMatrices = {
    "pores_1",  "west0067", "ash85",    "arc130",   "west0156", "mcca",     "fs_183_3",
    "fs_183_6", "impcol_a", "ash292",   "west0479", "west0497", "steam2",   "orsirr_2",
    "jpwh_991", "sherman1", "orsirr_1", "sherman2", "sherman4", "gre_1107", "west2021",
    "orsreg_1", "sherman5", "gemat12",  "sherman3",
};

/// A NaN or an infinity becomes null, because JSON has neither.
ordered_json finite(double value) {
  return std::isfinite(value) ? ordered_json(rounded(value)) : ordered_json();
}

ordered_json dgesv_json(const io::DenseMatrix& a, const core::Buffer<double>& b) {
  const core::Buffer<double> factor(a.rows * a.rows), x(a.rows);
  const MatrixView<const double> from = a.view();
  for (std::int64_t j = 0; j < a.rows; ++j) {
    std::copy(&from(0, j), &from(0, j) + a.rows, factor.data() + j * a.rows);
  }
  std::copy(b.begin(), b.end(), x.begin());
  std::vector<int> pivots(static_cast<std::size_t>(a.rows));
  const int info = gesv(factor.data(), a.rows, pivots.data(), x.data(), 1);
  ordered_json json = {{"info", info}};
  if (info == 0) {
    json["backward_error"] = finite(backward_error(from, view<const double>(b.data(), a.rows, 1),
                                                   view<const double>(x.data(), a.rows, 1)));
  }
  return json;
}

/// The largest number of nonzeros of which no two share a row or a column. If it is below n, A is
/// singular whatever the values of its elements are. Found with augmenting paths.
class Matching {
 public:
  explicit Matching(const io::DenseMatrix& a)
      : rows_of_(static_cast<std::size_t>(a.cols)),
        column_of_(static_cast<std::size_t>(a.rows), kFree),
        seen_(column_of_.size(), kFree) {
    for (std::int64_t j = 0; j < a.cols; ++j) {
      for (std::int64_t i = 0; i < a.rows; ++i) {
        if (a.view()(i, j) != 0) rows_of_[static_cast<std::size_t>(j)].push_back(i);
      }
    }
  }

  std::int64_t size() {
    std::int64_t found = 0;
    for (std::size_t j = 0; j < rows_of_.size(); ++j) {
      if (place(j, static_cast<std::int64_t>(j))) ++found;
    }
    return found;
  }

 private:
  static constexpr std::int64_t kFree = -1;

  /// Finds a row for column j, moving other columns if necessary. Each row is visited once in a
  /// round.
  bool place(std::size_t j, std::int64_t round) {
    for (const std::int64_t row : rows_of_[j]) {
      const auto i = static_cast<std::size_t>(row);
      if (seen_[i] == round) continue;
      seen_[i] = round;
      if (column_of_[i] != kFree && !place(static_cast<std::size_t>(column_of_[i]), round))
        continue;
      column_of_[i] = static_cast<std::int64_t>(j);
      return true;
    }
    return false;
  }

  std::vector<std::vector<std::int64_t>> rows_of_;
  std::vector<std::int64_t> column_of_, seen_;
};

ordered_json row_of(const char* name, const io::DenseMatrix& a) {
  const std::int64_t n = a.rows;
  ordered_json row = {{"matrix", name}, {"n", n}};
  if (a.cols != n) {
    row["outcome"] = "rectangular";
    row["reason"] = fmt::format("A is {} x {}; it must be square", n, a.cols);
    return row;
  }
  row["structural_rank"] = Matching(a).size();
  const core::Buffer<double> b(n), x(n);
  for (std::int64_t i = 0; i < n; ++i) b[i] = gallery::noise(static_cast<std::uint64_t>(i));
  SolveOptions options;
  options.condition = true;
  const MatrixView<const double> rhs = view<const double>(b.data(), n, 1);
  const Certificate c = solve_general(a.view(), rhs, view(x.data(), n, 1), options);
  row["outcome"] = to_string(c.outcome);
  row["reason"] = c.reason;
  row["condition"] = finite(c.condition);
  row["map"] = map_text(c.method);
  row["refiner"] = refiner_text(c.method);
  row["iterations"] = c.iterations;
  row["growth"] = finite(c.factor.growth);
  row["tolerance"] = rounded(c.tolerance);
  row["left"] = ordered_json::array();
  for (const LadderStep& r : c.rungs) {
    if (!r.reason.empty())
      row["left"].push_back({{"map", map_text(r.method)}, {"because", r.reason}});
  }
  if (c.ok()) {
    row["backward_error"] =
        finite(backward_error(a.view(), rhs, view<const double>(x.data(), n, 1)));
  }
  row["dgesv"] = dgesv_json(a, b);
  return row;
}

}  // namespace

double matrices_cost(const PaperRun&) {
  return 30;
}

ordered_json paper_matrices(const PaperRun& run) {
  ordered_json section = {{"rows", ordered_json::array()}};
  Budget budget(*run.progress);
  for_suitesparse(run, "matrices", {kMatrices.begin(), kMatrices.end()}, matrices_cost(run), budget,
                  [&](const char* name, const io::DenseMatrix& a) {
                    section["rows"].push_back(row_of(name, a));
                  });
  section["skipped"] = budget.skipped();
  return section;
}

}  // namespace stepwell::bench
