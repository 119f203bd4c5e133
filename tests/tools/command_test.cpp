// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "options/recipe_options.hpp"
#include "run_command.hpp"

/// The stepwell command as seen by a user: output, errors, exit codes.
namespace stepwell::tool {
namespace {

using nlohmann::json;

TEST(Command, SaysItsVersion) {
  const Outcome o = run("--version");
  EXPECT_EQ(o.code, 0);
  EXPECT_EQ(o.out.rfind("stepwell ", 0), 0U) << o.out;
}

TEST(Command, HelpsWithExamples) {
  for (const char* verb :
       {"", "solve", "lstsq", "gen", "plan", "tune", "doctor", "selftest", "completion", "man"}) {
    const Outcome o = run(std::string(verb) + " --help");
    EXPECT_EQ(o.code, 0);
    EXPECT_NE(o.out.find("stepwell "), std::string::npos) << verb;
    EXPECT_EQ(o.err, "");
  }
}

TEST(Command, RefusesWrongUsageInOneLine) {
  expect_error(run(""), 2, "subcommand");
  expect_error(run("dance"), 2, "dance");
  expect_error(run("doctor --fast"), 2, "--fast");
}

TEST(Command, SuggestsTheVerbOrOptionThatWasMeant) {
  expect_error(run("solv A.npy b.npy"), 2, "did you mean 'solve'?");
  expect_error(run("docter"), 2, "did you mean 'doctor'?");
  expect_error(run("solve --condd 1e3 --kind geometric --n 10"), 2, "did you mean '--cond'?");
  expect_error(run("doctor --fastest"), 2, "see 'stepwell --help'");
  EXPECT_EQ(run("lu").err.find("did you mean"), std::string::npos) << "nothing is close";
}

TEST(Command, TakesNumbersOfElementsInScientificNotation) {
  const Outcome o = run("plan --n 1e4 --nrhs 2e1 --json");
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(json::parse(o.out).at("n"), 10000);
  expect_error(run("plan --n 1.5"), 2, "1.5");
  expect_error(run("plan --n 1e-3"), 2, "1e-3");
  expect_error(run("plan --n 1e30"), 2, "1e30");
  expect_error(run("plan --n nan"), 2, "nan");
}

TEST(Command, HasTheSameLargestOrderInEveryVerb) {
  const std::string most = std::to_string(kLargestOrder);
  for (const char* verb : {"gen arithmetic -o A.npy", "solve --kind arithmetic", "plan"}) {
    const std::string order = std::string(verb) + " --n " + std::to_string(kLargestOrder + 1);
    expect_error(run(order), 2, most);
  }
  EXPECT_EQ(run("plan --n " + most).code, 0);
}

TEST(Command, SaysOnceThatAZeroMatrixIsSingular) {
  // Its factorization fails at every rung for one reason, which needs one line.
  const Directory d;
  const auto zeros = [&](const std::string& name, int columns) {
    std::ofstream file(d / name);
    file << "%%MatrixMarket matrix array real general\n300 " << columns << '\n';
    for (int k = 0; k < 300 * columns; ++k) file << "0\n";
    return d / name;
  };
  const std::string files = zeros("A.mtx", 300) + " " + zeros("b.mtx", 1);
  for (const char* options : {"", " --map bf16"}) {
    const Outcome o = run("solve " + files + options);
    EXPECT_EQ(o.code, 20) << o.err;
    const std::string text = o.out + o.err;
    EXPECT_NE(text.find("column 0 (counted from 0) has only zeros"), std::string::npos) << text;
    const std::size_t tried = text.find("  tried ");
    EXPECT_EQ(text.find("  tried ", std::min(tried, text.size() - 1) + 1), std::string::npos)
        << text;
  }
}

json doctor(const std::string& variables = "") {
  const Outcome o = run("doctor --json", variables);
  EXPECT_EQ(o.code, 0) << o.err;
  return json::parse(o.out);
}

TEST(Doctor, ReportsTheMachineAsJson) {
  const json d = doctor();
  for (const char* key :
       {"version", "cpu_vendor", "cpu_model", "isa", "isa_cap", "isa_cap_problem", "huge_pages"}) {
    EXPECT_TRUE(d.at(key).is_string()) << key;
  }
  EXPECT_EQ(d.at("isas").size(), 6U);
  EXPECT_GE(d.at("kernels").size(), 20U);
  EXPECT_GE(d.at("threads"), 1);
  EXPECT_LE(d.at("threads"), d.at("cpus_by_affinity"));
  EXPECT_GT(d.at("memory_total"), 0);
  EXPECT_FALSE(d.at("blas").at("library").get<std::string>().empty());
  for (const json& kernel : d.at("kernels")) {
    EXPECT_FALSE(kernel.at("kernel").get<std::string>().empty()) << kernel;
  }
}

TEST(Doctor, SaysHowManyThreadsAndWhy) {
  const std::string none =
      "STEPWELL_THREADS= OPENBLAS_NUM_THREADS= MKL_NUM_THREADS= OMP_NUM_THREADS=";
  const json one = doctor(none + " STEPWELL_THREADS=1");
  EXPECT_EQ(one.at("threads"), 1);
  EXPECT_EQ(one.at("threads_reason"), "STEPWELL_THREADS");
  EXPECT_EQ(doctor(none + " OMP_NUM_THREADS=1").at("threads_reason"), "OMP_NUM_THREADS");
  const json ignored = doctor(none + " STEPWELL_THREADS=many");
  EXPECT_EQ(ignored.at("threads_problem"),
            "STEPWELL_THREADS=many is not a number of threads, and is ignored");
  const std::string text = run("doctor", none + " STEPWELL_THREADS=many").out;
  EXPECT_NE(text.find("STEPWELL_THREADS=many is not"), std::string::npos) << text;
}

TEST(Doctor, SaysWhyBetterKernelsWereRefused) {
  const json d = doctor("STEPWELL_ISA=reference");
  EXPECT_EQ(d.at("isa"), "reference");
  EXPECT_EQ(d.at("isa_cap"), "reference");
  for (const json& kernel : d.at("kernels")) {
    EXPECT_EQ(kernel.at("isa"), "reference") << kernel;
    EXPECT_FALSE(kernel.at("refused").empty()) << kernel;
  }
  const json& bf16 = d.at("kernels").at(0);
  EXPECT_EQ(bf16.at("operation"), "update bf16");
  EXPECT_EQ(bf16.at("refused").at(0).get<std::string>().rfind("amx: ", 0), 0U) << bf16;
}

TEST(Doctor, SaysThatACapMakesNoSense) {
  const json d = doctor("STEPWELL_ISA=sse9");
  EXPECT_FALSE(d.at("isa_cap_problem").get<std::string>().empty());
  EXPECT_NE(run("doctor", "STEPWELL_ISA=sse9").out.find("sse9"), std::string::npos);
}

TEST(Doctor, WarnsOfABlasBelowTheCpuAndSaysTheFix) {
  const json plain = doctor("OPENBLAS_CORETYPE=PRESCOTT");
  const json& blas = plain.at("blas");
  const bool avx2 = plain.at("isas").at(2).at("usable");
  if (blas.at("library") != "OpenBLAS" || blas.at("core_name") != "Prescott" || !avx2) {
    GTEST_SKIP() << "needs an OpenBLAS with kernels for several CPUs, and AVX2";
  }
  const std::string warning = blas.at("warning");
  EXPECT_NE(warning.find("OPENBLAS_CORETYPE="), std::string::npos) << warning;
  EXPECT_NE(warning.find("slower"), std::string::npos) << warning;
  const Outcome text = run("doctor", "OPENBLAS_CORETYPE=PRESCOTT");
  EXPECT_NE(text.out.find("OPENBLAS_CORETYPE="), std::string::npos);

  // The suggested fix works.
  const std::string fix = warning.substr(warning.find("OPENBLAS_CORETYPE="));
  const json fixed = doctor(fix.substr(0, fix.find(' ')));
  EXPECT_EQ(fixed.at("blas").at("warning"), "");
}

TEST(Doctor, HasNoColoursInAPipe) {
  EXPECT_EQ(run("doctor").out.find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace stepwell::tool
