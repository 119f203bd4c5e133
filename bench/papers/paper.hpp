// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/harness/harness.hpp"
#include "io/matrix_file.hpp"

/// Common code of the parts of `bench paper`. A part measures and returns its section of
/// paper.json.
namespace stepwell::bench {

/// Reports on standard error what is in progress and approximately how long the rest will take.
class PaperProgress {
 public:
  PaperProgress();
  /// Adds seconds of expected work. The estimate only needs the right proportions.
  void expect(double seconds) { expected_ += seconds; }
  /// Starts the next piece of work; the previous one is done.
  void begin(const std::string& what, double seconds);
  /// Ends a part for which so many seconds were expected, whatever its pieces were.
  void end_part(double seconds);
  /// Reports that something is left out, and takes back the seconds expected for it.
  void skip(const std::string& what, double seconds = 0);

 private:
  double start_;
  double expected_ = 0;
  double done_ = 0;  ///< of what is expected
  double current_ = 0;
  double ended_ = 0;  ///< the parts that are done
};

struct PaperRun {
  std::int64_t max_n = 8192;
  std::vector<std::int64_t> sizes;  ///< max_n and its halves, smallest first
  int threads = 1;
  bool mkl = false;  ///< oneMKL is available
  PaperProgress* progress = nullptr;

  /// Number of rounds at a size: many if a run is short.
  int rounds(std::int64_t n) const;
  /// The rounds, plus one before them that is not counted if a run is too short to warm itself up.
  int runs(std::int64_t n) const;
};

/// One side with the seconds of its calls, by round.
struct Timing {
  Side side;
  std::vector<double> seconds;
};

/// Measures the sides in turn. A library's threads spin after a call, so the measurement waits
/// until they are idle.
std::vector<Timing> measure(const PaperRun& run, std::int64_t n, std::vector<Side> sides);

/// Seconds, rate, and the ratio to each baseline: by round or, if the baseline was measured
/// together with another case, relative to the median of its seconds.
nlohmann::ordered_json case_json(nlohmann::ordered_json what, const Timing& ours,
                                 const std::map<std::string, Timing>& baselines);

/// Name, library, version, core name, threads.
nlohmann::ordered_json identity_json(const Side& side);

/// The machine, the compiler, the libraries, the commit and the date.
nlohmann::ordered_json paper_machine(const PaperRun& run);
std::string paper_commit();
std::string utc_now();

/// Estimated seconds of a factorization at a map, n^3/3 flop, on two cores.
double guess(std::int64_t n, const std::string& map);

/// Seconds that one run of ours may take; longer runs are left out.
inline constexpr double kLongestRun = 30;

/// Predicts the time of a run at a size from the time at another size, and records what was left
/// out.
class Budget {
 public:
  explicit Budget(PaperProgress& progress, double longest = kLongestRun)
      : progress_(progress), longest_(longest) {}
  /// Returns false, and records why, if a run would take too long.
  bool allows(const std::string& what, std::int64_t n);
  void record(const std::string& what, std::int64_t n, const std::vector<double>& seconds);
  void skip(const std::string& what, const std::string& why, double seconds = 0);
  nlohmann::ordered_json skipped() const { return skipped_; }

 private:
  PaperProgress& progress_;
  double longest_;
  std::map<std::string, std::pair<std::int64_t, double>> known_;
  nlohmann::ordered_json skipped_ = nlohmann::ordered_json::array();
};

/// Calls body(name, matrix) for each of these matrices in the directory STEPWELL_SUITESPARSE, and
/// records which are missing. 'cost' is the total of all of them.
void for_suitesparse(const PaperRun& run, const std::string& part,
                     const std::vector<const char*>& names, double cost, Budget& budget,
                     const std::function<void(const char* name, const io::DenseMatrix&)>& body);

/// Adds row_of(entry, matrix) to section["rows"] for each entry of a table whose matrix 'name' is
/// available, and the other entries to section["skipped"].
template <class Table, class RowOf>
void add_suitesparse_rows(const PaperRun& run, const std::string& part, const Table& table,
                          double cost, nlohmann::ordered_json& section, RowOf row_of) {
  Budget budget(*run.progress);
  std::vector<const char*> names;
  for (const auto& entry : table) names.push_back(entry.name);
  auto next = std::begin(table);
  for_suitesparse(run, part, names, cost, budget, [&](const char* name, const io::DenseMatrix& a) {
    while (next->name != name) ++next;
    section["rows"].push_back(row_of(*next, a));
  });
  section["skipped"] = budget.skipped();
}

/// A part: its expected cost, and the function that makes its section.
struct PaperPart {
  const char* name;
  double (*cost)(const PaperRun&);
  nlohmann::ordered_json (*make)(const PaperRun&);
};
double rate_cost(const PaperRun& run);
double histories_cost(const PaperRun& run);
double spectra_cost(const PaperRun& run);
double layers_cost(const PaperRun& run);
double tables_cost(const PaperRun& run);
double general_cost(const PaperRun& run);
double matrices_cost(const PaperRun& run);
double lstsq_cost(const PaperRun& run);
double batch_cost(const PaperRun& run);
nlohmann::ordered_json paper_rate(const PaperRun& run);
nlohmann::ordered_json paper_histories(const PaperRun& run);
nlohmann::ordered_json paper_spectra(const PaperRun& run);
nlohmann::ordered_json paper_layers(const PaperRun& run);
nlohmann::ordered_json paper_tables(const PaperRun& run);
nlohmann::ordered_json paper_general(const PaperRun& run);
nlohmann::ordered_json paper_matrices(const PaperRun& run);
nlohmann::ordered_json paper_lstsq(const PaperRun& run);
nlohmann::ordered_json paper_batch(const PaperRun& run);

}  // namespace stepwell::bench
