// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/table.hpp"

#include <algorithm>
#include <cstdlib>

#include "kernels/fixture/fixture.hpp"

/// The kernel table is complete, has names, and never exceeds its cap.
namespace stepwell::kernels::test {
namespace {

struct Row {
  bool callable;
  std::string name;
  core::Isa isa;
};

template <class... F>
std::vector<Row> rows_of(const Entry<F>&... entries) {
  return {Row{entries.run != nullptr, entries.name, entries.isa}...};
}

template <class T>
std::vector<Row> rows_of(const BatchEntries<T>& b) {
  const std::vector<Row> all = rows_of(b.load, b.store, b.load_columns, b.store_columns, b.factor,
                                       b.forward, b.backward, b.norm, b.residual);
  EXPECT_EQ(sizeof b, all.size() * sizeof b.load + sizeof b.blocks + alignof(BatchEntries<T>));
  return all;
}

std::vector<Row> rows(const Table& t) {
  // After the cap, a table has only entries: a new entry that is missing here changes the size.
  std::vector<Row> all = rows_of(
      t.update[0], t.update[1], t.update[2], t.update[3], t.update_fp32, t.update_fp64,
      t.small_update_fp32, t.small_update_fp64, t.pack_fp32, t.pack_fp64, t.unpack_fp32,
      t.unpack_fp64, t.reorder, t.potrf_fp32, t.potrf_fp64, t.trsm_fp32, t.trsm_fp64, t.invert_fp32,
      t.invert_fp64, t.getrf_fp32, t.getrf_fp64, t.transpose_fp32, t.transpose_fp64, t.product,
      t.rounded_product, t.round, t.block_vectors_fp32, t.block_vectors_fp64, t.trsv_block_fp32,
      t.trsv_block_fp64, t.blocked_product, t.symmetric_product, t.packed_product_fp32,
      t.packed_product_fp64, t.tile_product_fp32, t.tile_product_fp64, t.exact_product,
      t.split_product, t.load, t.pack_columns, t.column_sizes, t.rotate, t.gather_gram,
      t.residues.convert, t.residues.convert_scaled, t.residues.restore, t.residues.update,
      t.residues.subtract, t.residues.potrf, t.residues.trsm);
  EXPECT_EQ(sizeof(Table), all.size() * sizeof(Entry<LoadFn>) + sizeof t.batch_fp32 +
                               sizeof t.batch_fp64 + alignof(Table));
  for (const std::vector<Row>& more : {rows_of(t.batch_fp32), rows_of(t.batch_fp64)}) {
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

/// What has a version above AVX-512: the products of packed operands and of residues.
bool has_matrix_kernels(const Table& t, const std::string& name) {
  const std::vector<Row> all = rows_of(t.update[0], t.update[1], t.update[2], t.update[3],
                                       t.residues.convert, t.residues.convert_scaled,
                                       t.residues.restore, t.residues.update, t.residues.subtract);
  return std::any_of(all.begin(), all.end(), [&](const Row& row) { return row.name == name; });
}

class TableTest : public PerIsa {};
INSTANTIATE_TEST_SUITE_P(Kernels, TableTest, every_isa(), isa_name);

TEST_P(TableTest, HasOnlyMatrixKernelsAboveAvx512) {
  for (const Row& row : rows(table_)) {
    EXPECT_TRUE(row.isa <= core::Isa::avx512 || has_matrix_kernels(table_, row.name)) << row.name;
  }
}

TEST_P(TableTest, HasAKernelWithANameForEverythingAndNoneAboveTheCap) {
  EXPECT_EQ(table_.cap, GetParam());
  for (const Row& row : rows(table_)) {
    EXPECT_TRUE(row.callable) << row.name;
    EXPECT_FALSE(row.name.empty());
    EXPECT_LE(row.isa, GetParam()) << row.name;
  }
}

TEST_P(TableTest, UsesTheInstructionSetForTheUpdate) {
  const bool engine = GetParam() >= core::Isa::avx512_bf16;
  EXPECT_EQ(table_.update_at(Rung::bf16).isa, GetParam());
  for (Rung r : {Rung::bf16x2, Rung::bf16x3, Rung::fp16}) {
    EXPECT_GE(table_.update_at(r).isa, engine ? core::Isa::avx512 : GetParam()) << to_string(r);
  }
}

TEST_P(TableTest, EnvironmentCapIsHonoured) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // a new process: table() is made only once
  const std::string cap(to_string(GetParam()));
  EXPECT_EXIT(
      {
        setenv("STEPWELL_ISA", cap.c_str(), 1);
        bool right = table().cap == GetParam();
        for (const Row& row : rows(table())) right = right && row.isa <= GetParam();
        std::exit(right ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "");
}

TEST(ReferenceTable, IsAllReference) {
  for (const Row& row : rows(reference_table())) {
    EXPECT_EQ(row.isa, core::Isa::reference) << row.name;
    EXPECT_NE(row.name.find("reference"), std::string::npos) << row.name;
  }
}

TEST(UsableIsas, ReferenceIsAlwaysUsableAndARefusedOneHasAReason) {
  EXPECT_TRUE(usable()[0].yes);
  for (core::Isa isa : core::all_isas) {
    const core::Usable& u = usable()[static_cast<unsigned>(isa)];
    EXPECT_EQ(u.yes, u.reason.empty()) << to_string(isa);
  }
}

}  // namespace
}  // namespace stepwell::kernels::test
