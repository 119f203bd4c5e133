// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "tools/run_command.hpp"

/// `bench batch` and `tune batch` as seen by a user.
namespace stepwell::tool {
namespace {

using nlohmann::json;

constexpr const char* kQuick = " --count 300 --pairs 2 --allow-slow-blas --json";

/// n u is LAPACK's bound of a backward error up to a small factor; a wrong kernel exceeds it by
/// powers of ten.
void expect_small(double error_in_u, double n, const std::string& what) {
  EXPECT_GE(error_in_u, 0) << what;
  EXPECT_LT(error_in_u, 8 * n + 8) << what;
}

TEST(BatchBench, SaysWhatItMeasured) {
  for (const std::string& arguments :
       {std::string("--n 1"), std::string("--n 17 --type fp32"),
        std::string("--n 24 --op solve --nrhs 3 --uplo upper"),
        std::string("--n 33 --op cholesky --layout pointers --type fp32"),
        std::string("--n 8 --op substitute --threads 2"),
        std::string("--n 20 --op cholesky --both-triangles --against one-thread"),
        std::string("--n 9 --layout interleaved --against untuned --fast"),
        std::string("--n 30 --op solve --mixed")}) {
    const Outcome o = run("bench batch " + arguments + kQuick);
    ASSERT_EQ(o.code, 0) << arguments << ": " << o.err;
    const json j = json::parse(o.out);
    EXPECT_EQ(j.at("bench"), "batch");
    EXPECT_EQ(j.at("count"), 300);
    const double n = j.at("n");
    expect_small(j.at("error_in_u"), n, arguments);
    expect_small(j.at("baseline_error_in_u"), n, arguments);
    for (const char* side : {"candidate", "baseline"}) {
      EXPECT_GT(j.at(side).at("seconds"), 0) << arguments;
      EXPECT_GT(j.at(side).at("rate").at("median"), 0) << arguments;
    }
    EXPECT_EQ(j.at("ratio").at("windows"), 2) << arguments;
    for (const char* limit : {"copy", "in_place"}) {
      EXPECT_GT(j.at(limit).at("share"), 0) << arguments;
      EXPECT_GT(j.at(limit).at("gigabytes_per_second"), 0) << arguments;
    }
    // The cache lines of a triangle: at least its bytes, at most those of the matrix and its
    // margins.
    const double size = j.at("type") == "fp32" ? 4 : 8;
    const double read = j.at("bytes").at("read");
    const double vectors = j.at("operation") == "cholesky" ? 0 : n * j.at("columns").get<double>();
    EXPECT_GE(read, 300 * size * (n * (n + 1) / 2 + vectors)) << arguments;
    EXPECT_LE(read, 320 * (size * (n * n + vectors) + 128)) << arguments;
  }
}

TEST(BatchBench, HasAllThreadsForOurSide) {
  // The threads belong to the process, and a baseline's pool must not keep them.
  for (const char* against : {"lapack-loop", "untuned"}) {
    const Outcome o =
        run("bench batch --n 32 --count 4000 --pairs 2 --threads 2 --json "
            "--allow-slow-blas --against " +
            std::string(against));
    ASSERT_EQ(o.code, 0) << o.err;
    EXPECT_EQ(json::parse(o.out).at("fewest_threads"), 2) << against;
  }
}

TEST(BatchBench, OfSeveralOrdersHasAMean) {
  const Outcome o = run(std::string("bench batch --n 3,8..10,5") + kQuick);
  ASSERT_EQ(o.code, 0) << o.err;
  const json j = json::parse(o.out);
  ASSERT_EQ(j.at("cases").size(), 5U);
  double logarithms = 0, least = INFINITY;
  for (const json& c : j.at("cases")) {
    const double ratio = c.at("ratio").at("median");
    logarithms += std::log(ratio);
    least = std::min(least, ratio);
  }
  EXPECT_EQ(j.at("cases")[4].at("n"), 10);
  EXPECT_NEAR(j.at("geometric_mean"), std::exp(logarithms / 5), 1e-3 * std::exp(logarithms / 5));
  EXPECT_NEAR(j.at("least"), least, 1e-3 * least);
  const Outcome text = run("bench batch --n 3,8 --count 100 --pairs 1 --allow-slow-blas");
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_NE(text.out.find("geometric mean"), std::string::npos) << text.out;
}

TEST(BatchBench, SplitsTheTimeOfAPass) {
  for (const std::string type : {"fp64", "fp32"}) {
    const Outcome o = run("bench batch --split --n 3,8 --count 70 --json --type " + type);
    ASSERT_EQ(o.code, 0) << o.err;
    const json j = json::parse(o.out);
    ASSERT_EQ(j.at("cases").size(), 2U);
    for (const char* where : {"memory", "cache"}) {
      const json& split = j.at("cases")[1].at(where);
      double sum = 0;
      for (const char* part : {"load", "factor", "forward", "backward", "store"}) {
        EXPECT_GE(split.at(part), 0) << part;
        sum += split.at(part).get<double>();
      }
      EXPECT_GT(split.at("load"), 0);
      EXPECT_GT(split.at("factor_with_fast_roots"), 0);
      EXPECT_NEAR(split.at("total"), sum, 0.01 * sum);
    }
  }
  EXPECT_NE(run("bench batch --split --n 8 --count 70").out.find("cache"), std::string::npos);
}

TEST(BatchBench, RefusesWhatMakesNoSense) {
  for (const char* orders : {"0", "129", "5..3", "x", "5,", "..", "4..", "-1", "8x"}) {
    expect_error(run(std::string("bench batch --n ") + orders), 2, "--n");
  }
  expect_error(run("bench batch --mixed"), 2, "--mixed");
  expect_error(run("bench batch --op dance"), 2, "--op");
  expect_error(run("bench batch --against dposv"), 2, "--against");
  expect_error(run("bench batch --type bf16"), 2, "--type");
  expect_error(run("bench batch --n 8 --layout interleaved --allow-slow-blas"), 14, "interleaved");
  expect_error(run("bench batch --n 8 --both-triangles --allow-slow-blas"), 14, "triangle");
  expect_error(run("bench batch --n 128 --count 2000000000"), 30, "GiB");
  expect_error(run("bench batch --n 8 --against mkl-compact", "STEPWELL_MKL=/nonexistent"), 14,
               "oneMKL");
}

TEST(TuneBatch, KeepsWhatItMeasured) {
  const Directory d;
  const std::string cache = "env -u STEPWELL_BATCH_TUNING XDG_CACHE_HOME=" + d.path();
  const Outcome dry = run("tune batch --n 4,9 --count 64 --dry-run --json", cache);
  ASSERT_EQ(dry.code, 0) << dry.err;
  EXPECT_EQ(d.list(), "");
  const json j = json::parse(dry.out);
  ASSERT_EQ(j.at("orders").size(), 4U);
  for (const json& order : j.at("orders")) {
    EXPECT_GT(order.at("gain"), 0);
    EXPECT_GE(order.at("variants").size(), 5U);
    for (const json& v : order.at("variants")) {
      EXPECT_GE(v[4], 1) << "every variant runs";
      EXPECT_GT(v[5], 0) << v;
    }
  }
  const Outcome o = run("tune batch --n 4,9 --count 64 --type fp64", cache);
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_NE(o.out.find(d / "stepwell/batch.txt"), std::string::npos) << o.out;
  const std::string kept = contents(d / "stepwell/batch.txt");
  EXPECT_EQ(kept.rfind("stepwell batch tuning, version ", 0), 0U) << kept.substr(0, 100);
  EXPECT_NE(kept.find("\nfp64 128 "), std::string::npos);
  // The file can be read again.
  const Outcome used =
      run("bench batch --n 9 --count 64 --pairs 1 --against one-thread --json", cache);
  EXPECT_EQ(used.code, 0) << used.err;
  EXPECT_EQ(used.err, "");
}

TEST(TuneBatch, NeedsAPlace) {
  const std::string arguments = "tune batch --n 4 --count 64";
  expect_error(run(arguments, "STEPWELL_BATCH_TUNING=off"), 10, "--dry-run");
  expect_error(run(arguments, "env -u XDG_CACHE_HOME -u HOME -u STEPWELL_BATCH_TUNING"), 10,
               "HOME");
  expect_error(run(arguments, "STEPWELL_BATCH_TUNING=/proc/batch.txt"), 10, "/proc/batch.txt");
  expect_error(run("tune batch --n 400"), 2, "--n");
  expect_error(run("tune --max-n 5"), 2, "--max-n");
}

}  // namespace
}  // namespace stepwell::tool
