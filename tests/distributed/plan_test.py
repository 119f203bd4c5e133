# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
"""`plan --ranks` without mpirun predicts what `solve` reports under mpirun.

plan_test.py MPIEXEC STEPWELL"""
import json
import subprocess
import sys

MPIEXEC, STEPWELL = sys.argv[1:]
SAME = ("ranks", "layout", "sent_bytes_model", "peak_bytes_plan")
CASES = [(4, "arithmetic", ""),
         (4, "matern", "--map bf16x2 --grid-rows 1 --nrhs 3"),
         (3, "arithmetic", "--layout symmetric --regenerate --threads 2")]


def output(command):
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)["ranks"]


for ranks, kind, options in CASES:
    options = ["--n", "1200", "--tile", "128", "--json", *options.split()]
    said = output([STEPWELL, "plan", "--ranks", str(ranks), "--kind", kind, *options])
    made = output([MPIEXEC, "--oversubscribe", "--bind-to", "none", "-n", str(ranks), STEPWELL,
                   "solve", "--quiet", "--kind", kind, *options])
    print(said, made)
    if [said[key] for key in SAME] != [made[key] for key in SAME]:
        sys.exit("FAILED: they differ")
    if not made["peak_bytes"] <= said["peak_bytes_plan"] <= said["peak_bytes_at_most"]:
        sys.exit("FAILED: a rank took more")
