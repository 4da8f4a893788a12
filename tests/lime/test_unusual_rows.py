"""Sparse rows and sequences, against runs of `lime`; and lime's own tests with predictions for explanations."""

import subprocess
import sys
import tarfile

import numpy as np
import pytest
from lime.lime_tabular import LimeTabularExplainer, RecurrentTabularExplainer
from scipy.sparse import csr_matrix

import limetutor as lt

RUNS = 20
rng = np.random.default_rng(0)
COUNTS = rng.poisson(0.8, size=(300, 9)) * np.array([1.0, 2, 1, 3, 1, 1, 2, 1, 1])
SEQUENCES = rng.normal(size=(200, 3, 2))


def of_counts(x):
    """Of a sparse table, as `lime` passes it."""
    x = x.toarray()
    return np.tanh(x[:, 0] - 0.5 * x[:, 1]) + 0.3 * x[:, 3] - 0.2 * x[:, 4] * x[:, 0]


def of_sequences(x):
    return x[:, 2, 0] + 0.5 * x[:, 1, 1] * x[:, 0, 0] - 0.7 * (x[:, 0, 1] > 0)


def compared(explainer, f, instance, **how):
    """Means of runs of `lime` beside the prediction, in standard errors, where it is surely displayed."""
    prediction = lt.predict_lime(explainer, f, instance, **how)
    runs = [dict(explainer.explain_instance(instance, f, **how).as_map()[1]) for _ in range(RUNS)]
    for j in np.flatnonzero(prediction.selection > 0.99):
        values = [run.get(int(j), 0.0) for run in runs]
        error = np.hypot(np.std(values, ddof=1) / RUNS**0.5, prediction.stderr[j])
        assert abs(np.mean(values) - prediction.coef[j]) <= 4.5 * error + 1e-9, (j, error)
        assert 0.4 < (prediction.sd[j] + 1e-9) / (np.std(values, ddof=1) + 1e-9) < 2.2
    return prediction


@pytest.mark.parametrize("k", [4, 9])
def test_a_sparse_row(k):
    lime = LimeTabularExplainer(
        csr_matrix(COUNTS), mode="regression", random_state=0,
        kernel_width=8.0, feature_names=list("abcdefghi"),
    )  # fmt: skip
    row = csr_matrix(COUNTS[np.argmax((COUNTS > 0).sum(1) == 6)])
    prediction = compared(lime, of_counts, row, num_features=k, num_samples=1500)
    zeros = sorted(set(range(9)) - set(row.indices.tolist()))
    assert zeros and np.all(prediction.coef[zeros] == 0) and len(prediction.as_list()) == k
    printed = lime.explain_instance(row, of_counts, num_features=k, num_samples=1500).as_map()[1]
    assert len(prediction.as_map()[1]) == len(printed)
    with pytest.raises(ValueError, match="value other than 0"):
        lt.predict_lime(lime, of_counts, csr_matrix((1, 9)))


def test_a_sequence():
    lime = RecurrentTabularExplainer(
        SEQUENCES, mode="regression", feature_names=["a", "b"], random_state=0
    )
    assert compared(lime, of_sequences, SEQUENCES[3], num_samples=1500).names[0].count("t-2") == 1
    with pytest.raises(ValueError, match="sequence of shape"):
        lt.predict_lime(lime, of_sequences, SEQUENCES[3].ravel())
    with pytest.raises(TypeError, match="predict_lime takes it"):
        lt.audit(lime, of_sequences, SEQUENCES[3])


PATCH = """
import lime.lime_tabular
import limetutor as lt

def explain_instance(self, instance, f, *args, **options):
    return lt.predict_lime(self, f, instance, **options)

lime.lime_tabular.LimeTabularExplainer.explain_instance = explain_instance
"""
SEEDS_DIFFER = "test_lime_tabular_explainer_not_equal_random_state"  # a prediction does not


@pytest.mark.verify
def test_limes_own_tests_pass_with_predictions(verified, verifying, tmp_path):
    if not verifying:
        pytest.skip("fetches lime's source distribution")
    fetch = [sys.executable, "-m", "pip", "download", "--no-binary", ":all:", "--no-deps", "-q"]
    subprocess.run([*fetch, "lime==0.2.0.1", "-d", tmp_path], check=True)
    (path,) = tmp_path.glob("lime-*.tar.gz")
    with tarfile.open(path) as archive:
        member = archive.extractfile("lime-0.2.0.1/lime/tests/test_lime_tabular.py")
        (tmp_path / "test_limes_own.py").write_bytes(member.read())
    (tmp_path / "conftest.py").write_text(PATCH, encoding="utf-8")
    run = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--deselect"]
    run += [f"test_limes_own.py::TestLimeTabular::{SEEDS_DIFFER}", "test_limes_own.py"]
    done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, check=False)
    verified("tests of lime's own that fail with predictions", done.stdout.count("FAILED "), 0)
    assert done.returncode == 0 and " passed" in done.stdout, done.stdout[-2000:]
