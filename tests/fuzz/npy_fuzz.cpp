// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cstddef>
#include <cstdint>

#include "fuzz/target.hpp"
#include "io/npy.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stepwell;
  fuzz::try_reader(
      {reinterpret_cast<const char*>(data), size}, io::read_npy, io::read_npy_shape,
      [](io::Sink& sink, const io::DenseMatrix& matrix) { io::write_npy(sink, matrix.view()); });
  return 0;
}
