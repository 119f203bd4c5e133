// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "gallery/recipe.hpp"
#include "io/fixture.hpp"
#include "io/matrix_market.hpp"
#include "io/npy.hpp"

/// Files written by other programs, and other programs reading ours. Skipped if they are not
/// installed.
namespace stepwell::io::test {
namespace {

bool python(const Directory& directory, const std::string& script) {
  directory.file("script.py", script);
  const std::string command =
      "cd '" + directory.path() + "' && python3 script.py >/dev/null 2>python.txt";
  return std::system(command.c_str()) == 0;
}

double element(std::int64_t i, std::int64_t j) {
  return static_cast<double>(i * 100 + j) * 0.1 - 3;
}

TEST(Numpy, ReadsOursAndWritesWhatWeRead) {
  const Directory directory;
  if (!python(directory, "import numpy\n")) GTEST_SKIP() << "python3 has no NumPy here";
  std::vector<double> data;
  for (std::int64_t j = 0; j < 40; ++j) {
    for (std::int64_t i = 0; i < 30; ++i) data.push_back(element(i, j));
  }
  write_npy(directory / "ours.npy", view(data.data(), 30, 40));
  ASSERT_TRUE(python(directory, R"(
import numpy as np
a = (np.arange(30)[:, None] * 100 + np.arange(40)) * 0.1 - 3
b = np.load('ours.npy')
assert b.shape == (30, 40) and b.dtype == np.float64
assert a.tobytes() == np.ascontiguousarray(b).tobytes()
np.save('c.npy', a)
np.save('f.npy', np.asfortranarray(a))
np.save('vector.npy', a[:, 3])
np.save('slice.npy', a[::2, 1::3])
np.save('f4.npy', a.astype(np.float32))
np.save('i4.npy', np.rint(a).astype(np.int32))
np.save('i8.npy', np.rint(a).astype(np.int64))
np.save('b1.npy', a > 7)
np.save('object.npy', np.array([[1, None]], dtype=object))
np.save('complex.npy', a + 1j)
np.save('big.npy', a.astype('>f8'))
np.save('cube.npy', a.reshape(5, 6, 40))
np.save('scalar.npy', np.float64(3))
np.save('record.npy', np.zeros(3, dtype=[('x', 'f8'), ('y', 'i4')]))
for v in (1, 2, 3):
    with open('v%d.npy' % v, 'wb') as f:
        np.lib.format.write_array(f, a, version=(v, 0))
)")) << contents(directory / "python.txt");
  for (const char* name : {"c", "f", "v1", "v2", "v3"}) {
    const DenseMatrix a = read_matrix(directory / name + std::string(".npy"));
    EXPECT_EQ(a.rows, 30);
    EXPECT_TRUE(same_bits(elements(a), data)) << name;
  }
  const DenseMatrix vector = read_matrix(directory / "vector.npy");
  EXPECT_EQ(vector.cols, 1);
  EXPECT_EQ(elements(vector), std::vector<double>(data.begin() + 90, data.begin() + 120));
  const DenseMatrix slice = read_matrix(directory / "slice.npy");
  EXPECT_EQ(slice.rows, 15);
  EXPECT_EQ(slice.cols, 13);
  for (std::int64_t j = 0; j < 13; ++j) {
    for (std::int64_t i = 0; i < 15; ++i) {
      EXPECT_EQ(slice.view()(i, j), element(2 * i, 1 + 3 * j));
    }
  }
  const DenseMatrix f4 = read_matrix(directory / "f4.npy");
  const DenseMatrix i4 = read_matrix(directory / "i4.npy");
  const DenseMatrix i8 = read_matrix(directory / "i8.npy");
  const DenseMatrix b1 = read_matrix(directory / "b1.npy");
  for (std::size_t k = 0; k < data.size(); ++k) {
    const auto at = static_cast<std::int64_t>(k);
    EXPECT_EQ(f4.data[at], static_cast<double>(static_cast<float>(data[k])));
    EXPECT_EQ(i4.data[at], std::nearbyint(data[k]));
    EXPECT_EQ(i8.data[at], std::nearbyint(data[k]));
    EXPECT_EQ(b1.data[at], data[k] > 7 ? 1 : 0);
  }
  for (const char* name : {"object", "complex", "big", "cube", "scalar", "record"}) {
    EXPECT_EQ(error_of([&] { read_matrix(directory / name + std::string(".npy")); }).first,
              ErrorCode::unsupported)
        << name;
  }
}

TEST(Scipy, ReadsOursAndWritesWhatWeRead) {
  const Directory directory;
  if (!python(directory, "import scipy.io\n")) GTEST_SKIP() << "python3 has no SciPy here";
  const std::vector<double> data = {1.0 / 3, 2, 2, -4e-300};
  write_matrix_market(directory / "ours.mtx", view(data.data(), 2, 2));
  write_matrix_market(directory / "half.mtx", view(data.data(), 2, 2), true);
  ASSERT_TRUE(python(directory, R"(
import numpy as np, scipy.io, scipy.sparse
a = np.array([[1 / 3, 2], [2, -4e-300]])
assert (scipy.io.mmread('ours.mtx') == a).all()
assert (scipy.io.mmread('half.mtx') == a).all()
scipy.io.mmwrite('dense.mtx', a, precision=17)
scipy.io.mmwrite('sparse.mtx', scipy.sparse.coo_matrix(a), precision=17)
scipy.io.mmwrite('general.mtx', a, precision=17, symmetry='general')
)")) << contents(directory / "python.txt");
  for (const char* name : {"dense.mtx", "sparse.mtx", "general.mtx"}) {
    EXPECT_EQ(elements(read_matrix(directory / name)), data) << name;
  }
}

/// The result of a simple reader: the sum of all elements, weighted by their position.
double weighted_sum(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  const bool symmetric = line.find("symmetric") != std::string::npos;
  const bool pattern = line.find("pattern") != std::string::npos;
  while (std::getline(file, line) && line[0] == '%') continue;
  double sum = 0;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    double i = 0, j = 0, value = 1;
    words >> i >> j;
    if (!pattern) words >> value;
    sum += value * (3 * i + j);
    if (symmetric && i != j) sum += value * (3 * j + i);
  }
  return sum;
}

TEST(SuiteSparse, IsReadAsASimpleReaderReadsIt) {
  const char* const folder = std::getenv("STEPWELL_SUITESPARSE");
  if (folder == nullptr) GTEST_SKIP() << "STEPWELL_SUITESPARSE does not name a directory";
  int read = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".mtx" || entry.file_size() > 500'000) continue;
    const std::string path = entry.path();
    const DenseMatrix a = read_matrix(path);
    ++read;
    double sum = 0, absolute = 0;
    for (std::int64_t j = 0; j < a.cols; ++j) {
      for (std::int64_t i = 0; i < a.rows; ++i) {
        const double term = a.view()(i, j) * static_cast<double>(3 * (i + 1) + j + 1);
        sum += term;
        absolute += std::abs(term);
        if (a.symmetric) {
          ASSERT_EQ(a.view()(i, j), a.view()(j, i)) << path;
        }
      }
    }
    EXPECT_LE(std::abs(sum - weighted_sum(path)), 1e-10 * absolute) << path;
  }
  EXPECT_GT(read, 0) << "no .mtx file in " << folder;
}

TEST(SuiteSparse, HasTheTrefethenMatrixOfTheGallery) {
  const char* const folder = std::getenv("STEPWELL_SUITESPARSE");
  const std::string path = std::string(folder != nullptr ? folder : "") + "/Trefethen_150.mtx";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no Trefethen_150 in STEPWELL_SUITESPARSE";
  std::vector<double> ours(150 * 150);
  gallery::Recipe recipe;
  recipe.kind = gallery::Kind::trefethen;
  gallery::fill(view(ours.data(), 150, 150), recipe);
  EXPECT_EQ(elements(read_matrix(path)), ours);
}

}  // namespace
}  // namespace stepwell::io::test
