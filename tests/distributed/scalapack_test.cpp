// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <limits>
#include <vector>

#include "distributed/system.hpp"

/// A, B and X in ScaLAPACK's block-cyclic arrays.
namespace stepwell::distributed::test {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kUnread = 1e300;

/// The process grid that the options select, in row-major order.
struct Processes {
  int rows, cols;
  explicit Processes(const DistributedOptions& distributed) {
    const int size = world().size();
    rows = distributed.grid_rows;
    if (rows == 0) rows = size == 4 || size == 6 ? 2 : 1;
    cols = size / rows;
  }
  int row() const { return world().rank() / cols; }
  int col() const { return world().rank() % cols; }
};

/// How a matrix is distributed block-cyclically.
struct Blocks {
  int rows, cols;
  int first_row = 0, first_col = 0;
};

/// This process's part of a matrix, found element by element: (i, j) belongs to process
/// ((i / MB + RSRC) mod rows, (j / NB + CSRC) mod columns). The columns are padded; the padding
/// must not be written.
class BlockCyclic {
 public:
  BlockCyclic(const Dense<double>& whole, const Processes& p, const Blocks& blocks) {
    for (std::int64_t i = 0; i < whole.rows; ++i) {
      if ((i / blocks.rows + blocks.first_row) % p.rows == p.row()) rows_.push_back(i);
    }
    for (std::int64_t j = 0; j < whole.cols; ++j) {
      if ((j / blocks.cols + blocks.first_col) % p.cols == p.col()) cols_.push_back(j);
    }
    const std::size_t lld = rows_.size() + 3;
    local.assign(lld * cols_.size() + 1, kUnread);
    descriptor = {1,
                  0,
                  static_cast<int>(whole.rows),
                  static_cast<int>(whole.cols),
                  blocks.rows,
                  blocks.cols,
                  blocks.first_row,
                  blocks.first_col,
                  static_cast<int>(lld)};
    visit([&](double& here, std::int64_t i, std::int64_t j) { here = whole(i, j); });
  }

  /// The whole matrix, on every rank. Collective.
  Dense<double> gather() {
    Dense<double> whole(descriptor[2], descriptor[3]);
    visit([&](double& here, std::int64_t i, std::int64_t j) { whole(i, j) = here; });
    communicator().sum(whole.data);
    return whole;
  }

  /// Whether the padding between columns is unchanged.
  bool padding_is_whole() const {
    bool good = local.back() == kUnread;
    for (std::size_t c = 0; c < cols_.size(); ++c) {
      for (std::size_t r = rows_.size(); r < rows_.size() + 3; ++r) {
        good = good && local[c * (rows_.size() + 3) + r] == kUnread;
      }
    }
    return good;
  }

  template <class Do>
  void visit(Do action) {
    for (std::size_t c = 0; c < cols_.size(); ++c) {
      for (std::size_t r = 0; r < rows_.size(); ++r) {
        action(local[c * (rows_.size() + 3) + r], rows_[r], cols_[c]);
      }
    }
  }

  std::vector<double> local;
  std::array<int, 9> descriptor{};
  ScalapackMatrix matrix() const { return {local.data(), descriptor}; }
  ScalapackSolution solution() { return {local.data(), descriptor}; }

 private:
  std::vector<std::int64_t> rows_, cols_;
};

/// A in blocks of 64; its strict upper triangle is NaN because it must not be read.
BlockCyclic distribute_a(const System& s, const Processes& p) {
  BlockCyclic a(s.a, p, {64, 64});
  a.visit([](double& here, std::int64_t i, std::int64_t j) {
    if (i < j) here = kNan;
  });
  return a;
}

std::vector<DistributedOptions> grids() {
  std::vector<DistributedOptions> found = layouts();
  std::erase_if(found, [](const DistributedOptions& o) { return o.layout != Layout::grid; });
  return found;
}

TEST(Scalapack, ReadsAWhereItIs) {
  System s(300, recipe(gallery::Kind::arithmetic));
  for (const DistributedOptions& distributed : grids()) {
    const BlockCyclic a = distribute_a(s, Processes(distributed));
    const Certificate c = solve_spd(world(), a.matrix(), s.b.view(), s.x.view(), {}, distributed);
    expect_solved(s, c);
    const Dense<double> here = s.x;
    ASSERT_TRUE(s.solve(with_tile(64), distributed).ok());
    EXPECT_EQ(s.x.data, here.data);  // the same bits as with a function that fills the tiles
  }
}

TEST(Scalapack, TakesBAndGivesXWhereTheyAre) {
  for (const DistributedOptions& distributed : grids()) {
    const Processes p(distributed);
    // Block sizes that PDPOSV requires, and others that it does not accept.
    const Blocks last = {64, 2, p.rows - 1, p.cols - 1};
    const std::pair<Blocks, Blocks> all[] = {{{64, 64}, {64, 64}},
                                             {{64, 1}, last},
                                             {last, {1000, 1000}},
                                             {{7, 2, 0, p.cols / 2}, {7, 3, p.rows / 2, 0}}};
    for (const std::int64_t columns : {1, 5}) {
      System s(300, recipe(gallery::Kind::arithmetic), columns);
      const BlockCyclic a = distribute_a(s, p);
      const Certificate whole =
          solve_spd(world(), a.matrix(), s.b.view(), s.x.view(), {}, distributed);
      ASSERT_TRUE(whole.ok()) << whole.reason;
      const Dense<double> expected = s.x;
      for (const auto& [of_b, of_x] : all) {
        const BlockCyclic b(s.b, p, of_b);
        BlockCyclic x(Dense<double>(300, columns), p, of_x);
        x.visit([](double& here, std::int64_t, std::int64_t) { here = kNan; });
        const std::vector<double> before = b.local;
        const Certificate c =
            solve_spd(world(), a.matrix(), b.matrix(), x.solution(), {}, distributed);
        EXPECT_TRUE(x.padding_is_whole());
        EXPECT_EQ(b.local, before);
        s.x = x.gather();
        expect_solved(s, c);
        EXPECT_EQ(s.x.data, expected.data);
      }
      BlockCyclic both(s.b, p, {64, 64});  // X overwrites B, as in PDPOSV
      const Certificate c =
          solve_spd(world(), a.matrix(), both.matrix(), both.solution(), {}, distributed);
      EXPECT_TRUE(both.padding_is_whole());
      s.x = both.gather();
      expect_solved(s, c);
    }
  }
}

TEST(Scalapack, LeavesXAsItWasWhereThereIsNoSolution) {
  System s(200, recipe(gallery::Kind::arithmetic), 2);
  s.a(150, 150) = -1;
  for (const DistributedOptions& distributed : grids()) {
    const Processes p(distributed);
    const BlockCyclic a = distribute_a(s, p);
    BlockCyclic both(s.b, p, {64, 1});
    const std::vector<double> before = both.local;
    const Certificate c =
        solve_spd(world(), a.matrix(), both.matrix(), both.solution(), {}, distributed);
    EXPECT_EQ(c.outcome, SolveOutcome::not_positive_definite);
    EXPECT_TRUE(same_certificate(c));
    EXPECT_EQ(both.local, before);
  }
}

TEST(Scalapack, SolvesForNoColumns) {
  System s(100, recipe(gallery::Kind::arithmetic), 0);
  const Processes p{DistributedOptions{}};
  const BlockCyclic a = distribute_a(s, p);
  BlockCyclic b(s.b, p, {64, 64});
  EXPECT_TRUE(solve_spd(world(), a.matrix(), b.matrix(), b.solution()).ok());
}

enum Field { kType, kContext, kRows, kCols, kRowBlock, kColBlock, kFirstRow, kFirstCol, kLld };

template <class Matrix>
Matrix with(Matrix m, Field field, int value) {
  m.descriptor[static_cast<std::size_t>(field)] = value;
  return m;
}

TEST(Scalapack, SaysWhatIsWrongWithADescriptor) {
  System s(300, recipe(gallery::Kind::arithmetic), 2);
  for (const DistributedOptions& distributed : grids()) {
    const Processes p(distributed);
    BlockCyclic local_a = distribute_a(s, p);
    const BlockCyclic local_b(s.b, p, {64, 2});
    BlockCyclic local_x(s.x, p, {64, 2});
    const ScalapackMatrix a = local_a.matrix(), b = local_b.matrix();
    const ScalapackSolution x = local_x.solution();
    const auto refuses_a = [&](Field field, int value, const std::string& text) {
      expect_error(ErrorCode::invalid_argument, text, [&] {
        (void)solve_spd(world(), with(a, field, value), s.b.view(), s.x.view(), {}, distributed);
      });
      expect_error(ErrorCode::invalid_argument, text,
                   [&] { (void)solve_spd(world(), with(a, field, value), b, x, {}, distributed); });
    };
    refuses_a(kType, 501, "type");
    refuses_a(kRows, 299, "square");
    refuses_a(kRowBlock, 100, "multiple of 32");
    refuses_a(kFirstRow, 1, "(0, 0)");
    refuses_a(kLld, 0, "leading dimension (LLD) of A");

    const auto refuses = [&](Field field, int value, const std::string& text,
                             const std::string& text_x) {
      expect_error(ErrorCode::invalid_argument, text,
                   [&] { (void)solve_spd(world(), a, with(b, field, value), x, {}, distributed); });
      expect_error(ErrorCode::invalid_argument, text_x,
                   [&] { (void)solve_spd(world(), a, b, with(x, field, value), {}, distributed); });
    };
    refuses(kType, 2, "DTYPE) of B", "DTYPE) of X");
    refuses(kRows, 299, "M of B's descriptor is 299", "M and N of X's descriptor are 299 and 2");
    refuses(kCols, -1, "N of B's descriptor are 300 and -1", "N of X's");
    refuses(kCols, 1, "they must be 300 and 1", "they must be 300 and 2");
    refuses(kRowBlock, 0, "MB and NB of B", "MB and NB of X");
    refuses(kFirstCol, p.cols, "RSRC and CSRC of B", "RSRC and CSRC of X");
    refuses(kFirstRow, -1, "RSRC and CSRC of B", "RSRC and CSRC of X");
    refuses(kLld, 0, "(LLD) of B", "(LLD) of X");
    expect_error(ErrorCode::invalid_argument, "no local array for B", [&] {
      (void)solve_spd(world(), a, ScalapackMatrix{nullptr, b.descriptor}, x, {}, distributed);
    });
    expect_error(ErrorCode::invalid_argument, "X overlaps A", [&] {
      (void)solve_spd(world(), a, b, ScalapackSolution{local_a.local.data(), x.descriptor}, {},
                      distributed);
    });
    if (world().size() == 1) continue;
    // An error on one rank only is reported on all ranks.
    const bool odd = world().rank() == world().size() - 1;
    expect_error(ErrorCode::invalid_argument, "NB of B's descriptor is not the same", [&] {
      (void)solve_spd(world(), a, odd ? with(b, kColBlock, 1) : b, x, {}, distributed);
    });
    expect_error(ErrorCode::invalid_argument, "DTYPE) of X", [&] {
      (void)solve_spd(world(), a, b, odd ? with(x, kType, 2) : x, {}, distributed);
    });
  }
}

}  // namespace
}  // namespace stepwell::distributed::test
