# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
"""The package's documentation: docstrings, names, stubs."""
import ast
import doctest
import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import stepwell
from stepwell import _stepwell

MODULES = ["stepwell"] + [f"stepwell.{m.name}" for m in pkgutil.iter_modules(stepwell.__path__)
                          if m.name not in ("__main__", "_stepwell")]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    result = doctest.testmod(importlib.import_module(name))
    assert result.failed == 0


def test_the_documents_examples(capsys):
    text = (Path(__file__).resolve().parents[2] / "docs/python.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)
    names = {}
    for block in blocks:
        exec(compile(block, "docs/python.md", "exec"), names)
    printed = capsys.readouterr().out
    assert printed.startswith("converged (spd)\n  backward error")
    assert "not positive definite" in printed and "calls handled" in printed
    assert len(blocks) >= 4


def test_every_name_is_there_and_explained():
    for module in (stepwell, stepwell.batch):
        for name in module.__all__:
            value = getattr(module, name)
            if callable(value):
                assert inspect.getdoc(value), name
    for name in ("solve", "factor", "lstsq", "cho_factor", "lu_solve", "patch", "memory_plan"):
        assert ">>>" in inspect.getdoc(getattr(stepwell, name)), name


def members(node):
    """Names that a stub defines: functions, classes and their members."""
    found = set()
    for part in node.body:
        if isinstance(part, (ast.FunctionDef, ast.ClassDef)):
            found.add(part.name)
            if isinstance(part, ast.ClassDef):
                found |= {f"{part.name}.{p.name}" for p in part.body
                          if isinstance(p, ast.FunctionDef)}
        elif isinstance(part, ast.AnnAssign):
            found.add(part.target.id)
    return found


def public(value):
    return {n for n in vars(value) if not n.startswith("_")}


def test_stubs():
    folder = Path(stepwell.__file__).parent
    assert (folder / "py.typed").exists()
    stub = members(ast.parse((folder / "_stepwell.pyi").read_text(encoding="utf-8")))
    real = public(_stepwell)
    for name in list(real):
        if inspect.isclass(getattr(_stepwell, name)):
            real |= {f"{name}.{part}" for part in public(getattr(_stepwell, name))}
    assert {n for n in stub if not n.split(".")[-1].startswith("_")} == real


def test_annotations():
    for name in ("solve", "factor", "lstsq", "memory_plan", "describe"):
        function = getattr(stepwell, name)
        assert set(function.__annotations__) == {*inspect.signature(function).parameters, "return"}


USER = """
import numpy as np
import stepwell

a = np.eye(3)
b = np.ones(3)
reveal_type(stepwell.solve(a, b))
x, certificate = stepwell.solve(a, b, full_output=True)
reveal_type(x)
reveal_type(certificate.backward_error)
reveal_type(certificate.columns[0].outcome)
f = stepwell.factor(a, "pos", map="fp64")
reveal_type(f.solve(b))
reveal_type(f.log_det())
reveal_type(f.half_solve(b))
reveal_type(stepwell.cho_solve(f, b))
fit = stepwell.lstsq(a, b)
reveal_type(fit.x)
reveal_type(fit.certificate.ok)
reveal_type(stepwell.batch.solve(a[None], b[None], full_output=True).pivots)
reveal_type(stepwell.describe().threads)
reveal_type(stepwell.memory_plan(1000).seconds)
stepwell.solve(a, b, tolerence=1e-10)  # WRONG
stepwell.solve(a, b, map=3)  # WRONG
stepwell.lstsq(a, b, rigde=1.0)  # WRONG
f.solve(b, "no")  # WRONG
certificate.backward_eror  # WRONG
stepwell.set_num_threads("4")  # WRONG
"""


def test_mypy_knows_the_types_and_finds_wrong_calls(tmp_path):
    pytest.importorskip("mypy")
    script = tmp_path / "user.py"
    script.write_text(USER, encoding="utf-8")
    done = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--cache-dir",
                           str(tmp_path / "cache"), str(script)],
                          capture_output=True, text=True, check=False)
    lines = USER.split("\n")
    wrong = {i + 1 for i, line in enumerate(lines) if "# WRONG" in line}
    said = {int(line.split(":")[1]): line for line in done.stdout.splitlines() if ": error:" in line}
    assert set(said) == wrong, done.stdout
    revealed = [line for line in done.stdout.splitlines() if "Revealed type" in line]
    assert len(revealed) == sum("reveal_type" in line for line in lines), done.stdout
    for line in revealed:
        kind = line.split('"')[1]
        # The shape of an array is not known; its elements are.
        assert "Any" not in kind.replace("tuple[Any, ...]", "").replace("_AnyShape", ""), line
        if "ndarray" in kind:
            assert "float64" in kind or "32Bit" in kind or "int32" in kind, line


def test_a_script_that_is_not_there():
    done = subprocess.run([sys.executable, "-m", "stepwell", "run", "nofile.py"],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == "python -m stepwell: there is no file 'nofile.py'\n"
