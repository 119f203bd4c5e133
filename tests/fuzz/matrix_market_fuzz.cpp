// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cstddef>
#include <cstdint>

#include "fuzz/target.hpp"
#include "io/matrix_market.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stepwell;
  fuzz::try_reader({reinterpret_cast<const char*>(data), size}, io::read_matrix_market,
                   io::read_matrix_market_shape, [](io::Sink& sink, const io::DenseMatrix& matrix) {
                     io::write_matrix_market(sink, matrix.view(), matrix.symmetric);
                   });
  return 0;
}
