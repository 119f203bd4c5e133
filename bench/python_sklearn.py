#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
"""scikit-learn with SciPy and with Stepwell: time, memory, predictions. Run by hand.

  bench/python_sklearn.py [--order 8000] [--rounds 3]

Each round runs both, one after the other, each in a separate process, to measure its peak memory;
the best of the rounds is printed. The Gaussian process's likelihood and gradient are evaluated five
times; it then predicts with standard deviations. The baseline is the installed SciPy with its own OpenBLAS, whose
core and threads are printed; on a busy machine its threads wait for each other, so also run it with
--threads 1.
"""
import argparse
import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "examples/python"))


#: Points for which a Gaussian process predicts standard deviations.
PREDICTED = 2000


def five_evaluations(objective, theta, bounds):
    """An optimizer that evaluates the likelihood and its gradient five times."""
    import numpy as np

    steps = np.linspace(-0.1, 0.1, 5)
    found = [objective(theta + step)[0] for step in steps]
    return theta + steps[np.argmin(found)], min(found)


def one(model_name, who, n, out):
    """Fits one model with SciPy or with Stepwell, in this process."""
    import gaussian_process
    import kernel_ridge
    import numpy as np
    import sklearn.gaussian_process
    from sklearn.metrics.pairwise import rbf_kernel

    import stepwell

    x, y, new, _ = kernel_ridge.data(n)
    calls = stepwell.patch()
    if who == "stepwell":
        stepwell.describe()  # loads the library, as SciPy's is loaded
    if model_name == "kernel_ridge":
        kernel = kernel_ridge.model()
        if who == "stepwell":
            calls.install()
    else:
        kind = (gaussian_process if who == "stepwell" else sklearn.gaussian_process)
        kernel = gaussian_process.model(kind.GaussianProcessRegressor, optimizer=five_evaluations)
    start = time.monotonic()
    kernel.fit(x, y)
    fitted = time.monotonic()
    if model_name == "kernel_ridge":
        predicted = kernel.predict(new)
    else:
        predicted = np.append(kernel.predict(new[:PREDICTED], return_std=True),
                              kernel.log_marginal_likelihood_value_)
    end = time.monotonic()
    kernel_start = time.monotonic()
    rbf_kernel(x, gamma=0.25) if model_name == "kernel_ridge" else kernel.kernel_(x)
    kernel_seconds = time.monotonic() - kernel_start
    np.save(out, predicted)
    print(json.dumps({
        "fit": fitted - start, "predict": end - fitted, "kernel": kernel_seconds,
        "taken": calls.taken,
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}))


def condition(model_name, n):
    """Prints the condition number of the matrix that the model solves with."""
    import gaussian_process
    import kernel_ridge
    import numpy as np
    from sklearn.metrics.pairwise import rbf_kernel

    import stepwell

    x, y, _, _ = kernel_ridge.data(n)
    if model_name == "kernel_ridge":
        a = rbf_kernel(x, gamma=0.25)
        a.flat[:: n + 1] += 0.01
    else:
        model = gaussian_process.model()
        a = model.kernel(x)
        a.flat[:: n + 1] += model.alpha
    _, certificate = stepwell.solve(a, y, assume_a="pos", condition=True, full_output=True)
    print(json.dumps({"condition": certificate.condition, "text": str(certificate)}))


def child(*words):
    done = subprocess.run([sys.executable, __file__, *words], capture_output=True, text=True,
                          check=True)
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--order", type=int, default=8000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, help="threads of SciPy's OpenBLAS")
    parser.add_argument("--child", nargs="+", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        name, who, order, *rest = given.child
        if who == "condition":
            condition(name, int(order))
        else:
            one(name, who, int(order), *rest)
        return
    if given.threads:
        os.environ["OPENBLAS_NUM_THREADS"] = str(given.threads)
    import tempfile

    import numpy as np
    import scipy
    import sklearn
    from threadpoolctl import threadpool_info

    import scipy.linalg  # noqa: F401: loads the OpenBLAS that is described

    print(f"scikit-learn {sklearn.__version__}, SciPy {scipy.__version__}, NumPy {np.__version__}")
    for info in threadpool_info():
        print(f"  {info['prefix']} {info['version']}, {info.get('architecture')}, "
              f"{info['num_threads']} threads")
    with tempfile.TemporaryDirectory() as folder:
        for name in ("kernel_ridge", "gaussian_process"):
            results = {"scipy": [], "stepwell": []}
            for _ in range(given.rounds):
                for who, found in results.items():
                    found.append(child("--child", name, who, str(given.order),
                                       f"{folder}/{who}.npy"))
            for who, found in results.items():
                best = {key: min(f[key] for f in found) for key in found[0]}
                print(f"{name} {who}: fit {best['fit']:.2f} s (the kernel itself "
                      f"{best['kernel']:.2f}), predict {best['predict']:.2f} s, peak "
                      f"{best['peak'] / 2**30:.2f} GiB, calls handled {best['taken']}")
            theirs, ours = np.load(f"{folder}/scipy.npy"), np.load(f"{folder}/stepwell.npy")
            system = child("--child", name, "condition", str(given.order))
            difference = np.abs(ours - theirs).max() / np.abs(theirs).max()
            bound = system["condition"] * given.order**0.5 * 2.0**-52
            print(f"  predictions differ by {difference:.1e}; condition x both backward errors at "
                  f"most {bound:.1e}: {'equal' if difference < bound else 'NOT EQUAL'}")
            print("  " + system["text"].replace("\n", "\n  "))


if __name__ == "__main__":
    main()
