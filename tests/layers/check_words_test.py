#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
"""Proves that check_words.py finds each kind of word, and nothing else.

check_words_test.py CHECK_WORDS WORK
"""

import pathlib
import shutil
import subprocess
import sys

script, work = sys.argv[1], pathlib.Path(sys.argv[2])
failures = 0


def expect(name, file, text, expected):
    """Runs the check on a tree of one file; 'expected' is in the output, or empty: nothing found."""
    global failures
    tree = work / name
    shutil.rmtree(tree, ignore_errors=True)
    (tree / file).parent.mkdir(parents=True)
    (tree / file).write_text(text, encoding="utf-8")
    run = subprocess.run([sys.executable, script, "--root", str(tree)], capture_output=True,
                         text=True, check=False)
    good = run.returncode == (1 if expected else 0) and expected in run.stdout
    if not good:
        failures += 1
        print(f"{name}: expected {expected!r}, got exit code {run.returncode} and\n{run.stdout}")


expect("good", "src/a.cpp", "ThreadPool pool;  // a pool of threads, each with a share of A\n", "")
expect("type", "src/a.cpp", "int x;\nTeam t;\n", "src/a.cpp:2: 'Team'")
expect("member", "src/a.cpp", "team_.run();\n", "src/a.cpp:1: 'team_'")
expect("part_of_a_name", "src/a.cpp", "int steam = 1, teammate = 2;\n", "")
expect("comment", "src/a.cpp", "// The crew is an English word here.\n", "")
expect("file", "src/engine/crew.hpp", "\n", "src/engine/crew.hpp:1: the name 'crew.hpp'")
expect("folder", "src/driver/a.hpp", "\n", "the name 'driver'")
expect("phrase", "docs/a.md", "One\nThis is Dear.\n", "docs/a.md:2: 'Dear'")
expect("phrase_in_a_message", "src/a.cpp", 'puts("mended");\n', "src/a.cpp:1: 'mended'")
expect("fragment", "src/a.hpp", "/// Of the slowest system.\n", "src/a.hpp:1: '/// Of'")
expect("lower_case_of", "src/a.hpp", "int n;  ///< of the matrix\n", "")
expect("code_in_a_document", "docs/a.md", "the class `Team` is gone\n", "docs/a.md:1: 'Team'")
expect("ordinary_word", "src/a.cpp", "void take(); bool real;\n", "")
expect("word_of_one_folder", "bindings/lapack/a.cpp", "void take();\n", "'take'")
expect("elements", "docs/a.md", "the numbers of A are read\n", "'the numbers of A'")
expect("measurements", "docs/performance/figures/a.md", "dear\n", "")
sys.exit(1 if failures else 0)
