// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>
#include "bench/harness/guards.hpp"
#include "bench/harness/report.hpp"
#include "bench/kernels/kernel.hpp"
#include "core/machine/threads.hpp"
#include "kernels/table.hpp"
#include "stepwell/error.hpp"

namespace stepwell::bench {
namespace {

using Names = std::vector<std::string_view>;

/// An operation with its rungs and baselines, the default first.
struct KernelOp {
  std::string_view name;
  std::string_view what;
  bool threaded;
  Names rungs;
  Names baselines;
  Bench (*make)(const KernelCase&);
};

const std::vector<KernelOp>& kernel_ops() {
  static const Names packed = {"bf16", "bf16x2", "bf16x3", "fp16"};
  static const Names all = {"bf16", "bf16x2", "bf16x3", "fp16", "fp32", "fp64"};
  static const std::vector<KernelOp> ops = {
      {"update",
       "C -= A B', n x n x n",
       false,
       all,
       {"raw", "fed", "cblas", "onednn"},
       make_update},
      {"syrk", "C -= A A', lower triangle", false, all, {"raw", "fed", "cblas"}, make_syrk},
      {"pack",
       "an FP64 tile into an operand of the rung",
       false,
       packed,
       {"copy", "sum"},
       make_pack},
      {"load",
       "scale, narrow to fp32 and scan a tile",
       false,
       {"fp64"},
       {"copy", "sum"},
       make_load},
      {"factor", "Cholesky factor of a diagonal tile", false, all, {"lapack"}, make_factor},
      {"trsm", "B L^-T by inverted blocks of 128", false, all, {"cblas"}, make_trsm},
      {"symv", "y = A x, one triangle of A read", true, {"fp64"}, {"sum", "cblas"}, make_symv},
      {"gemv", "y = A x", true, {"fp64"}, {"sum", "cblas"}, make_gemv},
      {"trsv",
       "x = L^-1 x with tiles of 512",
       true,
       {"bf16", "bf16x2", "fp16", "fp32"},
       {"sum"},
       make_trsv},
  };
  return ops;
}

[[noreturn]] void misuse(const std::string& text) {
  throw Error(ErrorCode::invalid_argument, text);
}

bool contains(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

const KernelOp& find_op(const std::string& name) {
  Names names;
  for (const KernelOp& op : kernel_ops()) {
    if (op.name == name) return op;
    names.push_back(op.name);
  }
  misuse(fmt::format("no operation '{}'; the operations are {}", name, fmt::join(names, ", ")));
}

/// The bare loop is a bound only for kernels on the matrix engine; the others are compared with the
/// BLAS.
std::string choose_baseline(const KernelOp& op, const KernelRequest& request, Rung rung) {
  const bool has_raw = contains(op.baselines, "raw");
  const bool engine = has_raw && info(rung).planes > 0;
  const bool amx = engine && kernels::table().update_at(rung).isa == core::Isa::amx;
  if (request.against.empty()) return std::string(has_raw && !amx ? "cblas" : op.baselines[0]);
  if (!contains(op.baselines, request.against)) {
    misuse(fmt::format("'{}' can't be compared with '{}'; the baselines are {}", op.name,
                       request.against, fmt::join(op.baselines, ", ")));
  }
  const bool on_engine = request.against == "raw" || request.against == "fed";
  if (on_engine && !engine) {
    misuse(fmt::format("rung {} does not run on the matrix engine; use --against cblas",
                       to_string(rung)));
  }
  if (on_engine && !amx) {
    throw Error(ErrorCode::unsupported,
                "no usable AMX on this machine ('stepwell doctor' shows why); use --against cblas");
  }
  if (request.against == "onednn" && rung != Rung::bf16) {
    misuse("oneDNN is a baseline for --rung bf16 only");
  }
  return request.against;
}

KernelCase resolve(const KernelOp& op, const KernelRequest& request) {
  const std::string rung = request.rung.empty() ? std::string(op.rungs[0]) : request.rung;
  if (!contains(op.rungs, rung)) {
    misuse(fmt::format("'{}' has no rung '{}'; the rungs are {}", op.name, rung,
                       fmt::join(op.rungs, ", ")));
  }
  const std::string vector = request.vector.empty() ? "fp32" : request.vector;
  const bool trsv = op.name == "trsv";
  if (!trsv && (request.transposed || !request.vector.empty())) {
    misuse("--transposed and --vector are options of trsv only");
  }
  if (!op.threaded && request.threads > 1) {
    misuse(fmt::format("'{}' runs on one core; --threads is for symv, gemv and trsv", op.name));
  }
  KernelCase c;
  c.rung = *rung_from_string(rung);
  c.size = request.size;
  c.against = choose_baseline(op, request, c.rung);
  c.threads = !op.threaded ? 1 : request.threads > 0 ? request.threads : core::default_threads();
  c.vector = *format_from_string(vector);
  c.transposed = request.transposed;
  return c;
}

void warn_of_slow_blas(const Side& baseline) {
  const BlasIdentity blas = kernels::blas_identity();
  if (baseline.library != blas.library || blas.warning.empty()) return;
  fmt::print(stderr, "stepwell: warning: the baseline is too slow for a fair comparison: {}\n",
             blas.warning);
}

}  // namespace

std::string kernel_ops_help() {
  std::string text = "Operations (rungs; baselines, the default first):\n";
  for (const KernelOp& op : kernel_ops()) {
    text += fmt::format("  {:<7} {}\n          {}; {}\n", op.name, op.what,
                        fmt::join(op.rungs, " "), fmt::join(op.baselines, " "));
  }
  return text +
         "Baselines: raw, the bare matrix-instruction loop; fed, the same with one tile load from "
         "L1\n"
         "per product, the fewest that its registers allow; cblas and lapack, the library that is\n"
         "linked (the default where raw can't run); onednn, its bf16 matmul; sum and copy, plain\n"
         "passes over the same bytes.\n";
}

void bench_kernel(const KernelRequest& request, const HarnessOptions& options, bool json) {
  const KernelOp& op = find_op(request.op);
  const KernelCase c = resolve(op, request);
  const BlasThreads blas_threads(c.threads);
  const PinnedToCore pinned(!op.threaded);
  const Bench bench = op.make(c);
  warn_of_slow_blas(bench.contest.baseline);
  const std::string wrong = bench.check();
  if (!wrong.empty()) {
    throw Error(ErrorCode::internal, fmt::format("the result of {} is wrong and is not timed: {}",
                                                 bench.contest.candidate.name, wrong));
  }
  const ContestResult result = alternate(bench.contest, options);
  if (json) {
    nlohmann::ordered_json what = {{"bench", "kernel"},
                                   {"op", op.name},
                                   {"rung", to_string(c.rung)},
                                   {"size", c.size},
                                   {"against", c.against}};
    if (op.name == "trsv") {
      what["vector"] = to_string(c.vector);
      what["transposed"] = c.transposed;
    }
    fmt::print("{}\n", pretty(bench_json(std::move(what), bench.contest, result)));
  } else {
    const std::string title = fmt::format("{} {}, size {}", op.name, to_string(c.rung), c.size);
    fmt::print("{}", bench_text(title, bench.contest, result));
  }
}

}  // namespace stepwell::bench
