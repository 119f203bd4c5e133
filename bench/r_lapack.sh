#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
#
#   bench/r_lapack.sh <libstepwell_lapack.so> [<n> [<pairs> [<call>...]]]
#
# Runs R's solve(A, b), chol(A) and chol2inv(chol(A)) without and with the drop-in, in alternating
# processes, with the same BLAS kernels and threads for both: solve with STEPWELL_LAPACK=all, the
# others as the drop-in does by default. Prints each pair's times and their ratio.
set -euo pipefail
library=$(realpath "$1") n=${2:-8192} pairs=${3:-3}
calls=("${@:4}")
[[ ${#calls[@]} -gt 0 ]] || calls=(solve chol chol2inv)
script=$(dirname "$0")/r_lapack.R
# OpenBLAS selects older kernels for processors that it does not know.
if grep -q avx512f /proc/cpuinfo; then export OPENBLAS_CORETYPE=${OPENBLAS_CORETYPE:-SKYLAKEX}; fi
export OPENBLAS_NUM_THREADS=${OPENBLAS_NUM_THREADS:-$(nproc)}
# The best of four calls in one process: the first ones start threads and touch new memory.
best() { Rscript "$script" "$n" "$1" 4 "$2" | sort -k3,3n | head -n 1; }
# compare <kind> <call> <mode>
compare() {
  local pair without with error_without error_with
  for ((pair = 0; pair < pairs; ++pair)); do
    read -r _ _ without error_without <<<"$(best "$1" "$2")"
    read -r _ _ with error_with <<<"$(LD_PRELOAD=$library STEPWELL_LAPACK=$3 best "$1" "$2")"
    awk -v k="$2 $1" -v n="$n" -v o="$without" -v w="$with" -v e="$error_without $error_with" \
      'BEGIN { printf "%-20s %7d %9.3f %9.3f %6.2f   %s\n", k, n, o, w, o / w, e }'
  done
}
printf '%-20s %7s %9s %9s %6s   %s\n' call n without with ratio 'backward errors'
for call in "${calls[@]}"; do
  if [[ $call == solve ]]; then
    for kind in randn heavy covariance wishart; do compare $kind solve all; done
  else
    for kind in covariance wishart; do compare $kind "$call" factor; done
  fi
done
