#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
#
#   bench/r_solve.sh <libstepwell_lapack.so> [<n> [<pairs>]]
#
# Runs R's solve(A, b) without and with the drop-in, in alternating processes, with the same BLAS
# kernels and threads for both. Prints each pair's times and their ratio.
set -euo pipefail
library=$(realpath "$1") n=${2:-8192} pairs=${3:-3}
script=$(dirname "$0")/r_solve.R
# OpenBLAS selects older kernels for processors that it does not know.
if grep -q avx512f /proc/cpuinfo; then export OPENBLAS_CORETYPE=${OPENBLAS_CORETYPE:-SKYLAKEX}; fi
export OPENBLAS_NUM_THREADS=${OPENBLAS_NUM_THREADS:-$(nproc)}
# The better of two solves in one process: the first one starts threads and maps memory.
best() { Rscript "$script" "$n" "$1" 2 | sort -k3,3n | head -n 1; }
printf '%-11s %7s %9s %9s %6s   %s\n' kind n without with ratio 'backward errors'
for kind in randn heavy covariance wishart; do
  for ((pair = 0; pair < pairs; ++pair)); do
    read -r _ _ without error_without <<<"$(best $kind)"
    read -r _ _ with error_with <<<"$(LD_PRELOAD=$library STEPWELL_LAPACK=all best $kind)"
    awk -v k=$kind -v n="$n" -v o="$without" -v w="$with" -v e="$error_without $error_with" \
      'BEGIN { printf "%-11s %7d %9.3f %9.3f %6.2f   %s\n", k, n, o, w, o / w, e }'
  done
done
