// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "batched/tuning.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <thread>
#include <vector>

#include "core/log.hpp"
#include "directory.hpp"
#include "kernels/table.hpp"
#include "stepwell/error.hpp"

namespace stepwell::batched {
namespace {

using core::Isa;
using test::Directory;

constexpr Isa kIsas[] = {Isa::reference, Isa::baseline,    Isa::avx2,
                         Isa::avx512,    Isa::avx512_bf16, Isa::amx};

bool among(const BatchTuning& t, std::span<const BatchTuning> all) {
  return std::find(all.begin(), all.end(), t) != all.end();
}

/// A table that differs from the shipped one at every order.
TuningTable other_table(Isa isa) {
  TuningTable table = shipped_table(isa);
  const auto all = tunings_of(isa);
  for (const Format format : {Format::fp32, Format::fp64}) {
    for (std::int64_t n = 1; n <= kBatchOrder; ++n) {
      BatchTuning& t = table.at(n, format);
      const std::size_t k = static_cast<std::size_t>(n) % all.size();
      t = all[k] == t ? all[(k + 1) % all.size()] : all[k];
    }
  }
  return table;
}

class TuningFile : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"STEPWELL_BATCH_TUNING", "XDG_CACHE_HOME", "STEPWELL_LOG"}) {
      const char* const value = ::getenv(name);
      before_.emplace_back(name, value == nullptr ? "" : value);
      ::unsetenv(name);
    }
    ::setenv("XDG_CACHE_HOME", directory_.path().c_str(), 1);
    ASSERT_EQ(::mkdir((directory_ / "stepwell").c_str(), 0700), 0);
  }
  void TearDown() override {
    for (const auto& [name, value] : before_) {
      value.empty() ? ::unsetenv(name.c_str()) : ::setenv(name.c_str(), value.c_str(), 1);
    }
  }

  void keep(std::string_view text) { directory_.file("stepwell/batch.txt", text); }
  std::string kept() const { return directory_ / "stepwell/batch.txt"; }
  /// Loads the table, and keeps the messages in said_.
  TuningTable load() {
    testing::internal::CaptureStderr();
    const TuningTable table = load_tuning_table(isa_);
    said_ = testing::internal::GetCapturedStderr();
    return table;
  }

  const Isa isa_ = kernels::table().cap;
  const TuningTable other_ = other_table(isa_);
  const Directory directory_;
  std::string said_;

 private:
  std::vector<std::pair<std::string, std::string>> before_;
};

TEST(Tuning, EveryVariantIsThereOnceAndTheShippedOnesAreAmongThem) {
  for (const Isa isa : kIsas) {
    const auto all = tunings_of(isa);
    std::set<std::vector<int>> different;
    for (const BatchTuning& t : all) different.insert({t.rows, t.cols, t.vectors, t.prefetch});
    EXPECT_EQ(different.size(), all.size()) << to_string(isa);
    EXPECT_TRUE(among(plain_tuning(isa), all)) << to_string(isa);
    const TuningTable table = shipped_table(isa);
    for (std::int64_t n = 1; n <= kBatchOrder; ++n) {
      EXPECT_TRUE(among(table.at(n, Format::fp32), all)) << to_string(isa) << " n = " << n;
      EXPECT_TRUE(among(table.at(n, Format::fp64), all)) << to_string(isa) << " n = " << n;
    }
  }
}

TEST(Tuning, IsForTheOrdersAndFormatsOfBatches) {
  for (const Format format : {Format::fp32, Format::fp64}) {
    for (std::int64_t n = 1; n <= kBatchOrder; ++n) {
      EXPECT_TRUE(among(batch_tuning(n, format), batch_tunings(format))) << n;
    }
    for (const std::int64_t n : {std::int64_t{0}, std::int64_t{-1}, kBatchOrder + 1, INT64_MAX}) {
      EXPECT_THROW(batch_tuning(n, format), Error) << n;
    }
  }
  EXPECT_THROW(batch_tunings(Format::bf16), Error);
  EXPECT_THROW(batch_tuning(8, Format::fp16), Error);
}

TEST(Tuning, IsOneTableForAllThreads) {
  std::vector<const TuningTable*> seen(8);
  std::vector<std::thread> threads;
  for (auto& s : seen) threads.emplace_back([&s] { s = &tuning_table(); });
  for (std::thread& t : threads) t.join();
  for (const TuningTable* s : seen) EXPECT_EQ(s, seen[0]);
}

TEST_F(TuningFile, IsReadBack) {
  keep(to_text(other_, isa_));
  EXPECT_EQ(load(), other_);
  EXPECT_EQ(said_, "");
}

TEST_F(TuningFile, LeavesOtherOrdersAsShipped) {
  const BatchTuning t = other_.at(17, Format::fp64);
  keep(tuning_header(isa_) + "\nfp64 17 " + std::to_string(t.rows) + "x" + std::to_string(t.cols) +
       " " + std::to_string(t.vectors) + " " + std::to_string(t.prefetch) + "\n");
  TuningTable expected = shipped_table(isa_);
  EXPECT_NE(expected.at(17, Format::fp64), t);
  expected.at(17, Format::fp64) = t;
  EXPECT_EQ(load(), expected);
  EXPECT_EQ(said_, "");
}

TEST_F(TuningFile, ThatIsNotThereIsNoNews) {
  EXPECT_EQ(load(), shipped_table(isa_));
  EXPECT_EQ(said_, "");
  ::setenv("STEPWELL_BATCH_TUNING", (directory_ / "absent").c_str(), 1);
  EXPECT_EQ(load(), shipped_table(isa_));
  EXPECT_NE(said_.find("can't be read: No such file"), std::string::npos) << said_;
}

TEST_F(TuningFile, CanBeAnotherOrNone) {
  keep(to_text(other_, isa_));
  for (const char* const off : {"off", ""}) {
    ::setenv("STEPWELL_BATCH_TUNING", off, 1);
    EXPECT_EQ(load(), shipped_table(isa_)) << off;
    EXPECT_EQ(said_, "");
  }
  std::filesystem::rename(kept(), directory_ / "mine");
  ::setenv("STEPWELL_BATCH_TUNING", (directory_ / "mine").c_str(), 1);
  EXPECT_EQ(load(), other_);
}

TEST_F(TuningFile, OfAnotherVersionOrMachineIsIgnored) {
  const std::string good = to_text(other_, isa_);
  const auto without = [&](const std::string& word) {
    return std::string(good).insert(good.find(word) + word.size(), "9");
  };
  for (const char* const word : {"version ", "isa ", "cpu "}) {
    keep(without(word));
    EXPECT_EQ(load(), shipped_table(isa_)) << word;
    EXPECT_EQ(said_, "") << "an old file is the normal state after an upgrade";
  }
  ::setenv("STEPWELL_BATCH_TUNING", kept().c_str(), 1);
  EXPECT_EQ(load(), shipped_table(isa_));
  EXPECT_NE(said_.find("another version"), std::string::npos) << said_;
}

struct Hostile {
  const char* name;
  std::string text;  ///< the text after the header
  const char* said;
};

TEST_F(TuningFile, ThatIsWrongIsIgnoredAndSaysWhere) {
  const std::string good = to_text(other_, isa_);
  const std::string variant = good.substr(good.find("fp32 1 ") + 7, 7);  // "2x2 1 0"
  const std::vector<Hostile> cases = {
      {"text", "hello\n", "line 2: 'hello' is not of the form"},
      {"empty line", "\n", "line 2"},
      {"second line", "fp32 1 " + variant + "\nfp32 2\n", "line 3: 'fp32 2'"},
      {"huge order", "fp32 99999999999999999999 " + variant + "\n", "line 2"},
      {"order above", "fp32 129 " + variant + "\n", "not between 1 and 128"},
      {"order zero", "fp32 0 " + variant + "\n", "not between 1 and 128"},
      {"negative order", "fp32 -1 " + variant + "\n", "line 2"},
      {"huge block", "fp32 1 99999999999x4 1 1\n", "line 2"},
      {"no such block", "fp32 1 7x7 1 1\n", "no such variant"},
      {"no such vectors", "fp32 1 2x2 9 1\n", "no such variant"},
      {"no such prefetch", "fp32 1 2x2 1 3\n", "no such variant"},
      {"format", "bf16 1 " + variant + "\n", "neither fp32 nor fp64"},
      {"twice", "fp32 1 " + variant + "\nfp32 1 " + variant + "\n", "is given twice"},
      {"word more", "fp32 1 " + variant + " 1\n", "line 2"},
      {"spaces", "fp32  1 " + variant + "\n", "line 2"},
      {"carriage return", "fp32 1 " + variant + "\r\n", "line 2"},
      {"NUL byte", std::string("fp32 1 ") + '\0' + variant + "\n", "line 2: 'fp32 1 ?"},
      {"cut", "fp32 1 " + variant, "line 2: the file ends"},
  };
  for (const Hostile& c : cases) {
    keep(tuning_header(isa_) + "\n" + c.text);
    EXPECT_EQ(load(), shipped_table(isa_)) << c.name;
    EXPECT_NE(said_.find(c.said), std::string::npos) << c.name << ": " << said_;
    EXPECT_NE(said_.find("STEPWELL_BATCH_TUNING=off"), std::string::npos) << c.name;
    EXPECT_EQ(load(), shipped_table(isa_)) << c.name;
    EXPECT_EQ(said_, "") << c.name << ": a warning comes once";
  }
}

TEST_F(TuningFile, ThatIsNoTableIsIgnored) {
  for (const std::string& text :
       {std::string(), std::string(1000, '\0'), std::string(20000, 'x'), std::string("\n"),
        tuning_header(isa_), std::string("\x7f\x45LF\2\1\1")}) {
    keep(text);
    EXPECT_EQ(load(), shipped_table(isa_));
  }
  keep(tuning_header(isa_) + "\n" + std::string(1 << 20, '\n'));
  EXPECT_EQ(load(), shipped_table(isa_));
  EXPECT_NE(said_.find("can't be read: File too large"), std::string::npos) << said_;
}

TEST_F(TuningFile, EveryPrefixOfAFileIsSafe) {
  const std::string good = to_text(other_, isa_).substr(0, 400);
  for (std::size_t k = 0; k < good.size(); ++k) {
    try {
      const TuningTable table = table_from_text(std::string_view(good).substr(0, k), isa_);
      EXPECT_EQ(good[k - 1], '\n') << k;
      for (std::int64_t n = 1; n <= kBatchOrder; ++n) {
        EXPECT_TRUE(among(table.at(n, Format::fp32), tunings_of(isa_)));
      }
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::malformed) << k;
    }
  }
}

TEST_F(TuningFile, ThatIsADirectoryOrAPipeIsIgnored) {
  ASSERT_EQ(::mkdir(kept().c_str(), 0700), 0);
  EXPECT_EQ(load(), shipped_table(isa_));
  EXPECT_NE(said_.find("Is a directory"), std::string::npos) << said_;
  const std::string pipe = directory_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  ::setenv("STEPWELL_BATCH_TUNING", pipe.c_str(), 1);
  EXPECT_EQ(load(), shipped_table(isa_));  // without waiting for a writer
  EXPECT_NE(said_.find("can't be read"), std::string::npos) << said_;
}

TEST_F(TuningFile, WithoutPermissionIsIgnored) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may read everything";
  keep(to_text(other_, isa_));
  ASSERT_EQ(::chmod(kept().c_str(), 0), 0);
  EXPECT_EQ(load(), shipped_table(isa_));
  EXPECT_NE(said_.find("Permission denied"), std::string::npos) << said_;
}

}  // namespace
}  // namespace stepwell::batched
