#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
#
# The papers' accuracy picture: error and time of the factorization for the maps of Carrica et al. and
# their bf16 analogues, one JSON object a run:
#
#   bench/accuracy.sh build/release/bin/stepwell accuracy.jsonl [n ...]
#   bench/plot_accuracy.py accuracy.jsonl docs/performance/accuracy
#
# About a quarter of an hour up to n = 8192 on two cores, and as much again for 16384.
set -euo pipefail
stepwell=$1
out=$2
shift 2
sizes=("$@")
[[ ${#sizes[@]} -gt 0 ]] || sizes=(1024 2048 4096 8192 16384)

maps=(
  fp64 fp32,fp32,fp32,fp64 fp32
  fp16,fp32 fp16,fp16,fp16,fp32 fp16,fp16,fp16,fp16,fp16,fp32 fp16
  bf16x3 bf16x2,bf16x3 bf16x2,bf16x2,bf16x2,bf16x3 bf16x2
  bf16,fp32 bf16,bf16,bf16,fp32 bf16,bf16,bf16,bf16,bf16,fp32 bf16
)
for n in "${sizes[@]}"; do
  pairs=$((n > 8192 ? 1 : n > 4096 ? 3 : 9))
  for map in "${maps[@]}"; do
    "$stepwell" bench factor --n "$n" --map "$map" --against spotrf --errors --pairs "$pairs" \
      --json | tr -d '\n' >>"$out"
    echo >>"$out"
  done
done
