// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <string>

#include <nlohmann/json.hpp>
#include "commands/timetable.hpp"
#include "commands/verbs.hpp"
#include "core/buffer.hpp"
#include "core/machine/system.hpp"
#include "core/machine/threads.hpp"
#include "io/matrix_file.hpp"
#include "options/launcher.hpp"
#include "options/requirements.hpp"
#include "options/system_request.hpp"
#include "report/certificate.hpp"
#include "report/ending.hpp"
#include "report/progress_line.hpp"
#include "report/screen.hpp"
#include "stepwell/error.hpp"
#include "stepwell/solve.hpp"

/// `solve`: solves a system from files or the gallery, writes the solution to a file and prints the
/// certificate.
namespace stepwell::tool {
namespace {

using nlohmann::ordered_json;

/// Approximate read rate of a disk in bytes per second, for the forecast only.
constexpr double kDisk = 1e9;

/// The structure that the options select. --lower promises symmetry.
Structure structure_asked(const SystemRequest& r) {
  const Structure structure = structure_of(r);
  if (r.lower && structure == Structure::general) {
    throw Error(ErrorCode::invalid_argument,
                "--lower reads half of a symmetric matrix, and --assume general says that A is not "
                "symmetric; omit one of them");
  }
  if (r.transposed && (r.lower || structure == Structure::spd)) {
    throw Error(ErrorCode::invalid_argument,
                "--transposed is for a general A: a symmetric one is its own transpose");
  }
  return r.lower ? Structure::spd : structure;
}

/// Lower bound on the bytes in addition to A, b and x: the structure is not known before A is read.
std::int64_t bytes_at_least(io::MatrixShape shape, const SolveOptions& options,
                            Structure structure) {
  std::int64_t bytes = std::numeric_limits<std::int64_t>::max();
  if (structure != Structure::general) {
    bytes = plan_spd(shape.rows, shape.cols, options).bytes;
  }
  if (structure != Structure::spd) {
    SolveOptions general = options;
    // LU uses its default refiner, because the given one may exist only for Cholesky.
    if (structure == Structure::automatic) general.refine.refiner.reset();
    bytes = std::min(bytes, plan_general(shape.rows, shape.cols, general).bytes);
  }
  return bytes;
}

/// Refuses what can't be solved before anything large is read.
io::MatrixShape check_shapes(const SystemRequest& r, const SolveOptions& options,
                             Structure structure) {
  const io::MatrixShape a = io::read_shape(r.a);
  if (a.rows != a.cols) {
    throw Error(
        ErrorCode::shape,
        fmt::format("{}: A is {} x {}; it must be square{}", io::in_quotes(r.a), a.rows, a.cols,
                    a.rows > a.cols ? ". To minimise ||b - A x||, use 'stepwell lstsq'" : ""));
  }
  const io::MatrixShape b = io::read_shape(r.b);
  if (b.rows != a.rows) {
    throw Error(ErrorCode::shape, fmt::format("{}: b is {} x {}; it must have {} rows, as A has",
                                              io::in_quotes(r.b), b.rows, b.cols, a.rows));
  }
  const std::string matrix_name = io::in_quotes(r.a),
                    vectors_name = io::in_quotes(r.b) + ", b and x";
  const std::int64_t matrix = core::size_product(a.rows, a.rows, 8, matrix_name.c_str());
  // The solver allocates a column even if it has no rows.
  const std::int64_t height = std::max<std::int64_t>(a.rows, 1);
  const std::int64_t vectors = core::size_product(height, b.cols, 16, vectors_name.c_str());
  const std::int64_t available = core::memory_allowance().available;
  const auto require = [&](std::int64_t workspace) {
    // Quarters, because the sum of three sizes may overflow.
    if (available == 0 || matrix / 4 + vectors / 4 + workspace / 4 <= available / 4) return;
    throw Error(
        ErrorCode::out_of_memory,
        fmt::format(
            "{}: A is {} x {}; the solve needs {} for A, {} for b and x and {} in addition, "
            "and {} are available",
            io::in_quotes(r.a), a.rows, a.cols, size_text(matrix), size_text(vectors),
            workspace == 0 ? "more" : size_text(workspace), size_text(available)));
  };
  require(0);  // first, because the plan for a matrix that can't fit is itself too large
  const io::MatrixShape shape = {a.rows, b.cols, a.symmetric};
  require(bytes_at_least(shape, options, structure));
  return shape;
}

std::vector<Stage> stages_of(const SystemRequest& r, io::MatrixShape shape,
                             const SolveOptions& options, Structure structure) {
  const bool general = structure == Structure::general;
  const Plan plan = general ? plan_general(shape.rows, shape.cols, options)
                            : plan_spd(shape.rows, shape.cols, options);
  const Timetable table = load_timetable(core::default_threads());
  const SolveSeconds t = seconds_at(table, map_text(plan.method), shape.rows, shape.cols, general);
  const auto n = static_cast<double>(shape.rows);
  std::vector<Stage> stages = {{Phase::reading, "reading", 8 * n * n / kDisk},
                               {Phase::analysis, "analyzing A", t.analysis},
                               {Phase::factor, "factoring", t.factor},
                               {Phase::refine, "refining", plan.iterations * t.iteration}};
  if (options.condition) stages.push_back({Phase::certify, "condition", 5 * stages[3].seconds});
  if (!r.out.empty()) stages.push_back({Phase::writing, "writing", 0});
  return stages;
}

void print(const SystemRequest& r, io::MatrixShape shape, const Certificate& c) {
  if (!r.json) {
    fmt::print("{}", certificate_text(c, colour_on_stdout()));
    if (c.ok() && r.out.empty()) {
      fmt::print("x was not saved; -o x.npy writes it to a file\n");
    }
    return;
  }
  ordered_json json = {{"a", r.a}, {"b", r.b}, {"x", c.ok() ? r.out : ""}, {"n", shape.rows}};
  json["certificate"] = certificate_json(c);
  json["peak_resident_bytes"] = peak_resident_bytes();
  fmt::print("{}\n", json.dump(2));
}

void solve_files(const SystemRequest& r) {
  if (!r.files) {
    throw Error(ErrorCode::invalid_argument,
                "solve: a file with A and one with b are required, or --kind KIND --n N");
  }
  if (r.mpi || launched_ranks() > 1) {
    const bool says = launched_rank() == 0;  // all ranks have the same arguments
    throw Failure{static_cast<int>(ErrorCode::invalid_argument),
                  says ? "files are read by one process, without mpirun; over ranks A is "
                         "generated: --kind KIND --n N"
                       : ""};
  }
  Context context(r.threads);
  SolveOptions options = options_of(r);
  options.engine.context = &context;
  options.condition = r.condition;
  options.prove = r.prove;
  options.transposed = r.transposed;
  const Structure structure = structure_asked(r);
  const io::MatrixShape shape = check_shapes(r, options, structure);
  require_place(r.out, {r.a, r.b});
  // A file may hold anything: symmetry is checked unless the user or the file promises it.
  options.check_symmetry = structure == Structure::spd && !r.lower && !shape.symmetric;
  Certificate c;
  {
    ProgressLine line(!r.quiet, stages_of(r, shape, options, structure));
    options.engine.progress = line.progress();
    const io::DenseMatrix a = io::read_matrix(r.a, line.progress());
    const io::DenseMatrix b = io::read_matrix(r.b, line.progress());
    if (a.rows != shape.rows || a.cols != a.rows || b.rows != a.rows || b.cols != shape.cols) {
      throw Error(ErrorCode::malformed,
                  io::in_quotes(r.a) + " or " + io::in_quotes(r.b) + " changed while it was read");
    }
    const core::Buffer<double> x(b.rows * b.cols);
    const MatrixView<double> solution = view(x.data(), b.rows, b.cols);
    c = solve(a.view(), b.view(), solution, options, structure);
    if (c.ok() && !r.out.empty()) io::write_matrix(r.out, solution, false, line.progress());
  }
  print(r, shape, c);
  if (c.ok()) return;
  const std::string nothing = r.out.empty() ? "" : "; " + io::in_quotes(r.out) + " was not written";
  throw Failure{exit_code(c.outcome), io::in_quotes(r.a) + ": " + c.reason + nothing};
}

}  // namespace

void add_solve(Verb app) {
  const Verb verb = app.add_subcommand("solve", "Solve A x = b, from files or with a generated A");
  const auto r = std::make_shared<SystemRequest>();
  r->recipe.kind.clear();
  const Range size(std::int64_t{1}, std::int64_t{1} << 31);
  verb.add_option("A", r->a, "File with A: Matrix Market or NPY").type_name("FILE");
  const Option b =
      verb.add_option("b", r->b, "File with b, one column or several").type_name("FILE");
  verb.add_option("-o,--out", r->out, "File for x: .npy, .mtx or .mm").type_name("FILE");
  add_solve_options(verb, *r);
  verb.add_flag("--condition", r->condition, "Estimate the condition number, bound the error of x");
  verb.add_flag("--prove", r->prove, "Prove the backward error");
  verb.add_flag("--lower", r->lower,
                "Read only A's lower triangle: --assume spd without a symmetry check");
  verb.add_flag("--transposed", r->transposed, "Solve A' x = b");
  verb.add_flag("--quiet", r->quiet, "Show no progress");
  verb.add_flag("--json", r->json, "Print one JSON object");
  verb.add_option("--kind", r->recipe.kind,
                  "Instead of files: a kind of matrix, see 'stepwell gen --help', and a random b")
      .type_name("KIND")
      .excludes("A");
  verb.add_option("--n", r->n, "Order of the generated A")
      .check(Range(std::int64_t{1}, kLargestOrder))
      .needs("--kind");
  verb.add_option("--nrhs", r->columns, "Right-hand sides of the generated system")
      .check(size)
      .capture_default_str();
  add_recipe_options(verb, r->recipe);
  verb.add_flag("--mpi", r->mpi,
                "Distribute over MPI ranks, even if there is only one; implied by mpirun and srun");
  add_distributed_options(verb, *r);
  verb.add_option("--checkpoint", r->checkpoint,
                  "Over ranks: checkpoint directory from which a factorization can be resumed")
      .type_name("DIR");
  verb.add_option("--checkpoint-interval", r->checkpoint_interval,
                  "Fraction of the factorization's work between two checkpoints")
      .check(Range(1e-6, 1.0))
      .capture_default_str();
  verb.callback([r, b] {
    r->files = b.count() > 0;  // then A was given, too
    r->recipe.kind.empty() ? solve_files(*r) : solve_generated(*r);
  });
  verb.footer(
      "x is written only if the outcome is 'converged' (exit code 0). With --assume auto, an A\n"
      "that is symmetric and has a positive diagonal is assumed to be positive definite; if it is\n"
      "not, it is solved as a general matrix.\n"
      "\nExample:\n  stepwell gen arithmetic --n 4000 -o A.npy --rhs b.npy\n"
      "  stepwell solve A.npy b.npy -o x.npy\n"
      "  mpirun -n 4 stepwell solve --kind matern --n 20000");
}

}  // namespace stepwell::tool
