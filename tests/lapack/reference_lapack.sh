#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
#
#   reference_lapack.sh <libstepwell_lapack.so> <LAPACK's library> <directory>
#
# Reference LAPACK's test programs for double-precision linear systems, built in <directory> from
# Debian's source package and linked with the drop-in in front of LAPACK. They must report the same
# failures as when all calls are forwarded. Exit code 77: skipped, with the reason.
set -euo pipefail
library=$1 real=$2 directory=$3
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=debian_source.sh
source "$here/debian_source.sh"

skip() {
  echo "skipped: $1"
  exit 77
}
for tool in gfortran make tar; do
  command -v $tool >/dev/null || skip "there is no $tool"
done
archive=$(debian_source lapack "$directory") || skip "Debian's source package lapack can't be had"

source=$directory/lapack
rm -rf "$source"
mkdir -p "$source"
tar -xf "$archive" -C "$source" --strip-components=1
touch "$source/make.inc"
build() {
  make -s -j2 -C "$source/TESTING/$1" FC=gfortran FFLAGS=-O1 FFLAGS_NOOPT=-O0 AR=ar ARFLAGS=cr \
    RANLIB=ranlib LDFLAGS= TMGLIB=../../libtmglib.a VARLIB= LAPACKLIB="$library" BLASLIB="$real" \
    "${@:2}"
}
build MATGEN double
build LIN xlintstd xlintstds
export LD_LIBRARY_PATH=${library%/*}${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}

failures=0
# run <name> <program> <input> <settings...>
run() {
  local name=$1 program=$2 input=$3
  shift 3
  if ! env STEPWELL_VERBOSE=1 "$@" "$source/TESTING/LIN/$program" <"$source/TESTING/$input" \
    >"$directory/$name.out" 2>"$directory/$name.err"; then
    echo "$name: the program failed"
    failures=$((failures + 1))
  fi
  grep -q 'End of tests' "$directory/$name.out" || {
    echo "$name: it did not reach the end of its tests"
    failures=$((failures + 1))
  }
  # Lines that report failures, rather than the routines' own lines.
  grep -E '\*\*\*|failed|recorded|test\(' "$directory/$name.out" >"$directory/$name.bad" || true
  echo "$name: $(grep -c 'All tests' "$directory/$name.out") families passed," \
    "$(wc -l <"$directory/$name.bad") complaints"
}
# same <name> <name>: both runs report the same failures.
same() {
  if ! diff "$directory/$1.bad" "$directory/$2.bad"; then
    echo "$2: not as with everything forwarded"
    failures=$((failures + 1))
  fi
}
# handled <name> <routine>: Stepwell handled calls of the routine, according to the call log, so the
# test is meaningful.
handled() {
  local count
  count=$(awk -v r="$2" '$1 == "stepwell:" && $2 == r { print $4 }' "$directory/$1.err")
  echo "$1: $2 handled ${count:-0} times"
  [[ ${count:-0} -gt 0 ]] || failures=$((failures + 1))
}

run ds-off xlintstds dstest.in STEPWELL_LAPACK=off
run ds xlintstds dstest.in
# From 17 on: the test computes its residual in FP64, whose rounding error may exceed sqrt(n) units
# at its order 13; Stepwell's residual is in double-double there.
run ds-1 xlintstds dstest.in STEPWELL_LAPACK_MIN_N=17
run d-off xlintstd dtest.in STEPWELL_LAPACK=off
run d xlintstd dtest.in
run d-factor xlintstd dtest.in STEPWELL_LAPACK_MIN_N=1
run d-all-1 xlintstd dtest.in STEPWELL_LAPACK=all STEPWELL_LAPACK_MIN_N=1
same ds-off ds
same ds-off ds-1
same d-off d
same d-off d-factor
same d-off d-all-1
for routine in dsposv dsgesv; do handled ds-1 $routine; done
for routine in dposv dpotrf; do handled d-factor $routine; done
for routine in dposv dgesv dgels; do handled d-all-1 $routine; done
[[ $failures -eq 0 ]]
