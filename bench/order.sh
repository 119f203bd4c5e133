#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
#
# Is each layered map between its neighbours in time? Neighbouring maps alternate in one process:
#
#   bench/order.sh build/release/bin/stepwell [n [pairs]]
#
# prints the median of the finer map's time by the coarser one's: at least 1 where the order holds.
set -euo pipefail
stepwell=$1
n=${2:-4096}
pairs=${3:-9}

families=(
  "fp16 fp16,fp16,fp16,fp16,fp16,fp32 fp16,fp16,fp16,fp32 fp16,fp32 fp32"
  "bf16 bf16,bf16,bf16,bf16,bf16,fp32 bf16,bf16,bf16,fp32 bf16,fp32 fp32"
  "bf16x2 bf16x2,bf16x2,bf16x2,bf16x3 bf16x2,bf16x3 bf16x3"
  "fp32 fp32,fp32,fp32,fp64 fp64"
)
for family in "${families[@]}"; do
  read -ra maps <<<"$family"
  for ((i = 0; i + 1 < ${#maps[@]}; ++i)); do
    coarse=${maps[i]}
    fine=${maps[i + 1]}
    "$stepwell" bench factor --n "$n" --map "$coarse" --against "map:$fine" --pairs "$pairs" |
      awk -v c="$coarse" -v f="$fine" '/ratio/ {printf "%-6s %s by %s\n", $2, f, c}'
  done
done
