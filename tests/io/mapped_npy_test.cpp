// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "io/mapped_npy.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <limits>

#include "core/row_block.hpp"
#include "io/fixture.hpp"
#include "io/npy.hpp"
#include "io/npy_header.hpp"

namespace stepwell::io::test {
namespace {

using namespace std::string_literals;

/// A file whose data starts at offset 'start', which is at least 80.
std::string padded_npy(const std::string& type, const std::string& order, const std::string& shape,
                       const std::string& data, std::size_t start = 128) {
  std::string text =
      "{'descr': " + type + ", 'fortran_order': " + order + ", 'shape': " + shape + ", }";
  text.append(start - 11 - text.size(), ' ');
  text += '\n';
  std::string out = "\x93NUMPY\1\0"s;
  out += static_cast<char>(text.size() % 256);
  out += static_cast<char>(text.size() / 256);
  return out + text + data;
}

/// The elements as a solver reads them, row by row.
std::vector<double> rows_of(const TallMatrix& a) {
  std::vector<double> out;
  const core::RowBlock all = core::rows_of(a, 0, a.rows);
  for (std::int64_t i = 0; i < a.rows; ++i) {
    for (std::int64_t j = 0; j < a.cols; ++j) out.push_back(all(i, j));
  }
  return out;
}

/// The error code for a file with these bytes.
ErrorCode code_of_mapping(const std::string& bytes) {
  const Directory d;
  const std::string path = d.file("a.npy", bytes);
  const auto [code, text] = error_of([&] { const MappedNpy mapped(path); });
  EXPECT_EQ(text.find("'" + path + "'"), 0U) << text;
  return code;
}

TEST(MappedNpy, IsTheMatrixThatIsRead) {
  const Directory d;
  for (const char* order : {"True", "False"}) {
    for (const char* shape : {"(2, 3)", "(3, 2)", "(6, 1)", "(1, 6)", "(6,)"}) {
      const std::string path = d.file("a.npy", padded_npy("'<f8'", order, shape, kSix));
      ASSERT_TRUE(is_mappable(path));
      const MappedNpy mapped(path);
      const DenseMatrix read = read_npy(path);
      const TallMatrix& a = mapped.matrix();
      EXPECT_EQ(a.rows, read.rows) << shape;
      EXPECT_EQ(a.cols, read.cols) << shape;
      EXPECT_NE(a.data, nullptr);
      EXPECT_TRUE(a.row_stride == 1 || a.col_stride == 1);
      EXPECT_EQ(rows_of(a), rows_of(TallMatrix(read.view()))) << order << " " << shape;
      EXPECT_EQ(mapped.bytes(), 128 + 48);
      mapped.check();
    }
  }
}

TEST(MappedNpy, TakesWhatWeWrite) {
  const Directory d;
  std::vector<double> data(3000);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = 1 / (1.0 + static_cast<double>(i));
  write_npy(d / "a.npy", view<const double>(data.data(), 300, 10));
  const MappedNpy mapped(d / "a.npy");
  EXPECT_FALSE(core::stored_by_rows(mapped.matrix()));
  EXPECT_EQ(rows_of(mapped.matrix()),
            rows_of(TallMatrix(view<const double>(data.data(), 300, 10))));
}

TEST(MappedNpy, RefusesWhatCanOnlyBeRead) {
  for (const char* type : {"'<f4'", "'<i8'", "'<i4'", "'|b1'", "'>f8'", "'|O'"}) {
    EXPECT_EQ(code_of_mapping(padded_npy(type, "True", "(2, 3)", kSix)), ErrorCode::unsupported)
        << type;
  }
  for (const std::size_t start : {121, 124, 127, 129}) {
    const std::string bytes = padded_npy("'<f8'", "False", "(2, 3)", kSix, start);
    EXPECT_EQ(code_of_mapping(bytes), ErrorCode::unsupported) << start;
    const Directory d;
    EXPECT_FALSE(is_mappable(d.file("a.npy", bytes)));
    EXPECT_EQ(read_npy(d / "a.npy").data.size(), 6) << start;  // read_npy() accepts this alignment
  }
  EXPECT_EQ(code_of_mapping(padded_npy("'<f8'", "False", "(1, 2, 3)", kSix)),
            ErrorCode::unsupported);
  const Directory d;
  EXPECT_FALSE(is_mappable(d.file("a.mtx", "%%MatrixMarket matrix array real general\n1 1\n1\n")));
  EXPECT_FALSE(is_mappable(d.file("empty.npy", "")));
  EXPECT_FALSE(is_mappable(d.file("f4.npy", padded_npy("'<f4'", "True", "(2, 6)", kSix))));
  const auto [code, text] = error_of([&] { const MappedNpy mapped(d / "f4.npy"); });
  EXPECT_NE(text.find("astype('<f8')"), std::string::npos) << text;
}

TEST(MappedNpy, RefusesSizesThatWrapOrLie) {
  const auto shape = [](const std::string& text) {
    return code_of_mapping(padded_npy("'<f8'", "False", text, kSix));
  };
  EXPECT_EQ(shape("(4294967296, 4294967296)"), ErrorCode::too_large);
  EXPECT_EQ(shape("(2305843009213693952, 1)"), ErrorCode::too_large);
  EXPECT_EQ(shape("(99999999999999999999, 1)"), ErrorCode::too_large);
  EXPECT_EQ(shape("(1000000000, 10)"), ErrorCode::truncated);
  EXPECT_EQ(shape("(7,)"), ErrorCode::truncated);
  EXPECT_EQ(shape("(5,)"), ErrorCode::shape);
  EXPECT_EQ(shape("(0, 9)"), ErrorCode::shape);
  EXPECT_EQ(shape("(-2, 3)"), ErrorCode::malformed);
}

TEST(MappedNpy, RefusesTruncationAtEveryByte) {
  const std::string whole = padded_npy("'<f8'", "False", "(2, 3)", kSix);
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_EQ(code_of_mapping(whole.substr(0, length)), ErrorCode::truncated) << length;
  }
}

TEST(MappedNpy, RefusesWhatIsNoFile) {
  const Directory d;
  ASSERT_EQ(::mkfifo((d / "pipe").c_str(), 0600), 0);
  for (const std::string& path : {d / "pipe", d.path(), "/dev/null"s, d / "none.npy", ""s}) {
    EXPECT_EQ(error_of([&] { const MappedNpy mapped(path); }).first, ErrorCode::cannot_open);
    EXPECT_EQ(error_of([&] { is_mappable(path); }).first, ErrorCode::cannot_open);
  }
}

TEST(MappedNpy, HasNoElements) {
  const Directory d;
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  for (const char* order : {"True", "False"}) {
    for (const char* shape : {"(0, 3)", "(3, 0)", "(0, 0)", "(0,)", "(9223372036854775807, 0)"}) {
      const MappedNpy mapped(d.file("a.npy", padded_npy("'<f8'", order, shape, "")));
      const TallMatrix& a = mapped.matrix();
      EXPECT_TRUE(a.rows == 0 || a.cols == 0);
      EXPECT_TRUE(a.rows <= 3 || a.rows == most);
      EXPECT_NE(a.data, nullptr);
      EXPECT_FALSE(a.read);
    }
  }
}

TEST(MappedNpy, SeesThatTheFileChanged) {
  const Directory d;
  const std::string path = d.file("a.npy", padded_npy("'<f8'", "True", "(2, 3)", kSix));
  const MappedNpy mapped(path);
  mapped.check();
  std::ofstream(path, std::ios::app | std::ios::binary) << "more";
  EXPECT_EQ(error_of([&] { mapped.check(); }).first, ErrorCode::malformed);
  ASSERT_EQ(::truncate(path.c_str(), 20), 0);
  EXPECT_EQ(error_of([&] { mapped.check(); }).first, ErrorCode::malformed);
  // A new file with the old name is a different file.
  const std::string other = d.file("b.npy", padded_npy("'<f8'", "True", "(2, 3)", kSix));
  const MappedNpy kept(other);
  ASSERT_EQ(::rename(path.c_str(), other.c_str()), 0);
  kept.check();
  EXPECT_EQ(rows_of(kept.matrix()), (std::vector<double>{1, 3, 5, 2, 4, 6}));
}

// A sparse file: no data is read before it is accessed.
TEST(MappedNpy, IsNotRead) {
  const Directory d;
  const std::string path = d.file("a.npy", npy_header({"<f8", false, std::int64_t{1} << 25, 256}));
  ASSERT_EQ(::truncate(path.c_str(), 128 + (std::int64_t{1} << 36)), 0);
  const MappedNpy mapped(path);
  EXPECT_EQ(mapped.matrix().data[(std::int64_t{1} << 33) - 1], 0);
}

}  // namespace
}  // namespace stepwell::io::test
