// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "io/fixture.hpp"

#include <cstring>

namespace stepwell::io::test {

std::vector<double> elements(const DenseMatrix& matrix) {
  return {matrix.data.begin(), matrix.data.end()};
}

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0);
}

}  // namespace stepwell::io::test
