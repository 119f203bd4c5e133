# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
"""patch() and python -m stepwell run."""
import subprocess
import sys

import numpy as np
import pytest
from systems import assert_solves, general, spd

import stepwell

scipy_linalg = pytest.importorskip("scipy.linalg")


def test_large_calls_are_handled():
    originals = np.linalg.solve, scipy_linalg.solve
    a, k, b = general(60), spd(60), np.ones((60, 2))
    with stepwell.patch(minimum=50) as calls:
        assert np.linalg.solve is not originals[0]
        assert_solves(a, np.linalg.solve(a, b), b)
        assert np.linalg.solve(a, b).flags.c_contiguous
        assert_solves(a, scipy_linalg.solve(a, b), b)
        assert_solves(a.T, scipy_linalg.solve(a, b, transposed=True), b)
        assert_solves(k, scipy_linalg.solve(np.triu(k), b, assume_a="pos"), b)
        assert_solves(k, scipy_linalg.solve(np.tril(k), b, lower=True, assume_a="pos"), b)
        assert (calls.taken, calls.forwarded, calls.failed) == (6, 0, 0)
    assert (np.linalg.solve, scipy_linalg.solve) == originals
    assert "6 calls handled" in str(calls) and calls.seconds > 0


@pytest.mark.filterwarnings("ignore::scipy.linalg.LinAlgWarning")
def test_all_others_are_forwarded():
    a, b = general(60), np.ones(60)
    cases = [
        lambda: np.linalg.solve(a[:20, :20], b[:20]),
        lambda: np.linalg.solve(a * 1j, b),
        lambda: np.linalg.solve(a.astype("f4"), b.astype("f4")),
        lambda: np.linalg.solve(np.stack([a, a]), b[:, None]),
        lambda: np.linalg.solve(a.tolist(), b),
        lambda: scipy_linalg.solve(a.astype("f4"), b),
        lambda: scipy_linalg.solve(np.tril(a), b),
        lambda: scipy_linalg.solve(spd(60), b, assume_a="sym"),
    ]
    expected = [case() for case in cases]
    with stepwell.patch(minimum=50) as calls:
        for case, wanted in zip(cases, expected):
            got = case()
            assert got.dtype == wanted.dtype and np.array_equal(got, wanted)
    assert (calls.taken, calls.forwarded) == (0, len(cases))


def test_failures_are_the_originals():
    b = np.arange(60.0)
    with stepwell.patch(minimum=1) as calls:
        for module in (np.linalg, scipy_linalg):
            with pytest.raises(np.linalg.LinAlgError, match="(?i)singular"):
                module.solve(np.ones((60, 60)), b)
        with pytest.raises(np.linalg.LinAlgError):
            scipy_linalg.solve(-np.eye(60), b, assume_a="pos")
        with pytest.raises(ValueError):
            scipy_linalg.solve(np.full((60, 60), np.nan), b)
    assert calls.failed == 4


def test_condition_warns():
    a = np.vander(np.linspace(0, 1, 20))
    with stepwell.patch(minimum=1, condition=True) as calls:
        with pytest.warns(scipy_linalg.LinAlgWarning):
            scipy_linalg.solve(a, np.ones(20), assume_a="gen")
    assert calls.taken == 1


def test_names_imported_before(monkeypatch):
    module = type(sys)("other_module")
    module.solve = scipy_linalg.solve
    monkeypatch.setitem(sys.modules, "other_module", module)
    original = scipy_linalg.solve
    with stepwell.patch(minimum=1) as calls:
        module.solve(general(5), np.ones(5))
        late = type(sys)("later_module")
        late.solve = scipy_linalg.solve
        monkeypatch.setitem(sys.modules, "later_module", late)
    assert calls.taken == 1
    assert module.solve is original and late.solve is original
    with pytest.raises(RuntimeError, match="already"):
        with calls:
            calls.install()
    assert scipy_linalg.solve is original


def test_run(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("import sys\nimport numpy as np\nfrom scipy.linalg import solve\n"
                      "print(sys.argv[1:], __name__)\nsolve(np.eye(40) + 0.1, np.ones(40))\n")
    done = subprocess.run([sys.executable, "-m", "stepwell", "run", "--minimum", "30", str(script),
                           "-x", "y"], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout == "['-x', 'y'] __main__\n"
    assert "1 calls handled" in done.stderr
    done = subprocess.run([sys.executable, "-m", "stepwell", "describe"], capture_output=True,
                          text=True, timeout=120, check=True)
    assert done.stdout.startswith(f"Stepwell {stepwell.__version__} on ")


def test_an_inverse_is_the_originals():
    # It is forwarded because each of its columns would be refined.
    a = general(2100)
    with stepwell.patch() as calls:
        np.linalg.solve(a, np.ones((2100, 2)))
        np.linalg.solve(a, np.eye(2100))
    assert (calls.taken, calls.forwarded) == (1, 1)
