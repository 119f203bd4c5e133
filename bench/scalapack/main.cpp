// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <CLI/CLI.hpp>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <vector>

#include "core/buffer.hpp"
#include "gallery/covariance.hpp"
#include "gallery/gallery.hpp"
#include "kernels/blas/blas.hpp"
#include "scalapack.hpp"
#include "stepwell/error.hpp"

/// The baseline of a solve over ranks: ScaLAPACK's pdposv on a matrix of the gallery.
///
///   OPENBLAS_CORETYPE=SKYLAKEX mpirun -n 4 stepwell_pdposv --n 16384 --nb 128
namespace stepwell::scalapack {
namespace {

struct Options {
  int n = 8192, nb = 128, runs = 1;
  int rows = 0;  ///< of the grid of processes; 0: as square as can be
  std::string triangle = "L";
  std::string kind = "dominant";
  double length = 0.1, nugget = 0.01;
  std::uint64_t seed = 1;
};

/// An element on or below the diagonal: the numbers of gallery::fill().
class Elements {
 public:
  explicit Elements(const Options& o) : o_(o) {
    if (o.kind == "matern") points_ = gallery::random_points(o.n, o.seed, false);
  }
  double operator()(int i, int j) const {
    if (points_.empty()) return i == j ? o_.n : gallery::element_noise(o_.seed, i, j);
    const double r = gallery::distance(points_[static_cast<std::size_t>(i)],
                                       points_[static_cast<std::size_t>(j)]);
    return gallery::matern_covariance(r / o_.length) + (i == j ? o_.nugget : 0);
  }

 private:
  Options o_;
  std::vector<gallery::Point> points_;
};

/// A grid of processes and this one's place in it.
struct Processes {
  int rank = 0, ranks = 1;
  int context = 0;
  int rows = 1, cols = 1, row = 0, col = 0;

  explicit Processes(int wanted_rows) {
    Cblacs_pinfo(&rank, &ranks);
    rows = wanted_rows > 0 ? std::min(wanted_rows, ranks)
                           : static_cast<int>(std::sqrt(static_cast<double>(ranks)));
    while (ranks % rows != 0) --rows;
    cols = ranks / rows;
    Cblacs_get(-1, 0, &context);
    Cblacs_gridinit(&context, "Row", rows, cols);
    Cblacs_gridinfo(context, &rows, &cols, &row, &col);
  }
  void sum(std::vector<double>& x) const {
    Cdgsum2d(context, "All", " ", static_cast<int>(x.size()), 1, x.data(),
             static_cast<int>(x.size()), -1, -1);
  }
  double largest(double x) const {
    int unused = 0;
    Cdgamx2d(context, "All", " ", 1, 1, &x, 1, &unused, &unused, -1, -1, -1);
    return x;
  }
};

/// This process' part of a matrix of order n in blocks of nb.
struct Local {
  int nb = 0, rows = 0, cols = 0, ld = 1;
  const Processes* p = nullptr;
  int descriptor[9] = {};

  Local(const Processes& processes, int m, int n, int block) : nb(block), p(&processes) {
    const int zero = 0;
    rows = numroc_(&m, &nb, &p->row, &zero, &p->rows);
    cols = numroc_(&n, &nb, &p->col, &zero, &p->cols);
    ld = std::max(1, rows);
    int info = 0;
    descinit_(descriptor, &m, &n, &nb, &nb, &zero, &zero, &p->context, &ld, &info);
    if (info != 0) throw Error(ErrorCode::internal, "descinit: info " + std::to_string(info));
  }
  int row(int local) const { return (local / nb * p->rows + p->row) * nb + local % nb; }
  int col(int local) const { return (local / nb * p->cols + p->col) * nb + local % nb; }
};

void fill(const Local& at, const Elements& element, double* a) {
  for (int c = 0; c < at.cols; ++c) {
    for (int r = 0; r < at.rows; ++r) {
      const int i = at.row(r);
      const int j = at.col(c);
      a[static_cast<std::size_t>(c) * static_cast<std::size_t>(at.ld) +
        static_cast<std::size_t>(r)] = element(std::max(i, j), std::min(i, j));
    }
  }
}

double right_hand_side(const Options& o, int i) {
  return gallery::noise(gallery::stream(o.seed, 1) + static_cast<std::uint64_t>(i));
}

double norm(const std::vector<double>& x) {
  double sum = 0;
  for (const double v : x) sum += v * v;
  return std::sqrt(sum);
}

/// ||b - A x|| / (||A||_F ||x|| + ||b||), from a new A: pdposv has overwritten the one it had.
double backward_error(const Options& o, const Processes& p, const Local& at,
                      const Elements& element, std::vector<double> x) {
  p.sum(x);
  std::vector<double> r(static_cast<std::size_t>(o.n));
  std::vector<double> squares(1);
  for (int c = 0; c < at.cols; ++c) {
    const int j = at.col(c);
    for (int local = 0; local < at.rows; ++local) {
      const int i = at.row(local);
      if (i < j) continue;
      const double v = element(i, j);
      squares[0] += (i == j ? 1 : 2) * v * v;
      r[static_cast<std::size_t>(i)] -= v * x[static_cast<std::size_t>(j)];
      if (i > j) r[static_cast<std::size_t>(j)] -= v * x[static_cast<std::size_t>(i)];
    }
  }
  p.sum(r);
  p.sum(squares);
  std::vector<double> b(r.size());
  for (int i = 0; i < o.n; ++i) b[static_cast<std::size_t>(i)] = right_hand_side(o, i);
  for (std::size_t i = 0; i < r.size(); ++i) r[i] += b[i];
  return norm(r) / (std::sqrt(squares[0]) * norm(x) + norm(b));
}

nlohmann::json run(const Options& o, const Processes& p) {
  if (o.n < 1 || o.nb < 1) throw Error(ErrorCode::invalid_argument, "--n and --nb are positive");
  const Elements element(o);
  const Local at(p, o.n, o.n, o.nb);
  const Local at_b(p, o.n, 1, o.nb);
  const core::Buffer<double> a(std::int64_t{at.ld} * std::max(1, at.cols), core::Contents::any);
  std::vector<double> b(static_cast<std::size_t>(at_b.ld));
  const bool has_b = at_b.cols > 0;
  std::vector<double> seconds;
  for (int k = 0; k < o.runs; ++k) {
    fill(at, element, a.data());
    for (int r = 0; has_b && r < at_b.rows; ++r) {
      b[static_cast<std::size_t>(r)] = right_hand_side(o, at_b.row(r));
    }
    const int one = 1;
    int info = 0;
    Cblacs_barrier(p.context, "All");
    const auto start = std::chrono::steady_clock::now();
    pdposv_(o.triangle.c_str(), &o.n, &one, a.data(), &one, &one, at.descriptor, b.data(), &one,
            &one, at_b.descriptor, &info, 1);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    if (info != 0) throw Error(ErrorCode::internal, "pdposv: info " + std::to_string(info));
    seconds.push_back(p.largest(took.count()));
  }
  std::vector<double> x(static_cast<std::size_t>(o.n));
  for (int r = 0; has_b && r < at_b.rows; ++r) {
    x[static_cast<std::size_t>(at_b.row(r))] = b[static_cast<std::size_t>(r)];
  }
  const double error = backward_error(o, p, at, element, std::move(x));
  const BlasIdentity blas = kernels::blas_identity();
  return {{"solver", "pdposv"},
          {"n", o.n},
          {"nb", o.nb},
          {"kind", o.kind},
          {"ranks", p.ranks},
          {"grid", {p.rows, p.cols}},
          {"triangle", o.triangle},
          {"seconds", seconds},
          {"backward_error", error},
          {"blas", blas.library + " " + blas.version},
          {"core", blas.core_name},
          {"warning", blas.warning}};
}

}  // namespace
}  // namespace stepwell::scalapack

int main(int argc, char** argv) {
  using namespace stepwell::scalapack;
  CLI::App app("Solves a positive definite system by ScaLAPACK's pdposv, and prints JSON.");
  Options o;
  app.add_option("--n", o.n, "order of the matrix");
  app.add_option("--nb", o.nb, "order of a block");
  app.add_option("--runs", o.runs, "how often");
  app.add_option("--kind", o.kind, "dominant or matern")
      ->check(CLI::IsMember({"dominant", "matern"}));
  app.add_option("--rows", o.rows, "of the grid of processes; 0: as square as can be");
  app.add_option("--triangle", o.triangle, "that pdposv reads: L or U")
      ->check(CLI::IsMember({"L", "U"}));
  app.add_option("--seed", o.seed, "of the matrix");
  CLI11_PARSE(app, argc, argv);
  const Processes p(o.rows);
  try {
    const nlohmann::json result = run(o, p);
    if (p.rank == 0) std::puts(result.dump().c_str());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "stepwell_pdposv: %s\n", error.what());
    Cblacs_exit(0);
    return 2;
  }
  Cblacs_exit(0);
  return 0;
}
