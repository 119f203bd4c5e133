// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/report.hpp"

#include <span>
#include <string>

#include "core/machine/cpu.hpp"
#include "kernels/blas/blas.hpp"
#include "kernels/table.hpp"

namespace stepwell {
namespace {

using core::Isa;

/// The instruction sets for which an operation has kernels, best first. This is the only place that
/// lists kernels that are not in the table.
constexpr Isa kCblas[] = {Isa::baseline};
constexpr Isa kPortable[] = {Isa::avx512, Isa::avx2, Isa::baseline};
constexpr Isa kEngine[] = {Isa::amx, Isa::avx512, Isa::avx2, Isa::baseline};
constexpr Isa kFused[] = {Isa::avx512, Isa::avx2};
constexpr Isa kVnni[] = {Isa::avx512_bf16};
constexpr Isa kInt8[] = {Isa::amx, Isa::avx512_bf16, Isa::avx512, Isa::avx2, Isa::baseline};
constexpr Isa kBf16[] = {Isa::amx, Isa::avx512_bf16, Isa::avx512, Isa::avx2, Isa::baseline};

/// Lists the table row by row, with the reasons why better kernels are not in it.
class Rows {
 public:
  explicit Rows(const core::IsaCap& cap) : cap_(cap) {}

  template <class F>
  void add(std::string operation, const kernels::Entry<F>& entry, std::span<const Isa> kernels) {
    KernelChoice row;
    row.operation = std::move(operation);
    row.kernel = entry.name;
    row.isa = to_string(entry.isa);
    for (const Isa isa : kernels) {
      if (isa <= entry.isa) break;
      const std::string reason = refusal(isa);
      if (!reason.empty()) row.refused.push_back(std::string(to_string(isa)) + ": " + reason);
    }
    rows_.push_back(std::move(row));
  }

  std::vector<KernelChoice> take() { return std::move(rows_); }

 private:
  std::string refusal(Isa isa) const {
    const core::Usable& usable = kernels::usable()[static_cast<unsigned>(isa)];
    if (!usable.yes) return usable.reason;
    return isa > cap_.isa ? "STEPWELL_ISA=" + cap_.text : "";
  }

  const core::IsaCap& cap_;
  std::vector<KernelChoice> rows_;
};

std::vector<KernelChoice> kernel_choices(const kernels::Table& t, const core::IsaCap& cap) {
  Rows rows(cap);
  for (const Rung rung : {Rung::bf16, Rung::bf16x2, Rung::bf16x3, Rung::fp16}) {
    rows.add("update " + std::string(to_string(rung)), t.update_at(rung),
             rung == Rung::bf16 ? std::span<const Isa>(kBf16) : std::span<const Isa>(kEngine));
  }
  rows.add("update fp32", t.update_fp32, kCblas);
  rows.add("update fp64", t.update_fp64, kCblas);
  rows.add("small update fp32", t.small_update_fp32, kPortable);
  rows.add("small update fp64", t.small_update_fp64, kPortable);
  rows.add("pack fp32", t.pack_fp32, kPortable);
  rows.add("pack fp64", t.pack_fp64, kPortable);
  rows.add("pack columns", t.pack_columns, kPortable);
  rows.add("unpack fp32", t.unpack_fp32, kPortable);
  rows.add("unpack fp64", t.unpack_fp64, kPortable);
  rows.add("reorder", t.reorder, kPortable);
  rows.add("potrf leaf fp32", t.potrf_fp32, kPortable);
  rows.add("potrf leaf fp64", t.potrf_fp64, kPortable);
  rows.add("trsm leaf fp32", t.trsm_fp32, kPortable);
  rows.add("trsm leaf fp64", t.trsm_fp64, kPortable);
  rows.add("invert leaf fp32", t.invert_fp32, kPortable);
  rows.add("invert leaf fp64", t.invert_fp64, kPortable);
  rows.add("getrf leaf fp32", t.getrf_fp32, kPortable);
  rows.add("getrf leaf fp64", t.getrf_fp64, kPortable);
  rows.add("transpose fp32", t.transpose_fp32, kPortable);
  rows.add("transpose fp64", t.transpose_fp64, kPortable);
  rows.add("product fp64 (symv, gemv)", t.product, kPortable);
  rows.add("product fp64 with an fp32 copy of A", t.rounded_product, kPortable);
  rows.add("fp32 copy of A", t.round, kPortable);
  rows.add("symmetric product fp64 (symv)", t.symmetric_product, kPortable);
  rows.add("product fp64, blocked sums (residual)", t.blocked_product, kPortable);
  rows.add("product double-double (residual)", t.exact_product, kPortable);
  rows.add("product fp64, leading digits exact (residual)", t.split_product, kPortable);
  rows.add("packed product fp32 (trsv)", t.packed_product_fp32, kPortable);
  rows.add("packed product fp64 (trsv)", t.packed_product_fp64, kPortable);
  rows.add("tile product fp32 (trsv)", t.tile_product_fp32, kPortable);
  rows.add("tile product fp64 (trsv)", t.tile_product_fp64, kPortable);
  rows.add("diagonal block fp32 (trsv)", t.trsv_block_fp32, kPortable);
  rows.add("diagonal block fp64 (trsv)", t.trsv_block_fp64, kPortable);
  rows.add("unpacked block fp32 (trsv)", t.block_vectors_fp32, kPortable);
  rows.add("unpacked block fp64 (trsv)", t.block_vectors_fp64, kPortable);
  rows.add("load", t.load, kPortable);
  rows.add("column_sizes", t.column_sizes, kPortable);
  rows.add("rotate", t.rotate, kPortable);
  rows.add("gather gram fp32", t.gather_gram, kPortable);
  rows.add("update int8", t.residues.update, kInt8);
  rows.add("residues from fp64", t.residues.convert, kVnni);
  rows.add("residues from scaled fp64", t.residues.convert_scaled, kVnni);
  rows.add("residues to fp64", t.residues.restore, kVnni);
  rows.add("subtract sums in residues", t.residues.subtract, kVnni);
  rows.add("potrf leaf fp64, fused", t.residues.potrf, kFused);
  rows.add("trsm leaf fp64, fused", t.residues.trsm, kFused);
  rows.add("batch load, store fp32", t.batch_fp32.load, kPortable);
  rows.add("batch load, store fp64", t.batch_fp64.load, kPortable);
  rows.add("batch factor fp32", t.batch_fp32.factor, kPortable);
  rows.add("batch factor fp64", t.batch_fp64.factor, kPortable);
  rows.add("batch substitution fp32", t.batch_fp32.backward, kPortable);
  rows.add("batch substitution fp64", t.batch_fp64.backward, kPortable);
  return rows.take();
}

}  // namespace

void kernels::describe(MachineReport& r) {
  const core::IsaCap cap = core::isa_cap_from_environment();
  const core::Cpu cpu = core::probe_cpu(cap.isa);
  const kernels::Table& t = kernels::table();
  r.cpu_vendor = cpu.vendor;
  r.cpu_model = cpu.model;
  r.cpu_features = cpu.features;
  r.isa = to_string(t.cap);
  r.isa_cap = cap.text;
  r.isa_cap_problem = cap.problem;
  for (const Isa isa : core::all_isas) {
    const core::Usable& usable = kernels::usable()[static_cast<unsigned>(isa)];
    r.isas.push_back({std::string(to_string(isa)), usable.yes, usable.reason});
  }
  r.kernels = kernel_choices(t, cap);
  r.blas = kernels::blas_identity();
}

}  // namespace stepwell
