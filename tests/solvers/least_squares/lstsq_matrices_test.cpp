// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "io/matrix_file.hpp"
#include "solvers/least_squares/lstsq_fixture.hpp"

/// The nine matrices of Table 6.7 of Higham & Pranesh: from every rung the error is that of dgels.
namespace stepwell::solvers::test {
namespace {

class PaperMatrices : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const char* const folder = std::getenv("STEPWELL_SUITESPARSE");
    if (folder == nullptr) GTEST_SKIP() << "STEPWELL_SUITESPARSE does not name a directory";
    const std::string path = std::string(folder) + "/" + GetParam() + ".mtx";
    if (!std::filesystem::exists(path)) GTEST_SKIP() << "no " << GetParam();
    const io::DenseMatrix file = io::read_matrix(path);
    a_ = Dense<double>(file.rows, file.cols);
    std::copy(file.data.begin(), file.data.end(), a_.data.begin());
  }
  Dense<double> a_;
};
INSTANTIATE_TEST_SUITE_P(Solve, PaperMatrices,
                         ::testing::Values("divorce", "Cities", "ash219", "WorldCities", "ash331",
                                           "ash608", "ash958", "illc1033", "well1033"));

TEST_P(PaperMatrices, ReachTheErrorOfDgels) {
  const ExactLeastSquares exact(a_.view());
  const double u = std::sqrt(static_cast<double>(a_.cols)) * kU64;
  for (const double residual : {0.0, 0.5}) {
    const Dense<double> b = right_hand_sides(a_, 1, residual);
    const Dense<double> solution = exact.solve(b.view()), lapack = lapack_lstsq(a_, b);
    const double backward =
        exact.backward_error(b.data.data(), lapack.data.data(), Measured::plain);
    const double forward = exact.difference(lapack.data.data(), solution.data.data());
    for (int path = 0; path < 8; ++path) {
      LeastSquaresOptions options;
      if (path >= 2) options.map = uniform(mixable_rungs[static_cast<std::size_t>(path - 2)]);
      options.qr = path == 1;
      const Solved s = lstsq_of(a_, b, options);
      SCOPED_TRACE(path_of(s.certificate));
      ASSERT_TRUE(s.certificate.ok());
      const double* const x = s.x.data.data();
      EXPECT_LE(exact.backward_error(b.data.data(), x, Measured::plain), std::max(2 * backward, u));
      EXPECT_LE(exact.difference(x, solution.data.data()),
                std::max(4 * forward, forward_bound(exact, b.data.data(), x, kU64)));
    }
  }
}

}  // namespace
}  // namespace stepwell::solvers::test
