# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
"""The package's documentation: docstrings, names, stubs."""
import ast
import doctest
import importlib
import inspect
import pkgutil
import re
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
    assert "not positive definite" in printed and "solves handled" in printed
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
