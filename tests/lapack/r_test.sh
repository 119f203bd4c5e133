#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
#
#   r_test.sh <libstepwell_lapack.so> <directory> [own]
#
# R with the drop-in preloaded prints the same as without, and the examples of its help on linear
# algebra run. With 'own' also the tests in R's source package that concern linear algebra.
# Exit code 77: skipped, with the reason.
set -euo pipefail
library=$1 directory=$2
here=$(cd "$(dirname "$0")" && pwd)
command -v Rscript >/dev/null || {
  echo "skipped: there is no Rscript (Debian: r-base-core)"
  exit 77
}
mkdir -p "$directory"
cd "$directory"
with() {
  env LD_PRELOAD="$library" STEPWELL_LAPACK=all STEPWELL_VERBOSE=1 "$@"
}
# same <name> <settings and command...>: prints the same with and without; the call log is left in
# <name>.err.
same() {
  local name=$1
  shift
  env "$@" >"$name.without" 2>"$name.without.err" || {
    tail -n 20 "$name.without.err"
    echo "$name: fails without the drop-in"
    return 1
  }
  with "$@" >"$name.out" 2>"$name.err" || {
    tail -n 20 "$name.out" "$name.err"
    echo "$name: fails with the drop-in"
    return 1
  }
  diff "$name.without" "$name.out" || {
    echo "$name: not what R prints without the drop-in"
    return 1
  }
  echo "$name: the same, $(grep -c . "$name.out") lines"
}

same linear_algebra STEPWELL_LAPACK_MIN_N=2 Rscript "$here/linear_algebra.R"
grep '^stepwell:' linear_algebra.err
for routine in dgesv dgecon; do
  awk -v r=$routine '$2 == r && $4 > 0 { found = 1 } END { exit !found }' linear_algebra.err || {
    echo "$routine was never handled by Stepwell"
    exit 1
  }
done
same linear_algebra STEPWELL_LAPACK=factor STEPWELL_LAPACK_MIN_N=2 Rscript "$here/linear_algebra.R"
awk '$2 == "dpotrf" && $4 > 0 { found = 1 } END { exit !found }' linear_algebra.err || {
  echo "dpotrf was never handled by Stepwell"
  exit 1
}
same above_the_threshold STEPWELL_LAPACK_MIN_N=1000 Rscript -e 'set.seed(2); n <- 2000; a <- matrix(rnorm(n * n), n)
  x <- solve(a, b <- rnorm(n)); stopifnot(max(abs(a %*% x - b)) < 1e-7)'
grep -q 'dgesv *1 *1 ' above_the_threshold.err
# Examples print digits of estimates, which may differ: they only have to run.
for topic in solve chol chol2inv qr svd eigen det kappa backsolve crossprod; do
  with STEPWELL_LAPACK_MIN_N=2 Rscript -e "example($topic, ask = FALSE)" >"$topic.out" 2>"$topic.err" || {
    tail -n 20 "$topic.out" "$topic.err"
    echo "example($topic) fails with the drop-in"
    exit 1
  }
done
echo "examples: run"

[[ ${3:-} == own ]] || exit 0
# shellcheck source=debian_source.sh
source "$here/debian_source.sh"
archive=$(debian_source r-base "$directory")
mkdir -p source
tar -xf "$archive" -C source --strip-components=1 --wildcards '*/tests'
cd source/tests
# Some need packages or a desktop: tests that also fail without the drop-in are named and not
# counted.
failures=0
for test in lapack reg-BLAS simple-true reg-tests-1a reg-tests-1b reg-tests-1c reg-tests-2; do
  if ! R --vanilla --no-echo <$test.R >$test.without 2>&1; then
    echo "R's $test.R fails without the drop-in: $(tail -n 1 $test.without)"
    continue
  fi
  for n in 2 100; do
    if ! with STEPWELL_LAPACK_MIN_N=$n R --vanilla --no-echo <$test.R >$test.$n 2>$test.$n.err; then
      tail -n 30 $test.$n $test.$n.err
      echo "R's $test.R fails with the drop-in, which handles n = $n and larger"
      failures=$((failures + 1))
    fi
  done
  echo "R's $test.R passes;$(awk '/^stepwell: d/ { printf " %s %d of %d handled", $2, $4, $3 }' $test.2.err)"
done
[[ $failures -eq 0 ]]
