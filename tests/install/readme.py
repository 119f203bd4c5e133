#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
"""Runs what the documents tell users of an installed Stepwell to run, literally.

  tests/install/readme.py --prefix PREFIX --work DIR

These are the sh blocks of README.md and docs/lapack.md with '<!-- installed -->' above them; a text
block after one is what it prints, as in docs/check_docs.py. The home directory has nothing
except .local, which is PREFIX; the current directory has the examples and the bindings; no variable points
to a library.
"""
import argparse
import os
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs"))
import check_docs  # noqa: E402

DOCUMENTS = ("README.md", "docs/lapack.md")
OURS = ("LD_", "STEPWELL_", "PKG_CONFIG", "CMAKE_", "PYTHON")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prefix", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    given = parser.parse_args()
    work = given.work.resolve()
    shutil.rmtree(work, ignore_errors=True)
    home, here = work / "home", work / "tree"
    home.mkdir(parents=True)
    here.mkdir()
    (home / ".local").symlink_to(given.prefix.resolve())
    for name in ("examples", "bindings"):
        (here / name).symlink_to(ROOT / name)
    environment = {k: v for k, v in os.environ.items() if not k.startswith(OURS)}
    environment["HOME"] = str(home)
    run = 0
    for name in DOCUMENTS:
        printed, document = None, check_docs.Document(ROOT, ROOT / name)
        for block in document.blocks:
            if block.language == "sh" and block.note("installed") is not None:
                print("\n".join(block.lines), flush=True)
                printed = check_docs.run_block(document, block, here, environment)
                run += 1
            elif block.language == "text" and printed is not None:
                if not check_docs.matches(block.lines, printed):
                    check_docs.problem(document.at(block), "output",
                                       "the block before it prints\n" + "\n".join(printed))
                printed = None
            else:
                printed = None
    if run == 0:
        check_docs.problem(DOCUMENTS[0], "command", "no block is marked as 'installed'")
    return 1 if check_docs.problems else 0


if __name__ == "__main__":
    sys.exit(main())
