"""Linear algebra on one thread: the same bits everywhere."""

import os
import subprocess
import sys


def test_the_same_bits_whatever_the_number_of_threads():
    code = (
        "import numpy as np, limetutor as lt\n"
        "for d in (10, 40):\n"
        "    f, xi = lt.Linear(np.linspace(-1, 2, d)), np.linspace(-0.5, 0.5, d)\n"
        "    ex = lt.explain(f, xi, lt.Gaussian(), 2.0, n=20_000, seed=0, ridge=1.0)\n"
        "    print(ex.coef.tobytes().hex(), ex.covariance.tobytes().hex())\n"
    )
    found = [
        subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | {"OMP_NUM_THREADS": threads, "OPENBLAS_NUM_THREADS": threads},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for threads in ("1", "2")
    ]
    assert found[0] == found[1]
