// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <cstring>

#include "hostile_files.hpp"

namespace stepwell::tool {
namespace {

using namespace std::string_literals;

const std::string kFour = doubles({2, 1, 1, 2});

/// A file of four valid doubles with this type in its header.
std::string of_type(const std::string& type) {
  return npy(dictionary(type, "False", "(2, 2)"), kFour);
}
std::string of_order(const std::string& order) {
  return npy(dictionary("'<f8'", order, "(2, 2)"), kFour);
}
std::string of_shape(const std::string& shape) {
  return npy(dictionary("'<f8'", "False", shape), kFour);
}
std::string of_elements(const std::vector<double>& values) {
  return npy(dictionary("'<f8'", "True", "(2, 2)"), doubles(values));
}

std::string integers(const std::vector<std::int64_t>& values) {
  std::string bytes(values.size() * sizeof values[0], '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return npy(dictionary("'<i8'", "False", "(2, 2)"), bytes);
}

std::vector<HostileFile> starts() {
  const std::string good = of_shape("(2, 2)");
  return {
      {"Empty", "", 12, "empty"},
      {"MagicOnly", "\x93NUMPY", 12, "header"},
      {"AnotherMagic", "\x92NUMPY" + good.substr(6), 11, "\\x93NUMPY"},
      {"Zip", "PK\x03\x04" + good, 11, "\\x93NUMPY"},
      {"MatrixMarket", market("array real general", "1 1\n1\n"), 11, "\\x93NUMPY"},
      {"BinaryNoise", "\x00\xff\x7f\x1b[2J\x80\n\x01\x02\n"s, 11, "\\x93NUMPY"},
      {"VersionZero", npy(good, "", 0), 14, "version 0.0"},
      {"VersionFour", npy(good, "", 4), 14, "version 4.0"},
      {"HeaderBeyondTheFile", "\x93NUMPY\x01\x00\xff\xff{'descr': '<f8'"s, 12, "within its header"},
      {"HeaderOf4GiB", "\x93NUMPY\x02\x00\xff\xff\xff\xff{}"s, 13, "64 KiB"},
      {"HeaderOf100KiB", npy(std::string(100'000, ' ') + "{}", "", 2), 13, "64 KiB"},
      {"NoHeader", npy("", kFour), 11, "'{'"},
      {"BlankHeader", npy(std::string(60'000, ' '), kFour), 11, "'{'"},
  };
}

std::vector<HostileFile> headers() {
  const std::string rest = "'fortran_order': False, 'shape': (2, 2)";
  return {
      {"EmptyDictionary", npy("{}\n", kFour), 11, "lacks"},
      {"NoType", npy("{" + rest + "}\n", kFour), 11, "lacks"},
      {"NoShape", npy("{'descr': '<f8', 'fortran_order': False}\n", kFour), 11, "lacks"},
      {"KeyTwice", npy("{'descr': '<f8', 'descr': '<f8', " + rest + "}\n", kFour), 11, "twice"},
      {"UnknownKey", npy("{'descr': '<f8', 'x': 1, " + rest + "}\n", kFour), 11, "unknown"},
      {"KeyThatIsNoString", npy("{descr: '<f8', " + rest + "}\n", kFour), 11, "string"},
      {"StringWithoutEnd", npy("{'descr: <f8, }\n", kFour), 11, "no end"},
      {"DictionaryWithoutEnd", npy("{'descr': '<f8', " + rest + "\n", kFour), 11, "'}'"},
      {"TwoDictionaries", npy("{'descr': '<f8', " + rest + "} {}\n", kFour), 11,
       "after the dictionary"},
      {"ManyBrackets", npy(std::string(60'000, '{'), kFour), 11, "string"},
      {"PythonCode", npy("__import__('os').system('touch executed')\n", kFour), 11, "'{'"},
      {"OrderIsANumber", of_order("1"), 11, "True or False"},
      {"OrderInLowerCase", of_order("true"), 11, "True or False"},
      {"BigEndian", of_type("'>f8'"), 14, "'>f8'"},
      {"NativeEndian", of_type("'=f8'"), 14, "'=f8'"},
      {"Complex", of_type("'<c16'"), 14, "'<c16'"},
      {"HalfPrecision", of_type("'<f2'"), 14, "'<f2'"},
      {"LongDouble", of_type("'<f16'"), 14, "'<f16'"},
      {"Unsigned", of_type("'<u8'"), 14, "'<u8'"},
      {"Text", of_type("'<U5'"), 14, "'<U5'"},
      {"Dates", of_type("'<M8[s]'"), 14, "'<M8[s]'"},
      {"EscapeSequenceAsType", of_type("'\x1b[2J'"), 14, "\\x1b[2J"},
      {"PickledObjects", npy(dictionary("'|O'", "False", "(2, 2)"), "cos\nsystem\n(S'x'\ntR."), 14,
       "'|O'"},
      {"Records", of_type("[('x', '<f8')]"), 14, "records"},
  };
}

std::vector<HostileFile> shapes() {
  return {
      {"SingleNumber", of_shape("()"), 14, "single number"},
      {"ThreeDimensions", of_shape("(1, 2, 2)"), 14, "three dimensions"},
      {"NegativeSize", of_shape("(-2, -2)"), 11, "'-2' is not a size"},
      {"FractionalSize", of_shape("(2.0, 2.0)"), 11, "'2.0' is not a size"},
      {"SizeWithAnUnderscore", of_shape("(1_0, 2)"), 11, "'1_0' is not a size"},
      {"NoComma", of_shape("(2 2)"), 11, "commas"},
      {"NoTuple", of_shape("(4)"), 11, "tuple"},
      {"List", of_shape("[2, 2]"), 11, "'('"},
      {"ShapeWithoutEnd", of_shape("(2, 2"), 11, "is not a size"},
      {"SizeBeyond64Bits", of_shape("(18446744073709551618, 2)"), 13, "64 bits"},
      {"ProductBeyond64Bits", of_shape("(4294967296, 4294967296)"), 13, "64 bits"},
      {"BytesBeyond64Bits", of_shape("(2147483648, 2147483648)"), 13, "64 bits"},
      {"ManyMoreElementsThanBytes", of_shape("(1000000, 1000000)"), 12, "the shape needs"},
      {"LessDataThanShape", of_shape("(3, 3)"), 12, "needs 72 bytes"},
      {"MoreDataThanShape", of_shape("(1, 1)"), 16, "needs 8 bytes"},
      {"NotSquare", of_shape("(4, 1)"), 16, "square"},
      {"AVector", of_shape("(4,)"), 16, "square"},
      {"ManyEmptyColumns", npy(dictionary("'<f8'", "False", "(0, 0)"), ""), 13, "64 bits",
       npy(dictionary("'<f8'", "False", "(0, 576460752303423488)"), "")},
  };
}

std::vector<HostileFile> elements() {
  const double nan = std::nan("");
  return {
      {"TruthOfTwo", npy(dictionary("'|b1'", "False", "(2, 2)"), "\1\0\0\2"s), 11, "boolean"},
      {"IntegerBeyond2To53", integers({2, 1, 1, 9007199254740993}), 14, "2^53"},
      {"SmallestInteger", integers({2, 1, 1, INT64_MIN}), 14, "2^53"},
      {"NaN", of_elements({2, nan, nan, 2}), 15, "NaN", "", true},
      {"Infinity", of_elements({2, 1, 1, HUGE_VAL}), 15, "infinity", "", true},
      {"Asymmetric", of_elements({2, 1, -1, 2}), 16, "not symmetric", "", true, " --assume spd"},
      {"AsymmetricInTheOtherOrder",
       npy(dictionary("'<f8'", "False", "(2, 2)"), doubles({2, 1, -1, 2})), 16, "not symmetric", "",
       true, " --assume spd"},
      {"Indefinite", of_elements({1, 2, 2, 1}), 20, "not positive definite", "", true,
       " --assume spd"},
      {"Zero", of_elements({0, 0, 0, 0}), 20, "singular", "", true},
  };
}

}  // namespace

std::string npy(const std::string& header, std::string_view data, int version) {
  std::string out = "\x93NUMPY"s + static_cast<char>(version) + '\0';
  for (int byte = 0; byte < (version == 1 ? 2 : 4); ++byte) {
    out += static_cast<char>(header.size() >> (8 * byte));
  }
  return out.append(header).append(data);
}

std::string dictionary(const std::string& type, const std::string& order,
                       const std::string& shape) {
  return "{'descr': " + type + ", 'fortran_order': " + order + ", 'shape': " + shape + ", }\n";
}

std::string doubles(const std::vector<double>& values) {
  std::string bytes(values.size() * sizeof values[0], '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

std::vector<HostileFile> hostile_npy() {
  std::vector<HostileFile> all;
  for (const auto& list : {starts(), headers(), shapes(), elements()}) {
    all.insert(all.end(), list.begin(), list.end());
  }
  return all;
}

}  // namespace stepwell::tool
