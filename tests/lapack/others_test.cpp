// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstring>

#include "fixture.hpp"

/// dgels, LAPACKE, both widths of integers, forked children. STEPWELL_LAPACK=all.
namespace stepwell::test {
namespace {

class Others : public testing::Test {
 protected:
  void SetUp() override {
    require_setting("STEPWELL_LAPACK", "all");
    require_setting("STEPWELL_LAPACK_MIN_N", "2");
  }
};

double sum_of_squares(const Matrix& b, int column, int first) {
  double sum = 0;
  for (int i = first; i < b.rows; ++i) sum += b(i, column) * b(i, column);
  return sum;
}

TEST_F(Others, DgelsSolvesAndGivesTheResidual) {
  for (const int m : {40, 300}) {
    const int n = 40, columns = 2;
    const Matrix a = random_matrix(m, n, 1, 3), b = random_matrix(m, columns, 2, 1);
    Matrix mine_a = a, mine = b, their_a = a, theirs = b;
    std::vector<double> work(10000);
    const int lwork = 10000;
    const char trans = 'N';
    int info = -77;
    dgels_(&trans, &m, &n, &columns, mine_a.get(), &mine_a.ld, mine.get(), &mine.ld, work.data(),
           &lwork, &info);
    EXPECT_EQ(info, 0);
    EXPECT_TRUE(all_nan(mine_a));
    EXPECT_TRUE(mine_a.padding_is_intact());
    EXPECT_TRUE(mine.padding_is_intact());
    real(&dgels_, "dgels_")(&trans, &m, &n, &columns, their_a.get(), &their_a.ld, theirs.get(),
                            &theirs.ld, work.data(), &lwork, &info);
    for (int j = 0; j < columns; ++j) {
      // Condition numbers of random matrices of this shape are below 1e4.
      for (int i = 0; i < n; ++i) EXPECT_NEAR(mine(i, j), theirs(i, j), 1e-9);
      const double squares = sum_of_squares(theirs, j, n);
      EXPECT_NEAR(sum_of_squares(mine, j, n), squares, 1e-12 * m * (1 + squares));
    }
  }
}

TEST_F(Others, DgelsWithoutFullRankIsLapacks) {
  const int m = 50, n = 10, columns = 1, lwork = 1000;
  Matrix a = random_matrix(m, n, 3);
  for (int i = 0; i < m; ++i) a(i, 4) = 0;
  Matrix b = random_matrix(m, columns, 4), mine = b, mine_a = a, theirs = b, their_a = a;
  std::vector<double> work(lwork);
  const char trans = 'N';
  int info = -77, real_info = -77;
  dgels_(&trans, &m, &n, &columns, mine_a.get(), &m, mine.get(), &m, work.data(), &lwork, &info);
  real(&dgels_, "dgels_")(&trans, &m, &n, &columns, their_a.get(), &m, theirs.get(), &m,
                          work.data(), &lwork, &real_info);
  EXPECT_EQ(info, real_info);
  EXPECT_TRUE(same_bits(mine_a, their_a));
  EXPECT_TRUE(same_bits(mine, theirs));
}

constexpr int kByRows = 101, kByColumns = 102;

TEST_F(Others, LapackeByRowsAndByColumns) {
  const int n = 70, columns = 3;
  const Matrix a = random_matrix(n, n, 5), b = random_matrix(n, columns, 6);
  for (const int layout : {kByRows, kByColumns}) {
    Matrix factor = layout == kByRows ? transposed(a) : a;
    Matrix x = layout == kByRows ? transposed(b) : b;
    std::vector<int> pivots(n);
    EXPECT_EQ(LAPACKE_dgesv(layout, n, columns, factor.get(), n, pivots.data(), x.get(), x.ld), 0);
    EXPECT_LE(backward_error(a, layout == kByRows ? transposed(x) : x, b), allowed(n));
    EXPECT_TRUE(all_nan(factor));
    double rcond = -1;
    EXPECT_EQ(LAPACKE_dgecon(layout, '1', n, factor.get(), n, norm_one(a), &rcond), 0);
    EXPECT_GT(rcond, 0);
    Matrix again = layout == kByRows ? transposed(b) : b;
    EXPECT_EQ(LAPACKE_dgetrs(layout, 'T', n, columns, factor.get(), n, pivots.data(), again.get(),
                             again.ld),
              0);
    EXPECT_LE(backward_error(transposed(a), layout == kByRows ? transposed(again) : again, b),
              allowed(n));
  }
}

TEST_F(Others, LapackeOfTriangles) {
  const int n = 70, columns = 3;
  const Matrix a = random_spd(n, 7), b = random_matrix(n, columns, 8);
  for (const int layout : {kByRows, kByColumns}) {
    for (const char uplo : {'L', 'U'}) {
      const bool first_part = (layout == kByColumns) == (uplo == 'L');
      Matrix factor = a;
      for (int j = 0; j < n; ++j) {
        for (int i = 0; i < n; ++i) {
          if (first_part ? i < j : i > j) factor(i, j) = NAN;  // neither checked nor read
        }
      }
      Matrix x = layout == kByRows ? transposed(b) : b;
      EXPECT_EQ(LAPACKE_dposv(layout, uplo, n, columns, factor.get(), n, x.get(), x.ld), 0);
      EXPECT_LE(backward_error(a, layout == kByRows ? transposed(x) : x, b), allowed(n));
      Matrix again = layout == kByRows ? transposed(b) : b;
      EXPECT_EQ(LAPACKE_dpotrs(layout, uplo, n, columns, factor.get(), n, again.get(), again.ld),
                0);
      EXPECT_LE(backward_error(a, layout == kByRows ? transposed(again) : again, b), allowed(n));
    }
  }
}

TEST_F(Others, LapackeChecksArgumentsAndNaN) {
  const int n = 8;
  Matrix a = random_matrix(n, n, 9), b = random_matrix(n, 1, 10);
  std::vector<int> pivots(n);
  EXPECT_EQ(LAPACKE_dgesv(100, n, 1, a.get(), n, pivots.data(), b.get(), n), -1);
  EXPECT_EQ(LAPACKE_dgesv(kByRows, n, 1, a.get(), n - 1, pivots.data(), b.get(), 1), -5);
  EXPECT_EQ(LAPACKE_dgesv(kByColumns, n, 1, a.get(), n - 1, pivots.data(), b.get(), n), -5);
  b(3, 0) = NAN;
  EXPECT_EQ(LAPACKE_dgesv(kByColumns, n, 1, a.get(), n, pivots.data(), b.get(), n), -7);
  a(1, 1) = NAN;
  EXPECT_EQ(LAPACKE_dgesv(kByColumns, n, 1, a.get(), n, pivots.data(), b.get(), n), -4);
}

TEST_F(Others, SixtyFourBitIntegers) {
  const std::int64_t n = 80, columns = 2;
  const Matrix a = random_matrix(80, 80, 11), b = random_matrix(80, 2, 12);
  Matrix factor = a, x = b;
  std::vector<std::int64_t> pivots(80, -1);
  std::int64_t info = -77;
  dgesv_64_(&n, &columns, factor.get(), &n, pivots.data(), x.get(), &n, &info);
  EXPECT_EQ(info, 0);
  EXPECT_LE(backward_error(a, x, b), allowed(80));
  EXPECT_EQ(pivots[79], 80);
  const char trans = 'T';
  Matrix y = b;
  dgetrs_64_(&trans, &n, &columns, factor.get(), &n, pivots.data(), y.get(), &n, &info);
  EXPECT_LE(backward_error(transposed(a), y, b), allowed(80));
  // A singular matrix is forwarded: LAPACK's pivots in 64 bits.
  Matrix singular = a;
  for (int i = 0; i < 80; ++i) singular(i, 79) = 0;
  Matrix lu = singular, real_lu = singular, real_x = b;
  std::vector<int> real_pivots(80);
  int real_info = 0;
  const int n32 = 80, columns32 = 2;
  x = b;
  dgesv_64_(&n, &columns, lu.get(), &n, pivots.data(), x.get(), &n, &info);
  real(&dgesv_, "dgesv_")(&n32, &columns32, real_lu.get(), &n32, real_pivots.data(), real_x.get(),
                          &n32, &real_info);
  EXPECT_EQ(info, real_info);
  EXPECT_TRUE(std::equal(pivots.begin(), pivots.end(), real_pivots.begin(), real_pivots.end()));
}

/// Address space whose memory is only allocated where it is touched.
class Sparse {
 public:
  Sparse(std::int64_t n, std::int64_t ld) : ld_(ld), bytes_(static_cast<std::size_t>(8 * ld * n)) {
    void* const map = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map != MAP_FAILED) data_ = static_cast<double*>(map);
  }
  ~Sparse() {
    if (data_ != nullptr) munmap(data_, bytes_);
  }
  double* get() const { return data_; }
  void fill(const Matrix& a) const {
    for (int j = 0; j < a.cols; ++j) {
      for (int i = 0; i < a.rows; ++i) data_[j * ld_ + i] = a(i, j);
    }
  }

 private:
  std::int64_t ld_;
  std::size_t bytes_;
  double* data_ = nullptr;
};

TEST_F(Others, ElementsBeyondTwoToThe31) {
  const int n = 300, ld = 10'000'000, columns = 1;
  const Sparse memory(n, ld);
  if (memory.get() == nullptr) GTEST_SKIP() << "24 GB of addresses can't be had";
  const Matrix a = random_spd(n, 13), b = random_matrix(n, 1, 14);
  std::vector<int> pivots(static_cast<std::size_t>(n));
  std::vector<double> work(static_cast<std::size_t>(n));
  std::vector<float> swork(static_cast<std::size_t>(n * (n + 1)));
  int info = -77, iter = -77;
  const char uplo = 'L', trans = 'T';
  memory.fill(a);
  Matrix x(n, 1), b_copy = b;
  dsposv_(&uplo, &n, &columns, memory.get(), &ld, b_copy.get(), &n, x.get(), &n, work.data(),
          swork.data(), &iter, &info);
  EXPECT_EQ(info, 0);
  EXPECT_GE(iter, 0);
  EXPECT_LE(backward_error(a, x, b), allowed(n));
  x = b;
  dgesv_(&n, &columns, memory.get(), &ld, pivots.data(), x.get(), &n, &info);
  EXPECT_EQ(info, 0);
  EXPECT_LE(backward_error(a, x, b), allowed(n));
  x = b;
  dgetrs_(&trans, &n, &columns, memory.get(), &ld, pivots.data(), x.get(), &n, &info);
  EXPECT_LE(backward_error(a, x, b), allowed(n));
}

TEST_F(Others, LeadingDimensionsBeyondTwoToThe31) {
  const std::int64_t n = 20, ld = (std::int64_t{1} << 31) + 7, columns = 1;
  const Sparse memory(n, ld);
  if (memory.get() == nullptr) GTEST_SKIP() << "340 GB of addresses can't be had";
  const Matrix a = random_spd(20, 15), b = random_matrix(20, 1, 16);
  std::vector<std::int64_t> pivots(20);
  std::int64_t info = -77;
  memory.fill(a);
  Matrix x = b;
  dgesv_64_(&n, &columns, memory.get(), &ld, pivots.data(), x.get(), &n, &info);
  EXPECT_EQ(info, 0);
  EXPECT_LE(backward_error(a, x, b), allowed(20));
  // Forwarded: to a 64-bit LAPACK, or refused because an argument does not fit.
  Matrix bad = a;
  bad(3, 3) = -1;
  memory.fill(bad);
  const char uplo = 'L';
  x = b;
  dposv_64_(&uplo, &n, &columns, memory.get(), &ld, x.get(), &n, &info);
  EXPECT_TRUE(info == 4 || info == -5) << info;
}

TEST_F(Others, AForkedChildWorks) {
  const int n = 900, columns = 1;
  const Matrix a = random_matrix(n, n, 17), b = random_matrix(n, 1, 18);
  const auto solves = [&] {
    Matrix factor = a, x = b;
    std::vector<int> pivots(static_cast<std::size_t>(n));
    int info = -77;
    dgesv_(&n, &columns, factor.get(), &n, pivots.data(), x.get(), &n, &info);
    return info == 0 && backward_error(a, x, b) <= n * 0x1p-53;
  };
  EXPECT_TRUE(solves());
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(60);
    _exit(solves() ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace stepwell::test
