// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "hostile_files.hpp"

namespace stepwell::tool {
namespace {

using namespace std::string_literals;

std::string dense(const std::string& rest) {
  return market("array real general", rest);
}
std::string sparse(const std::string& rest) {
  return market("coordinate real general", rest);
}
std::string half(const std::string& rest) {
  return market("coordinate real symmetric", rest);
}

std::string utf16(const std::string& text) {
  std::string wide = "\xff\xfe";
  for (const char c : text) (wide += c) += '\0';
  return wide;
}

std::string with_carriage_returns_only(std::string text) {
  for (char& c : text) c = c == '\n' ? '\r' : c;
  return text;
}

const std::string kGood = dense("2 2\n2\n1\n1\n2\n");

std::vector<HostileFile> banners() {
  return {
      {"Empty", "", 12, "empty"},
      {"OneNewline", "\n", 11, "%%MatrixMarket"},
      {"BinaryNoise", "\x00\xff\x7f\x1b[2J\x80\n\x01\x02\n"s, 11, "%%MatrixMarket"},
      {"Compressed", "\x1f\x8b\x08\x00\x00\x00\x00\x00\n"s, 11, "%%MatrixMarket"},
      {"ByteOrderMark", "\xef\xbb\xbf" + kGood, 11, "%%MatrixMarket"},
      {"Utf16", utf16(kGood), 11, "%%MatrixMarket"},
      {"BannerOfAnotherName", "%%MatrixMarkt matrix array real general\n1 1\n1\n", 11, "starts"},
      {"BannerInLowerCase", "%%matrixmarket matrix array real general\n1 1\n1\n", 11, "starts"},
      {"BannerTooShort", "%%MatrixMarket matrix array real\n1 1\n1\n", 11, "five words"},
      {"BannerTooLong", "%%MatrixMarket matrix array real general x\n1 1\n1\n", 11, "five words"},
      {"BannerWithoutEnd", "%%MatrixMarket" + std::string(200'000, ' '), 11, "64 KiB"},
      {"Vector", "%%MatrixMarket vector array real general\n2\n1\n1\n", 14, "vector"},
      {"Complex", market("array complex general", "1 1\n1 0\n"), 14, "complex"},
      {"Hermitian", market("array real hermitian", "1 1\n1\n"), 14, "complex"},
      {"UnknownLayout", market("sparse real general", "1 1\n1\n"), 11, "'sparse'"},
      {"UnknownField", market("array quaternion general", "1 1\n1\n"), 11, "'quaternion'"},
      {"UnknownSymmetry", market("array real triangular", "1 1\n1\n"), 11, "'triangular'"},
      {"EscapeSequenceInBanner", market("array \x1b[2J\x07 general", "1 1\n1\n"), 11,
       "\\x1b[2j\\x07"},
      {"PatternAsArray", market("array pattern general", "1 1\n"), 11, "pattern"},
      {"PatternWithSigns", market("coordinate pattern skew-symmetric", "2 2 1\n2 1\n"), 11,
       "signs"},
      {"CarriageReturnsOnly", with_carriage_returns_only(kGood), 12, "newline"},
  };
}

std::vector<HostileFile> sizes() {
  const std::string billion = market("coordinate real general", "1000000000 1 0\n");
  const std::string root = market("coordinate real general", "3037000499 1 0\n");
  return {
      {"NoSizes", dense(""), 12, "before the sizes"},
      {"CommentsOnly", dense("% 2 2\n%\n"), 12, "before the sizes"},
      {"SizesInWords", dense("two two\n1\n"), 11, "'two' is not a size"},
      {"NegativeSizes", dense("-2 -2\n1\n"), 11, "'-2' is not a size"},
      {"NegativeCount", sparse("2 2 -1\n"), 11, "'-1' is not a size"},
      {"FractionalSize", dense("2.0 2.0\n1\n"), 11, "'2.0' is not a size"},
      {"OneSize", dense("2\n1\n1\n"), 11, "is not a size"},
      {"ThreeSizesOfAnArray", dense("2 2 4\n1\n"), 11, "after the sizes"},
      {"SizeBeyond64Bits", dense("18446744073709551618 2\n1\n"), 13, "64 bits"},
      {"ProductBeyond64Bits", dense("4294967296 4294967296\n1\n"), 13, "64 bits"},
      {"BytesBeyond64Bits", sparse("3037000499 3037000499 0\n"), 13, "64 bits", root},
      {"BytesBeyondMemory", sparse("1000000000 1000000000 0\n"), 30, "available", billion},
      {"ManyMoreElementsThanBytes", dense("1000000 1000000\n1\n"), 12, "don't fit"},
      {"MoreEntriesThanRoom", sparse("2 2 5\n1 1 1\n"), 11, "room for 4"},
      {"SymmetricAndNotSquare", half("2 3 1\n1 1 1\n"), 16, "square"},
      {"NotSquare", dense("2 3\n1\n1\n1\n1\n1\n1\n"), 16, "square"},
      {"TooManyElements", dense("2 2\n2\n1\n1\n2\n3\n"), 11, "after the last entry"},
      {"TooManyElementsInALine", dense("2 2\n2 1 1 2 3\n"), 11, "more values"},
      {"TooFewElements", dense("2 2\n2.0000\n1.0000\n1.0000\n"), 12, "element (2, 2)"},
      {"TooManyEntries", half("2 2 1\n1 1 1\n2 2 1\n"), 11, "after the last entry"},
      {"TooFewEntries", half("2 2 2\n1 1 1.000000000\n"), 12, "1 of 2 entries"},
      {"NoFinalNewline", dense("2 2\n2.0\n1.0\n1.0\n2.0"), 12, "newline"},
      {"ManyEmptyColumns", market("array real symmetric", "0 0\n"), 13, "64 bits",
       dense("0 9223372036854775807\n")},
  };
}

/// A valid matrix except for its last element.
std::string number(const std::string& word, const char* end = "\n") {
  return dense("2 2\n2\n1\n1\n" + word + end);
}

std::vector<HostileFile> entries() {
  return {
      {"IndexZero", half("2 2 1\n0 1 1\n"), 11, "count from 1"},
      {"IndexBeyond", half("2 2 1\n3 1 1\n"), 11, "'3' is not in 1 .. 2"},
      {"IndexNegative", half("2 2 1\n-1 1 1\n"), 11, "'-1' is not in 1 .. 2"},
      {"IndexBeyond64Bits", half("2 2 1\n99999999999999999999 1 1\n"), 11, "is not in 1 .. 2"},
      {"IndexInWords", half("2 2 1\none 1 1\n"), 11, "'one' is not an index"},
      {"IndexFractional", half("2 2 1\n1.0 1 1\n"), 11, "'1.0' is not an index"},
      {"EntryTwice", sparse("2 2 3\n1 1 1\n2 2 1\n1 1 1\n"), 11, "duplicate"},
      {"EntryAboveTheDiagonal", half("2 2 1\n1 2 1\n"), 11, "lower triangle"},
      {"SkewDiagonal", market("coordinate real skew-symmetric", "2 2 1\n1 1 1\n"), 11, "diagonal"},
      {"EntryWithoutValue", half("2 2 1\n1    1\n"), 11, "is not a number"},
      {"EntryWithTwoValues", half("2 2 1\n1 1 1 0\n"), 11, "after the entry"},
      {"TwoPoints", number("1.2.3"), 11, "'1.2.3' is not a number"},
      {"Hexadecimal", number("0x10"), 11, "'0x10' is not a number"},
      {"DecimalComma", number("1,5"), 11, "'1,5' is not a number"},
      {"FortranExponent", number("1d0"), 11, "'1d0' is not a number"},
      {"BeyondFp64", number("1e400"), 11, "range"},
      {"NulInANumber", number("1\0002"s), 11, "'1\\x002'"},
      {"LineOf100KiB", number(std::string(100'000, '1')), 11, "64 KiB"},
      {"LineWithoutEnd", number(std::string(1'000'000, '1'), ""), 11, "64 KiB"},
      {"ANumberOf60KiB", number(std::string(60'000, '9')), 11, "range"},
      {"IntegerWithAPoint", market("array integer general", "2 2\n2\n1\n1\n1.5\n"), 11,
       "not an integer"},
      {"IntegerBeyond2To53", market("array integer general", "2 2\n2\n1\n1\n9007199254740993\n"),
       14, "2^53"},
      {"NaN", market("array real symmetric", "2 2\n2\nnan\n2\n"), 15, "NaN", "", true},
      {"Infinity", market("array real symmetric", "2 2\n2\n1\n-inf\n"), 15, "infinity", "", true},
      {"Asymmetric", dense("2 2\n2\n1\n-1\n2\n"), 16, "not symmetric", "", true, " --assume spd"},
      {"Skew", market("array real skew-symmetric", "2 2\n1\n"), 16, "not symmetric", "", true,
       " --assume spd"},
      {"Indefinite", dense("2 2\n1\n2\n2\n1\n"), 20, "not positive definite", "", true,
       " --assume spd"},
      {"NoEntries", half("2 2 0\n"), 20, "singular", "", true},
      {"Singular", dense("2 2\n1\n3\n2\n6\n"), 20, "singular", "", true},
      {"ColumnOfZeros", dense("2 2\n0\n0\n1\n1\n"), 20, "singular", "", true},
  };
}

}  // namespace

std::string market(const std::string& words, const std::string& rest) {
  return "%%MatrixMarket matrix " + words + "\n" + rest;
}

std::vector<HostileFile> hostile_matrix_market() {
  std::vector<HostileFile> all;
  for (const auto& list : {banners(), sizes(), entries()}) {
    all.insert(all.end(), list.begin(), list.end());
  }
  return all;
}

}  // namespace stepwell::tool
