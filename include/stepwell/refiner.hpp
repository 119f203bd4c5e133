// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace stepwell {

/// How a solution is refined, with the factor of A as preconditioner M:
///
///   ir           x <- x + M^-1 (b - A x), classic refinement
///   cg           conjugate gradients; the residual is recomputed and corrected at the end
///   gmres        left-preconditioned GMRES, as Higham & Pranesh
///   fgmres       right-preconditioned flexible GMRES, as Haidar et al.
///   ir(cg)       refinement with corrections computed by CG to a loose tolerance
///   ir(gmres)    the same with left-preconditioned GMRES: GMRES-IR
///   gmres(gmres) flexible GMRES preconditioned by GMRES to a loose tolerance
///
/// 'direct' can't be requested: plans and certificates say so where x comes from an FP64 factor and
/// is corrected only if it misses the tolerance.
enum class Refiner : unsigned char { ir, cg, gmres, fgmres, ir_cg, ir_gmres, gmres_gmres, direct };

/// The refiners that can be requested.
inline constexpr std::array<Refiner, 7> all_refiners = {
    Refiner::ir,    Refiner::cg,       Refiner::gmres,      Refiner::fgmres,
    Refiner::ir_cg, Refiner::ir_gmres, Refiner::gmres_gmres};

constexpr std::string_view to_string(Refiner refiner) {
  constexpr std::array<std::string_view, 8> names = {
      "ir", "cg", "gmres", "fgmres", "ir(cg)", "ir(gmres)", "gmres(gmres)", "direct"};
  return names[static_cast<unsigned>(refiner)];
}

/// The refiner with this name, or nothing.
constexpr std::optional<Refiner> refiner_from_string(std::string_view name) {
  for (const Refiner r : all_refiners) {
    if (to_string(r) == name) return r;
  }
  return std::nullopt;
}

}  // namespace stepwell
