// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bench/papers/paper_verb.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <system_error>

#include <nlohmann/json.hpp>
#include "bench/baselines/baseline_mkl.hpp"
#include "bench/harness/compete.hpp"
#include "bench/harness/data.hpp"
#include "bench/harness/guards.hpp"
#include "bench/harness/report.hpp"
#include "bench/papers/paper.hpp"
#include "core/machine/threads.hpp"
#include "core/small_file.hpp"
#include "io/sink.hpp"
#include "options/verb.hpp"
#include "stepwell/error.hpp"

/// `bench paper`: runs the parts and keeps their sections in one file.
namespace stepwell::bench {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr std::array<PaperPart, 9> kParts = {{{"tables", tables_cost, paper_tables},
                                              {"matrices", matrices_cost, paper_matrices},
                                              {"lstsq", lstsq_cost, paper_lstsq},
                                              {"histories", histories_cost, paper_histories},
                                              {"rate", rate_cost, paper_rate},
                                              {"layers", layers_cost, paper_layers},
                                              {"spectra", spectra_cost, paper_spectra},
                                              {"general", general_cost, paper_general},
                                              {"batch", batch_cost, paper_batch}}};

constexpr std::size_t kMostSizes = 6;
constexpr std::int64_t kLeastSize = 256;

struct PaperRequest {
  std::int64_t max_n = 8192;
  std::string out = ".";
  std::vector<std::string> parts;
  int threads = 0;
  bool json_only = false;
  bool allow_slow_blas = false;
};

std::vector<std::int64_t> sizes_to(std::int64_t max_n) {
  std::vector<std::int64_t> sizes;
  for (std::int64_t n = max_n; sizes.empty() || (n >= kLeastSize && sizes.size() < kMostSizes);
       n /= 2) {
    sizes.insert(sizes.begin(), n);
  }
  return sizes;
}

/// The contents of an earlier run's file, or an empty object.
ordered_json read_previous(const fs::path& path) {
  std::string text;
  try {
    text = core::read_small_file(path.string(), kLongestReport);
  } catch (const std::system_error& e) {
    if (e.code() == std::errc::no_such_file_or_directory) return ordered_json::object();
    throw Error(ErrorCode::cannot_open,
                "'" + path.string() + "' can't be read: " + e.code().message());
  }
  ordered_json json = ordered_json::parse(text, nullptr, false);
  if (!json.is_object() || json.value("bench", "") != "paper") {
    throw Error(
        ErrorCode::malformed,
        "'" + path.string() +
            "' exists and was not written by 'bench paper'; move it or choose another --out");
  }
  return json;
}

void write_file(const fs::path& path, const ordered_json& json) {
  io::Sink sink(path.string());
  sink.write(pretty(json) + "\n");
  sink.commit();
}

bool find_mkl() {
  try {
    const Mkl& m = mkl();
    fmt::print(stderr, "oneMKL {} ({}) is the second baseline\n", m.version, m.kernels);
    return true;
  } catch (const Error& e) {
    fmt::print(stderr, "no second baseline: {}\n", e.what());
    return false;
  }
}

/// Prints the cases of the largest size of each part as text.
void print_summary(const ordered_json& paper) {
  for (const PaperPart& part : kParts) {
    if (!paper.contains(part.name) || !paper[part.name].contains("cases")) continue;
    fmt::print("{}\n", part.name);
    const ordered_json& cases = paper[part.name]["cases"];
    std::int64_t largest = 0;
    for (const ordered_json& c : cases) largest = std::max(largest, c.value("n", std::int64_t{0}));
    for (const ordered_json& c : cases) {
      if (c.value("n", std::int64_t{0}) != largest || !c.contains("ratio")) continue;
      std::string name = c.value("bench", "");
      if (c.contains("kind")) name += " " + c["kind"].get<std::string>();
      if (c.value("condition", 0.0) > 0) name += fmt::format(" {:g}", c.value("condition", 0.0));
      if (c.contains("map") && !c["map"].get<std::string>().empty()) {
        name += " " + c["map"].get<std::string>();
      }
      std::string ratios;
      for (const auto& [against, ratio] : c["ratio"].items()) {
        ratios += fmt::format("  {:.2f} x {}", ratio["median"].get<double>(), against);
      }
      fmt::print("  {:<42} n = {}  {:.4g} s{}\n", name, largest, c["seconds"].get<double>(),
                 ratios);
    }
  }
}

void bench_paper(const PaperRequest& request) {
  PaperProgress progress;
  PaperRun run;
  run.max_n = request.max_n;
  run.sizes = sizes_to(request.max_n);
  run.threads = request.threads > 0 ? request.threads : core::default_threads();
  run.progress = &progress;
  std::error_code failed;
  fs::create_directories(request.out, failed);
  if (failed) {
    throw Error(ErrorCode::cannot_open,
                "the directory '" + request.out + "' can't be created: " + failed.message());
  }
  const fs::path path = fs::path(request.out) / "paper.json";
  ordered_json paper = read_previous(path);
  refuse_slow_blas(blas_side("dpotrf", run.threads), request.allow_slow_blas);
  const BlasThreads blas_threads(run.threads);
  run.mkl = find_mkl();

  const auto wanted = [&](const PaperPart& part) {
    return request.parts.empty() ||
           std::find(request.parts.begin(), request.parts.end(), part.name) != request.parts.end();
  };
  for (const PaperPart& part : kParts) {
    if (wanted(part)) progress.expect(part.cost(run));
  }
  for (const PaperPart& part : kParts) {
    if (!wanted(part)) continue;
    ordered_json section = {{"max_n", run.max_n}, {"commit", paper_commit()}, {"date", utc_now()}};
    section.update(part.make(run));
    progress.end_part(part.cost(run));
    paper["bench"] = "paper";
    paper["machine"] = paper_machine(run);
    paper[part.name] = std::move(section);
    write_file(path, paper);
  }
  fmt::print(stderr, "wrote {}\n", path.string());
  if (!request.json_only) print_summary(paper);
}

}  // namespace

void add_paper_bench(tool::Verb bench) {
  const tool::Verb verb =
      bench.add_subcommand("paper", "Measure the figures and tables of the papers");
  const auto r = std::make_shared<PaperRequest>();
  std::vector<std::string> names;
  for (const PaperPart& part : kParts) names.emplace_back(part.name);
  verb.add_option("--max-n", r->max_n, "Largest order of a matrix")
      .check(tool::Range(std::int64_t{64}, std::int64_t{46340}))
      .capture_default_str();
  verb.add_option("-o,--out", r->out, "Directory of paper.json; created if it does not exist")
      .type_name("DIR")
      .capture_default_str();
  verb.add_option("--part", r->parts, "Only this part, which replaces its section; may be repeated")
      .check(tool::OneOf(names));
  verb.add_option("--threads", r->threads, "Workers, and threads of the baselines; default: all")
      .check(tool::Range(1, 1024));
  add_mkl_option(verb);
  verb.add_flag("--allow-slow-blas", r->allow_slow_blas,
                "Compare even with a BLAS whose kernels are for an older CPU");
  verb.add_flag("--json-only", r->json_only, "Write paper.json and print nothing to standard out");
  verb.callback([r] { bench_paper(*r); });
  verb.footer(
      "Parts: tables and histories (convergence), rate (factorization by size and rung), layers\n"
      "(precision maps), spectra (solves of matrices with given eigenvalues), general (LU: solves\n"
      "and convergence), matrices (LU on the SuiteSparse collection), lstsq (least squares), "
      "batch\n"
      "(many small systems). paper.json is written after each. The matrices of 'tables', "
      "'matrices' and\n"
      "'lstsq' are in the directory STEPWELL_SUITESPARSE.\n\n"
      "Example:\n  stepwell bench paper --max-n 8192 --out results\n"
      "  stepwell bench paper --part spectra --max-n 4096 --out results");
}

}  // namespace stepwell::bench
