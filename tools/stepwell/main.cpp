// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "bench.hpp"
#include "bench_compare.hpp"
#include "bench_large.hpp"
#include "bench_paper.hpp"
#include "bench_solve.hpp"
#include "doctor.hpp"
#include "stepwell/error.hpp"
#include "stepwell/version.hpp"

namespace stepwell::tool {
namespace {

constexpr const char* kExitCodes =
    "Exit codes: 0 done, 2 wrong usage, 10 a file can't be opened, 11 malformed, 12 truncated,\n"
    "13 too large, 14 not on this machine or in this build, 16 wrong shape, 30 out of memory,\n"
    "70 a bug in Stepwell. Errors are one line on standard error.\n";

int fail(ErrorCode code, const std::string& text) {
  fmt::print(stderr, "stepwell: error: {}\n", text);
  return static_cast<int>(code);
}

void add_doctor(CLI::App& app) {
  CLI::App* const verb =
      app.add_subcommand("doctor", "Say what this machine has, which kernels run and why");
  const auto json = std::make_shared<bool>(false);
  verb->add_flag("--json", *json, "Print one JSON object");
  verb->callback([json] { doctor(*json); });
  verb->footer("Example:\n  stepwell doctor");
}

void add_large_bench(CLI::App& bench, const std::string& op, const std::string& what) {
  CLI::App* const verb = bench.add_subcommand(op, what);
  const auto r = std::make_shared<LargeRequest>();
  const auto size = CLI::Range(std::int64_t{1}, std::int64_t{1} << 31);
  verb->add_option("--n", r->n, "Order of the matrix")->check(size)->capture_default_str();
  if (op == "syrk") verb->add_option("--k", r->k, "Columns of A; default: n")->check(size);
  if (op == "trsm") verb->add_option("--m", r->k, "Rows of B; default: n")->check(size);
  verb->add_option("--map", r->map, "Precision map, see below")->capture_default_str();
  verb->add_option("--against", r->against, "Baseline, see below");
  verb->add_option("--threads", r->threads, "Workers, and threads of the baseline; default: all")
      ->check(CLI::Range(1, 1024));
  verb->add_option("--tile", r->tile, "Order of a tile; default: 512")->check(CLI::Range(32, 8192));
  verb->add_option("--pairs", r->pairs, "Runs of each side")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  if (op == "factor") {
    verb->add_option("--matrix", r->matrix,
                     "dominant (random, n on the diagonal), matern (covariance on a grid) or "
                     "geometric (spectrum; see --condition)")
        ->check(CLI::IsMember({"dominant", "matern", "geometric"}))
        ->capture_default_str();
    verb->add_option("--condition", r->condition, "Condition number of 'geometric'")
        ->check(CLI::Range(1.0, 1e15))
        ->capture_default_str();
    verb->add_flag("--errors", r->errors, "Also compute the errors against FP64 (slow)");
    add_mkl_option(*verb);
  }
  verb->add_flag("--allow-slow-blas", r->allow_slow_blas,
                 "Compare even with a BLAS whose kernels are below the CPU");
  verb->add_flag("--json", r->json, "Print one JSON object");
  verb->callback([op, r] { bench_large(op, *r); });
  verb->footer(large_help(op));
}

void add_solve_bench(CLI::App& bench) {
  CLI::App* const verb = bench.add_subcommand("solve", "Measure solve_spd()");
  const auto r = std::make_shared<SolveRequest>();
  const auto size = CLI::Range(std::int64_t{1}, std::int64_t{1} << 31);
  verb->add_option("--n", r->n, "Order of the matrix")->check(size)->capture_default_str();
  verb->add_option("--nrhs", r->columns, "Right-hand sides")->check(size)->capture_default_str();
  verb->add_option("--kind", r->kind, "Kind of matrix, see below")->capture_default_str();
  verb->add_option("--cond", r->condition, "Condition number")
      ->check(CLI::Range(1.0, 1e16))
      ->capture_default_str();
  verb->add_option("--length", r->length, "Correlation length of a covariance")
      ->check(CLI::Range(1e-6, 1e6))
      ->capture_default_str();
  verb->add_option("--nugget", r->nugget, "What a covariance adds to its diagonal")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
  verb->add_option("--seed", r->seed, "Of the matrix")->capture_default_str();
  verb->add_flag("--sorted", r->sorted, "The points of a covariance in Morton order");
  verb->add_option("--map", r->map, "Precision map of the factor; default: the plan's");
  verb->add_option("--refiner", r->refiner,
                   "ir, cg, gmres, fgmres, ir(cg), ir(gmres) or gmres(gmres)")
      ->capture_default_str();
  verb->add_option("--against", r->against, "Baseline, see below")->capture_default_str();
  verb->add_option("--threads", r->threads, "Workers, and threads of the baseline; default: all")
      ->check(CLI::Range(1, 1024));
  verb->add_option("--pairs", r->pairs, "Runs of each side")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  verb->add_flag("--allow-slow-blas", r->allow_slow_blas,
                 "Compare even with a BLAS whose kernels are below the CPU");
  verb->add_flag("--json", r->json, "Print one JSON object");
  add_mkl_option(*verb);
  verb->callback([r] { bench_solve(*r); });
  verb->footer(solve_bench_help());
}

void add_bench(CLI::App& app) {
  struct Arguments {
    KernelRequest request;
    HarnessOptions options;
    bool json = false;
  };
  const auto a = std::make_shared<Arguments>();
  CLI::App* const bench = app.add_subcommand("bench", "Measure speed against a baseline");
  bench->require_subcommand(1);
  add_solve_bench(*bench);
  add_large_bench(*bench, "factor", "Measure the Cholesky factorization");
  add_large_bench(*bench, "syrk", "Measure C = A A'");
  add_large_bench(*bench, "trsm", "Measure B L^-T");
  add_paper_bench(*bench);
  add_compare(*bench);
  CLI::App* const verb = bench->add_subcommand("kernel", "Measure one kernel on this machine");
  KernelRequest& r = a->request;
  verb->add_option("--op", r.op, "Operation, see below")->required();
  verb->add_option("--rung", r.rung, "Arithmetic, see below; default: the operation's first");
  verb->add_option("--size", r.size, "Order of the matrices")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 31))
      ->capture_default_str();
  verb->add_option("--against", r.against, "Baseline, see below");
  verb->add_option("--threads", r.threads, "Threads of symv, gemv and trsv; default: all allowed")
      ->check(CLI::Range(1, 1024));
  verb->add_option("--vector", r.vector, "Format of trsv's vectors: fp32 (default) or fp64")
      ->check(CLI::IsMember({"fp32", "fp64"}));
  verb->add_flag("--transposed", r.transposed, "trsv with the transposed factor");
  verb->add_option("--seconds", a->options.seconds, "Length of the measurement, about")
      ->check(CLI::Range(0.0, 3600.0))
      ->capture_default_str();
  verb->add_option("--windows", a->options.windows,
                   "Pairs of windows; default: as many as fit, at least 20")
      ->check(CLI::Range(1, 1000000));
  verb->add_flag("--json", a->json, "Print one JSON object");
  verb->callback([a] { bench_kernel(a->request, a->options, a->json); });
  verb->footer(kernel_ops_help() +
               "\nExample:\n  stepwell bench kernel --op update --rung bf16 --size 512 --json");
}

int run(int argc, char** argv) {
  CLI::App app("Stepwell: dense linear systems to full FP64 accuracy on low-precision engines.",
               "stepwell");
  app.set_version_flag("--version", std::string("stepwell ") + version());
  app.require_subcommand(1);
  app.footer(std::string("Examples:\n  stepwell doctor\n"
                         "  stepwell bench solve --kind arithmetic --cond 1e2 --n 8192\n"
                         "  stepwell bench factor --n 8192 --map bf16\n"
                         "  stepwell bench kernel --op symv --size 16384\n\n") +
             kExitCodes);
  add_doctor(app);
  add_bench(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::RuntimeError& e) {
    return e.get_exit_code();  // what the verb has to say is said
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return app.exit(e);  // --help, --version
    const std::vector<std::string> unknown = app.remaining(true);
    const std::string what = unknown.empty() ? e.what() : "unknown argument '" + unknown[0] + "'";
    return fail(ErrorCode::invalid_argument, what + "; see 'stepwell --help'");
  }
  return 0;
}

}  // namespace
}  // namespace stepwell::tool

int main(int argc, char** argv) {
  using stepwell::ErrorCode;
  using stepwell::tool::fail;
  try {
    return stepwell::tool::run(argc, argv);
  } catch (const stepwell::Error& e) {
    return fail(e.code(), e.what());
  } catch (const std::bad_alloc&) {
    return fail(ErrorCode::out_of_memory, "out of memory");
  } catch (const std::exception& e) {
    return fail(ErrorCode::internal, e.what());
  }
}
