# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
"""Ranks that are killed, and solves that are resumed.

kill_test.py MPIEXEC PROGRAM: PROGRAM is solve_program. A rank is killed while it factors, while it
writes a checkpoint, while it refines, and at random moments; or it is only stopped for a while.
Every time all processes must end soon, with mpirun's exit code for a killed process, and leave no
files or shared memory. The next run with the same directory must give the same bits as one that was
never interrupted, and leave an empty directory."""
import glob
import os
import pathlib
import random
import signal
import struct
import subprocess
import sys
import tempfile
import time

RANKS = 2
N, TILE = 2500, 64
COLUMNS = -(-N // TILE)
SHARE = 0.15
PATIENCE = 30  # seconds from the death of one rank to the end of all
LIMIT = 240  # seconds for a whole run, on a busy machine
KILLED = 128 + signal.SIGKILL  # mpirun's exit code


def fail(text):
    print("FAILED:", text)
    sys.exit(1)


class Run:
    """A running mpirun of the program."""

    def __init__(self, mpiexec, program, directory, out):
        command = [mpiexec, "--oversubscribe", "--bind-to", "none", "-n", str(RANKS), program,
                   str(N), str(TILE), str(directory), str(SHARE), str(out)]
        self.checkpoints = directory
        self.log = out.with_suffix(".log")
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(command, stderr=log,
                                            env={**os.environ, "STEPWELL_LOG": "1"})
        self.started = time.monotonic()

    def ranks(self):
        """The process IDs of the ranks: mpirun's children."""
        pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
        return [pid for pid in pids if status(pid)[1:2] == [str(self.process.pid)]]

    def segments_by_rank(self):
        """For each rank, the shared memory files that it has mapped."""
        found = []
        for pid in self.ranks():
            try:
                lines = pathlib.Path(f"/proc/{pid}/maps").read_text().splitlines()
            except OSError:
                continue
            found.append({line.split()[-1] for line in lines if "/dev/shm/" in line})
        return found

    def segments(self):
        return set().union(*self.segments_by_rank())

    def has_begun(self):
        """All ranks are in MPI. If a rank dies earlier, Open MPI's mpirun may hang."""
        found = self.segments_by_rank()
        return len(found) == RANKS and all(found)

    def wait_for(self, condition):
        """True once the condition holds, False if the run has ended before."""
        while self.process.poll() is None:
            if condition():
                return True
            if time.monotonic() - self.started > LIMIT:
                self.process.kill()
                fail("the program hangs")
            time.sleep(0.0005)
        return False

    def has_resumed(self):
        return b"block columns restored from" in self.log.read_bytes()

    def finish(self):
        try:
            return self.process.wait(LIMIT)
        except subprocess.TimeoutExpired:
            self.process.kill()
            fail("the program hangs")

    # The state of a run as seen from outside.
    def has_checkpoint(self):
        return any(name.endswith("-complete") for name in names(self.checkpoints))

    def is_writing(self):
        return any("-state-" in name for name in names(self.checkpoints))

    def has_factor(self):
        for name in names(self.checkpoints):
            if not name.endswith("-complete"):
                continue
            try:
                head = (self.checkpoints / name).read_bytes()[:64]
            except OSError:  # removed in the meantime
                continue
            if struct.unpack_from("q", head, 32)[0] == COLUMNS:
                return True
        return False


def names(directory):
    try:
        return os.listdir(directory)
    except OSError:
        return []


def status(pid):
    """The fields of /proc/PID/stat from the state on (state, parent, ...); [] if it is gone."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return []


def gone(pid):
    return status(pid)[:1] in ([], ["Z"], ["X"])


def kill_one(run, what):
    """Kills a rank, and checks that all processes end and leave nothing behind."""
    pids, segments = run.ranks(), run.segments()
    if not pids:
        return False
    victim = random.choice(pids)
    died = time.monotonic()
    os.kill(victim, signal.SIGKILL)
    try:
        code = run.process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        run.process.kill()
        fail(f"{what}: mpirun still runs {PATIENCE} s after a rank has died")
    while not all(gone(pid) for pid in pids):
        if time.monotonic() - died > PATIENCE:
            fail(f"{what}: a rank still runs {PATIENCE} s after another has died")
        time.sleep(0.01)
    took = time.monotonic() - died
    if code == 0:
        return False  # the run had already ended
    if code != KILLED:
        fail(f"{what}: mpirun ends with {code} and not with {KILLED}")
    left = [s for s in segments if os.path.exists(s)]
    left += glob.glob(f"{tempfile.gettempdir()}/ompi.*/pid.{run.process.pid}")
    if left:
        fail(f"{what}: left behind: {' '.join(left)}")
    print(f"{what}: all ended after {took:.2f} s with exit code {code}; "
          f"{len(names(run.checkpoints))} files of checkpoints", flush=True)
    return True


def main():
    mpiexec, program = sys.argv[1:3]
    seed = int(os.environ.get("STEPWELL_TEST_SEED", "1"))
    random.seed(seed)
    with tempfile.TemporaryDirectory(prefix="stepwell_kill.") as place:
        place = pathlib.Path(place)
        directory, out = place / "checkpoints", place / "x"

        def run():
            out.unlink(missing_ok=True)
            return Run(mpiexec, program, directory, out)

        def finish(what, expected, resumes=False):
            r = run()
            code = r.finish()
            if code != 0:
                fail(f"{what}: the next run ends with exit code {code}")
            if resumes and not r.has_resumed():
                fail(f"{what}: the next run started from the beginning")
            if out.read_bytes() != expected:
                fail(f"{what}: the next run has other bits (seed {seed})")
            if names(directory):
                fail(f"{what}: left in the directory: {names(directory)}")

        r = run()
        r.wait_for(r.has_factor)
        factored = time.monotonic()
        if r.finish() != 0:
            fail("the program does not run")
        duration, refining = time.monotonic() - r.started, time.monotonic() - factored
        print(f"{duration:.2f} s, of which {refining:.2f} s after the last checkpoint", flush=True)
        expected = out.read_bytes()
        finish("uninterrupted", expected)

        moments = {"factoring": (Run.has_checkpoint, 0), "writing": (Run.is_writing, 0),
                   "refining": (Run.has_factor, refining / 3)}
        for what, (condition, delay) in moments.items():
            for attempt in range(4):
                r = run()
                if r.wait_for(lambda: condition(r)):
                    time.sleep(delay / 2**attempt)
                    # Without files the solve was done and the run about to end: the kill was too
                    # late.
                    if (r.process.poll() is None and kill_one(r, f"killed while {what}")
                            and names(directory)):
                        break
                r.finish()
            else:
                fail(f"no rank could be killed while {what}: it was always too late")
            finish(f"killed while {what}", expected, resumes=what != "writing")

        # Several kills in a row at random times: at the start, after a restart, near the end.
        for _ in range(int(os.environ.get("STEPWELL_TEST_KILLS", "4"))):
            r = run()
            moment = random.uniform(0, duration)
            if r.wait_for(lambda: time.monotonic() - r.started > moment and r.has_begun()):
                kill_one(r, f"killed after {moment:.2f} s")
            r.finish()
        finish("killed at random", expected)

        # A slow rank must not be taken for a dead one.
        r = run()
        if r.wait_for(r.has_checkpoint) and r.ranks():
            victim = random.choice(r.ranks())
            os.kill(victim, signal.SIGSTOP)
            time.sleep(3)
            os.kill(victim, signal.SIGCONT)
        if r.finish() != 0 or out.read_bytes() != expected:
            fail("stopped for a while: no, or another, answer")
        print("stopped for 3 s: the same bits")


main()
