// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "io/matrix_file.hpp"
#include "run_command.hpp"
#include "sanitized.hpp"

/// gen, solve and plan, with input and output files.
namespace stepwell::tool {
namespace {

using nlohmann::json;

/// ||b - A x|| / (||A|| ||x|| + ||b||) in infinity norms, from the files.
double backward_error(const std::string& a_file, const std::string& b_file,
                      const std::string& x_file) {
  const io::DenseMatrix a = io::read_matrix(a_file);
  const io::DenseMatrix b = io::read_matrix(b_file);
  const io::DenseMatrix x = io::read_matrix(x_file);
  double worst = 0;
  for (std::int64_t c = 0; c < b.cols; ++c) {
    long double r = 0, norm = 0, xs = 0, bs = 0;
    for (std::int64_t i = 0; i < a.rows; ++i) {
      long double sum = b.view()(i, c), row = 0;
      for (std::int64_t j = 0; j < a.rows; ++j) {
        sum -= static_cast<long double>(a.view()(i, j)) * x.view()(j, c);
        row += std::abs(a.view()(i, j));
      }
      r = std::max(r, std::abs(sum));
      norm = std::max(norm, row);
      xs = std::max(xs, static_cast<long double>(std::abs(x.view()(i, c))));
      bs = std::max(bs, static_cast<long double>(std::abs(b.view()(i, c))));
    }
    worst = std::max(worst, static_cast<double>(r / (norm * xs + bs)));
  }
  return worst;
}

TEST(Files, AreGeneratedSolvedAndCertified) {
  for (const std::string ending : {"npy", "mtx"}) {
    for (const char* arguments : {"arithmetic --n 300", "matern --n 200 --nrhs 3 --sorted",
                                  "laplacian --n 1", "geometric --n 1100 --cond 1e6 --seed 5"}) {
      const Directory d;
      const std::string a = d / ("A." + ending), b = d / ("b." + ending), x = d / ("x." + ending);
      const Outcome gen = run(std::string("gen ") + arguments + " -o " + a + " --rhs " + b);
      ASSERT_EQ(gen.code, 0) << gen.err;
      EXPECT_EQ(gen.out + gen.err, "");
      const Outcome solved = run("solve " + a + " " + b + " -o " + x);
      ASSERT_EQ(solved.code, 0) << solved.err;
      EXPECT_NE(solved.out.find("converged"), std::string::npos) << solved.out;
      EXPECT_EQ(solved.err, "");
      const auto n = static_cast<double>(io::read_shape(a).rows);
      EXPECT_LE(backward_error(a, b, x), std::sqrt(n) * 0x1p-53) << arguments;
      EXPECT_EQ(d.list(), "A." + ending + " b." + ending + " x." + ending);
    }
  }
}

TEST(Files, OfOneSystemHaveTheSameBitsEveryTime) {
  const Directory d;
  run("gen arithmetic --n 1000 --seed 3 -o " + (d / "A.npy") + " --rhs " + (d / "b.npy"));
  run("gen arithmetic --n 1000 --seed 3 -o " + (d / "B.npy"));
  EXPECT_EQ(contents(d / "A.npy"), contents(d / "B.npy"));
  const std::string solve = "solve " + (d / "A.npy") + " " + (d / "b.npy") + " -o ";
  EXPECT_EQ(run(solve + (d / "x.npy")).code, 0);
  EXPECT_EQ(run(solve + (d / "y.npy") + " --threads 1").code, 0);
  EXPECT_EQ(contents(d / "x.npy"), contents(d / "y.npy"));
}

TEST(Files, GiveACertificateInJson) {
  const Directory d;
  run("gen logarithmic --n 1000 --cond 1e4 --nrhs 2 -o " + (d / "A.npy") + " --rhs " +
      (d / "b.mtx"));
  const Outcome o = run("solve " + (d / "A.npy") + " " + (d / "b.mtx") +
                        " --json --condition --prove --map bf16x2 --refiner 'ir(cg)'");
  ASSERT_EQ(o.code, 0) << o.err;
  const json j = json::parse(o.out);
  EXPECT_EQ(j.at("n"), 1000);
  EXPECT_EQ(j.at("x"), "");
  EXPECT_GT(j.at("peak_resident_bytes"), 8e6);
  const json& c = j.at("certificate");
  EXPECT_EQ(c.at("outcome"), "converged");
  EXPECT_EQ(c.at("map"), "bf16x2");
  EXPECT_EQ(c.at("refiner"), "ir(cg)");
  EXPECT_GT(c.at("condition"), 1e3);
  EXPECT_EQ(c.at("columns").size(), 2U);
  EXPECT_LE(c.at("columns").at(0).at("proven_backward_error"), c.at("tolerance"));
}

/// Writes a 3 x 3 system to files and solves it.
Outcome solve_written(const Directory& d, const std::string& a, const std::string& b,
                      const std::string& options = "") {
  std::ofstream(d / "A.mtx") << "%%MatrixMarket matrix array real general\n3 3\n" << a;
  std::ofstream(d / "b.mtx") << "%%MatrixMarket matrix array real general\n" << b;
  return run("solve " + (d / "A.mtx") + " " + (d / "b.mtx") + " -o " + (d / "x.npy") + options);
}

TEST(Files, WithNoSolutionGiveTheOutcomesExitCodeAndNoX) {
  const std::string ones = "3 1\n1\n1\n1\n";
  const std::string spd = " --assume spd";
  const std::string good = "4\n1\n0\n1\n4\n1\n0\n1\n4\n";
  struct Case {
    std::string a, b, options;
    int code;
    std::string mentions;
  };
  for (const Case& c : {
           Case{"4\n1\n0\n1\n4\nnan\n0\nnan\n4\n", ones, "", 15, "NaN"},
           Case{good, "3 1\n1\ninf\n1\n", "", 15, "b"},
           Case{"4\n1\n0\n2\n4\n1\n0\n1\n4\n", ones, spd, 16, "symmetric"},
           Case{"1\n2\n0\n2\n1\n0\n0\n0\n1\n", ones, spd, 20, "not positive definite"},
           Case{"1\n0\n0\n0\n-1\n0\n0\n0\n1\n", ones, spd, 20, "diagonal"},
           Case{"1\n2\n3\n2\n4\n6\n1\n0\n1\n", ones, "", 20, "column 1"},
           Case{"0\n0\n0\n1\n2\n3\n1\n0\n1\n", ones, " --assume general", 20, "column 0"},
           Case{"1e-300\n0\n0\n0\n1e-300\n0\n0\n0\n1e-300\n", "3 1\n1e300\n1\n1\n", "", 22, "FP64"},
       }) {
    const Directory d;
    const Outcome o = solve_written(d, c.a, c.b, c.options);
    EXPECT_EQ(o.code, c.code) << c.a << o.out << o.err;
    EXPECT_NE(o.err.find(c.mentions), std::string::npos) << o.err;
    EXPECT_NE(o.err.find("was not written"), std::string::npos) << o.err;
    EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << o.err;
    EXPECT_NE(o.out.find("outcome"), std::string::npos) << o.out;
    EXPECT_EQ(d.list(), "A.mtx b.mtx");
  }
  const Directory d;  // the upper triangle is not read
  EXPECT_EQ(solve_written(d, "4\n1\n0\n7\n4\n1\nnan\n1\n4\n", ones, " --lower").code, 0);
}

TEST(Files, AreSolvedAsWhatTheyAre) {
  const std::string b = "3 1\n1\n2\n3\n";
  struct Case {
    std::string a, options, structure;
  };
  for (const Case& c : {Case{"4\n1\n0\n1\n4\n1\n0\n1\n4\n", "", "spd"},
                        Case{"4\n1\n0\n1\n4\n1\n0\n1\n4\n", " --assume general", "general"},
                        Case{"4\n1\n0\n2\n4\n1\n0\n1\n4\n", "", "general"},
                        Case{"1\n2\n0\n2\n1\n0\n0\n0\n1\n", "", "general"},
                        Case{"0\n1\n0\n1\n0\n0\n0\n0\n1\n", "", "general"}}) {
    const Directory d;
    const Outcome o = solve_written(d, c.a, b, c.options + " --json");
    ASSERT_EQ(o.code, 0) << c.a << o.err;
    const json certificate = json::parse(o.out).at("certificate");
    EXPECT_EQ(certificate.at("structure"), c.structure) << c.a;
    EXPECT_LE(certificate.at("backward_error"), certificate.at("tolerance"));
  }
  const Directory d;
  const Outcome o = solve_written(d, "4\n1\n0\n2\n4\n1\n0\n1\n4\n", b);
  EXPECT_NE(o.out.find("a general matrix, by LU"), std::string::npos) << o.out;
  expect_error(solve_written(d, "1\n", b, " --lower --assume general"), 2, "--lower");
  expect_error(solve_written(d, "1\n", b, " --transposed --assume spd"), 2, "--transposed");
  expect_error(solve_written(d, "1\n", b, " --assume symmetric"), 2, "--assume");
}

TEST(Files, AreSolvedTransposed) {
  const Directory d;
  // [1 2 0; 0 1 0; 5 0 1] by columns: A' x = b has x = (16, -30, 3).
  const std::string a = "1\n0\n5\n2\n1\n0\n0\n0\n1\n";
  ASSERT_EQ(solve_written(d, a, "3 1\n31\n2\n3\n", " --transposed").code, 0);
  const io::DenseMatrix x = io::read_matrix(d / "x.npy");
  EXPECT_LT(std::abs(x.view()(0, 0) - 16), 1e-13);
  EXPECT_LT(std::abs(x.view()(1, 0) + 30), 1e-13);
  EXPECT_LT(std::abs(x.view()(2, 0) - 3), 1e-13);
}

TEST(Files, NotConvergedIsNotSolved) {
  const Directory d;
  run("gen geometric --n 600 --cond 1e12 -o " + (d / "A.npy") + " --rhs " + (d / "b.npy"));
  const Outcome o = run("solve " + (d / "A.npy") + " " + (d / "b.npy") +
                        " --map bf16 --no-climb --tolerance 1e-18 -o " + (d / "x.npy"));
  EXPECT_EQ(o.code, 21) << o.out << o.err;
  EXPECT_EQ(d.list(), "A.npy b.npy");
}

TEST(Files, ThatDoNotFitAreRefusedBeforeTheyAreRead) {
  const Directory d;
  run("gen laplacian --n 10 -o " + (d / "A.npy") + " --rhs " + (d / "b.npy"));
  run("gen laplacian --n 11 -o " + (d / "C.mtx"));
  const std::string a = d / "A.npy", b = d / "b.npy";
  expect_error(run("solve " + b + " " + b), 16, "square");
  expect_error(run("solve " + (d / "C.mtx") + " " + b), 16, "11 rows");
  expect_error(run("solve " + a + " " + b + " -o " + (d / "x.txt")), 2, ".npy");
  expect_error(run("solve " + a + " " + b + " -o " + (d / "no/x.npy")), 10, "can't be created");
  expect_error(run("solve " + (d / "none.npy") + " " + b), 10, "No such file");
  expect_error(run("solve " + a + " " + b + " --refiner x"), 2, "refiner");
  expect_error(run("solve " + a + " " + b + " --map x"), 2, "map");
  expect_error(run("solve " + a), 2, "required");
  expect_error(run("solve " + a + " " + b + " -o " + (d / "./b.npy")), 2, "same file");
  expect_error(run("gen minij --n 3 -o " + (d / "x.npy") + " --rhs " + (d / "x.npy")), 2,
               "same file");
  expect_error(run("solve " + a + " " + b + " >/dev/full"), 10, "standard output");
  expect_error(run("gen x --n 10 -o " + (d / "x.npy")), 2, "kind");
  expect_error(run("gen arithmetic --n 1000000 -o " + (d / "x.npy")), 30, "GiB");
  EXPECT_EQ(d.list(), "A.npy C.mtx b.npy");

  // 800 GB by its size, but nothing is allocated on the disk.
  const std::string header = contents(a).substr(0, 128);
  std::string lie = header;
  const std::string shape = "(10, 10)", large = "(316227, 316227)";
  lie.replace(lie.find(shape), shape.size(), large);
  lie.erase(lie.rfind(' ') - (large.size() - shape.size()) + 1, large.size() - shape.size());
  ASSERT_EQ(lie.size(), header.size());
  std::ofstream(d / "huge.npy", std::ios::binary) << lie;
  ASSERT_EQ(::truncate((d / "huge.npy").c_str(), 128 + 8LL * 316227 * 316227), 0);
  std::string tall = contents(b).substr(0, 128);
  const std::string column = "(10, 1)", high = "(316227, 1)";
  tall.replace(tall.find(column), column.size(), high);
  tall.erase(tall.rfind(' ') - (high.size() - column.size()) + 1, high.size() - column.size());
  std::ofstream(d / "tall.npy", std::ios::binary) << tall;
  ASSERT_EQ(::truncate((d / "tall.npy").c_str(), 128 + 8LL * 316227), 0);
  expect_error(run("solve " + (d / "huge.npy") + " " + (d / "tall.npy")), 30, "in addition");
}

/// Starts the command in the background and interrupts it after this time.
void interrupt_after(int milliseconds, const std::string& arguments, const Directory& d,
                     bool& interrupted) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::signal(SIGINT, SIG_DFL);  // a background job of a shell ignores it, and so would the child
    const std::string line =
        "exec '" STEPWELL_TOOL "' " + arguments + " >/dev/null 2>'" + (d / "err") + "'";
    ::execl("/bin/sh", "sh", "-c", line.c_str(), nullptr);
    ::_exit(127);
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
  const auto start = std::chrono::steady_clock::now();
  ::kill(child, SIGINT);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  // One second, plus a margin for a busy machine.
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
  interrupted = WIFSIGNALED(status) && WTERMSIG(status) == SIGINT;
  if (interrupted) {
    const std::string err = contents(d / "err");  // empty if it came before the handler was set
    EXPECT_TRUE(err == "stepwell: interrupted\n" || err.empty()) << err;
  } else {
    EXPECT_EQ(WEXITSTATUS(status), 0) << contents(d / "err");  // it had already finished
  }
}

TEST(Files, OfOtherFormatsAndShapesComeWithAWayOut) {
  const Directory d;
  const auto write = [&](const std::string& name, const std::string& bytes) {
    std::ofstream(d / name, std::ios::binary) << bytes;
    return d / name;
  };
  const std::string b = write("b.npy", "");
  expect_error(run("solve " + write("A.csv", "1.0,2.0\n3.0,4.0\n") + " " + b), 11, "loadtxt");
  expect_error(run("solve " + write("A.txt", "x y\n") + " " + b), 11, "loadtxt");
  expect_error(run("solve " + write("A.npz", "PK\x03\x04....") + " " + b), 11, "numpy.load(");
  expect_error(run("solve " + write("A.h5", "\x89HDF\r\n") + " " + b), 11, "h5py");
  EXPECT_EQ(run("solve " + write("A.bin", "\x01\x02\x03") + " " + b).err.find("Python"),
            std::string::npos);
  ASSERT_EQ(run("gen tall --m 20 --n 3 -o " + (d / "T.npy") + " --rhs " + (d / "y.npy")).code, 0);
  expect_error(run("solve " + (d / "T.npy") + " " + (d / "y.npy")), 16, "use 'stepwell lstsq'");
}

TEST(Files, OfAnInterruptedCommandAreNotThere) {
  bool once = false;
  for (const int milliseconds : {1, 10, 50, 100, 200, 400}) {
    const Directory d;
    bool interrupted = false;
    interrupt_after(milliseconds, "gen matern --n 3000 -o " + (d / "A.mtx"), d, interrupted);
    if (interrupted) {
      EXPECT_TRUE(d.list() == "err" || d.list().empty()) << d.list();
    }
    once = once || interrupted;
  }
  EXPECT_TRUE(once);
}

TEST(Files, OfInterruptedLeastSquaresAreNotThere) {
  const Directory d;
  ASSERT_EQ(run("gen tall --m 60000 --n 200 -o " + (d / "A.npy") + " --rhs " + (d / "b.npy")).code,
            0);
  bool once = false;
  for (const int milliseconds : {1, 20, 60, 150}) {
    bool interrupted = false;
    interrupt_after(milliseconds,
                    "lstsq " + (d / "A.npy") + " " + (d / "b.npy") + " -o " + (d / "x.npy"), d,
                    interrupted);
    if (interrupted && !once) {
      EXPECT_EQ(contents(d / "x.npy"), "");
    }
    once = once || interrupted;
  }
  EXPECT_TRUE(once);
}

TEST(Plan, SaysPathTimeAndMemory) {
  const Directory d;
  const std::string cache = "XDG_CACHE_HOME=" + d.path();
  for (const char* arguments :
       {"--n 16384", "--n 500", "--n 8192 --kind geometric --cond 1e5 --nrhs 20",
        "--n 65536 --kind clustered --cond 1e8", "--n 4096 --map bf16x3 --kind matern",
        "--n 16384 --assume general", "--n 8192 --kind general-arithmetic",
        "--n 8192 --kind arithmetic --assume general"}) {
    const Outcome text = run(std::string("plan ") + arguments, cache);
    EXPECT_EQ(text.code, 0) << text.err;
    EXPECT_NE(text.out.find("stepwell tune"), std::string::npos) << text.out;
    const Outcome o = run(std::string("plan --json ") + arguments, cache);
    ASSERT_EQ(o.code, 0) << o.err;
    const json j = json::parse(o.out);
    EXPECT_GT(j.at("seconds").at("wall"), 0);
    const double n = j.at("n");
    EXPECT_GE(j.at("bytes").at("data"), 8 * n * n);
    EXPECT_GT(j.at("bytes").at("workspace"), 0);
    EXPECT_GE(j.at("bytes").at("workspace_at_most"), j.at("bytes").at("workspace"));
    EXPECT_EQ(j.at("rates_measured_on"), "");
    const bool general = std::string(arguments).find("general") != std::string::npos;
    EXPECT_EQ(j.at("structure"), general ? "general" : "spd") << arguments;
    EXPECT_EQ(text.out.find("by LU") != std::string::npos, general) << text.out;
  }
  expect_error(run("plan", cache), 2, "--n");
  expect_error(run("plan --n 16384 --kind hilbert", cache), 20, "positive definite");
}

TEST(Plan, SimulatesCoresThatThereAreNot) {
  if (test::kSanitized) GTEST_SKIP() << "measures tasks, which take minutes here";
  const Outcome text = run("plan --n 2048 --threads 500");
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_NE(text.out.find("simulated for 500 cores"), std::string::npos) << text.out;
  const Outcome o = run("plan --json --n 2048 --threads 500 --assume general");
  ASSERT_EQ(o.code, 0) << o.err;
  const json j = json::parse(o.out);
  EXPECT_EQ(j.at("simulated_cores"), 500);
  for (const char* part : {"analysis", "factor", "refine"}) {
    EXPECT_GT(j.at("seconds").at(part), 0) << part;
  }
}

// A million has more tasks than memory could hold: predicted by the rates, as before.
TEST(Plan, DoesNotSimulateMoreTasksThanFit) {
  const Outcome o = run("plan --json --n 1000000 --threads 500");
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(json::parse(o.out).at("simulated_cores"), 0);
}

TEST(Plan, SaysWhatItKnowsThePathFrom) {
  const std::pair<const char*, const char*> all[] = {
      {"--n 500", "for any matrix"},
      {"--n 500 --kind geometric --cond 1e5", "for any matrix"},
      {"--n 500 --kind general-arithmetic", "for any matrix"},
      {"--n 500 --ranks 2 --kind matern", "for any matrix"},
      {"--n 4096", "if the matrix is well conditioned"},
      {"--n 500 --map bf16x2", "if the matrix is well conditioned"},
      {"--n 4096 --ranks 2", "if the matrix is well conditioned"},
      {"--n 4096 --kind arithmetic", "found by solving a matrix of this kind with n = 1536"},
      {"--n 500 --map bf16x2 --kind arithmetic", "of this kind with n = 500"},
      {"--n 4096 --ranks 2 --kind arithmetic", "with n = 1536 in one process"}};
  const char* const every[] = {"for any matrix", "well conditioned", "found by solving"};
  for (const auto& [arguments, text] : all) {
    const Outcome o = run(std::string("plan ") + arguments);
    EXPECT_EQ(o.code, 0) << o.err;
    EXPECT_NE(o.out.find(text), std::string::npos) << arguments << "\n" << o.out;
    int reasons = 0;
    for (const char* reason : every) reasons += o.out.find(reason) != std::string::npos ? 1 : 0;
    EXPECT_EQ(reasons, 1) << arguments << "\n" << o.out;
  }
}

/// A plan for ranks, without MPI; tests/distributed compares it with the plan of real ranks.
TEST(Plan, ForRanks) {
  const Outcome text = run("plan --n 3000 --ranks 6 --layout symmetric");
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_NE(text.out.find("6, symmetric 4"), std::string::npos) << text.out;
  const auto ranks = [](const std::string& more) {
    const Outcome o = run("plan --json --n 3000 --tile 128 --threads 1 --ranks " + more);
    EXPECT_EQ(o.code, 0) << o.err;
    return json::parse(o.out)["ranks"];
  };
  const json grid = ranks("6"), row = ranks("6 --grid-rows 1"), lean = ranks("6 --regenerate");
  EXPECT_EQ(grid["layout"], "grid 2 x 3");
  EXPECT_EQ(row["layout"], "grid 1 x 6");
  EXPECT_GT(row["sent_bytes_model"], grid["sent_bytes_model"]);
  EXPECT_LT(lean["peak_bytes_plan"], grid["peak_bytes_plan"]);
  EXPECT_LT(grid["peak_bytes_plan"], ranks("2")["peak_bytes_plan"]);
  EXPECT_EQ(ranks("1")["sent_bytes_model"], 0);
  expect_error(run("plan --n 100 --ranks 4 --layout symmetric"), 2, "use 3 or 6");
  expect_error(run("plan --n 100 --ranks 4 --grid-rows 3"), 2, "divisor");
  expect_error(run("plan --n 100 --ranks 4 --kind randn"), 2, "positive definite");
  expect_error(run("plan --n 100 --ranks 4 --m 200"), 2, "--m");
  expect_error(run("plan --n 100 --regenerate"), 2, "--ranks");
}

// The rehearsal takes the same path as the solve.
TEST(Plan, PredictsThePathAndTheMemory) {
  for (const char* matrix :
       {"arithmetic --cond 1e2", "geometric --cond 1e5", "clustered --cond 1e8", "dominant",
        "positive-arithmetic", "general-clustered"}) {
    const Directory d;
    const std::string kind(matrix);
    ASSERT_EQ(run("gen " + kind + " --n 2000 -o " + (d / "A.npy") + " --rhs " + (d / "b.npy")).code,
              0);
    const json plan = json::parse(run("plan --json --n 2000 --kind " + kind).out);
    const json solved = json::parse(run("solve --json " + (d / "A.npy") + " " + (d / "b.npy")).out)
                            .at("certificate");
    EXPECT_EQ(plan.at("map"), solved.at("map")) << kind;
    EXPECT_NEAR(plan.at("iterations").get<int>(), solved.at("iterations").get<int>(), 2) << kind;
    const double planned = plan.at("bytes").at("workspace");
    const double used = solved.at("peak_bytes");
    EXPECT_LT(std::abs(planned / used - 1), 0.05) << kind << " " << planned << " " << used;
  }
}

}  // namespace
}  // namespace stepwell::tool
