#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
#
# Installs the Debian packages in a minimal Debian 12, and runs the README's first example, a
# program in C and, with the drop-in, one that only uses LAPACK. Run by hand, as root, with
# debootstrap; takes a few minutes and 1.5 GB:
#
#   tests/install/chroot.sh <build directory> <empty directory for the system>
set -euo pipefail
build=$(realpath "$1")
root=$(realpath "$2")

debs=$root/root/debs
[[ -d $root/etc ]] || debootstrap --variant=minbase bookworm "$root" >/dev/null
mkdir -p "$debs"
rm -rf "${debs:?}"/*
(cd "$build" && cpack -G DEB -B "$debs" >/dev/null)

cat >"$root/root/try.sh" <<'EOF'
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive
cd /root
apt-get install -y -qq --no-install-recommends \
  ./debs/libstepwell0*.deb ./debs/libstepwell-*.deb ./debs/stepwell_*.deb \
  ./debs/stepwell-bench_*.deb gcc libc6-dev >/dev/null
stepwell gen arithmetic --n 4000 -o A.npy --rhs b.npy
stepwell solve A.npy b.npy -o x.npy
stepwell bench kernel --op update --n 64 --pairs 1
cat >c.c <<'C'
#include <stdio.h>
#include "stepwell/stepwell.h"
int main(void) {
  const double a = 4, b = 2;
  double x = 0;
  const int code = stepwell_solve(STEPWELL_SPD, 1, 1, &a, 1, &b, 1, &x, 1, 0, 0);
  printf("from C: code %d, x = %g\n", code, x);
  return code;
}
C
gcc c.c -o c -lstepwell
./c
if [[ -e /usr/lib/libstepwell_lapack.so ]]; then
  cat >l.c <<'C'
#include <stdio.h>
void dgesv_(int *, int *, double *, int *, int *, double *, int *, int *);
int main(void) {
  enum { n = 2500 };
  static double a[n * n], b[n];
  static int p[n];
  int size = n, one = 1, info = -1;
  for (int i = 0; i < n; ++i) b[i] = a[i + i * n] = 2;
  for (int i = 1; i < n; ++i) a[i + (i - 1) * n] = -1;
  dgesv_(&size, &one, a, &size, p, b, &size, &info);
  printf("from LAPACK: info %d, x[0] = %g\n", info, b[0]);
  return info;
}
C
  gcc l.c -o l -lstepwell_lapack
  STEPWELL_LAPACK=all STEPWELL_VERBOSE=1 ./l
fi
apt-get purge -y -qq 'libstepwell*' stepwell stepwell-bench >/dev/null
test ! -e /usr/bin/stepwell
EOF
mount -t proc proc "$root/proc"
mount -t sysfs sysfs "$root/sys"
trap 'umount "$root/proc" "$root/sys"' EXIT
chroot "$root" bash /root/try.sh
