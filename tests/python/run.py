#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
"""Builds the wheel, installs it in a clean virtual environment, and runs the tests there.

  tests/python/run.py wheel --work DIR --prefix PREFIX    against the Stepwell installed in PREFIX
  tests/python/run.py wheel --work DIR                    with its own library, built from scratch
  tests/python/run.py tests --work DIR                    tests/python, after 'wheel'
  tests/python/run.py peers --work DIR [--whole]          NumPy's and SciPy's tests under patch()

Needs Python's headers and venv (Debian: python3-dev python3-venv), and from pip, by name:
nanobind, scikit-build-core and numpy, pytest, scipy, hypothesis, joblib, mypy, scikit-learn, threadpoolctl. If these are not available it says
so and ends with 77, which ctest shows as skipped; with STEPWELL_REQUIRE_PYTHON=1 that is a failure.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
SKIPPED = 77
SELECTION = ["scipy.linalg.tests.test_basic", "-k",
             "TestSolve and not test_overwrite_args"]
# test_overwrite_args checks that overwrite_a destroys a; ours never does.
WHOLE = ["numpy.linalg", "scipy.linalg.tests.test_basic", "scipy.linalg.tests.test_decomp_lu",
         "scipy.linalg.tests.test_decomp_cholesky", "-k", "not test_overwrite_args"]


def skip(why):
    print(f"skipped: {why}")
    sys.exit(1 if os.environ.get("STEPWELL_REQUIRE_PYTHON") == "1" else SKIPPED)


def run(*words, **options):
    print("+", *words, flush=True)
    subprocess.run([str(w) for w in words], check=True, **options)


def environment(folder, with_pip=True):
    """Creates a virtual environment and returns its Python."""
    shutil.rmtree(folder, ignore_errors=True)
    try:
        venv.create(folder, with_pip=with_pip)
    except subprocess.CalledProcessError:
        skip("no virtual environment can be made. On Debian: apt install python3-venv")
    return folder / "bin/python"


def install(pip, python, *packages):
    """Installs packages in python's environment, with the pip of another environment."""
    words = [pip, "-m", "pip", "--python", python, "install", "-q", "--disable-pip-version-check",
             "--no-compile", *packages]
    print("+", *words, flush=True)
    if subprocess.run(words, check=False).returncode != 0:
        skip(f"pip does not install {' '.join(str(p) for p in packages)}")


def first_example():
    """The first Python block in docs/python.md."""
    text = (ROOT / "docs/python.md").read_text(encoding="utf-8")
    return re.search(r"^```python\n(.*?)^```", text, re.M | re.S)[1]


def wheel(work, given):
    if not Path(sysconfig.get_path("include"), "Python.h").exists():
        skip("Python.h is not here. On Debian: apt install python3-dev")
    work.mkdir(parents=True, exist_ok=True)
    builder = environment(work / "builder")
    install(builder, builder, "nanobind", "scikit-build-core")
    options = []
    if given.prefix:
        options += ["-C", f"cmake.define.stepwell_ROOT={given.prefix}"]
    if given.fast:
        options += ["-C", "cmake.define.CMAKE_CXX_FLAGS_RELEASE=-O0",
                    "-C", "cmake.define.CMAKE_UNITY_BUILD=ON"]
    if given.launcher:
        options += ["-C", f"cmake.define.CMAKE_CXX_COMPILER_LAUNCHER={given.launcher}"]
    if given.compiler:
        options += ["-C", f"cmake.define.CMAKE_CXX_COMPILER={given.compiler}"]
    for old in work.glob("*.whl"):
        old.unlink()
    run(builder, "-m", "pip", "wheel", "-q", "--disable-pip-version-check", "--no-build-isolation",
        "--no-deps", "-w", work, ROOT / "bindings/python", *options,
        "-C", f"build-dir={work / 'build'}")
    clean = environment(work / "clean", with_pip=False)
    install(builder, clean, *work.glob("*.whl"))
    # Like a downstream project: in another directory, with only the wheel and its dependencies.
    run(clean, "-I", "-c", first_example(), cwd=work)
    install(builder, clean, "pytest", "scipy", "hypothesis", "joblib", "mypy", "scikit-learn", "threadpoolctl")


def python_of(work):
    python = work / "clean/bin/python"
    if not python.exists():
        skip(f"there is no {python}; run 'wheel' before")
    return python


def pytest(work, *words):
    # NumPy's threads would compete with ctest's other tests, ours are what is tested.
    settings = {"OPENBLAS_NUM_THREADS": "1", "STEPWELL_THREADS": "2", **os.environ, "PYTHONPATH": str(HERE),
                "PYTHONPYCACHEPREFIX": str(work / "pycache")}
    run(python_of(work), "-m", "pytest", "-q", "-p", "no:cacheprovider", *words, cwd=work,
        env=settings)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["wheel", "tests", "peers"])
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--prefix", type=Path)
    parser.add_argument("--compiler")
    parser.add_argument("--launcher")
    parser.add_argument("--fast", action="store_true", help="to compile, not to run")
    parser.add_argument("--whole", action="store_true", help="all of the peers' tests, minutes")
    given = parser.parse_args()
    work = given.work.resolve()
    try:
        if given.what == "wheel":
            wheel(work, given)
        elif given.what == "tests":
            pytest(work, HERE)
        else:
            pytest(work, "-p", "patched", "-W", "ignore", "--pyargs",
                   *(WHOLE if given.whole else SELECTION))
    except subprocess.CalledProcessError as error:
        return error.returncode
    return 0


if __name__ == "__main__":
    sys.exit(main())
