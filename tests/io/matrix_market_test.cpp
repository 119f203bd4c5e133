// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "io/matrix_market.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "io/fixture.hpp"

namespace stepwell::io::test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

DenseMatrix read_text(std::string_view text) {
  Source source(text, "test.mtx");
  return read_matrix_market(source);
}

/// A file with the given words in its banner, and the rest.
std::string market(const std::string& words, const std::string& rest) {
  return "%%MatrixMarket matrix " + words + "\n" + rest;
}

ErrorCode code_of_text(const std::string& text) {
  const auto [code, message] = error_of([&] { read_text(text); });
  EXPECT_EQ(message.find("'test.mtx'"), 0U) << message;
  return code;
}

TEST(MatrixMarket, ReadsArraysColumnByColumn) {
  const DenseMatrix a =
      read_text(market("array real general", "% a comment\n\n2 3\n1\n2\n3\n4\n5\n6\n"));
  EXPECT_EQ(a.rows, 2);
  EXPECT_EQ(a.cols, 3);
  EXPECT_FALSE(a.symmetric);
  EXPECT_EQ(elements(a), (std::vector<double>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(elements(read_text(market("array integer symmetric", "2 2\n1\n2\n3\n"))),
            (std::vector<double>{1, 2, 2, 3}));
  EXPECT_TRUE(read_text(market("array integer symmetric", "2 2\n1\n2\n3\n")).symmetric);
  EXPECT_EQ(elements(read_text(market("array real skew-symmetric", "3 3\n1\n2\n3\n"))),
            (std::vector<double>{0, 1, 2, -1, 0, 3, -2, -3, 0}));
  EXPECT_EQ(elements(read_text(market("array real general", "2 2\n1 2\n 3\t4 \n"))),
            (std::vector<double>{1, 2, 3, 4}));
}

TEST(MatrixMarket, ReadsCoordinates) {
  EXPECT_EQ(elements(read_text(market("coordinate real general", "2 3 2\n1 2 7.5\n2 1 -1e-3\n"))),
            (std::vector<double>{0, -1e-3, 7.5, 0, 0, 0}));
  EXPECT_EQ(elements(read_text(market("coordinate integer symmetric", "2 2 2\n2 1 7\n1 1 3\n"))),
            (std::vector<double>{3, 7, 7, 0}));
  EXPECT_EQ(elements(read_text(market("coordinate double skew-symmetric", "2 2 1\n2 1 7\n"))),
            (std::vector<double>{0, 7, -7, 0}));
  EXPECT_EQ(elements(read_text(market("coordinate pattern general", "2 2 2\n1 1\n2 1\n"))),
            (std::vector<double>{1, 1, 0, 0}));
  EXPECT_EQ(elements(read_text(market("coordinate real general", "1 2 0\n"))),
            (std::vector<double>{0, 0}));
}

TEST(MatrixMarket, TakesWhatOthersWrite) {
  const std::vector<double> expected = {0, 2.5, 0, 0};
  for (const char* text : {
           "%%MatrixMarket matrix coordinate real general\r\n% x\r\n2 2 1\r\n2 1 2.5\r\n",
           "%%MatrixMarket MATRIX Coordinate Real GENERAL\n2 2 1\n2 1 2.5\n",
           "%%MatrixMarket  matrix\tcoordinate real general \n\n 2\t2 1 \n  2 1 +2.5E+00  \n\n \n",
           "%%MatrixMarket matrix coordinate real general\n2 2 1\n02 1 .25e1\n",
       }) {
    EXPECT_EQ(elements(read_text(text)), expected) << text;
  }
  std::string comments;
  for (int i = 0; i < 1'000'000; ++i) comments += "%\n";
  EXPECT_EQ(elements(read_text(market("coordinate real general", comments + "2 2 1\n2 1 2.5\n"))),
            expected);
}

TEST(MatrixMarket, ReadsEmptyMatrices) {
  for (const char* sizes : {"0 0\n", "0 3\n", "3 0\n"}) {
    EXPECT_EQ(read_text(market("array real general", sizes)).data.size(), 0) << sizes;
  }
  EXPECT_EQ(read_text(market("coordinate real symmetric", "0 0 0\n")).data.size(), 0);
}

// With many columns and no elements, a loop over the columns would not end.
TEST(MatrixMarket, ReadsAndWritesNoElementsOfManyColumnsAtOnce) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  for (const char* sizes : {"0 9223372036854775807\n", "9223372036854775807 0\n"}) {
    const DenseMatrix a = read_text(market("array real general", sizes));
    EXPECT_EQ(std::max(a.rows, a.cols), most) << sizes;
    std::string text;
    Sink sink(&text);
    write_matrix_market(sink, a.view());
    EXPECT_EQ(text, market("array real general", sizes));
  }
}

TEST(MatrixMarket, AcceptsNonFiniteElementsAsData) {
  const DenseMatrix a =
      read_text(market("array real general", "5 1\nnan\nNaN\ninf\n-Inf\n-infinity\n"));
  EXPECT_TRUE(std::isnan(a.data[0]) && std::isnan(a.data[1]));
  EXPECT_EQ(a.data[2], kInfinity);
  EXPECT_EQ(a.data[3], -kInfinity);
  EXPECT_EQ(a.data[4], -kInfinity);
}

TEST(MatrixMarket, RoundsWhatIsTooSmallToZero) {
  const DenseMatrix a = read_text(market("array real general", "3 1\n1e-400\n-1e-400\n5e-324\n"));
  EXPECT_TRUE(same_bits(elements(a), {0.0, -0.0, 5e-324}));
}

TEST(MatrixMarket, RefusesBadBanners) {
  for (const char* text : {
           "1 1\n1\n",
           "%MatrixMarket matrix array real general\n1 1\n1\n",
           "%%matrixmarket matrix array real general\n1 1\n1\n",
           "%%MatrixMarket\n1 1\n1\n",
           "%%MatrixMarket matrix array real\n1 1\n1\n",
           "%%MatrixMarket matrix array real general or so\n1 1\n1\n",
           "%%MatrixMarket matrix list real general\n1 1\n1\n",
           "%%MatrixMarket matrix array reel general\n1 1\n1\n",
           "%%MatrixMarket matrix array real upper\n1 1\n1\n",
           "%%MatrixMarket matrix array pattern general\n1 1\n1\n",
           "%%MatrixMarket matrix coordinate pattern skew-symmetric\n1 1 0\n",
           "\n",
           "\n%%MatrixMarket matrix array real general\n1 1\n1\n",
       }) {
    EXPECT_EQ(code_of_text(text), ErrorCode::malformed) << text;
  }
  for (const char* words :
       {"array complex general", "array complex hermitian", "coordinate real hermitian"}) {
    EXPECT_EQ(code_of_text(market(words, "1 1\n1\n")), ErrorCode::unsupported) << words;
  }
  EXPECT_EQ(code_of_text("%%MatrixMarket vector array real general\n1 1\n1\n"),
            ErrorCode::unsupported);
}

TEST(MatrixMarket, RefusesBadSizes) {
  for (const char* sizes : {"2\n", "2 2\n", "2 2 1 1\n", "2 x 1\n", "-2 2 1\n", "2 2 -1\n",
                            "2.0 2 1\n", "0x2 2 1\n", "2,2,1\n", "2 2 5\n", "0 0 1\n"}) {
    EXPECT_EQ(code_of_text(market("coordinate real general", std::string(sizes) + "2 1 2.5\n")),
              ErrorCode::malformed)
        << sizes;
  }
  EXPECT_EQ(
      code_of_text(market("coordinate real symmetric", "2 2 4\n1 1 1\n2 1 1\n2 2 1\n1 2 1\n")),
      ErrorCode::malformed);
  EXPECT_EQ(code_of_text(market("array real general", "1 1 1\n1\n")), ErrorCode::malformed);
  EXPECT_EQ(code_of_text(market("array real symmetric", "2 3\n1\n")), ErrorCode::shape);
  EXPECT_EQ(code_of_text(market("coordinate real skew-symmetric", "3 2 0\n")), ErrorCode::shape);
}

TEST(MatrixMarket, RefusesSizesThatWrapOrDoNotFit) {
  const auto coordinate = [](const std::string& sizes) {
    return code_of_text(market("coordinate real general", sizes + "\n1 1 1\n"));
  };
  EXPECT_EQ(coordinate("2 2 18446744073709551615"), ErrorCode::too_large);
  EXPECT_EQ(coordinate("18446744073709551617 1 1"), ErrorCode::too_large);
  EXPECT_EQ(coordinate("9223372036854775807 9223372036854775807 1"), ErrorCode::too_large);
  EXPECT_EQ(coordinate("2147483648 2147483648 1"), ErrorCode::too_large);  // overflow in bytes
  EXPECT_EQ(coordinate("4294967296 4294967296 1"), ErrorCode::too_large);
  EXPECT_EQ(coordinate("100000000 10000000 1"), ErrorCode::out_of_memory);
  EXPECT_EQ(coordinate("1000000 1000000 1000000"), ErrorCode::truncated);
  EXPECT_EQ(code_of_text(market("array real general", "4294967296 4294967296\n1\n")),
            ErrorCode::too_large);
  EXPECT_EQ(code_of_text(market("array real symmetric", "4294967295 4294967295\n1\n")),
            ErrorCode::too_large);
  EXPECT_EQ(code_of_text(market("array real general", "100000 100000\n1\n")), ErrorCode::truncated);
  EXPECT_EQ(code_of_text(market("array real symmetric", "3037000499 3037000499\n1\n")),
            ErrorCode::truncated);
}

TEST(MatrixMarket, RefusesBadEntries) {
  for (const char* entry : {"0 1 1",
                            "1 0 1",
                            "-1 1 1",
                            "3 1 1",
                            "1 3 1",
                            "4294967297 1 1",
                            "18446744073709551617 1 1",
                            "1 1",
                            "1",
                            "1 1 1 1",
                            "1 1 x",
                            "1 1 1x",
                            "1 1 1e400",
                            "1 1 -1e400",
                            "1 1 0x1p3",
                            "1 1 1,5",
                            "1 1 1d0",
                            "a b c",
                            "1.0 1 1",
                            "1 1 e",
                            "1 1 +",
                            "1 1 +-1",
                            "1 1 --1",
                            "1 1 .",
                            "% hello"}) {
    EXPECT_EQ(code_of_text(
                  market("coordinate real general", "2 2 1\n" + std::string(entry) + "\n\n\n\n\n")),
              ErrorCode::malformed)
        << entry;
  }
  using namespace std::string_literals;
  EXPECT_EQ(code_of_text(market("coordinate real general", "2 2 1\n1 1 \0001\n"s)),
            ErrorCode::malformed);
  EXPECT_EQ(code_of_text(market("coordinate pattern general", "2 2 1\n1 1 1\n")),
            ErrorCode::malformed);
  EXPECT_EQ(code_of_text(market("coordinate integer general", "2 2 1\n1 1 1.5\n")),
            ErrorCode::malformed);
  EXPECT_EQ(code_of_text(market("coordinate real symmetric", "2 2 1\n1 2 1\n")),
            ErrorCode::malformed);
  EXPECT_EQ(code_of_text(market("coordinate real skew-symmetric", "2 2 1\n1 1 1\n")),
            ErrorCode::malformed);
  EXPECT_EQ(code_of_text(market("coordinate real general", "2 2 2\n1 1 1\n1 1 1\n")),
            ErrorCode::malformed);
  EXPECT_EQ(code_of_text(market("coordinate real general", "2 2 2\n1 1 0\n1 1 0\n")),
            ErrorCode::malformed);
}

TEST(MatrixMarket, RefusesIntegersThatFp64CannotHold) {
  const auto integer = [](const std::string& value) {
    return market("array integer general", "1 1\n" + value + "\n");
  };
  EXPECT_EQ(read_text(integer("9007199254740992")).data[0], 0x1p53);
  EXPECT_EQ(read_text(integer("-9007199254740992")).data[0], -0x1p53);
  for (const char* value : {"9007199254740993", "-9007199254740993", "9223372036854775807",
                            "-9223372036854775808", "9223372036854775808"}) {
    EXPECT_EQ(code_of_text(integer(value)), ErrorCode::unsupported) << value;
  }
}

TEST(MatrixMarket, RefusesTooFewAndTooMany) {
  EXPECT_EQ(code_of_text(market("coordinate real general", "2 2 2\n1 1 1.0000000\n")),
            ErrorCode::truncated);
  EXPECT_EQ(code_of_text(market("array real general", "2 1\n1.0000000\n")), ErrorCode::truncated);
  EXPECT_EQ(code_of_text(market("coordinate real general", "2 2 1\n1 1 1\n2 2 1\n")),
            ErrorCode::malformed);
  EXPECT_EQ(code_of_text(market("array real general", "2 1\n1\n2\n3\n")), ErrorCode::malformed);
  EXPECT_EQ(code_of_text(market("array real general", "2 1\n1\n2 3\n")), ErrorCode::malformed);
  EXPECT_EQ(code_of_text(market("array real general", "2 1\n1\n2\n% end\n")), ErrorCode::malformed);
}

TEST(MatrixMarket, RefusesLinesWithoutEnd) {
  const std::string lots(100'000, '1');
  EXPECT_EQ(code_of_text(market("array real general", "1 1\n" + lots + "\n")),
            ErrorCode::malformed);
  EXPECT_EQ(code_of_text(market("array real general", "%" + lots + "\n1 1\n1\n")),
            ErrorCode::malformed);
  EXPECT_EQ(code_of_text(std::string(200'000, '%')), ErrorCode::malformed);
  EXPECT_EQ(elements(read_text(
                market("array real general", "1 1\n1." + std::string(60'000, '0') + "\n"))),
            std::vector<double>{1});
}

TEST(MatrixMarket, RefusesTruncationAtEveryByte) {
  for (const std::string& whole :
       {market("array real general", "2 2\n1.25\n2.5\n3.75\n4.125\n"),
        market("coordinate real symmetric", "% x\n3 3 3\n1 1 1.5\n2 2 2.5\n3 1 12.75\n"),
        market("coordinate pattern general", "12 12 2\r\n1 11\r\n10 12\r\n"),
        market("coordinate integer skew-symmetric", "3 3 1\n3 1 -123\n")}) {
    read_text(whole);
    for (std::size_t length = 0; length < whole.size(); ++length) {
      const ErrorCode code = code_of_text(whole.substr(0, length));
      EXPECT_TRUE(code == ErrorCode::truncated || code == ErrorCode::malformed)
          << length << ": " << static_cast<int>(code);
    }
  }
}

TEST(MatrixMarket, SurvivesEveryChangedByte) {
  const std::string whole =
      market("coordinate real symmetric", "% x\n3 3 3\n1 1 1.5\n2 2 -2.5e1\n3 1 12.75\n");
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (int byte = 0; byte < 256; ++byte) {
      std::string changed = whole;
      changed[at] = static_cast<char>(byte);
      try {
        EXPECT_EQ(read_text(changed).data.size() % 3, 0);
      } catch (const Error& error) {
        EXPECT_NE(error.code(), ErrorCode::internal);
      }
    }
  }
}

TEST(MatrixMarket, SaysWhereAndWhy) {
  const auto [code, text] = error_of(
      [] { read_text(market("coordinate real general", "% one\n3 3 2\n1 1 1\n0 1 1\n")); });
  EXPECT_EQ(text, "'test.mtx', line 5: the index '0' is not in 1 .. 3; indices count from 1");
}

TEST(MatrixMarket, ComesBackAsItWasWritten) {
  const Directory directory;
  const std::string path = directory / "a.mtx";
  std::vector<double> data = {0.1,     -0.0,       5e-324,   1.7976931348623157e308,
                              1.0 / 3, -kInfinity, 123456.5, 0x1.fffffffffffffp-1022};
  for (int i = 0; i < 100; ++i) data.push_back(std::ldexp(std::sin(i), 37 * i - 1000));
  write_matrix_market(path, view(data.data(), 54, 2));
  EXPECT_TRUE(same_bits(elements(read_matrix_market(path)), data));
  // Padding is not written.
  const std::vector<double> padded = {1, 2, -7, 3, 4, -7};
  write_matrix_market(path, view(padded.data(), 2, 2, 3));
  EXPECT_EQ(contents(path), "%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n");
}

TEST(MatrixMarket, WritesSymmetricMatricesHalf) {
  const Directory directory;
  const std::string path = directory / "a.mtx";
  std::vector<double> data = {1, 2, 3, 2, 4, 5, 3, 5, 6};
  write_matrix_market(path, view(data.data(), 3, 3), true);
  EXPECT_EQ(contents(path), "%%MatrixMarket matrix array real symmetric\n3 3\n1\n2\n3\n4\n5\n6\n");
  const DenseMatrix back = read_matrix_market(path);
  EXPECT_TRUE(back.symmetric);
  EXPECT_EQ(elements(back), data);
  data[1] = 2.5;
  EXPECT_EQ(error_of([&] { write_matrix_market(path, view(data.data(), 3, 3), true); }).first,
            ErrorCode::shape);
  EXPECT_EQ(error_of([&] { write_matrix_market(path, view(data.data(), 3, 2), true); }).first,
            ErrorCode::shape);
  EXPECT_EQ(elements(read_matrix_market(path)), elements(back));  // the old file is unchanged
}

}  // namespace
}  // namespace stepwell::io::test
