#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
#
#   numpy_test.sh <libstepwell_lapack.so> [all]
#
# The tests of Debian's NumPy and SciPy with the drop-in preloaded: those of solve and Cholesky,
# with every possible call handled by Stepwell. With 'all': all of numpy.linalg and of SciPy's test
# files for these routines, at the default sizes and with every possible call handled by Stepwell.
# Exit code 77: skipped, with the reason.
set -euo pipefail
library=$1
python=/usr/bin/python3  # Debian's: packages from PyPI have a LAPACK with other names
$python -c 'import numpy, scipy, pytest, hypothesis' 2>/dev/null || {
  echo "skipped: Debian's python3-numpy, python3-scipy, python3-pytest and python3-hypothesis"
  exit 77
}
# run <settings and options of pytest...>
run() {
  local settings=()
  while [[ $1 == *=* ]]; do
    settings+=("$1")
    shift
  done
  env LD_PRELOAD="$library" STEPWELL_LAPACK=all STEPWELL_VERBOSE=1 "${settings[@]}" \
    $python -m pytest -q --no-header -p no:cacheprovider --pyargs "$@" 2>&1 | tail -n 20
}
scipy=(scipy.linalg.tests.test_basic scipy.linalg.tests.test_decomp_cholesky)
# test_gels checks the QR factor that dgels returns: it is NaN if Stepwell handles the call.
no_factor=(-k 'not test_gels or test_gelsd or test_gelss or test_gelsy')
if [[ ${2:-} == all ]]; then
  run numpy.linalg
  run STEPWELL_LAPACK_MIN_N=2 numpy.linalg
  run "${scipy[@]}" scipy.linalg.tests.test_lapack
  run STEPWELL_LAPACK=factor STEPWELL_LAPACK_MIN_N=2 numpy.linalg
  run STEPWELL_LAPACK=factor STEPWELL_LAPACK_MIN_N=2 "${scipy[@]}" scipy.linalg.tests.test_lapack
  run STEPWELL_LAPACK_MIN_N=2 "${no_factor[@]}" "${scipy[@]}" scipy.linalg.tests.test_lapack
else
  run STEPWELL_LAPACK_MIN_N=2 numpy.linalg -k 'TestSolve or TestInv'
  run STEPWELL_LAPACK_MIN_N=2 "${scipy[@]}" -k 'TestSolve or TestCholesky or TestLstsq'
fi
