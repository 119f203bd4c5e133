#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
#
# solve_spd() on the matrices of the papers, against LAPACK:
#
#   bench/solve.sh build/release/bin/stepwell [n [pairs [baseline]]]
#
# and solve_general() on those of Haidar et al. if the baseline is dgesv, dsgesv or mkl-dgesv. It
# prints, for each kind, the median and the best ratio, the median time of a call of both sides, the
# path and the backward errors in units of 2^-53.
set -euo pipefail
stepwell=$1
n=${2:-8192}
pairs=${3:-5}
against=${4:-dposv}

cases=(
  "arithmetic --cond 1e2"
  "clustered --cond 1e8"
  "custom-clustered --cond 1e4"
  "logarithmic --cond 1e5"
  "geometric --cond 1.7e5"
  "matern --length 0.3 --nugget 1e-4"
  "matern --length 0.3 --nugget 1e-4 --sorted"
  "dominant"
)
if [[ $against == *gesv ]]; then
  cases=(
    "general-dominant"
    "positive-logarithmic --cond 1e2"
    "positive-clustered --cond 1e2"
    "positive-arithmetic --cond 1e2"
    "general-clustered --cond 1e2"
    "general-arithmetic --cond 1e2"
    "hplmxp"
    "randn"
  )
fi
printf '%-46s %6s %6s %9s %9s  %s\n' "n = $n, against $against" median best ours theirs path
for case in "${cases[@]}"; do
  read -ra words <<<"$case"
  "$stepwell" bench solve --n "$n" --pairs "$pairs" --against "$against" --kind "${words[@]}" |
    awk -v name="$case" '
      /a call/ {time[++sides] = $(NF - 3) " " $(NF - 2)}
      /^  ratio/ {median = $2; best = $4}
      /path/ {sub(/^ *path */, ""); path = $0}
      /baseline  backward/ {theirs = $(NF - 1)}
      END {printf "%-46s %6.2f %6.2f %9s %9s  %s (theirs %s u)\n", name, median, best, time[1],
           time[2], path, theirs}'
done
