// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "tools/run_command.hpp"

/// `stepwell bench` as seen by a user: output, errors, exit codes.
namespace stepwell::tool {
namespace {

using nlohmann::json;

TEST(BenchCommand, HelpsWithExamples) {
  for (const char* verb : {"tune batch", "bench kernel", "bench factor", "bench syrk", "bench trsm",
                           "bench solve", "bench lstsq", "bench batch", "bench als"}) {
    const Outcome o = run(std::string(verb) + " --help");
    EXPECT_EQ(o.code, 0);
    EXPECT_NE(o.out.find("stepwell "), std::string::npos) << verb;
    EXPECT_EQ(o.err, "");
  }
  const Outcome o = run("bench kernel --help");
  for (const char* word :
       {"update", "syrk", "symv", "trsv", "raw", "onednn", "--json", "Example"}) {
    EXPECT_NE(o.out.find(word), std::string::npos) << word;
  }
  const Outcome solve = run("bench solve --help");
  for (const char* word : {"arithmetic", "custom-clustered", "matern", "laplacian", "dposv",
                           "dsposv", "one-worker", "one-column", "gmres(gmres)", "--nrhs"}) {
    EXPECT_NE(solve.out.find(word), std::string::npos) << word;
  }
}

TEST(BenchCommand, RefusesWrongUsageInOneLine) {
  expect_error(run("bench"), 2, "subcommand");
  expect_error(run("bench kernel"), 2, "--op");
  expect_error(run("bench kernel --op dance"), 2, "dance");
  expect_error(run("bench kernel --op update --rung fp8"), 2, "fp8");
  expect_error(run("bench kernel --op update --n 0"), 2, "--n");
  expect_error(run("bench kernel --op update --n x"), 2, "--n");
  expect_error(run("bench kernel --op update --against sum"), 2, "sum");
  expect_error(run("bench kernel --op update --rung fp64 --against raw"), 2, "matrix engine");
  expect_error(run("bench kernel --op update --threads 2"), 2, "one core");
  expect_error(run("bench kernel --op update --transposed"), 2, "trsv");
  expect_error(run("bench kernel --op symv --rung bf16"), 2, "bf16");
  expect_error(run("bench factor --n 0"), 2, "--n");
  expect_error(run("bench factor --map bf17"), 2, "bf17");
  expect_error(run("bench factor --against dsyrk"), 2, "dsyrk");
  expect_error(run("bench factor --tile 33"), 2, "multiple of 32");
  expect_error(run("bench syrk --map adaptive:1e-3"), 2, "adaptive");
  expect_error(run("bench factor --map graded:bf16"), 2, "graded");
  expect_error(run("bench solve --kind dance"), 2, "dance");
  expect_error(run("bench solve --n 100 --refiner dance"), 2, "dance");
  expect_error(run("bench solve --n 100 --map bf17"), 2, "bf17");
  expect_error(run("bench solve --against dpotrf"), 2, "dpotrf");
  expect_error(run("bench solve --against dgesv"), 2, "dposv");
  expect_error(run("bench solve --assume general --against dposv"), 2, "dgesv");
  expect_error(run("bench solve --assume spd --kind frank"), 2, "frank");
  expect_error(run("bench solve --n 0"), 2, "--n");
  expect_error(run("bench solve --nrhs 0"), 2, "--nrhs");
  expect_error(run("bench solve --cond 0.5"), 2, "--cond");
  expect_error(run("bench solve --nugget -1"), 2, "--nugget");
  expect_error(run("bench lstsq --m 10 --n 20"), 2, "--m");
  expect_error(run("bench lstsq --against dposv"), 2, "--against");
  expect_error(run("bench lstsq --layout diagonals"), 2, "--layout");
  expect_error(run("bench lstsq --refiner dance"), 2, "dance");
}

TEST(BenchCommand, SaysWhatThisMachineLacks) {
  expect_error(run("bench kernel --op update --rung bf16 --against raw", "STEPWELL_ISA=avx2"), 14,
               "AMX");
  expect_error(run("bench kernel --op symv --n 2000000"), 30, "GiB");
}

TEST(BenchCommand, IsCompletedByBash) {
  EXPECT_EQ(completed("stepwell bench s"), "solve syrk");
  EXPECT_EQ(completed("stepwell bench lstsq --layout r"), "rows");
  EXPECT_EQ(completed("stepwell bench solve --kind custom"), "custom-clustered");
  EXPECT_EQ(completed("stepwell tune batch --dry"), "--dry-run");
  EXPECT_EQ(completed("stepwell bench batch --against mkl"), "mkl-loop mkl-compact");
}

TEST(BenchCommand, HasItsPlaceInTheManual) {
  const std::string manual = run("man").out;
  for (const char* text : {".SS bench lstsq", ".SS bench kernel", ".SS tune batch"}) {
    EXPECT_NE(manual.find(text), std::string::npos) << text;
  }
}

TEST(BenchCommand, WarnsOfABlasBelowTheCpu) {
  const Outcome machine = run("doctor --json", "OPENBLAS_CORETYPE=PRESCOTT");
  const json blas = json::parse(machine.out).at("blas");
  if (blas.at("warning") == "") GTEST_SKIP() << "this BLAS has no kernels below the CPU";
  const Outcome bench =
      run("bench kernel --op update --rung fp64 --n 32 --pairs 2", "OPENBLAS_CORETYPE=PRESCOTT");
  EXPECT_EQ(bench.code, 0);
  EXPECT_NE(bench.err.find("warning"), std::string::npos) << bench.err;
}

void expect_side(const json& side) {
  for (const char* key : {"name", "library", "version", "core_name"}) {
    EXPECT_TRUE(side.at(key).is_string()) << key;
  }
  EXPECT_GE(side.at("threads"), 1);
  EXPECT_GT(side.at("seconds"), 0);
  for (const char* key : {"median", "best", "p10"}) EXPECT_GT(side.at("rate").at(key), 0);
  EXPECT_FALSE(side.at("rate_unit").get<std::string>().empty());
}

TEST(Bench, OfEveryKernelHasOneShape) {
  // Sizes that are not multiples of the blocks of 16, 32, 64 and 512, so that tails are checked,
  // too.
  for (const char* arguments : {"update --rung bf16 --n 70",
                                "update --rung bf16x2 --n 70",
                                "update --rung bf16x3 --n 70",
                                "update --rung fp16 --n 70",
                                "update --rung fp32 --n 70",
                                "update --rung fp64 --n 70",
                                "syrk --rung bf16 --n 70",
                                "syrk --rung fp64 --n 70",
                                "pack --rung bf16x3 --n 70",
                                "load --n 70",
                                "factor --rung bf16 --n 150",
                                "factor --rung fp64 --n 150",
                                "trsm --rung bf16 --n 150",
                                "trsm --rung fp32 --n 150",
                                "trsm --rung fp64 --n 150",
                                "symv --n 700",
                                "gemv --n 700",
                                "symv --n 700 --against cblas --threads 3",
                                "trsv --rung bf16 --n 1300",
                                "trsv --rung bf16x2 --n 1300 --transposed",
                                "trsv --rung fp16 --n 1300 --vector fp64",
                                "trsv --rung fp32 --n 1300 --threads 3",
                                "trsv --rung fp32 --n 1300 --transposed --vector fp64"}) {
    const Outcome o = run(std::string("bench kernel --pairs 2 --json --op ") + arguments);
    ASSERT_EQ(o.code, 0) << arguments << ": " << o.err;
    const json j = json::parse(o.out);
    EXPECT_EQ(j.at("bench"), "kernel");
    EXPECT_TRUE(j.at("op").is_string());
    EXPECT_TRUE(j.at("rung").is_string());
    EXPECT_TRUE(j.at("size").is_number_integer());
    expect_side(j.at("candidate"));
    expect_side(j.at("baseline"));
    for (const char* key : {"median", "best", "p10"}) EXPECT_GT(j.at("ratio").at(key), 0);
    EXPECT_EQ(j.at("ratio").at("windows"), 2);
    EXPECT_TRUE(j.at("machine").at("cpu_model").is_string());
  }
}

TEST(Bench, MeasuresWholeOperations) {
  for (const char* arguments :
       {"factor --n 700 --tile 64 --map bf16 --errors", "factor --n 300 --map fp16,fp32 --tile 96",
        "factor --n 300 --map adaptive:1e-6 --kind matern --tile 64 --against spotrf",
        "factor --n 200 --map bf16x2 --kind geometric --cond 1e3 --threads 1",
        "factor --n 500 --tile 64 --against one-worker --threads 2",
        "factor --n 200 --map bf16 --against map:fp64", "syrk --n 300 --k 500",
        "syrk --n 200 --map fp16 --against ssyrk", "syrk --n 300 --tile 64 --against one-worker",
        "trsm --n 300 --m 200", "trsm --n 200 --map fp32 --against strsm",
        "trsm --n 300 --map bf16,fp32 --tile 64 --against one-worker"}) {
    const Outcome o =
        run(std::string("bench ") + arguments + " --pairs 2 --json --allow-slow-blas");
    ASSERT_EQ(o.code, 0) << arguments << ": " << o.err;
    const json j = json::parse(o.out);
    EXPECT_TRUE(j.at("bench").is_string());
    EXPECT_TRUE(j.at("map").is_string());
    expect_side(j.at("candidate"));
    expect_side(j.at("baseline"));
    EXPECT_EQ(j.at("ratio").at("windows"), 2);
    EXPECT_GT(j.at("phases").at("wall"), 0);
    if (j.at("bench") != "factor") continue;
    EXPECT_GT(j.at("bytes").at("peak"), j.at("bytes").at("factor"));
    EXPECT_GE(j.at("attempts").size(), 1U);
    if (std::string(arguments).find("--errors") == std::string::npos) continue;
    EXPECT_LT(j.at("error").at("residual"), 0x1p-6);  // bf16
    EXPECT_GT(j.at("error").at("residual"), 0x1p-20);
  }
}

TEST(Bench, SolvesSeveralOrdersAgainstSeveralBaselines) {
  const std::string table = "bench solve --n 40,1e2 --against dposv,dsposv --pairs 3 ";
  Outcome o = run(table + "--json --allow-slow-blas");
  ASSERT_EQ(o.code, 0) << o.err;
  const json j = json::parse(o.out);
  ASSERT_EQ(j.at("rows").size(), 2U);
  EXPECT_EQ(j.at("rows")[1].at("n"), 100);
  for (const json& row : j.at("rows")) {
    EXPECT_GT(row.at("seconds"), 0);
    EXPECT_LT(row.at("backward_error"), 2 * 10 * 0x1p-53);
    for (const char* name : {"dposv", "dsposv"}) {
      EXPECT_EQ(row.at("against").at(name).at("ratio").at("windows"), 3);
    }
  }
  o = run(table + "--allow-slow-blas");
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(std::count(o.out.begin(), o.out.end(), '\n'), 4) << o.out;
  o = run("bench solve --n 40,x");
  EXPECT_NE(o.code, 0);
  EXPECT_NE(o.err.find("50,1000,1e4"), std::string::npos) << o.err;
  o = run("bench solve --n 40,50 --against dgesv");
  EXPECT_NE(o.code, 0);
  EXPECT_NE(o.err.find("its baselines are dposv"), std::string::npos) << o.err;
}

TEST(Bench, SolvesAndShowsTheCertificate) {
  for (const char* arguments :
       {"--n 100", "--n 300 --map bf16 --nrhs 3", "--n 300 --map bf16x2 --refiner 'ir(gmres)'",
        "--n 300 --kind matern --sorted --map graded:bf16x3*1,bf16 --against dsposv",
        "--n 200 --kind geometric --cond 1e4 --seed 7 --against one-worker --threads 2",
        "--n 200 --kind laplacian --nrhs 4 --against one-column", "--n 1000 --kind dominant",
        "--n 100 --assume general", "--n 300 --kind general-clustered --nrhs 3 --map bf16",
        "--n 300 --kind positive-arithmetic --against dsgesv --refiner fgmres",
        "--n 200 --kind frank --against one-worker --threads 2"}) {
    const Outcome o =
        run(std::string("bench solve ") + arguments + " --pairs 2 --json --allow-slow-blas");
    ASSERT_EQ(o.code, 0) << arguments << ": " << o.err;
    const json j = json::parse(o.out);
    EXPECT_EQ(j.at("bench"), "solve");
    for (const char* key : {"kind", "map", "refiner", "against"}) {
      EXPECT_TRUE(j.at(key).is_string()) << key;
    }
    EXPECT_GE(j.at("condition"), 1);
    expect_side(j.at("candidate"));
    expect_side(j.at("baseline"));
    EXPECT_EQ(j.at("ratio").at("windows"), 2);
    const double n = j.at("n");
    EXPECT_LT(j.at("backward_error"), 2 * std::sqrt(n) * 0x1p-53);
    const std::string against = j.at("against");
    EXPECT_EQ(j.contains("baseline_backward_error"), against.ends_with("sv")) << arguments;
    EXPECT_EQ(j.contains("baseline_iterations"), against.starts_with("ds")) << arguments;
    EXPECT_EQ(j.at("certificate").at("structure"), j.at("structure")) << arguments;

    const json& c = j.at("certificate");
    EXPECT_EQ(c.at("outcome"), "converged");
    EXPECT_EQ(c.at("reason"), "");
    EXPECT_LE(c.at("backward_error"), c.at("tolerance"));
    EXPECT_GT(c.at("norm"), 0);
    EXPECT_GT(c.at("peak_bytes"), 0);
    EXPECT_EQ(c.at("columns").size(), j.at("columns").get<std::size_t>());
    for (const json& column : c.at("columns")) EXPECT_EQ(column.at("outcome"), "converged");
    for (const json& rung : c.at("rungs")) EXPECT_TRUE(rung.at("left_because").is_string());
    for (const char* key : {"analysis", "factor", "refine", "certify", "wall"}) {
      EXPECT_GE(c.at("seconds").at(key), 0) << key;
    }
    if (j.at("map") != "") {
      EXPECT_EQ(c.at("rungs").at(0).at("map"), j.at("map"));
    }
  }
}

TEST(Bench, OfLeastSquaresSaysWhatItMeasured) {
  for (const char* arguments :
       {"--m 500 --n 20", "--m 500 --n 20 --layout rows --nrhs 3",
        "--m 3000 --n 100 --against normal-equations --rung bf16x2 --cond 100",
        "--m 800 --n 50 --against normal-equations --layout rows --nrhs 2",
        "--m 900 --n 40 --against one-worker --threads 2 --refiner gmres", "--m 300 --n 30 --qr",
        "--m 700 --n 30 --kind tall-clustered --cond 1e4 --residual 0.01 --seed 3"}) {
    const Outcome o =
        run(std::string("bench lstsq ") + arguments + " --pairs 2 --json --allow-slow-blas");
    ASSERT_EQ(o.code, 0) << arguments << ": " << o.err;
    const json j = json::parse(o.out);
    EXPECT_EQ(j.at("bench"), "lstsq");
    expect_side(j.at("candidate"));
    expect_side(j.at("baseline"));
    EXPECT_EQ(j.at("ratio").at("windows"), 2);
    const double n = j.at("n"), condition = j.at("condition"), residual = j.at("residual");
    const double m = j.at("m");
    EXPECT_EQ(j.contains("baseline_accuracy"), j.at("against") != "one-worker");
    for (const char* key : {"accuracy", "baseline_accuracy"}) {
      if (!j.contains(key)) continue;
      const json& a = j.at(key);
      EXPECT_GT(a.at("residual_norm"), 0);
      // The normal equations lose the condition number; both sum over the rows.
      const double lost = j.at("against") == "normal-equations" ? condition : 1;
      EXPECT_LT(a.at("gradient"), 8 * std::sqrt(m) * lost * 0x1p-53) << arguments;
      EXPECT_LT(a.at("forward_error"), 100 * n * condition * (1 + residual * condition) * 0x1p-53)
          << arguments;
    }
    const json& c = j.at("certificate");
    EXPECT_EQ(c.at("structure"), "least squares");
    EXPECT_EQ(c.at("outcome"), "converged");
    EXPECT_LE(c.at("backward_error"), c.at("tolerance"));
    EXPECT_EQ(c.at("columns").size(), j.at("columns").get<std::size_t>());
    if (j.at("qr") == true) {
      EXPECT_EQ(c.at("map"), "qr");
    }
  }
  const Outcome text = run("bench lstsq --m 500 --n 20 --pairs 1 --allow-slow-blas");
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_NE(text.out.find("forward error"), std::string::npos) << text.out;
}

TEST(Bench, OfASolveThatFailsSaysWhy) {
  const Outcome o = run("bench solve --n 100 --kind hilbert --allow-slow-blas");
  EXPECT_EQ(o.code, 14);
  EXPECT_EQ(o.out, "");
  EXPECT_NE(o.err.find("not positive definite"), std::string::npos) << o.err;
}

TEST(Bench, RefusesABaselineWhoseKernelsAreBelowTheCpu) {
  const Outcome doctor = run("doctor --json", "OPENBLAS_CORETYPE=Prescott");
  if (json::parse(doctor.out).at("blas").at("warning") == "") GTEST_SKIP() << "the BLAS is good";
  const Outcome refused = run("bench factor --n 100", "OPENBLAS_CORETYPE=Prescott");
  EXPECT_EQ(refused.code, 14);
  EXPECT_NE(refused.err.find("--allow-slow-blas"), std::string::npos) << refused.err;
  const Outcome allowed =
      run("bench factor --n 100 --pairs 2 --allow-slow-blas", "OPENBLAS_CORETYPE=Prescott");
  EXPECT_EQ(allowed.code, 0) << allowed.err;
  EXPECT_NE(allowed.err.find("warning"), std::string::npos) << allowed.err;
}

// StarPU writes files to the home directory and ends the process if it can't.
TEST(Bench, RunsWhereTheHomeDirectoryCantBeWritten) {
  const std::string bench =
      "bench factor --n 300 --tile 64 --pairs 1 --threads 2 --allow-slow-blas";
  const Outcome no_home = run(bench, "HOME=/proc");
  EXPECT_EQ(no_home.code, 0) << no_home.err;
  const Outcome refused = run(bench, "STARPU_HOME=/proc");
  EXPECT_EQ(refused.code, 14);
  EXPECT_NE(refused.err.find("STARPU_HOME"), std::string::npos) << refused.err;
}

TEST(Bench, RunsWithReferenceKernelsToo) {
  for (const char* arguments :
       {"update --rung bf16 --n 33", "syrk --rung fp16 --n 33", "factor --rung bf16x2 --n 70",
        "trsm --rung bf16 --n 70", "symv --n 200", "trsv --rung bf16 --n 600"}) {
    const Outcome o = run(std::string("bench kernel --pairs 2 --json --op ") + arguments,
                          "STEPWELL_ISA=reference");
    ASSERT_EQ(o.code, 0) << arguments << ": " << o.err;
    EXPECT_EQ(json::parse(o.out).at("machine").at("isa"), "reference");
  }
}

}  // namespace
}  // namespace stepwell::tool
