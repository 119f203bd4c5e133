// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "hostile_files.hpp"
#include "io/matrix_file.hpp"
#include "io/npy_header.hpp"
#include "run_command.hpp"

/// gen tall, lstsq and plan --m, with input and output files.
namespace stepwell::tool {
namespace {

using nlohmann::json;

struct Answer {
  double residual = 0;  ///< ||b - A x||
  double gradient = 0;  ///< ||A'r - lambda x|| / (||A|| ||r||)
};

/// The largest values of any column, from the files.
Answer answer(const std::string& a_file, const std::string& b_file, const std::string& x_file,
              double lambda = 0) {
  const io::DenseMatrix a = io::read_matrix(a_file);
  const io::DenseMatrix b = io::read_matrix(b_file);
  const io::DenseMatrix x = io::read_matrix(x_file);
  Answer worst;
  EXPECT_EQ(x.rows, a.cols);
  EXPECT_EQ(x.cols, b.cols);
  for (std::int64_t c = 0; c < b.cols; ++c) {
    long double squares = 0, norm = 0, slope = 0;
    std::vector<long double> r(static_cast<std::size_t>(a.rows));
    for (std::int64_t i = 0; i < a.rows; ++i) {
      long double sum = b.view()(i, c);
      for (std::int64_t j = 0; j < a.cols; ++j) {
        sum -= static_cast<long double>(a.view()(i, j)) * x.view()(j, c);
      }
      r[static_cast<std::size_t>(i)] = sum;
      squares += sum * sum;
    }
    for (std::int64_t j = 0; j < a.cols; ++j) {
      long double sum = -static_cast<long double>(lambda) * x.view()(j, c);
      for (std::int64_t i = 0; i < a.rows; ++i) {
        const long double e = a.view()(i, j);
        sum += e * r[static_cast<std::size_t>(i)];
        norm += e * e;
      }
      slope += sum * sum;
    }
    worst.residual = std::max(worst.residual, static_cast<double>(std::sqrt(squares)));
    worst.gradient =
        std::max(worst.gradient, static_cast<double>(std::sqrt(slope / (norm * squares))));
  }
  return worst;
}

/// The backward error is at most sqrt(n) 2^-53; the gradient's bound on it may be larger by the
/// condition number and the rounding of x.
double gradient_bound(const std::string& a_file, double condition) {
  return 4 * condition * std::sqrt(static_cast<double>(io::read_shape(a_file).cols)) * 0x1p-53;
}

std::string files(const Directory& d) {
  return (d / "A.npy") + " " + (d / "b.npy");
}

void generate(const Directory& d, const std::string& arguments) {
  const Outcome o = run("gen " + arguments + " -o " + (d / "A.npy") + " --rhs " + (d / "b.npy"));
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(o.out + o.err, "");
}

TEST(Lstsq, FilesAreGeneratedSolvedAndCertified) {
  for (const std::string ending : {"npy", "mtx"}) {
    for (const auto& [arguments, condition] :
         {std::pair<std::string, double>{"tall --m 2000 --n 30 --cond 10", 10},
          {"tall --m 500 --n 40 --nrhs 3 --cond 1e4 --seed 9", 1e4},
          {"tall-clustered --m 700 --n 20 --cond 1e6", 1e6},
          {"tall --m 5 --n 5", 100},
          {"tall --m 9 --n 1", 1}}) {
      const Directory d;
      const std::string a = d / ("A." + ending), b = d / ("b." + ending), x = d / ("x." + ending);
      ASSERT_EQ(run("gen " + arguments + " -o " + a + " --rhs " + b).code, 0);
      const Outcome o = run("lstsq " + a + " " + b + " -o " + x);
      ASSERT_EQ(o.code, 0) << arguments << o.err;
      EXPECT_NE(o.out.find("converged"), std::string::npos) << o.out;
      EXPECT_NE(o.out.find("residual"), std::string::npos) << o.out;
      EXPECT_EQ(o.err, "");
      const std::int64_t m = io::read_shape(a).rows;
      // If b is fitted exactly, r is only rounding error.
      if (m > 5) {
        EXPECT_LT(answer(a, b, x).gradient, gradient_bound(a, condition)) << arguments;
      }
      EXPECT_EQ(d.list(), "A." + ending + " b." + ending + " x." + ending);
    }
  }
}

TEST(Lstsq, GivesACertificateInJson) {
  const Directory d;
  generate(d, "tall --m 3000 --n 60 --nrhs 2");
  const Outcome o =
      run("lstsq " + files(d) + " -o " + (d / "x.npy") + " --json --map bf16x2 --refiner gmres");
  ASSERT_EQ(o.code, 0) << o.err;
  const json j = json::parse(o.out);
  EXPECT_EQ(j.at("m"), 3000);
  EXPECT_EQ(j.at("n"), 60);
  EXPECT_EQ(j.at("mapped"), true);
  EXPECT_EQ(j.at("x"), d / "x.npy");
  const json& c = j.at("certificate");
  EXPECT_EQ(c.at("outcome"), "converged");
  EXPECT_EQ(c.at("structure"), "least squares");
  EXPECT_EQ(c.at("rungs").at(0).at("map"), "bf16x2");
  EXPECT_LE(c.at("backward_error"), c.at("tolerance"));
  EXPECT_EQ(c.at("columns").size(), 2U);
  double largest = 0;
  for (const json& column : c.at("columns")) {
    EXPECT_FALSE(column.at("measure").get<std::string>().empty());
    largest = std::max(largest, column.at("residual_norm").get<double>());
  }
  const double residual = answer(d / "A.npy", d / "b.npy", d / "x.npy").residual;
  EXPECT_LT(std::abs(largest / residual - 1), 1e-12);
}

TEST(Lstsq, MapsWhatItCanAndReadsTheRest) {
  const Directory d;
  generate(d, "tall --m 1000 --n 20");
  const auto x_of = [&](const std::string& arguments, const std::string& out) {
    const Outcome o = run("lstsq " + arguments + " --json -o " + (d / out));
    EXPECT_EQ(o.code, 0) << arguments << o.err;
    return o.code == 0 ? json::parse(o.out).at("mapped").get<bool>() : false;
  };
  EXPECT_TRUE(x_of(files(d), "x.npy"));
  EXPECT_TRUE(x_of(files(d) + " --threads 1", "y.npy"));
  EXPECT_EQ(contents(d / "x.npy"), contents(d / "y.npy"));
  EXPECT_FALSE(x_of(files(d) + " --read", "z.npy"));
  EXPECT_LT(answer(d / "A.npy", d / "b.npy", d / "z.npy").gradient,
            gradient_bound(d / "A.npy", 100));

  // The same values in fp32, which must be read, and in FP64 at an unaligned position of the file.
  const io::DenseMatrix a = io::read_matrix(d / "A.npy");
  std::string narrow;
  for (std::int64_t j = 0; j < a.cols; ++j) {
    for (std::int64_t i = 0; i < a.rows; ++i) {
      const auto value = static_cast<float>(a.view()(i, j));
      narrow.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
  }
  const std::string b = " " + (d / "b.npy");
  const std::string f4 = d.file("f4.npy", npy(dictionary("'<f4'", "True", "(1000, 20)"), narrow));
  const std::string odd = d.file("odd.npy", npy(dictionary("'<f8'", "True", "(1000, 20)"),
                                                doubles({a.data.begin(), a.data.end()})));
  EXPECT_FALSE(x_of(f4 + b, "f.npy"));
  EXPECT_FALSE(x_of(odd + b, "o.npy"));
  EXPECT_EQ(contents(d / "o.npy"), contents(d / "z.npy"));
  expect_error(run("lstsq --mapped " + f4 + b), 14, "astype");
  expect_error(run("lstsq --mapped " + odd + b), 14, "multiple of 8");
  expect_error(run("lstsq --mapped --read " + files(d)), 2, "--read");
}

TEST(Lstsq, RidgeIsLeastSquaresWithMoreRows) {
  const Directory d;
  generate(d, "tall --m 400 --n 6 --cond 100");
  const double lambda = 0.25;
  ASSERT_EQ(run("lstsq " + files(d) + " --ridge 0.25 -o " + (d / "x.npy")).code, 0);
  EXPECT_LT(answer(d / "A.npy", d / "b.npy", d / "x.npy", lambda).gradient, 1e-14);
  // D = diag(1, 0, 0, 0, 0, 0): one additional row.
  const io::DenseMatrix a = io::read_matrix(d / "A.npy"), b = io::read_matrix(d / "b.npy");
  std::vector<double> more(401 * 6), right(401);
  for (std::int64_t j = 0; j < 6; ++j) {
    for (std::int64_t i = 0; i < 400; ++i) {
      more[static_cast<std::size_t>(j * 401 + i)] = a.view()(i, j);
    }
  }
  more[400] = 0.5;
  std::copy(b.data.begin(), b.data.end(), right.begin());
  io::write_matrix(d / "more.npy", view<const double>(more.data(), 401, 6));
  io::write_matrix(d / "right.npy", view<const double>(right.data(), 401, 1));
  d.file("w.mtx", market("array real general", "6 1\n1\n0\n0\n0\n0\n0\n"));
  ASSERT_EQ(
      run("lstsq " + (d / "more.npy") + " " + (d / "right.npy") + " -o " + (d / "y.npy")).code, 0);
  ASSERT_EQ(
      run("lstsq " + files(d) + " --ridge 0.25 --weights " + (d / "w.mtx") + " -o " + (d / "z.npy"))
          .code,
      0);
  const io::DenseMatrix y = io::read_matrix(d / "y.npy"), z = io::read_matrix(d / "z.npy");
  for (std::int64_t j = 0; j < 6; ++j) {
    EXPECT_LT(std::abs(y.data[j] - z.data[j]), 1e-12 * (1 + std::abs(y.data[j]))) << j;
  }
  // With more columns than rows there is only a solution with lambda.
  run("gen rands --n 3 -o " + (d / "c.npy"));
  d.file("wide.mtx", market("array real general", "2 3\n1\n2\n3\n4\n5\n7\n"));
  d.file("two.mtx", market("array real general", "2 1\n1\n1\n"));
  const std::string wide = (d / "wide.mtx") + " " + (d / "two.mtx");
  expect_error(run("lstsq " + wide), 16, "--ridge");
  EXPECT_EQ(run("lstsq " + wide + " --ridge 1").code, 0);
  for (const char* wrong : {"-1", "nan", "inf"}) {
    expect_error(run("lstsq " + files(d) + " --ridge " + wrong), 2, "--ridge");
  }
  expect_error(run("lstsq " + files(d) + " --ridge 1 --weights " + (d / "two.mtx")), 16, "weights");
  d.file("bad.mtx", market("array real general", "6 1\n1\n0\n0\n-1\n0\n0\n"));
  expect_error(run("lstsq " + files(d) + " --ridge 1 --weights " + (d / "bad.mtx")), 2, "");
}

/// Least squares with a 4 x 3 matrix stored by columns.
Outcome lstsq_written(const Directory& d, const std::string& a, const std::string& options = "",
                      const std::string& b = "1\n2\n3\n4\n") {
  d.file("A.mtx", market("array real general", "4 3\n" + a));
  d.file("b.mtx", market("array real general", "4 1\n" + b));
  return run("lstsq " + (d / "A.mtx") + " " + (d / "b.mtx") + " -o " + (d / "x.npy") + options);
}

TEST(Lstsq, WithNoSolutionGivesTheOutcomesExitCodeAndNoX) {
  const std::string good = "1\n1\n1\n1\n0\n1\n2\n3\n";
  struct Case {
    std::string a, options, b;
    int code;
    std::string mentions;
  };
  const std::string ones = "1\n1\n1\n1\n";
  for (const Case& c : {
           Case{good + "0\n1\nnan\n9\n", "", ones, 15, "NaN"},
           Case{good + "0\n1\n4\n9\n", "", "1\ninf\n1\n1\n", 15, "b"},
           Case{good + "1\n2\n3\n4\n", "", ones, 20, "depend"},
           Case{good + "0\n0\n0\n0\n", "", ones, 20, "depend"},
           Case{"1e-300\n0\n0\n0\n0\n1e-300\n0\n0\n0\n0\n1e-300\n0\n", "", "1e300\n1\n1\n1\n", 22,
                "FP64"},
       }) {
    const Directory d;
    const Outcome o = lstsq_written(d, c.a, c.options, c.b);
    EXPECT_EQ(o.code, c.code) << c.a << o.out << o.err;
    EXPECT_NE(o.err.find(c.mentions), std::string::npos) << o.err;
    EXPECT_NE(o.err.find("was not written"), std::string::npos) << o.err;
    EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << o.err;
    EXPECT_NE(o.out.find("outcome"), std::string::npos) << o.out;
    EXPECT_EQ(d.list(), "A.mtx b.mtx");
  }
}

TEST(Lstsq, TakesABasicSolutionIfAskedTo) {
  const Directory d;
  // The third column is the sum of the other two.
  const Outcome o =
      lstsq_written(d, "1\n1\n1\n1\n0\n1\n2\n3\n1\n2\n3\n4\n", " --basic --json", "1\n2\n3\n5\n");
  ASSERT_EQ(o.code, 0) << o.err;
  const json c = json::parse(o.out).at("certificate");
  EXPECT_EQ(c.at("outcome"), "rank deficient");
  EXPECT_EQ(c.at("rank"), 2);
  ASSERT_EQ(c.at("dependent").size(), 1U);
  const io::DenseMatrix x = io::read_matrix(d / "x.npy");
  EXPECT_EQ(x.data[c.at("dependent").at(0)], 0);
  EXPECT_LT(answer(d / "A.mtx", d / "b.mtx", d / "x.npy").gradient, 1e-14);
}

TEST(Lstsq, FilesWithoutElementsAreSolved) {
  const Directory d;
  const auto empty = [&](const char* name, std::int64_t rows, std::int64_t cols) {
    return d.file(name, io::npy_header({"<f8", false, rows, cols})) + " ";
  };
  const std::string b =
      d.file("b.npy", npy(dictionary("'<f8'", "True", "(3, 1)"), doubles({1, 2, 3}))) + " ";
  const std::string out = "-o " + (d / "x.npy");
  ASSERT_EQ(run("lstsq " + empty("no_columns.npy", 3, 0) + b + out).code, 0);
  EXPECT_EQ(io::read_shape(d / "x.npy").rows, 0);
  EXPECT_EQ(io::read_shape(d / "x.npy").cols, 1);
  ASSERT_EQ(run("lstsq " + b + empty("no_sides.npy", 3, 0) + out).code, 0);
  EXPECT_EQ(io::read_shape(d / "x.npy").rows, 1);
  expect_error(run("lstsq " + empty("no_rows.npy", 0, 2) + empty("none.npy", 0, 1) + out), 16,
               "--ridge");
  ASSERT_EQ(run("lstsq " + (d / "no_rows.npy") + " " + (d / "none.npy") + " --ridge 1 " + out).code,
            0);
  EXPECT_EQ(io::read_matrix(d / "x.npy").data[1], 0);
}

TEST(Lstsq, NotConvergedIsNotSolved) {
  const Directory d;
  generate(d, "tall --m 3000 --n 300 --cond 1e5");
  const Outcome o =
      run("lstsq " + files(d) + " --map bf16 --no-climb --iterations 2 -o " + (d / "x.npy"));
  EXPECT_EQ(o.code, 21) << o.out << o.err;
  EXPECT_EQ(d.list(), "A.npy b.npy");
}

TEST(Lstsq, FilesThatDoNotFitAreRefusedBeforeTheyAreRead) {
  const Directory d;
  generate(d, "tall --m 10 --n 3");
  const std::string a = d / "A.npy", b = d / "b.npy";
  ASSERT_EQ(run("gen tall --m 11 --n 3 -o " + (d / "C.npy")).code, 0);
  expect_error(run("lstsq " + (d / "C.npy") + " " + b), 16, "11 rows");
  expect_error(run("lstsq " + a + " " + b + " -o " + (d / "x.txt")), 2, ".npy");
  expect_error(run("lstsq " + a + " " + b + " -o " + (d / "no/x.npy")), 10, "can't be created");
  expect_error(run("lstsq " + a + " " + b + " -o " + (d / "./A.npy")), 2, "same file");
  expect_error(run("lstsq " + (d / "none.npy") + " " + b), 10, "No such file");
  expect_error(run("lstsq " + a + " " + b + " --refiner x"), 2, "refiner");
  expect_error(run("lstsq " + a + " " + b + " --map fp8"), 2, "--map");
  expect_error(run("lstsq " + a + " " + b + " --tolerance 2"), 2, "--tolerance");
  expect_error(run("lstsq " + a + " " + b + " --iterations 0"), 2, "--iterations");
  expect_error(run("lstsq " + a + " " + b + " --qr --map bf16"), 2, "--map");
  expect_error(run("lstsq " + a), 2, "required");
  expect_error(run("lstsq " + a + " " + b + " >/dev/full"), 10, "standard output");
  for (const char* arguments : {"tall --n 3", "tall --n 3 --m 2", "taller --n 3 --m 9",
                                "minij --n 3 --m 9", "tall --n 3 --m 9 --cond 0"}) {
    EXPECT_EQ(run(std::string("gen ") + arguments + " -o " + (d / "x.npy")).code, 2) << arguments;
  }
  // 800 GB by its size, but nothing is allocated on the disk: it does not fit in memory.
  d.file("huge.npy", io::npy_header({"<f8", false, 100'000'000'000, 1}));
  ASSERT_EQ(::truncate((d / "huge.npy").c_str(), 128 + 800'000'000'000), 0);
  expect_error(run("lstsq " + (d / "huge.npy") + " " + (d / "huge.npy")), 30, "available");
  EXPECT_EQ(d.list(), "A.npy C.npy b.npy huge.npy");
}

/// Invalid files give the same errors as with `solve`.
class LstsqHostile : public ::testing::TestWithParam<HostileFile> {};

std::vector<HostileFile> hostile_files() {
  std::vector<HostileFile> all;
  const auto add = [&](const std::vector<HostileFile>& list, const std::string& ending) {
    for (HostileFile file : list) {
      if (file.code < 11 || file.code > 14 || !file.b.empty()) continue;
      file.options = ending;
      file.name = (ending == ".npy" ? "Npy" : "MatrixMarket") + file.name;
      all.push_back(file);
    }
  };
  add(hostile_npy(), ".npy");
  add(hostile_matrix_market(), ".mtx");
  return all;
}

INSTANTIATE_TEST_SUITE_P(Lstsq, LstsqHostile, ::testing::ValuesIn(hostile_files()),
                         [](const auto& file) { return file.param.name; });
TEST_P(LstsqHostile, IsRefused) {
  const HostileFile& file = GetParam();
  const Directory d;
  const std::string a = d.file("bad" + file.options, file.bytes);
  const std::string good = d.file("b.mtx", market("array real general", "2 1\n1\n2\n"));
  const std::string before = d.list();
  const std::string out = " -o " + (d / "x.npy");
  expect_error(run("lstsq " + a + " " + good + out, "timeout 60"), file.code, file.word);
  expect_error(run("lstsq " + good + " " + a + out, "timeout 60"), file.code, file.word);
  EXPECT_EQ(d.list(), before);
}

// Another process truncates the file while it is mapped.
TEST(Lstsq, AFileThatShrinksIsTruncated) {
  const Directory d;
  const std::int64_t rows = 1 << 21, cols = 64;  // 1 GiB of holes
  const std::string a = d.file("A.npy", io::npy_header({"<f8", false, rows, cols}));
  const std::string b = d.file("b.npy", io::npy_header({"<f8", false, rows, 1}));
  ASSERT_EQ(::truncate(a.c_str(), 128 + 8 * rows * cols), 0);
  ASSERT_EQ(::truncate(b.c_str(), 128 + 8 * rows), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const std::string line = "exec '" STEPWELL_TOOL "' lstsq '" + a + "' '" + b + "' -o '" +
                             (d / "x.npy") + "' >/dev/null 2>'" + (d / "err") + "'";
    ::execl("/bin/sh", "sh", "-c", line.c_str(), nullptr);
    ::_exit(127);
  }
  const std::string maps = "/proc/" + std::to_string(child) + "/maps";
  int status = 0;
  bool mapped = false;
  while (!mapped && ::waitpid(child, &status, WNOHANG) == 0) {
    mapped = contents(maps).find(a) != std::string::npos;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  ASSERT_TRUE(mapped) << contents(d / "err");
  ASSERT_EQ(::truncate(a.c_str(), 4096), 0);
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status)) << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 12) << contents(d / "err");
  EXPECT_NE(contents(d / "err").find("shorter"), std::string::npos) << contents(d / "err");
  EXPECT_EQ(d.list(), "A.npy b.npy err");
}

TEST(Plan, OfATallMatrixIsLeastSquares) {
  const Directory d;
  for (const char* arguments : {"--m 100000 --n 500", "--m 3000000 --n 500 --nrhs 3",
                                "--m 100000 --n 2000 --map fp32 --refiner gmres"}) {
    const Outcome text = run(std::string("plan ") + arguments);
    EXPECT_EQ(text.code, 0) << text.err;
    EXPECT_NE(text.out.find("least squares"), std::string::npos) << text.out;
    const Outcome o = run(std::string("plan --json ") + arguments);
    ASSERT_EQ(o.code, 0) << o.err;
    const json j = json::parse(o.out);
    EXPECT_EQ(j.at("structure"), "least squares");
    EXPECT_GT(j.at("seconds").at("wall"), 0);
    EXPECT_GT(j.at("bytes").at("workspace"), 0);
    EXPECT_GE(j.at("bytes").at("workspace_at_most"), j.at("bytes").at("workspace"));
    EXPECT_EQ(j.at("bytes").at("a"), 8 * j.at("m").get<double>() * j.at("n").get<double>());
  }
  ASSERT_EQ(run("gen tall --m 300 --n 20 -o " + (d / "A.npy")).code, 0);
  const Outcome o = run("plan --json " + (d / "A.npy"));
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(json::parse(o.out).at("m"), 300);
  expect_error(run("plan --m 100"), 2, "--n");
  expect_error(run("plan --m 100 --n 10 --assume spd"), 2, "--assume");
  expect_error(run("plan --m 100 --n 10 --map layered:bf16"), 2, "rung");
}

}  // namespace
}  // namespace stepwell::tool
