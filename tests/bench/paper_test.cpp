// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "tools/run_command.hpp"

/// `bench paper` and `bench compare` as seen by a user.
namespace stepwell::tool {
namespace {

using nlohmann::json;

/// No second baseline and no matrices, as on a fresh machine.
constexpr const char* kBare = "env -u STEPWELL_SUITESPARSE STEPWELL_MKL=/nonexistent";

json read_json(const std::string& path) {
  return json::parse(contents(path));
}

void write(const std::string& path, const std::string& text) {
  std::ofstream(path) << text;
}

void expect_ratio(const json& ratio, const json& about) {
  EXPECT_GT(ratio.at("median"), 0) << about;
  EXPECT_GE(ratio.at("best"), ratio.at("median")) << about;
  EXPECT_EQ(ratio.at("pairs").size(), ratio.at("windows").get<std::size_t>()) << about;
}

void expect_cases(const json& section, std::size_t count, const std::set<std::string>& against) {
  EXPECT_EQ(section.at("cases").size(), count);
  std::set<std::string> found;
  for (const json& c : section.at("cases")) {
    EXPECT_GT(c.at("seconds"), 0) << c;
    EXPECT_GT(c.at("rate").at("median"), 0) << c;
    for (const auto& [name, ratio] : c.at("ratio").items()) {
      expect_ratio(ratio, c);
      found.insert(name);
      EXPECT_TRUE(section.at("sides").contains(name)) << name;
    }
  }
  found.erase("raw");  // only on CPUs with a matrix engine
  EXPECT_EQ(found, against);
}

TEST(Paper, MeasuresEverythingAndKeepsIt) {
  const Directory directory;
  const std::string out = directory / "results";
  const Outcome o =
      run("bench paper --max-n 512 --json-only --allow-slow-blas --out '" + out + "'", kBare);
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(o.out, "");
  EXPECT_NE(o.err.find(" left  rate, n = 512"), std::string::npos) << o.err;
  EXPECT_NE(o.err.find("no second baseline"), std::string::npos) << o.err;

  const json paper = read_json(out + "/paper.json");
  const json& machine = paper.at("machine");
  for (const char* key : {"cpu_model", "isa", "huge_pages", "compiler", "commit", "date"}) {
    EXPECT_FALSE(machine.at(key).get<std::string>().empty()) << key;
  }
  EXPECT_GT(machine.at("memory_bytes"), 0);
  EXPECT_EQ(machine.at("baselines").size(), 1U);
  expect_cases(paper.at("rate"), 2 * 6, {"dpotrf", "spotrf"});
  expect_cases(paper.at("layers"), 2 * (15 + 9 + 9), {"dpotrf", "dsyrk", "dtrsm"});
  expect_cases(paper.at("spectra"), 2 * 9, {"dposv", "dsposv"});
  for (const json& c : paper.at("spectra").at("cases")) {
    EXPECT_LE(c.at("backward_error"), c.at("tolerance")) << c;
    // The 2-norm condition number is no larger; the estimate is seldom wrong by a factor of 3.
    EXPECT_GE(c.at("condition_inf"), c.at("condition").get<double>() / 3) << c;
  }
  for (const json& c : paper.at("layers").at("cases")) {
    if (c.at("bench") != "factor") continue;
    const bool fp64 = c.at("map") == "fp64";
    EXPECT_LT(c.at("error").at("residual"), fp64 ? 1e-14 : 0x1p-7) << c;
    EXPECT_GT(c.at("error").at("residual"), fp64 ? 0 : 1e-12) << c;
  }
  EXPECT_EQ(paper.at("histories").at("histories").size(), 18U);
  expect_cases(paper.at("general"), 2 * 6, {"dgesv", "dsgesv"});
  for (const json& c : paper.at("general").at("cases")) {
    EXPECT_LE(c.at("backward_error"), c.at("tolerance")) << c;
    EXPECT_GT(c.at("predicted_seconds"), 0) << c;
  }
  EXPECT_EQ(paper.at("general").at("histories").size(), 6 * 2 * 5U);
  for (const json& row : paper.at("general").at("model")) {
    for (const char* key : {"dgetrf", "dgetrs", "gemv"}) EXPECT_GT(row.at(key), 0) << row;
    EXPECT_EQ(row.at("rungs").size(), 3U);
  }
  for (const char* type : {"fp32", "fp64"}) {
    const json& batch = paper.at("batch").at(type);
    const std::size_t variants = batch.at("sweep").at("variants").size();
    EXPECT_GE(variants, 5U);
    for (const char* list : {"heat", "orders"}) {
      for (const json& order : batch.at("sweep").at(list)) {
        EXPECT_EQ(order.at("rates").size(), variants);
        for (const json& rate : order.at("rates")) EXPECT_GT(rate, 0);
      }
    }
    for (const json& row : batch.at("rates")) {
      for (const char* operation : {"cholesky", "substitute", "factor-solve", "solve"}) {
        EXPECT_GT(row.at(operation).at("ours"), 0) << row;
        EXPECT_GT(row.at(operation).at("lapack-loop"), 0) << row;
      }
      EXPECT_GT(row.at("seconds").at("factor"), 0) << row;
    }
  }
  for (const char* part : {"tables", "matrices", "lstsq"}) {
    EXPECT_TRUE(paper.at(part).at("rows").empty());
    EXPECT_EQ(paper.at(part).at("skipped").size(), 1U);
  }

  // Running one part replaces its section only.
  const Outcome again =
      run("bench paper --part histories --max-n 128 --json-only "
          "--allow-slow-blas --out '" +
              out + "'",
          kBare);
  ASSERT_EQ(again.code, 0) << again.err;
  const json replaced = read_json(out + "/paper.json");
  EXPECT_EQ(replaced.at("histories").at("n"), 128);
  for (const char* part :
       {"rate", "layers", "spectra", "tables", "general", "matrices", "lstsq", "batch"}) {
    EXPECT_EQ(replaced.at(part), paper.at(part)) << part;
  }
  EXPECT_EQ(directory.list(), "results");

  const std::string path = "'" + out + "/paper.json'";
  const Outcome same = run("bench compare --json " + path + " " + path);
  EXPECT_EQ(same.code, 0) << same.err;
  const json verdict = json::parse(same.out);
  EXPECT_GE(verdict.at("same"), 2 * (6 * 2 + 33 + 9 * 2 + 6 * 2));
  EXPECT_EQ(verdict.at("same"), verdict.at("cases").size());
}

TEST(Paper, RunsWithoutAMatrixEngine) {
  const Directory directory;
  const Outcome o =
      run("bench paper --part rate --max-n 128 --allow-slow-blas --out '" + directory.path() + "'",
          std::string(kBare) + " STEPWELL_ISA=avx2");
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_NE(o.out.find("factor bf16"), std::string::npos) << o.out;
  const json rate = read_json(directory / "paper.json").at("rate");
  expect_cases(rate, 6, {"dpotrf", "spotrf"});
  EXPECT_FALSE(rate.at("sides").contains("raw"));
  EXPECT_EQ(rate.at("skipped").at(0).at("what"), "the bare matrix engine");
}

TEST(Paper, ReadsTheMatricesOfTheTables) {
  const Directory directory;
  ASSERT_EQ(run("gen trefethen --n 300 -o '" + directory / "Trefethen_300.mtx" + "'").code, 0);
  const Outcome o = run(
      "bench paper --part tables --json-only --allow-slow-blas --out '" + directory.path() + "'",
      std::string(kBare) + " STEPWELL_SUITESPARSE='" + directory.path() + "'");
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_NE(o.err.find("no mesh2e1.mtx"), std::string::npos) << o.err;
  const json tables = read_json(directory / "paper.json").at("tables");
  ASSERT_EQ(tables.at("rows").size(), 1U);
  EXPECT_EQ(tables.at("skipped").size(), 13U);
  const json& row = tables.at("rows").at(0);
  EXPECT_EQ(row.at("matrix"), "Trefethen_300");
  EXPECT_EQ(row.at("shift").at("fp16"), row.at("shift").at("paper"));
  ASSERT_EQ(row.at("iterations").size(), 2U);
  for (const json& refiner : row.at("iterations")) {
    const json& cell = refiner.at("single, double, double");
    EXPECT_EQ(cell.at("ours"), cell.at("paper")) << refiner;
  }
}

TEST(Paper, SolvesTheGeneralMatricesOrSaysWhyNot) {
  const Directory directory;
  ASSERT_EQ(run("gen rands --n 67 -o '" + directory / "west0067.mtx" + "'").code, 0);
  write(directory / "ash85.mtx",
        "%%MatrixMarket matrix coordinate pattern general\n3 3 4\n1 1\n2 1\n3 3\n2 3\n");
  write(directory / "mcca.mtx", "%%MatrixMarket matrix coordinate integer general\n2 3 1\n1 1 5\n");
  const Outcome o = run(
      "bench paper --part matrices --json-only --allow-slow-blas --out '" + directory.path() + "'",
      std::string(kBare) + " STEPWELL_SUITESPARSE='" + directory.path() + "'");
  ASSERT_EQ(o.code, 0) << o.err;
  const json matrices = read_json(directory / "paper.json").at("matrices");
  EXPECT_EQ(matrices.at("skipped").size(), 22U);
  ASSERT_EQ(matrices.at("rows").size(), 3U);
  const json& solved = matrices.at("rows").at(0);
  EXPECT_EQ(solved.at("outcome"), "converged");
  EXPECT_GT(solved.at("condition"), 1);
  EXPECT_LE(solved.at("backward_error"), solved.at("tolerance"));
  EXPECT_LT(solved.at("dgesv").at("backward_error"), 67 * 0x1p-53);
  const json& singular = matrices.at("rows").at(1);
  EXPECT_EQ(singular.at("outcome"), "singular");
  EXPECT_EQ(singular.at("dgesv").at("info"), 2);
  EXPECT_EQ(singular.at("structural_rank"), 2);
  EXPECT_EQ(solved.at("structural_rank"), 67);
  EXPECT_EQ(matrices.at("rows").at(2).at("outcome"), "rectangular");
}

TEST(Paper, ReadsTheMatricesOfLeastSquares) {
  const Directory directory;
  ASSERT_EQ(run("gen tall --m 219 --n 85 --cond 3 -o '" + directory / "ash219.mtx" + "'").code, 0);
  ASSERT_EQ(run("gen tall --m 320 --n 80 --cond 1e4 -o '" + directory / "illc1033.mtx" + "'").code,
            0);
  const Outcome o =
      run("bench paper --part lstsq --json-only --allow-slow-blas --out '" + directory.path() + "'",
          std::string(kBare) + " STEPWELL_SUITESPARSE='" + directory.path() + "'");
  ASSERT_EQ(o.code, 0) << o.err;
  const json section = read_json(directory / "paper.json").at("lstsq");
  ASSERT_EQ(section.at("rows").size(), 2U);
  EXPECT_EQ(section.at("skipped").size(), 7U);
  for (const json& row : section.at("rows")) {
    const double n = row.at("n");
    EXPECT_EQ(row.at("outcome"), "converged") << row;
    EXPECT_GT(row.at("condition").at("ours"), 1);
    // (6.3) can exceed the bound only by the error of dgesvd.
    EXPECT_LT(row.at("backward_error"), n * 0x1p-53) << row;
    EXPECT_LT(row.at("dgels").at("backward_error"), n * 0x1p-53) << row;
    for (const char* rung : {"fp16", "bf16", "bf16x2", "bf16x3", "fp32"}) {
      EXPECT_GE(row.at("preconditioned").at(rung), 1) << row;
      EXPECT_LT(row.at("preconditioned").at(rung), 1e8) << row;  // the condition number's square
    }
  }
  const json& easy = section.at("rows").at(0);
  EXPECT_EQ(easy.at("shift").at("fp16"), 0);
  for (const char* refiner : {"gmres", "cg"}) {
    for (const char* rung : {"bf16", "fp16", "fp32"}) {
      const json& attempt = easy.at("rungs").at(refiner).at(rung);
      EXPECT_EQ(attempt.at("outcome"), "converged") << attempt;
      EXPECT_GE(attempt.at("iterations"), 1) << attempt;
      EXPECT_LT(attempt.at("error"), 85 * 0x1p-53) << attempt;
    }
  }
  EXPECT_LT(easy.at("preconditioned").at("fp16"), 1.1);
}

TEST(Paper, RefusesWhatItCantDo) {
  const Directory directory;
  const std::string options = " --max-n 64 --part tables --allow-slow-blas --out '";
  expect_error(run("bench paper --part figures"), 2, "--part");
  write(directory / "file", "");
  expect_error(run("bench paper" + options + directory / "file" + "'"), 10, "can't be created");
  write(directory / "paper.json", "{\"bench\": \"solve\"}");
  expect_error(run("bench paper" + options + directory.path() + "'"), 11, "paper.json");
  EXPECT_EQ(contents(directory / "paper.json"), "{\"bench\": \"solve\"}");
}

TEST(Mkl, IsOptional) {
  for (const char* arguments :
       {"factor --n 64 --against mkl-dpotrf", "solve --n 64 --against mkl-dposv",
        "solve --n 64 --kind rands --against mkl-dgesv",
        "lstsq --m 64 --n 8 --against mkl-dgels"}) {
    const Outcome o = run(std::string("bench ") + arguments + " --mkl /nonexistent");
    expect_error(o, 14, "pip install mkl");
  }
}

TEST(Mkl, IsABaselineWhereItIs) {
  for (const char* arguments : {"--against mkl-dposv", "--kind randn --against mkl-dgesv"}) {
    const Outcome o =
        run(std::string("bench solve --n 300 --pairs 2 --json --threads 2 ") + arguments);
    if (o.code == 14) GTEST_SKIP() << o.err;
    ASSERT_EQ(o.code, 0) << o.err;
    const json j = json::parse(o.out);
    EXPECT_EQ(j.at("baseline").at("library"), "oneMKL");
    EXPECT_FALSE(j.at("baseline").at("version").get<std::string>().empty());
    EXPECT_LT(j.at("baseline_backward_error"), 2 * std::sqrt(300.0) * 0x1p-53);
    // The linked BLAS keeps its name.
    EXPECT_EQ(j.at("machine").at("blas_warning"),
              json::parse(run("doctor --json").out).at("blas").at("warning"));
  }
}

/// A measurement with its ratios multiplied by a factor.
std::string scaled(json j, double factor) {
  for (json& pair : j.at("ratio").at("pairs")) pair = pair.get<double>() * factor;
  return j.dump();
}

json steady(const std::string& map) {
  json j = {{"bench", "factor"}, {"n", 4096}, {"map", map}, {"against", "dpotrf"}};
  j["baseline"] = {{"library", "OpenBLAS"}, {"version", "0.3.21"}, {"threads", 2}};
  j["ratio"] = {{"pairs", {8.0, 8.1, 7.9, 8.05, 7.95, 8.02, 7.98, 8.01, 7.99}}};
  return j;
}

TEST(Compare, JudgesTwoFiles) {
  const Directory directory;
  const json j = steady("bf16");
  write(directory / "before.json", j.dump());
  write(directory / "slower.json", scaled(j, 0.8));
  write(directory / "faster.json", scaled(j, 1.2));
  const auto compare = [&](const char* before, const char* after, const char* options = "") {
    return run("bench compare '" + directory / before + "' '" + directory / after + "' " + options);
  };
  const Outcome same = compare("before.json", "before.json");
  EXPECT_EQ(same.code, 0) << same.err;
  EXPECT_NE(same.out.find("0 slower, 0 faster, 1 same"), std::string::npos) << same.out;

  const Outcome slower = compare("before.json", "slower.json");
  EXPECT_EQ(slower.code, 1);
  EXPECT_NE(slower.out.find("-20.0%"), std::string::npos) << slower.out;
  EXPECT_EQ(slower.err, "stepwell: error: 1 of 1 cases became slower\n");
  const Outcome lenient = compare("before.json", "slower.json", "--least-change 0.3");
  EXPECT_EQ(lenient.code, 0) << lenient.out;

  const Outcome faster = compare("before.json", "faster.json", "--json");
  EXPECT_EQ(faster.code, 0) << faster.err;
  const json verdict = json::parse(faster.out);
  EXPECT_EQ(verdict.at("faster"), 1);
  EXPECT_EQ(verdict.at("cases").at(0).at("case"), "factor n=4096 bf16 against dpotrf");
  EXPECT_NEAR(verdict.at("cases").at(0).at("change"), 0.2, 1e-4);
}

TEST(Compare, DoesNotJudgeByAnotherBaseline) {
  const Directory directory;
  json other = steady("bf16");
  other["baseline"]["version"] = "0.3.29";
  write(directory / "before.json", steady("bf16").dump());
  write(directory / "after.json", scaled(other, 0.5));
  const Outcome o =
      run("bench compare '" + directory / "before.json" + "' '" + directory / "after.json" + "'");
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_NE(o.out.find("another baseline"), std::string::npos) << o.out;
  EXPECT_NE(o.out.find("1 unknown"), std::string::npos) << o.out;
}

TEST(Compare, ReadsWhatBenchPrints) {
  const Directory directory;
  const std::string file = directory / "kernel.json";
  const Outcome made =
      run("bench kernel --op update --rung fp64 --n 32 --pairs 6 --json > '" + file + "'");
  ASSERT_EQ(made.code, 0) << made.err;
  const Outcome o = run("bench compare --json '" + file + "' '" + file + "'");
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(json::parse(o.out).at("same"), 1);
}

TEST(Compare, SaysWhatIsWrongWithAFile) {
  const Directory directory;
  write(directory / "a.json", steady("bf16").dump());
  write(directory / "b.json", steady("fp64").dump());
  write(directory / "broken.json", "{\"ratio\": ");
  write(directory / "empty.json", "{}");
  const std::string a = "'" + directory / "a.json" + "' '";
  expect_error(run("bench compare " + a + directory / "none.json" + "'"), 10, "none.json");
  expect_error(run("bench compare " + a + directory / "broken.json" + "'"), 11, "broken.json");
  expect_error(run("bench compare " + a + directory / "empty.json" + "'"), 11, "pairs");
  expect_error(run("bench compare " + a + directory / "b.json" + "'"), 16, "no case is in both");
  expect_error(run("bench compare " + a + "'"), 10, "can't be opened");
}

}  // namespace
}  // namespace stepwell::tool
