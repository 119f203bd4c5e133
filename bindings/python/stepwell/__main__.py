# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
"""python -m stepwell run script.py [arguments]; python -m stepwell describe"""
import argparse
import runpy
import sys
from pathlib import Path

from . import __version__, describe, patch
from ._patch import PAYING_ORDER


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m stepwell",
        description="Runs a script; Stepwell solves the large systems of NumPy's and SciPy's solve().",
    )
    parser.add_argument("--version", action="version", version=__version__)
    verbs = parser.add_subparsers(dest="verb", required=True)
    run = verbs.add_parser("run", help="run a script; print the number of solves to standard error")
    run.add_argument(
        "--minimum", type=int, default=PAYING_ORDER, help="smallest order that Stepwell handles"
    )
    run.add_argument("script")
    run.add_argument("arguments", nargs=argparse.REMAINDER)
    verbs.add_parser("describe", help="show what the library found on this machine")
    given = parser.parse_args()
    if given.verb == "describe":
        print(describe())
        return 0
    if not Path(given.script).is_file():
        parser.exit(2, f"python -m stepwell: there is no file '{given.script}'\n")
    sys.argv = [given.script, *given.arguments]
    sys.path[0] = str(Path(given.script).resolve().parent)
    calls = patch(given.minimum).install()
    try:
        runpy.run_path(given.script, run_name="__main__")
    finally:
        calls.uninstall()
        print(calls, file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
