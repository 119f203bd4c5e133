# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
"""The package coexists with its process: threads, fork, signals, the GIL, memory, progress."""
import contextlib
import multiprocessing
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from systems import assert_solves, general, spd

import stepwell

LIMIT = 300  # seconds; detects hangs, does not measure speed
ROUNDS = int(os.environ.get("STEPWELL_PYTHON_ROUNDS", "2"))


def run(code, *arguments):
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True,
                          timeout=LIMIT, cwd=os.path.dirname(__file__), check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_import_starts_nothing():
    threads, library, at_call = run("""
import os, sys
import numpy
count = lambda: len(os.listdir("/proc/self/task"))
before = count()
import stepwell
print(count() - before, "stepwell._stepwell" in sys.modules, end=" ")
stepwell.solve(numpy.eye(3), numpy.ones(3))
print("stepwell._stepwell" in sys.modules)
""")
    assert (threads, library, at_call) == ("0", "False", "True")


def test_the_gil_is_released():
    a, b = spd(2500), np.ones((2500, 8))
    ticks, stop = [], threading.Event()

    def count():
        while not stop.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    start = time.monotonic()
    stepwell.solve(a, b, assume_a="pos", map="fp64")
    end = time.monotonic()
    stop.set()
    thread.join()
    # If the GIL were held throughout, there would be no tick in the middle third.
    third = (end - start) / 3
    assert any(start + third < t < end - third for t in ticks)


def test_threads_get_the_same_bits():
    systems = [(general(n, n), np.arange(float(n))) for n in (50, 300, 1100)]
    systems += [(spd(n, n), np.arange(float(n))) for n in (50, 300, 1300)]
    serial = [stepwell.solve(a, b) for a, b in systems]
    shared = stepwell.factor(systems[2][0])
    kept = shared.solve(systems[2][1])
    results, errors = {}, []

    def work(which):
        try:
            for k in range(len(systems)):
                at = (k + which) % len(systems)
                results[which, at] = stepwell.solve(*systems[at])
            results[which, "kept"] = shared.solve(systems[2][1])
        except BaseException as error:  # noqa: BLE001: shown by the test
            errors.append(error)

    threads = [threading.Thread(target=work, args=(w,)) for w in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(LIMIT)
        assert not t.is_alive()
    assert not errors
    for (_, at), x in results.items():
        assert np.array_equal(x, kept if at == "kept" else serial[at])
    assert len(results) == 6 * (len(systems) + 1)


def test_number_of_threads_does_not_change_the_bits():
    a, b = spd(1500), np.ones(1500)
    x = stepwell.solve(a, b)
    assert np.array_equal(stepwell.solve(a, b, threads=1), x)
    assert np.array_equal(stepwell.solve(a, b, threads=2), x)


def child(n):
    """Runs in a worker process: large enough to use several threads."""
    a, b = spd(n), np.arange(float(n))
    return stepwell.solve(a, b), stepwell.solve(general(n), b)


@pytest.mark.parametrize("method", ["fork", "spawn"])
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_processes(method):
    expected = child(1000)  # the parent's workers have started
    for _ in range(ROUNDS):
        with multiprocessing.get_context(method).Pool(2) as pool:
            for spd_x, general_x in pool.map_async(child, [1000] * 3).get(LIMIT):
                assert np.array_equal(spd_x, expected[0])
                assert np.array_equal(general_x, expected[1])
    again = child(1000)  # the parent still works
    assert np.array_equal(again[0], expected[0])


def solve_with(pair):
    f, b = pair
    return FACTORS[f].solve(b)


FACTORS = {}


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_factor_in_a_forked_child():
    a, b = spd(1000), np.ones(1000)
    FACTORS["a"] = stepwell.factor(a)
    expected = FACTORS["a"].solve(b)
    with multiprocessing.get_context("fork").Pool(1) as pool:
        x = pool.map_async(solve_with, [("a", b)]).get(LIMIT)[0]
    assert_solves(a, x, b)
    assert np.array_equal(x, expected)


INTERRUPTED = """
import signal, numpy as np, stepwell
from systems import spd
signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
a = spd(3000)
print("solving", flush=True)
try:
    while True:  # so that the signal arrives during a solve
        stepwell.solve(a, np.ones((3000, 4)), assume_a="pos", map="fp64", condition=True)
except KeyboardInterrupt:
    print("interrupted", flush=True)
# The next solve works normally.
x = stepwell.solve(np.eye(1500) * 2, np.ones(1500))
print("usable" if (x == 0.5).all() else "broken")
"""


def test_interrupt():
    with subprocess.Popen([sys.executable, "-c", INTERRUPTED], stdout=subprocess.PIPE,
                          text=True, cwd=os.path.dirname(__file__)) as process:
        try:
            assert process.stdout.readline() == "solving\n"
            time.sleep(0.3)
            process.send_signal(signal.SIGINT)
            assert process.stdout.readline() == "interrupted\n"
            assert process.stdout.readline() == "usable\n"
            assert process.wait(LIMIT) == 0
        finally:
            process.kill()


def test_lack_of_memory():
    assert run("""
import resource, numpy as np, stepwell
from systems import spd
a = spd(3000)
stepwell.solve(a[:2000, :2000], np.ones(2000))
stepwell.release_memory()
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (10 << 20), resource.RLIM_INFINITY))
try:
    stepwell.solve(a, np.ones(3000), assume_a="pos", map="fp64")
except MemoryError:
    print("refused")
resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY,) * 2)
stepwell.solve(a, np.ones(3000))
""") == ["refused"]


def test_progress_function():
    seen = []
    for n in (10, 2500, 4000, 6000):  # until it takes long enough to report the factorization
        a, b = np.eye(n) + 1 / n, np.ones(n)
        count = len(seen)
        x = stepwell.solve(a, b, assume_a="pos", map="fp64",
                           progress=lambda *arguments: seen.append(arguments))
        assert np.allclose(x, 0.5) and len(seen) > count
        if "factor" in {phase for phase, _, _ in seen}:
            break
    assert all(phase and done >= 0 and total >= 0 for phase, done, total in seen)
    assert "factor" in {phase for phase, _, _ in seen}


def test_what_progress_raises_ends_the_solve():
    class Enough(Exception):
        pass

    def callback(phase, done, total):
        raise Enough

    with pytest.raises(Enough):
        stepwell.solve(spd(300), np.ones(300), map="fp64", progress=callback)


def test_bar():
    from stepwell import _progress

    assert "50 %" in _progress.line_of("factor", 5, 10, 1.0)
    assert "analysis" in _progress.line_of("analysis", 0, 0, 1.0)
    # On a terminal: standard error is a pseudo-terminal.
    master, slave = os.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", "import numpy as np, stepwell\n"
         "stepwell.solve(np.eye(2500) + 0.1, np.ones(2500), map='fp64', progress=True)"],
        stderr=slave, cwd=os.path.dirname(__file__))
    assert process.wait(LIMIT) == 0
    os.close(slave)
    drawn = os.read(master, 100_000)
    assert drawn.startswith(b"\r") and b" s" in drawn and drawn.endswith(b"\r")
    os.close(master)


def busy_threads(code, **variables):
    """The threads of a process that have used more than a tick of CPU time when it has run."""
    done = subprocess.run(
        [sys.executable, "-c", code + """
import os
import pathlib
ticks = []
for task in os.listdir("/proc/self/task"):
    fields = open(f"/proc/self/task/{task}/stat").read().rsplit(")", 1)[1].split()
    ticks.append(int(fields[11]) + int(fields[12]))
print(sum(t > 2 for t in ticks), len(ticks))
"""], capture_output=True, text=True, timeout=LIMIT, cwd=os.path.dirname(__file__), check=False,
        env={**os.environ, **variables})
    assert done.returncode == 0, done.stderr
    return [int(word) for word in done.stdout.split()[-2:]]


SOLVES = """
import numpy as np, stepwell
from systems import spd
a = spd(1500)
for _ in range(3):
    x, certificate = stepwell.solve(a, np.ones(1500), assume_a="pos", full_output=True)
assert certificate.threads == 1, certificate
"""


@pytest.mark.parametrize("name", ["STEPWELL_THREADS", "OMP_NUM_THREADS"])
def test_variables_limit_the_threads(name):
    others = {"STEPWELL_THREADS": "", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": ""}
    if name != "STEPWELL_THREADS":
        others["OPENBLAS_NUM_THREADS"] = ""
    busy, _ = busy_threads(SOLVES + f"assert certificate.threads_reason == '{name}'",
                           **{**others, name: "1"})
    assert busy == 1


def test_set_num_threads():
    before = stepwell.num_threads()
    try:
        stepwell.set_num_threads(1)
        assert stepwell.num_threads() == 1
        assert stepwell.describe().threads_reason == "set by the program"
        _, certificate = stepwell.solve(spd(1100), np.ones(1100), full_output=True)
        assert (certificate.threads, certificate.threads_reason) == (1, "set by the program")
        with pytest.raises(ValueError, match="threads"):
            stepwell.set_num_threads(-1)
    finally:
        stepwell.set_num_threads(0)
    assert stepwell.num_threads() == before


def test_threadpoolctl():
    threadpoolctl = pytest.importorskip("threadpoolctl")
    stepwell.register_threadpoolctl()
    before = stepwell.num_threads()
    with threadpoolctl.threadpool_limits(1, user_api="blas"):
        assert stepwell.num_threads() == 1
    assert stepwell.num_threads() == before
    found = [i for i in threadpoolctl.threadpool_info() if i["internal_api"] == "stepwell"]
    assert found and found[0]["version"] == stepwell.describe().version


def busy_threads_here(least=5):
    """Threads of this process with so many ticks (10 ms) of user time."""
    spent = []
    for task in pathlib.Path("/proc/self/task").glob("*"):
        with contextlib.suppress(OSError):  # it has ended
            spent.append(int((task / "stat").read_text().rpartition(")")[2].split()[11]))
    return sum(ticks >= least for ticks in spent)


def one_thread_of_joblib(_):
    import numpy

    a, start = spd(1100), time.process_time()
    while time.process_time() - start < 0.3:
        _, certificate = stepwell.solve(a, numpy.ones(1100), full_output=True)
    return certificate.threads, certificate.threads_reason, busy_threads_here()


def test_workers_of_joblib_have_the_threads_that_it_gives_them(monkeypatch):
    joblib = pytest.importorskip("joblib")
    for name in ("STEPWELL_THREADS", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
        monkeypatch.delenv(name, raising=False)
    with joblib.parallel_config(backend="loky", inner_max_num_threads=1):
        found = joblib.Parallel(n_jobs=4)(joblib.delayed(one_thread_of_joblib)(k) for k in range(4))
    assert found == [(1, "OPENBLAS_NUM_THREADS", 1)] * 4
