// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>
#include "commands/verbs.hpp"
#include "core/buffer.hpp"
#include "core/checked.hpp"
#include "core/machine/system.hpp"
#include "io/mapped_npy.hpp"
#include "io/matrix_file.hpp"
#include "options/requirements.hpp"
#include "options/solve_options.hpp"
#include "report/certificate.hpp"
#include "report/ending.hpp"
#include "report/progress_line.hpp"
#include "report/screen.hpp"
#include "stepwell/error.hpp"
#include "stepwell/lstsq.hpp"

/// `lstsq`: solves a least squares problem from files, writes the solution to a file and prints the
/// certificate.
namespace stepwell::tool {
namespace {

using nlohmann::ordered_json;

struct LstsqRequest {
  std::string a, b, out, weights, map, refiner;
  double ridge = 0;
  double tolerance = 0;
  int iterations = 0;
  int threads = 0;
  bool no_climb = false;
  bool qr = false;
  bool mapped = false;
  bool read = false;
  bool basic = false;
  bool minimum_norm = false;
  bool quiet = false;
  bool json = false;
};

/// The matrix of the file, mapped or read.
struct TallFile {
  std::unique_ptr<io::MappedNpy> mapped;
  io::DenseMatrix read;

  TallMatrix matrix() const { return mapped ? mapped->matrix() : TallMatrix(read.view()); }
};

struct Sizes {
  std::int64_t rows = 0, cols = 0, columns = 0;
};

bool is_to_map(const LstsqRequest& r) {
  return r.mapped || (!r.read && io::is_mappable(r.a));
}

std::vector<double> weights_of(const LstsqRequest& r, std::int64_t cols) {
  if (r.weights.empty()) return {};
  const io::MatrixShape shape = io::read_shape(r.weights);
  if (std::min(shape.rows, shape.cols) != 1 || std::max(shape.rows, shape.cols) != cols) {
    throw Error(ErrorCode::shape,
                fmt::format("{}: the weights are {} x {}; there must be one for each of A's {} "
                            "columns",
                            io::in_quotes(r.weights), shape.rows, shape.cols, cols));
  }
  const io::DenseMatrix w = io::read_matrix(r.weights);
  return {w.data.begin(), w.data.end()};
}

LeastSquaresOptions options_of(const LstsqRequest& r) {
  if (!(r.ridge >= 0) || !std::isfinite(r.ridge)) {
    throw Error(ErrorCode::invalid_argument, "--ridge must be a finite number of at least 0");
  }
  LeastSquaresOptions options;
  if (!r.map.empty()) options.map = parse_map(r.map);
  options.refine.refiner = refiner_of(r.refiner);
  options.tolerance = r.tolerance;
  options.refine.iterations = r.iterations;
  options.climb = !r.no_climb;
  options.qr = r.qr;
  options.minimum_norm = r.minimum_norm;
  options.lambda = r.ridge;
  return options;
}

/// Refuses what can't be solved before anything large is read.
Sizes check_sizes(const LstsqRequest& r, bool mapped) {
  const io::MatrixShape a = io::read_shape(r.a);
  const io::MatrixShape b = io::read_shape(r.b);
  if (a.rows < a.cols && !(r.ridge > 0) && !r.minimum_norm) {
    throw Error(ErrorCode::shape,
                fmt::format("{}: A is {} x {}; it must have at least as many rows as columns; "
                            "use --minimum-norm, or a positive --ridge",
                            io::in_quotes(r.a), a.rows, a.cols));
  }
  if (b.rows != a.rows) {
    throw Error(ErrorCode::shape, fmt::format("{}: b is {} x {}; it must have {} rows, as A has",
                                              io::in_quotes(r.b), b.rows, b.cols, a.rows));
  }
  const std::string matrix_name = io::in_quotes(r.a), vectors_name = io::in_quotes(r.b);
  const std::int64_t height = std::max<std::int64_t>({a.rows, a.cols, 1});
  const std::int64_t matrix =
      core::size_product(a.rows, a.cols, mapped ? 0 : 8, matrix_name.c_str());
  const std::int64_t vectors = core::size_product(height, b.cols, 16, vectors_name.c_str());
  const std::int64_t available = core::memory_allowance().available;
  // Checked before the plan, whose own count of bytes may fail at such sizes.
  if (available > 0 && matrix / 2 + vectors / 2 > available / 2) {
    throw Error(
        ErrorCode::out_of_memory,
        fmt::format("{}: A takes {} and b and x take {}, and {} are available{}",
                    io::in_quotes(r.a), size_text(matrix), size_text(vectors), size_text(available),
                    mapped ? "" : "; an NPY file of '<f8' would be mapped, not read"));
  }
  return {a.rows, a.cols, b.cols};
}

void check_memory(const LstsqRequest& r, const Sizes& s, const Plan& plan) {
  const std::int64_t available = core::memory_allowance().available;
  if (available == 0 || plan.bytes <= available) return;
  throw Error(
      ErrorCode::out_of_memory,
      fmt::format("{}: least squares with {} columns needs {} in addition to A, b and x, and "
                  "{} are available",
                  io::in_quotes(r.a), s.cols, size_text(plan.bytes), size_text(available)));
}

std::vector<Stage> stages_of(const LstsqRequest& r, const Plan& plan) {
  // Most of the time of a tall problem is its Gram matrix; the rest is passes over A.
  std::vector<Stage> stages = {{Phase::reading, "reading", 0},
                               {Phase::analysis, "analyzing A", 0},
                               {Phase::factor, "factoring", 0.6 * plan.seconds},
                               {Phase::refine, "refining", 0.4 * plan.seconds}};
  if (!r.out.empty()) stages.push_back({Phase::writing, "writing", 0});
  return stages;
}

void print(const LstsqRequest& r, const Sizes& s, bool mapped, const Certificate& c, bool written) {
  if (!r.json) {
    fmt::print("{}", certificate_text(c, colour_on_stdout()));
    if (c.ok() && r.out.empty()) fmt::print("x was not saved; -o x.npy writes it to a file\n");
    return;
  }
  ordered_json json = {{"a", r.a},        {"b", r.b},    {"x", written ? r.out : ""},
                       {"m", s.rows},     {"n", s.cols}, {"mapped", mapped},
                       {"ridge", r.ridge}};
  json["certificate"] = certificate_json(c);
  json["peak_resident_bytes"] = peak_resident_bytes();
  fmt::print("{}\n", json.dump(2));
}

TallFile open_matrix(const LstsqRequest& r, bool mapped, Progress* progress) {
  TallFile file;
  if (mapped) {
    file.mapped = std::make_unique<io::MappedNpy>(r.a);
    fail_on_lost_pages();
  } else {
    file.read = io::read_matrix(r.a, progress);
  }
  return file;
}

/// Whether x is what the caller has asked for.
bool is_accepted(const LstsqRequest& r, const Certificate& c) {
  if (c.outcome != SolveOutcome::rank_deficient) return c.ok();
  return r.basic || c.minimum_norm;
}

void solve_tall(const LstsqRequest& r) {
  Context context(r.threads);
  LeastSquaresOptions options = options_of(r);
  options.engine.context = &context;
  const bool mapped = is_to_map(r);
  const Sizes s = check_sizes(r, mapped);
  options.weights = weights_of(r, s.cols);
  const Plan plan = plan_lstsq(s.rows, s.cols, s.columns, options);
  check_memory(r, s, plan);
  require_place(r.out, {r.a, r.b, r.weights});
  Certificate c;
  bool written = false;
  {
    ProgressLine line(!r.quiet, stages_of(r, plan));
    options.engine.progress = line.progress();
    const TallFile file = open_matrix(r, mapped, line.progress());
    const TallMatrix a = file.matrix();
    const io::DenseMatrix b = io::read_matrix(r.b, line.progress());
    if (a.rows != s.rows || a.cols != s.cols || b.rows != s.rows || b.cols != s.columns) {
      throw Error(ErrorCode::malformed,
                  io::in_quotes(r.a) + " or " + io::in_quotes(r.b) + " changed while it was read");
    }
    const core::Buffer<double> x(s.cols * s.columns);
    const MatrixView<double> solution = view(x.data(), s.cols, s.columns);
    c = lstsq(a, b.view(), solution, options);
    if (file.mapped) file.mapped->check();
    written = !r.out.empty() && is_accepted(r, c);
    if (written) io::write_matrix(r.out, solution, false, line.progress());
  }
  print(r, s, mapped, c, written);
  if (is_accepted(r, c)) return;
  const std::string nothing = r.out.empty() ? "" : "; " + io::in_quotes(r.out) + " was not written";
  throw Failure{exit_code(c.outcome), io::in_quotes(r.a) + ": " + c.reason + nothing};
}

}  // namespace

void add_lstsq(Verb app) {
  const Verb verb =
      app.add_subcommand("lstsq", "Minimise ||b - A x||, from files: regression, ridge");
  const auto r = std::make_shared<LstsqRequest>();
  std::vector<std::string> rungs;
  for (const Rung rung : mixable_rungs) rungs.emplace_back(to_string(rung));
  verb.add_option("A", r->a, "File with A, tall: Matrix Market or NPY")
      .type_name("FILE")
      .required();
  verb.add_option("b", r->b, "File with b, one column or several").type_name("FILE").required();
  verb.add_option("-o,--out", r->out, "File for x: .npy, .mtx or .mm").type_name("FILE");
  verb.add_option("--ridge", r->ridge, "lambda of ridge regression: adds lambda ||x||^2");
  verb.add_option("--weights", r->weights,
                  "File with D of lambda x'Dx: a value of at least 0 for each column")
      .type_name("FILE");
  verb.add_option("--map", r->map, "Arithmetic of the Gram matrix; default: the plan's")
      .check(OneOf(rungs));
  verb.add_option("--refiner", r->refiner,
                  "ir, cg, gmres, fgmres, ir(cg), ir(gmres) or gmres(gmres); default: cg");
  verb.add_option("--tolerance", r->tolerance,
                  "Limit of the backward error; default: sqrt(n) 2^-53")
      .check(Range(0.0, 1.0));
  verb.add_option("--iterations", r->iterations,
                  "Limit per rung; default: while cheaper than the next rung")
      .check(Range(1, 1'000'000));
  verb.add_flag("--no-climb", r->no_climb,
                "Stay at the first rung, even if x misses the tolerance");
  verb.add_flag("--qr", r->qr, "Use FP64 QR from the start").excludes("--map");
  verb.add_flag("--mapped", r->mapped, "Refuse an A that can't be mapped");
  verb.add_flag("--read", r->read, "Read A into memory even if it can be mapped")
      .excludes("--mapped");
  verb.add_flag("--basic", r->basic,
                "If columns of A are linearly dependent, accept the x that has zeros for them");
  verb.add_flag("--minimum-norm", r->minimum_norm,
                "If the minimiser is not unique, compute the one of least norm; A may be wide")
      .excludes("--basic");
  verb.add_option("--threads", r->threads, "Workers; default: as many as the process may use")
      .check(Range(1, 1024));
  verb.add_flag("--quiet", r->quiet, "Show no progress");
  verb.add_flag("--json", r->json, "Print one JSON object");
  verb.callback([r] { solve_tall(*r); });
  verb.footer(
      "An NPY file of '<f8' elements is mapped and read in blocks of rows: A may be larger than\n"
      "the memory. Other files are read into memory. x is written if the outcome is 'converged'\n"
      "(exit code 0), and with --basic or --minimum-norm also if it is 'rank deficient' (without:\n"
      "exit code 20).\n"
      "\nExample:\n  stepwell gen tall --m 200000 --n 500 --cond 10 -o A.npy --rhs b.npy\n"
      "  stepwell lstsq A.npy b.npy -o x.npy --ridge 0.1");
}

}  // namespace stepwell::tool
