// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "io/npy.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "io/fixture.hpp"

namespace stepwell::io::test {
namespace {

using namespace std::string_literals;

DenseMatrix read_bytes(std::string_view bytes) {
  Source source(bytes, "test.npy");
  return read_npy(source);
}

ErrorCode code_of_bytes(const std::string& bytes) {
  const auto [code, message] = error_of([&] { read_bytes(bytes); });
  EXPECT_EQ(message.find("'test.npy'"), 0U) << message;
  return code;
}

/// A file of the given version with this header, unchanged, and this data.
std::string npy(const std::string& header, const std::string& data, int version = 1) {
  std::string out = "\x93NUMPY"s + static_cast<char>(version) + '\0';
  for (int byte = 0; byte < (version == 1 ? 2 : 4); ++byte) {
    out += static_cast<char>(header.size() >> (8 * byte));
  }
  return out + header + data;
}

std::string header(const std::string& type, const std::string& order, const std::string& shape) {
  return "{'descr': " + type + ", 'fortran_order': " + order + ", 'shape': " + shape + ", }\n";
}

TEST(Npy, ReadsBothOrdersAndAllVersions) {
  for (const int version : {1, 2, 3}) {
    const DenseMatrix fortran = read_bytes(npy(header("'<f8'", "True", "(2, 3)"), kSix, version));
    EXPECT_EQ(fortran.rows, 2);
    EXPECT_EQ(fortran.cols, 3);
    EXPECT_FALSE(fortran.symmetric);
    EXPECT_EQ(elements(fortran), (std::vector<double>{1, 2, 3, 4, 5, 6}));
    EXPECT_EQ(elements(read_bytes(npy(header("'<f8'", "False", "(2, 3)"), kSix, version))),
              (std::vector<double>{1, 4, 2, 5, 3, 6}));
  }
}

TEST(Npy, ReadsAVectorAsAColumn) {
  for (const char* order : {"True", "False"}) {
    const DenseMatrix a = read_bytes(npy(header("'<f8'", order, "(6,)"), kSix));
    EXPECT_EQ(a.rows, 6);
    EXPECT_EQ(a.cols, 1);
    EXPECT_EQ(elements(a), (std::vector<double>{1, 2, 3, 4, 5, 6}));
  }
}

TEST(Npy, ReadsOtherTypes) {
  const std::vector<double> expected = {1, -2, 0, 100};
  const auto values = [](const std::string& type, const std::string& data) {
    return elements(read_bytes(npy(header(type, "True", "(2, 2)"), data)));
  };
  EXPECT_EQ(values("'<f4'", bytes_of<float>({1, -2, 0, 100})), expected);
  EXPECT_EQ(values("'<i4'", bytes_of<std::int32_t>({1, -2, 0, 100})), expected);
  EXPECT_EQ(values("'<i8'", bytes_of<std::int64_t>({1, -2, 0, 100})), expected);
  EXPECT_EQ(values("'|b1'", "\1\0\0\1"s), (std::vector<double>{1, 0, 0, 1}));
  EXPECT_EQ(code_of_bytes(npy(header("'|b1'", "True", "(2, 2)"), "\1\2\0\1"s)),
            ErrorCode::malformed);
  for (const std::int64_t big :
       {(std::int64_t{1} << 53) + 1, std::numeric_limits<std::int64_t>::max(),
        std::numeric_limits<std::int64_t>::min()}) {
    EXPECT_EQ(code_of_bytes(npy(header("'<i8'", "True", "(1, 1)"), bytes_of<std::int64_t>({big}))),
              ErrorCode::unsupported);
  }
}

TEST(Npy, ReadsMatricesLargerThanItsPieces) {
  for (const auto& [rows, cols] : {std::pair<int, int>{100, 300},
                                   {300, 100},
                                   {17, 1},
                                   {1, 17},
                                   {15, 40},
                                   {16, 40},
                                   {17, 40},
                                   {33, 3}}) {
    std::vector<float> by_rows, by_cols;
    for (int i = 0; i < rows; ++i) {
      for (int j = 0; j < cols; ++j) by_rows.push_back(static_cast<float>(1000 * i + j));
    }
    for (int j = 0; j < cols; ++j) {
      for (int i = 0; i < rows; ++i) by_cols.push_back(static_cast<float>(1000 * i + j));
    }
    const std::string shape = "(" + std::to_string(rows) + ", " + std::to_string(cols) + ")";
    const DenseMatrix a = read_bytes(npy(header("'<f4'", "False", shape), bytes_of(by_rows)));
    EXPECT_EQ(elements(a), std::vector<double>(by_cols.begin(), by_cols.end())) << shape;
  }
}

TEST(Npy, TakesHeadersThatNumpyTakes) {
  for (const char* text : {
           "{'descr':'<f8','fortran_order':True,'shape':(2,3)}",
           "{ \"shape\" : ( 2 , 3 , ) , \"fortran_order\" : True , \"descr\" : \"<f8\" , }   \n",
           "\n{'shape': (2, 3), 'descr': '<f8', 'fortran_order': True}\t\n",
       }) {
    EXPECT_EQ(elements(read_bytes(npy(text, kSix))), (std::vector<double>{1, 2, 3, 4, 5, 6}))
        << text;
  }
  EXPECT_EQ(read_bytes(npy(header("'<f8'", "True", "(0, 3)"), "")).cols, 3);
  EXPECT_EQ(read_bytes(npy(header("'<f8'", "False", "(0,)"), "")).rows, 0);
}

TEST(Npy, RefusesHeadersOfTheWrongForm) {
  for (const std::string& text :
       {""s, " "s, "{"s, "{}"s, "[]"s, "{'descr': '<f8'}"s, std::string(60'000, '('),
        "{'descr': '<f8', 'fortran_order': True, 'shape': "s + std::string(60'000, '('),
        "{'descr': '<f8', 'fortran_order': True, 'shape': (2, 3)"s,
        "{'descr': '<f8', 'fortran_order': True, 'shape': (2, 3), 'x': 1}"s,
        "{'descr': '<f8', 'descr': '<f8', 'fortran_order': True, 'shape': (2, 3)}"s,
        "{'descr': '<f8', 'fortran_order': True, 'shape': (2, 3)} x"s,
        "{'descr': '<f8' 'fortran_order': True, 'shape': (2, 3)}"s,
        "{'descr': '<f8, 'fortran_order': True, 'shape': (2, 3)}"s,
        "{'descr': <f8, 'fortran_order': True, 'shape': (2, 3)}"s,
        "{'descr', '<f8', 'fortran_order': True, 'shape': (2, 3)}"s,
        "{,'descr': '<f8', 'fortran_order': True, 'shape': (2, 3)}"s,
        "{'descr': '<f8', 'fortran_order': True, 'shape': (2, 3)\0}"s}) {
    EXPECT_EQ(code_of_bytes(npy(text, kSix)), ErrorCode::malformed) << text.substr(0, 100);
  }
  for (const char* order : {"1", "true", "'True'", "None", "", "True False"}) {
    EXPECT_EQ(code_of_bytes(npy(header("'<f8'", order, "(2, 3)"), kSix)), ErrorCode::malformed)
        << order;
  }
  for (const char* shape : {"(True, 3)", "(-2, 3)", "(2.0, 3)", "(2 3)", "(2,, 3)", "(,)", "(6)",
                            "[2, 3]", "6", "(2, '3')", "(2L, 3)", "(0x2, 3)", "((2, 3))", "(2, 3",
                            "(-99999999999999999999, 3)", "(, 2, 3)"}) {
    EXPECT_EQ(code_of_bytes(npy(header("'<f8'", "True", shape), kSix)), ErrorCode::malformed)
        << shape;
  }
}

TEST(Npy, RefusesWhatIsNotAMatrixOfRealNumbers) {
  for (const char* type :
       {"'>f8'", "'=f8'", "'<f2'", "'<f16'", "'<c16'", "'|O'", "'<U5'", "'<ixy'", "'<u8'", "'f8'",
        "''", "'<f8 '", "'\x1b[31m'", "[('a', '<f8')]", "[[[[[[", "'<M8[ns]'"}) {
    EXPECT_EQ(code_of_bytes(npy(header(type, "True", "(2, 3)"), kSix)), ErrorCode::unsupported)
        << type;
  }
  EXPECT_EQ(code_of_bytes(npy(header("'<f8'", "True", "()"), bytes_of<double>({1}))),
            ErrorCode::unsupported);
  EXPECT_EQ(code_of_bytes(npy(header("'<f8'", "True", "(1, 2, 3)"), kSix)), ErrorCode::unsupported);
  for (const int version : {0, 4, 255}) {
    EXPECT_EQ(code_of_bytes(npy(header("'<f8'", "True", "(2, 3)"), kSix, version)),
              ErrorCode::unsupported);
  }
  std::string minor = npy(header("'<f8'", "True", "(2, 3)"), kSix);
  minor[7] = 1;
  EXPECT_EQ(code_of_bytes(minor), ErrorCode::unsupported);
}

TEST(Npy, RefusesSizesThatWrapOrLie) {
  EXPECT_EQ(code_of_bytes("\x93NUMPY\2\0\xf0\xff\xff\xff"s), ErrorCode::too_large);
  EXPECT_EQ(code_of_bytes("\x93NUMPY\2\0\1\0\1\0"s), ErrorCode::too_large);
  EXPECT_EQ(code_of_bytes("\x93NUMPY\1\0\xff\xff{'descr'"s), ErrorCode::truncated);
  const auto shape = [](const std::string& text) {
    return code_of_bytes(npy(header("'<f8'", "False", text), kSix));
  };
  EXPECT_EQ(shape("(4294967296, 4294967296)"), ErrorCode::too_large);
  EXPECT_EQ(shape("(2305843009213693952, 1)"), ErrorCode::too_large);
  EXPECT_EQ(shape("(2305843009213693952,)"), ErrorCode::too_large);
  EXPECT_EQ(shape("(99999999999999999999, 1)"), ErrorCode::too_large);
  EXPECT_EQ(shape("(1000000000, 10)"), ErrorCode::truncated);
  EXPECT_EQ(shape("(7,)"), ErrorCode::truncated);
  EXPECT_EQ(shape("(5,)"), ErrorCode::shape);
  EXPECT_EQ(shape("(0, 9)"), ErrorCode::shape);
}

TEST(Npy, RefusesTruncationAtEveryByte) {
  for (const std::string& whole :
       {npy(header("'<f8'", "False", "(2, 3)"), kSix),
        npy(header("'<i4'", "True", "(3,)"), bytes_of<std::int32_t>({1, 2, 3}), 2)}) {
    read_bytes(whole);
    for (std::size_t length = 0; length < whole.size(); ++length) {
      EXPECT_EQ(code_of_bytes(whole.substr(0, length)), ErrorCode::truncated) << length;
    }
  }
}

TEST(Npy, SurvivesEveryChangedByte) {
  const std::string whole = npy(header("'<f8'", "False", "(2, 3)"), kSix);
  for (std::size_t at = 0; at < whole.size() - kSix.size(); ++at) {
    for (int byte = 0; byte < 256; ++byte) {
      std::string changed = whole;
      changed[at] = static_cast<char>(byte);
      try {
        EXPECT_EQ(read_bytes(changed).data.size(), 6);
      } catch (const Error& error) {
        EXPECT_NE(error.code(), ErrorCode::internal);
      }
    }
  }
}

TEST(Npy, SaysWhereAndWhy) {
  const auto [code, text] =
      error_of([] { read_bytes(npy(header("'<f8'", "True", "(7, 1)"), kSix)); });
  EXPECT_EQ(text, "'test.npy', byte 69: the shape needs 56 bytes of data, but there are 48");
}

TEST(Npy, ComesBackWithTheSameBits) {
  const Directory directory;
  const std::string path = directory / "a.npy";
  double odd_nan = 0;
  const std::uint64_t payload = 0x7ff4'0000'dead'beef;
  std::memcpy(&odd_nan, &payload, sizeof odd_nan);
  const std::vector<double> data = {0.1, -0.0, 5e-324, odd_nan, 1.0 / 3, -HUGE_VAL};
  write_npy(path, view(data.data(), 2, 3));
  const DenseMatrix back = read_npy(path);
  EXPECT_EQ(back.rows, 2);
  EXPECT_TRUE(same_bits(elements(back), data));
  const std::string bytes = contents(path);
  EXPECT_EQ((bytes.size() - 48) % 64, 0U);  // NumPy requires the data to be aligned
  const std::vector<double> padded = {1, 2, -7, 3, 4, -7};
  write_npy(path, view(padded.data(), 2, 2, 3));
  EXPECT_EQ(elements(read_npy(path)), (std::vector<double>{1, 2, 3, 4}));
  write_npy(path, view<const double>(nullptr, 0, 5));
  EXPECT_EQ(read_npy(path).cols, 5);
}

// With many rows or columns and no elements, a loop over them would not end.
TEST(Npy, ReadsAndWritesNoElementsOfManyRowsAtOnce) {
  for (const char* order : {"True", "False"}) {
    for (const char* shape : {"(9223372036854775807, 0)", "(0, 9223372036854775807)"}) {
      const DenseMatrix a = read_bytes(npy(header("'<f8'", order, shape), ""));
      EXPECT_EQ(std::max(a.rows, a.cols), std::numeric_limits<std::int64_t>::max()) << shape;
      std::string bytes;
      Sink sink(&bytes);
      write_npy(sink, a.view());
      const DenseMatrix back = read_bytes(bytes);
      EXPECT_EQ(back.rows, a.rows);
      EXPECT_EQ(back.cols, a.cols);
    }
  }
}

}  // namespace
}  // namespace stepwell::io::test
