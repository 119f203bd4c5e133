#!/bin/bash
# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
#
# Runs many seeds of attack_systems in several processes. A run can be interrupted: the same command
# continues where the logs end. docs/reliability.md
set -u
if [ $# -lt 5 ]; then
  echo "usage: run.sh PROGRAM DIRECTORY small|medium|large FIRST COUNT [PROCESSES]" >&2
  exit 2
fi
program=$1 directory=$2 size=$3 first=$4 count=$5 processes=${6:-$(nproc)}
export OPENBLAS_NUM_THREADS=${OPENBLAS_NUM_THREADS:-1} STEPWELL_THREADS=${STEPWELL_THREADS:-$(nproc)} HWLOC_COMPONENTS=${HWLOC_COMPONENTS:--pci}
mkdir -p "$directory" || exit 2

# The seed after the last one that the log has counted, but at least the second argument.
next_seed() {
  local found
  found=$(sed -n 's/^state .* next=\([0-9]*\) .*/\1/p' "$1" 2>/dev/null | sort -n | tail -1)
  echo $((${found:-0} > $2 ? found : $2))
}

# Seeds [first, end) of one process. A seed that crashes is skipped: its line is in the log.
attack_range() {
  local log=$1 next=$2 end=$3 crashed
  next=$(next_seed "$log" "$next")
  while [ "$next" -lt "$end" ]; do
    "$program" --size "$size" --first "$next" --count $((end - next)) --log "$log" > /dev/null
    case $? in
      0 | 1) return ;;
      3)
        crashed=$(sed -n 's/^FINDING \(crash\|too_slow\) .*--first \([0-9]*\) .*/\2/p' "$log" | tail -1)
        next=$(next_seed "$log" "$next")
        # Repeat the seeds before the crash, for the counts.
        [ "$crashed" -gt "$next" ] && "$program" --size "$size" --first "$next" \
          --count $((crashed - next)) --log "$log" > /dev/null
        next=$((crashed + 1))
        ;;
      *) exit 2 ;;
    esac
  done
}

per_process=$(((count + processes - 1) / processes))
for ((p = 0; p < processes; ++p)); do
  begin=$((first + p * per_process)) end=$((first + (p + 1) * per_process))
  [ $end -gt $((first + count)) ] && end=$((first + count))
  attack_range "$directory/$size-$begin.log" $begin $end &
done
trap 'kill $(jobs -p) 2>/dev/null' INT TERM
wait

# A process that was continued has several lines of counts: use the last one for each first seed.
sums=$(awk '
  /^state / { last[FILENAME " " $3] = $0 }
  /^FINDING (crash|too_slow) / { crashes[$0] = 1 }
  END {
    sum["CRASHES"] = length(crashes)
    for (key in last) {
      fields = split(last[key], field, " ")
      for (k = 5; k <= fields; ++k) { split(field[k], part, "="); sum[part[1]] += part[2] }
    }
    for (name in sum) printf "%s=%d\n", name, sum[name]
  }' "$directory/$size-"*.log | LC_ALL=C sort)
echo $sums
case " $(echo $sums) " in *" CRASHES=0 "*" findings=0 "*) exit 0 ;; *) exit 1 ;; esac
