#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
"""R with OMP_NUM_THREADS=1 and the drop-in has one compute thread before, during and after solve().

  r_threads.py <libstepwell_lapack.so>

Reads the CPU time of R's threads in /proc while R runs. Exit code 77: there is no Rscript.
"""
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

SKIPPED = 77
BUSY = 3  # ticks of CPU time, 10 ms each, from which on a thread has computed something
PROGRAM = """
set.seed(1); n <- 2500; a <- matrix(rnorm(n * n), n); b <- rnorm(n)
invisible(crossprod(a)); cat("before\\n"); flush(stdout())
for (k in 1:3) x <- solve(a, b)
cat("after\\n"); flush(stdout())
invisible(crossprod(a))
"""


def ticks(process):
    """User time of each thread."""
    found = {}
    for task in Path(f"/proc/{process}/task").glob("*"):
        try:
            found[task.name] = int((task / "stat").read_text().rpartition(")")[2].split()[11])
        except (OSError, IndexError):
            pass  # the thread has ended
    return found


def main():
    if shutil.which("Rscript") is None:
        print("skipped: there is no Rscript (Debian: r-base-core)")
        return SKIPPED
    environment = {k: v for k, v in os.environ.items()
                   if not k.endswith("_NUM_THREADS") and k != "STEPWELL_THREADS"}
    environment.update(LD_PRELOAD=sys.argv[1], OMP_NUM_THREADS="1", STEPWELL_LAPACK="all",
                       STEPWELL_LAPACK_MIN_N="1000", STEPWELL_VERBOSE="1")
    most = {}
    with subprocess.Popen(["Rscript", "-e", PROGRAM], env=environment, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as run:
        while run.poll() is None:
            for thread, spent in ticks(run.pid).items():
                most[thread] = max(most.get(thread, 0), spent)
            time.sleep(0.005)
        out, err = run.stdout.read(), run.stderr.read()
    busy = {thread: spent for thread, spent in most.items() if spent >= BUSY}
    print(out, err, f"threads and their ticks: {most}", sep="\n")
    handled = any(line.split()[1:4] == ["dgesv", "3", "3"] for line in err.splitlines())
    return 0 if run.returncode == 0 and handled and len(busy) == 1 else 1


if __name__ == "__main__":
    sys.exit(main())
