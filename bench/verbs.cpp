// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bench/verbs.hpp"

#include <memory>
#include <string>

#include "bench/baselines/baseline_mkl.hpp"
#include "bench/experiments/als.hpp"
#include "bench/experiments/batch.hpp"
#include "bench/experiments/insertion.hpp"
#include "bench/experiments/large.hpp"
#include "bench/experiments/lstsq.hpp"
#include "bench/experiments/node.hpp"
#include "bench/experiments/solve.hpp"
#include "bench/harness/compare.hpp"
#include "bench/kernels/kernel.hpp"
#include "bench/papers/paper_verb.hpp"
#include "bench/problems/tall_problem.hpp"
#include "options/recipe_options.hpp"
#include "options/solve_options.hpp"
#include "options/verb.hpp"
#include "stepwell/rung.hpp"

namespace stepwell::bench {
namespace {

void add_large_bench(tool::Verb bench, const std::string& op, const std::string& what) {
  const tool::Verb verb = bench.add_subcommand(op, what);
  const auto r = std::make_shared<LargeRequest>();
  const tool::Range size(std::int64_t{1}, std::int64_t{1} << 31);
  verb.add_option("--n", r->n, "Order of the matrix").check(size).capture_default_str();
  if (op == "syrk") verb.add_option("--k", r->k, "Columns of A; default: n").check(size);
  if (op == "trsm") verb.add_option("--m", r->k, "Rows of B; default: n").check(size);
  verb.add_option("--map", r->map, "Precision map, see below").capture_default_str();
  verb.add_option("--against", r->against, "Baseline, see below");
  verb.add_option("--threads", r->threads, "Workers, and threads of the baseline; default: all")
      .check(tool::Range(1, 1024));
  verb.add_option("--tile", r->tile, "Order of a tile; default: 512").check(tool::Range(32, 8192));
  verb.add_option("--pairs", r->pairs, "Runs of each side")
      .check(tool::Range(1, 100000))
      .capture_default_str();
  if (op == "factor") {
    verb.add_option("--kind", r->kind,
                    "dominant (random, n on the diagonal), matern (covariance on a grid) or "
                    "geometric (spectrum; see --cond)")
        .check(tool::OneOf{"dominant", "matern", "geometric"})
        .capture_default_str();
    verb.add_flag("--low-memory", r->low_memory,
                  "int8x14: 8 bytes an element of L instead of 14, converted in every product");
    verb.add_option("--cond", r->condition, "Condition number of 'geometric'")
        .check(tool::Range(1.0, 1e15))
        .capture_default_str();
    verb.add_flag("--errors", r->errors, "Also compute the errors against FP64 (slow)");
    add_mkl_option(verb);
  }
  verb.add_flag("--allow-slow-blas", r->allow_slow_blas,
                "Compare even with a BLAS whose kernels are for an older CPU");
  verb.add_flag("--json", r->json, "Print one JSON object");
  verb.callback([op, r] { bench_large(op, *r); });
  verb.footer(large_help(op));
}

/// Adds the options for running the two sides of a benchmark.
template <class Request>
void add_pair_options(tool::Verb verb, Request& r) {
  verb.add_option("--threads", r.threads, "Workers, and threads of the baseline; default: all")
      .check(tool::Range(1, 1024));
  verb.add_option("--pairs", r.pairs, "Runs of each side")
      .check(tool::Range(1, 100000))
      .capture_default_str();
  verb.add_flag("--allow-slow-blas", r.allow_slow_blas,
                "Compare even with a BLAS whose kernels are for an older CPU");
  verb.add_flag("--json", r.json, "Print one JSON object");
  add_mkl_option(verb);
}

void add_als_bench(tool::Verb bench) {
  const tool::Verb verb = bench.add_subcommand("als", "Measure alternating least squares");
  const auto r = std::make_shared<AlsBenchRequest>();
  const tool::Range size(std::int64_t{1}, std::int64_t{1} << 31);
  verb.add_option("--users", r->users, "Rows of the ratings").check(size).capture_default_str();
  verb.add_option("--items", r->items, "Columns of the ratings").check(size).capture_default_str();
  verb.add_option("--factors", r->factors, "Length of a vector")
      .check(tool::Range(1, 128))
      .capture_default_str();
  verb.add_option("--ratings-per-user", r->ratings_per_user, "Mean number of ratings per user")
      .check(tool::Range(1, 1000000))
      .capture_default_str();
  verb.add_flag("--implicit", r->implicit,
                "Ratings are counts; pairs without a rating count as zeros");
  verb.add_option("--against", r->against, "Baseline, see below")
      .check(tool::OneOf(als_baselines()))
      .capture_default_str();
  add_pair_options(verb, *r);
  verb.callback([r] { bench_als(*r); });
  verb.footer(als_bench_help());
}

void add_solve_bench(tool::Verb bench) {
  const tool::Verb verb = bench.add_subcommand("solve", "Measure whole solves");
  const auto r = std::make_shared<SolveRequest>();
  const tool::Range size(std::int64_t{1}, std::int64_t{1} << 31);
  const auto orders = std::make_shared<std::string>("4096");
  verb.add_option("--n", *orders, "Order of the matrix, or several: 50,1000,1e4")
      .capture_default_str();
  verb.add_option("--nrhs", r->columns, "Right-hand sides").check(size).capture_default_str();
  verb.add_option("--kind", r->kind, "Kind of matrix, see below").capture_default_str();
  tool::add_recipe_options(verb, *r);
  verb.add_option("--map", r->map, "Precision map of the factor; default: the plan's");
  verb.add_option("--assume", r->assume,
                  "Structure of A: spd, general (LU, for any kind), or auto: that of the kind")
      .check(tool::OneOf{"auto", "spd", "general"})
      .capture_default_str();
  tool::add_method_options(verb, r->refiner, r->pivoting);
  verb.add_option("--against", r->against,
                  "Baseline, see below, or several: dposv,mkl-dposv; default: the first");
  verb.add_flag("--mpi", r->mpi,
                "Distribute over MPI ranks, even if there is only one; implied by mpirun and srun");
  add_pair_options(verb, *r);
  verb.callback([r, orders] {
    const std::vector<std::int64_t> all = sizes_in("--n", *orders, tool::kLargestOrder);
    const std::vector<std::string> against = words_in(r->against);
    if (all.size() > 1 || against.size() > 1) return bench_solve_table(*r, all, against);
    r->n = all[0];
    bench_solve(*r);
  });
  verb.footer(solve_bench_help());
}

void add_lstsq_bench(tool::Verb bench) {
  const tool::Verb verb = bench.add_subcommand("lstsq", "Measure least squares");
  const auto r = std::make_shared<LstsqBenchRequest>();
  const tool::Range size(std::int64_t{1}, std::int64_t{1} << 31);
  std::vector<std::string> rungs;
  for (const Rung rung : mixable_rungs) rungs.emplace_back(to_string(rung));
  verb.add_option("--m", r->m, "Rows of A").check(size).capture_default_str();
  verb.add_option("--n", r->n, "Columns of A").check(size).capture_default_str();
  verb.add_option("--nrhs", r->columns, "Right-hand sides").check(size).capture_default_str();
  verb.add_option("--cond", r->condition,
                  "Condition number: largest divided by smallest singular value")
      .check(tool::Range(1.0, 1e16))
      .capture_default_str();
  verb.add_option("--kind", r->kind,
                  "tall, or tall-clustered: all singular values except one are 1")
      .check(tool::OneOf{"tall", "tall-clustered"})
      .capture_default_str();
  verb.add_option("--residual", r->residual, "||b - A x|| divided by ||A x||")
      .check(tool::Range(0.0, 1e16))
      .capture_default_str();
  verb.add_option("--seed", r->seed, "Seed of the random numbers").capture_default_str();
  verb.add_option("--layout", r->layout, "A column-major, or row-major as in C and NumPy")
      .check(tool::OneOf{"columns", "rows"})
      .capture_default_str();
  verb.add_option("--map", r->map, "Arithmetic of the Gram matrix; default: the plan's")
      .check(tool::OneOf(rungs));
  verb.add_option("--refiner", r->refiner,
                  "ir, cg, gmres, fgmres, ir(cg), ir(gmres) or gmres(gmres); default: cg");
  verb.add_flag("--qr", r->qr, "Use FP64 QR from the start");
  verb.add_option("--against", r->against, "Baseline, see below")
      .check(tool::OneOf(tall_baselines()))
      .capture_default_str();
  add_pair_options(verb, *r);
  verb.callback([r] { bench_lstsq(*r); });
  verb.footer(lstsq_bench_help());
}

void add_batch_bench(tool::Verb bench) {
  const tool::Verb verb = bench.add_subcommand("batch", "Measure many small systems at once");
  const auto r = std::make_shared<BatchBenchRequest>();
  const tool::Range size(std::int64_t{1}, std::int64_t{1} << 31);
  verb.add_option("--n", r->orders, "Order of the matrices, or several: 5,8,16 or 5..100")
      .capture_default_str();
  verb.add_option("--count", r->count, "Number of systems").check(size).capture_default_str();
  verb.add_option("--nrhs", r->columns, "Right-hand sides of a system")
      .check(tool::Range(1, 1024))
      .capture_default_str();
  verb.add_option("--type", r->type, "Format of the elements")
      .check(tool::OneOf{"fp64", "fp32"})
      .capture_default_str();
  verb.add_option(
          "--op", r->operation,
          "cholesky returns L, solve x, factor-solve both; substitute solves with a given L")
      .check(tool::OneOf{"factor-solve", "solve", "cholesky", "substitute"})
      .capture_default_str();
  verb.add_option("--layout", r->layout, "Storage of the matrices")
      .check(tool::OneOf{"strided", "pointers", "interleaved"})
      .capture_default_str();
  verb.add_option("--uplo", r->uplo, "The triangle that is read and written")
      .check(tool::OneOf{"lower", "upper"})
      .capture_default_str();
  verb.add_flag("--both-triangles", r->both_triangles, "Write the factor's transpose, too");
  verb.add_flag("--mixed", r->mixed, "Factor in fp32, refine in fp64");
  verb.add_flag("--fast", r->fast, "Approximate reciprocal square roots");
  verb.add_flag("--split", r->split, "Print the time of each kernel instead of a comparison");
  verb.add_option("--against", r->against, "Baseline, see below")
      .check(tool::OneOf(batch_baselines()))
      .capture_default_str();
  add_pair_options(verb, *r);
  verb.callback([r] { bench_batch(*r); });
  verb.footer(batch_bench_help());
}

}  // namespace

void add_bench(tool::Verb app) {
  struct Arguments {
    KernelRequest request;
    HarnessOptions options;
    bool json = false;
  };
  const auto a = std::make_shared<Arguments>();
  const tool::Verb bench = app.add_subcommand("bench", "Measure speed against a baseline");
  bench.require_subcommand();
  bench.footer(
      "Examples:\n"
      "  stepwell bench solve --n 4096                        (against dposv)\n"
      "  stepwell bench factor --n 8192 --map bf16 --against dpotrf\n"
      "  stepwell bench batch --n 5..100 --count 10000\n\n"
      "'stepwell bench VERB --help' lists the options of a verb.");
  add_solve_bench(bench);
  add_lstsq_bench(bench);
  add_batch_bench(bench);
  add_large_bench(bench, "factor", "Measure the Cholesky factorization");
  add_large_bench(bench, "syrk", "Measure C = A A'");
  add_large_bench(bench, "trsm", "Measure B L^-T");
  add_graph_bench(bench);
  add_node_bench(bench);
  add_als_bench(bench);
  add_paper_bench(bench);
  add_compare(bench);
  const tool::Verb verb = bench.add_subcommand("kernel", "Measure one kernel on this machine");
  KernelRequest& r = a->request;
  verb.add_option("--op", r.op, "Operation, see below").required();
  verb.add_option("--rung", r.rung, "Arithmetic, see below; default: the operation's first");
  verb.add_option("--n", r.size, "Order of the matrices")
      .check(tool::Range(std::int64_t{1}, std::int64_t{1} << 31))
      .capture_default_str();
  verb.add_option("--against", r.against, "Baseline, see below");
  verb.add_option("--threads", r.threads, "Threads of symv, gemv and trsv; default: all allowed")
      .check(tool::Range(1, 1024));
  verb.add_option("--vector", r.vector, "Format of trsv's vectors: fp32 (default) or fp64")
      .check(tool::OneOf{"fp32", "fp64"});
  verb.add_flag("--transposed", r.transposed, "trsv with the transposed factor");
  verb.add_option("--seconds", a->options.seconds, "Approximate length of the measurement")
      .check(tool::Range(0.0, 3600.0))
      .capture_default_str();
  verb.add_option("--pairs", a->options.windows,
                  "Pairs of windows; default: as many as fit, at least 20")
      .check(tool::Range(1, 1000000));
  verb.add_flag("--json", a->json, "Print one JSON object");
  verb.callback([a] { bench_kernel(a->request, a->options, a->json); });
  verb.footer(kernel_ops_help() +
              "\nExample:\n  stepwell bench kernel --op update --rung bf16 --n 512 --json");
}

}  // namespace stepwell::bench
