// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/table.hpp"

#include "core/log.hpp"
#include "kernels/blas/blas.hpp"
#include "kernels/portable/portable.hpp"
#include "kernels/reference/reference.hpp"
#include "kernels/self_test.hpp"

#if defined(__x86_64__)
#include "kernels/amx/amx.hpp"
#include "kernels/avx512/avx512.hpp"
#endif

namespace stepwell::kernels {
namespace {

using core::Isa;
using UsableIsas = std::array<core::Usable, core::all_isas.size()>;

void fill_reference(Table& t) {
  fill_reference_update(t);
  fill_reference_pack(t);
  fill_reference_leaf(t);
  fill_reference_panel(t);
  fill_reference_product(t);
  fill_reference_exact(t);
  fill_reference_solve(t);
  fill_reference_load(t);
  fill_reference_column_sizes(t);
  fill_reference_rotate(t);
  fill_reference_batch(t);
  fill_reference_batch_residual(t);
  fill_reference_gather_gram(t);
  fill_reference_residues(t);
}

void fill_portable(Isa isa, Table& t) {
  fill_portable_update(isa, t);
  fill_portable_pack(isa, t);
  fill_portable_pack_columns(isa, t);
  fill_portable_small_update(isa, t);
  fill_portable_leaf(isa, t);
  fill_portable_fused_leaf(isa, t);
  fill_portable_residue_update(isa, t);
  fill_portable_panel(isa, t);
  fill_portable_product(isa, t);
  fill_portable_rounded(isa, t);
  fill_portable_blocked(isa, t);
  fill_portable_exact(isa, t);
  fill_portable_solve(isa, t);
  fill_portable_trsv(isa, t);
  fill_portable_load(isa, t);
  fill_portable_column_sizes(isa, t);
  fill_portable_rotate(isa, t);
  fill_portable_batch_move(isa, t);
  fill_portable_batch_factor(isa, t);
  fill_portable_batch_solve(isa, t);
  fill_portable_batch_residual(isa, t);
  fill_portable_gather_gram(isa, t);
}

/// The instruction sets that the CPU and the operating system offer, minus those that fail the
/// self-test. An instruction set above a failing one would use its kernels, so it is rejected too.
UsableIsas probe() {
  const core::IsaCap cap = core::isa_cap_from_environment();
  if (!cap.problem.empty()) core::warn_once(cap.problem);
  UsableIsas isas = core::probe_cpu(cap.isa).isa;
  std::string failed;
  for (Isa isa : core::all_isas) {
    core::Usable& usable = isas[static_cast<unsigned>(isa)];
    if (!usable.yes) continue;
    if (failed.empty()) {
      const std::string problem = self_test(make_table(isa));
      if (problem.empty()) continue;
      usable = {false, problem};
      failed = to_string(isa);
      core::warn_once(std::string("instruction set ").append(failed).append(" is not used: ") +
                      problem);
    } else {
      usable = {false, "needs " + failed + ", whose self-test failed"};
    }
  }
  return isas;
}

}  // namespace

// The order is the policy: a later entry overrides an earlier one.
Table make_table(Isa cap) {
  Table t;
  t.cap = cap;
  fill_reference(t);
  for (Isa isa : {Isa::baseline, Isa::avx2, Isa::avx512}) {
    if (isa <= cap) fill_portable(isa, t);
  }
  if (cap >= Isa::baseline) fill_blas_update(t);
#if defined(__x86_64__)
  if (cap >= Isa::avx512_bf16) {
    fill_avx512_update(t);
    fill_avx512_residues(t);
    fill_avx512_residue_update(t);
  }
  if (cap >= Isa::amx) {
    fill_amx_update(t);
    fill_amx_residue_update(t);
  }
#endif
  return t;
}

const UsableIsas& usable() {
  static const UsableIsas isas = probe();
  return isas;
}

const Table& table() {
  static const Table t = [] {
    const Isa cap = core::isa_cap_from_environment().isa;
    Isa best = Isa::reference;
    for (Isa isa : core::all_isas) {
      if (isa <= cap && usable()[static_cast<unsigned>(isa)].yes) best = isa;
    }
    return make_table(best);
  }();
  return t;
}

}  // namespace stepwell::kernels
