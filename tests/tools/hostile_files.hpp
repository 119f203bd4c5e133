// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <ostream>
#include <string>
#include <string_view>
#include <vector>

/// Files that `stepwell solve` must refuse, with the exit code and a word of the reason.
namespace stepwell::tool {

struct HostileFile {
  std::string name;  ///< of the case; the file has this name and the format's ending
  std::string bytes;
  int code = 0;
  std::string word;
  std::string b = {};  ///< the right-hand side; if empty, a valid one with two rows
  /// The file is valid but its elements are not: the certificate is on standard output.
  bool certificate = false;
  std::string options = {};  ///< of `solve`
};

/// By default GoogleTest would print the bytes.
inline void PrintTo(const HostileFile& file, std::ostream* out) {
  *out << file.name;
}

/// "%%MatrixMarket matrix", followed by these words and the rest.
std::string market(const std::string& words, const std::string& rest);

/// An NPY file of this version with this header and data.
std::string npy(const std::string& header, std::string_view data, int version = 1);
/// NumPy's header for this type, order and shape.
std::string dictionary(const std::string& type, const std::string& order, const std::string& shape);
/// The bytes of the values.
std::string doubles(const std::vector<double>& values);

std::vector<HostileFile> hostile_matrix_market();
std::vector<HostileFile> hostile_npy();

}  // namespace stepwell::tool
