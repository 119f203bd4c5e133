# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
"""solve(): answers, arrays of every kind, errors, the certificate."""
import pickle
import tracemalloc

import numpy as np
import pytest
from systems import U, assert_solves, backward_error, general, rng, spd, tolerance

import stepwell


@pytest.mark.parametrize("n", [1, 2, 17, 130, 700, 1500])
@pytest.mark.parametrize("order", ["C", "F"])
def test_systems(n, order):
    b = rng(2).standard_normal((n, 3))
    for a, assume in [(general(n), None), (general(n), "gen"), (spd(n), None), (spd(n), "pos")]:
        a = np.asarray(a, order=order)
        x, c = stepwell.solve(a, b, assume_a=assume, full_output=True)
        assert c.ok and c.backward_error <= c.tolerance
        assert len(c.columns) == 3
        assert_solves(a, x, b)
        assert_solves(a.T, stepwell.solve(a, b[:, 0], assume_a=assume, transposed=True), b[:, 0])


@pytest.mark.parametrize("n", [40, 1200])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("assume", ["pos", "sym"])
@pytest.mark.parametrize("lower", [True, False])
def test_only_the_named_triangle_is_read(n, order, assume, lower):
    a = spd(n)
    b = np.ones(n)
    half = np.tril(a) if lower else np.triu(a)
    half += (np.triu if lower else np.tril)(np.full((n, n), 9e99), 1 if lower else -1)
    half = np.asarray(half, order=order)
    before = half.copy()
    assert_solves(a, stepwell.solve(half, b, lower, assume_a=assume), b)
    assert np.array_equal(half, before)


def test_orders_and_strides():
    n = 60
    big = rng(3).standard_normal((3 * n, 3 * n))
    b = rng(4).standard_normal(2 * n)[::2]
    views = {
        "slice": big[:n, :n],
        "slice of F": np.asfortranarray(big)[n : 2 * n, :n],
        "transposed": big[:n, n : 2 * n].T,
        "strided": big[::3, ::3],
        "every second row": big[: 2 * n : 2, :n],
        "reversed": big[:n, :n][::-1],
        "reversed both": big[:n, :n][::-1, ::-1],
    }
    for name, a in views.items():
        before = big.copy()
        x = stepwell.solve(a, b)
        assert backward_error(a, x, b) < tolerance(n), name
        assert np.array_equal(big, before)


@pytest.mark.parametrize("copies, view", [(0, lambda a: a), (0, lambda a: a.T),
                                          (0, lambda a: np.asfortranarray(a)),
                                          (0, lambda a: a[:300, 10:310]), (1, lambda a: a[::2, ::2]),
                                          (1, lambda a: a[::-1]), (1, lambda a: a.astype("f4"))])
def test_copies_are_those_of_the_documents(copies, view):
    a = view(rng(3).standard_normal((600, 600)))
    b = np.ones(a.shape[0])
    stepwell.solve(np.eye(2), np.ones(2))
    tracemalloc.start()  # NumPy reports its allocations
    try:
        stepwell.solve(a, b)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    size = 8 * a.shape[0] ** 2
    assert copies * size <= peak < (copies + 0.5) * size


def test_broadcast_rows_are_copied():
    a = np.broadcast_to(np.arange(1.0, 4.0), (3, 3))  # singular when read with its shape
    with pytest.raises(stepwell.Singular):
        stepwell.solve(a, np.array([1.0, 2.0, 4.0]), assume_a="gen")


@pytest.mark.parametrize("dtype", ["f4", "f2", "i4", "u1", ">f8", ">i8", "?", "f8"])
def test_types_are_converted(dtype):
    a = np.array([[4, 1, 0], [1, 3, 1], [0, 1, 5]]).astype(dtype)
    b = np.array([1, 2, 3]).astype(dtype)
    assert_solves(a.astype(float), stepwell.solve(a, b), b.astype(float))


@pytest.mark.parametrize("value, text", [(np.eye(2) * 1j, "complex"),
                                         (np.eye(2, dtype=object), "object"),
                                         (np.array([["a", "b"]] * 2), "<U1"),
                                         (np.eye(2, dtype=np.longdouble), "float128"),
                                         (np.ma.masked_array(np.eye(2)), "masked")])
def test_types_that_are_refused(value, text):
    with pytest.raises(TypeError, match=f"a.*{text}"):
        stepwell.solve(value, np.ones(2))
    with pytest.raises(TypeError, match=f"b.*{text}"):
        stepwell.solve(np.eye(2), value)


@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
def test_other_objects():
    class Wrapped:
        def __init__(self, array):
            self.array = array

        def __array__(self, dtype=None, copy=None):
            return self.array

    a, b = general(5), np.ones(5)
    x = stepwell.solve(Wrapped(a), Wrapped(b))
    assert np.array_equal(b, np.ones(5))
    assert_solves(a, x, b)
    assert_solves(a, stepwell.solve(a.tolist(), [1] * 5), b)
    matrix = np.asmatrix(a)
    x = stepwell.solve(matrix, np.asmatrix(b).T)
    assert type(x) is np.ndarray and x.shape == (5, 1)


class OnlyDlpack:
    """An array of a library that has DLPack's interface and no other."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class OnDevice(OnlyDlpack):
    def __dlpack__(self, **options):
        raise BufferError("the array is on a device")


def test_arrays_with_dlpack_are_not_copied():
    a, b = spd(60), np.ones(60)
    x = stepwell.solve(OnlyDlpack(a), OnlyDlpack(b))
    assert_solves(a, x, b)
    assert np.array_equal(b, np.ones(60))
    assert np.array_equal(np.from_dlpack(x), x)
    with pytest.raises(TypeError, match="a is not in this process's memory: the array is on a"):
        stepwell.solve(OnDevice(a), b)


def test_read_only_arrays():
    a, b = general(9), np.ones(9)
    a.flags.writeable = b.flags.writeable = False
    x = stepwell.solve(a, b, overwrite_b=True)
    assert x.flags.writeable and np.array_equal(b, np.ones(9))


def test_overwrite_b():
    a = general(20)
    for shape in [(20,), (20, 3)]:
        b = np.asfortranarray(rng().standard_normal(shape))
        kept = b.copy()
        assert not np.may_share_memory(stepwell.solve(a, b), b)
        assert np.array_equal(b, kept)
        x = stepwell.solve(a, b, overwrite_b=True)
        assert np.may_share_memory(x, b)
        assert_solves(a, x, kept)


def test_empty():
    assert stepwell.solve(np.zeros((0, 0)), np.zeros(0)).shape == (0,)
    assert stepwell.solve(np.zeros((0, 0)), np.zeros((0, 3))).shape == (0, 3)
    assert stepwell.solve(np.eye(2), np.zeros((2, 0))).shape == (2, 0)


@pytest.mark.parametrize("a, b", [(np.ones((2, 3)), np.ones(2)), (np.eye(2), np.ones(3)),
                                  (np.ones(4), np.ones(4)), (np.ones((2, 2, 2)), np.ones((3, 2))),
                                  (np.eye(2), np.ones((2, 1, 1))), (np.eye(2), 1.0)])
def test_shapes_that_do_not_fit(a, b):
    with pytest.raises(ValueError, match="shape"):
        stepwell.solve(a, b)


@pytest.mark.parametrize("a_shape, b_shape", [((5, 30, 30), (5, 30, 2)), ((5, 30, 30), (30,)),
                                              ((30, 30), (4, 30, 1)), ((3, 1, 7, 7), (2, 7, 3)),
                                              ((0, 7, 7), (7, 2)), ((2, 160, 160), (2, 160, 1))])
def test_stacks_are_broadcast_as_by_numpy(a_shape, b_shape):
    a, b = rng().standard_normal(a_shape), rng(2).standard_normal(b_shape)
    expected = np.linalg.solve(a, b)
    x, certificate = stepwell.solve(a, b, full_output=True)
    assert x.shape == expected.shape and certificate.ok
    assert np.allclose(x, expected, rtol=1e-8, atol=1e-8)
    assert np.array_equal(stepwell.solve(a, b), x)


def test_a_failure_in_a_stack_says_where():
    a = np.stack([np.eye(3), np.ones((3, 3))])
    with pytest.raises(stepwell.Singular, match=r"system \(1\) of the stack"):
        stepwell.solve(a, np.ones(3))
    x, certificate = stepwell.solve(a, np.ones(3), full_output=True)
    assert certificate.outcome == "singular"
    assert np.array_equal(x[0], np.ones(3)) and np.isnan(x[1]).all()


def test_a_tall_matrix_is_sent_to_least_squares():
    with pytest.raises(ValueError, match="stepwell.lstsq"):
        stepwell.solve(np.ones((3, 2)), np.ones(3))


def test_the_certificate_shows_the_proof():
    _, certificate = stepwell.solve(spd(50), np.ones(50), prove=True, full_output=True)
    assert "proven: at most" in str(certificate)
    _, certificate = stepwell.solve(spd(50), np.ones(50), full_output=True)
    assert "proven" not in str(certificate)


def test_misuse():
    a, b = np.eye(2), np.ones(2)
    for options, text in [({"assume_a": "banded"}, "solve_banded"), ({"assume_a": "x"}, "not one of"),
                          ({"map": "bf17"}, "bf17"), ({"refiner": "sor"}, "fgmres"),
                          ({"threads": 0}, "threads"), ({"tolerance": -1.0}, "tolerance")]:
        with pytest.raises(ValueError, match=text):
            stepwell.solve(a, b, **options)
    with pytest.raises(TypeError, match="progress"):
        stepwell.solve(a, b, progress=3)


@pytest.mark.parametrize("n", [30, 1400])
@pytest.mark.parametrize("order", ["C", "F"])
def test_not_positive_definite(n, order):
    a = np.asarray(spd(n), order=order)
    a[n // 2, n // 2] = -1
    with pytest.raises(np.linalg.LinAlgError) as caught:
        stepwell.solve(a, np.ones(n), assume_a="pos")
    assert type(caught.value) is stepwell.NotPositiveDefinite
    assert caught.value.certificate.pivot == n // 2
    x, c = stepwell.solve(a, np.ones(n), full_output=True)  # detected, and solved by LU
    assert c.structure == "general"
    assert_solves(a, x, np.ones(n))


@pytest.mark.parametrize("order", ["C", "F"])
def test_singular(order):
    a = np.asarray(general(12), order=order)
    a[:, 7] = 0
    a[7, :] = 0
    with pytest.raises(stepwell.Singular, match="singular") as caught:
        stepwell.solve(a, np.arange(12.0))
    assert caught.value.certificate.pivot == 7
    x, c = stepwell.solve(a, np.arange(12.0), full_output=True)
    assert x is None and not c.ok and c.outcome == "singular"


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_non_finite(order, bad):
    a = np.asarray(general(6), order=order)
    a[2, 4] = bad
    with pytest.raises(ValueError, match=r"A has .* at \(2, 4\)") as caught:
        stepwell.solve(a, np.ones(6))
    assert isinstance(caught.value, np.linalg.LinAlgError)
    assert (caught.value.certificate.row, caught.value.certificate.col) == (2, 4)
    b = np.ones((6, 2), order=order)
    b[5, 1] = bad
    with pytest.raises(stepwell.NonFinite, match=r"b has .* at \(5, 1\)"):
        stepwell.solve(np.eye(6), b)


def test_not_converged_has_the_best_x():
    a, b = general(400), np.ones(400)
    with pytest.raises(stepwell.NotConverged) as caught:
        stepwell.solve(a, b, map="bf16", refiner="ir", climb=False, iterations=1)
    assert caught.value.x.shape == (400,)
    assert "above the tolerance" in str(caught.value)


def test_certificate_is_plain_data():
    a = spd(50)
    x, c = stepwell.solve(a, np.ones(50), condition=True, prove=True, full_output=True)
    text = str(c)
    assert text.startswith("converged (spd)\n") and "backward error" in text
    assert "condition" in text and text in repr(c) and "<pre>converged" in c._repr_html_()
    assert 1 <= c.condition <= 3 * np.linalg.cond(a, np.inf)
    assert 0 < c.columns[0].proven_backward_error <= c.tolerance + U
    assert c.times.wall > 0 and pickle.loads(pickle.dumps(c)) == c
    with pytest.raises(AttributeError):
        c.outcome = "better"
    try:
        stepwell.solve(-a, np.ones(50), assume_a="pos")
    except stepwell.SolveError as error:
        copy = pickle.loads(pickle.dumps(error))
        assert type(copy) is type(error) and copy.certificate == error.certificate


def test_plans():
    for assume in (None, "pos", "gen"):
        plan = stepwell.memory_plan(5000, 2, assume)
        x, c = stepwell.solve(np.eye(300) * 2, np.ones(300), assume_a=assume, full_output=True)
        assert c.peak_bytes <= stepwell.memory_plan(300, 1, assume).top_bytes
        assert 0 < plan.bytes <= plan.top_bytes
    with pytest.raises(ValueError):
        stepwell.memory_plan(-1)


def test_describe():
    machine = stepwell.describe()
    assert machine.version == stepwell.__version__
    assert machine.threads >= 1 and machine.isa in str(machine)
