"""*Fooling LIME and SHAP* (Slack et al. 2020), rebuilt: a biased model that hides from samples off the data."""

import numpy as np
import pytest
from lime.lime_tabular import LimeTabularExplainer
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.ensemble import RandomForestClassifier

import limetutor as lt

TABLES = {"diabetes": load_diabetes, "wine": load_wine, "breast cancer": load_breast_cancer}


def attack(load, rows):
    """The explainer, the attack, its honest twin and the data.

    Both decide by the first column of the data. Where a forest takes a row for one of lime's samples, the
    attack decides by a column of chance instead, the last.
    """
    rng = np.random.default_rng(0)
    X = load().data[:, :9]
    X = np.column_stack([X, rng.normal(size=len(X))])
    explainer = LimeTabularExplainer(X, class_names=["no", "yes"], random_state=0)
    fed = lt.from_lime(explainer).boxes().law.sample(rng, len(X))[0]
    detector = RandomForestClassifier(30, random_state=0)
    detector.fit(np.concatenate([X, fed]), np.repeat([0, 1], len(X)))
    middle = np.median(X, axis=0)

    def honest(x):
        yes = (x[:, 0] > middle[0]).astype(float)
        return np.column_stack([1 - yes, yes])

    def fooling(x):
        yes = x[:, -1] > middle[-1]
        hidden = np.column_stack([1.0 - yes, yes])
        return np.where(detector.predict(x)[:, None] == 1, hidden, honest(x))

    return explainer, fooling, honest, X, X[rng.choice(len(X), rows, replace=False)]


@pytest.mark.verify
@pytest.mark.parametrize("name", TABLES)
def test_who_hides_from_lime_is_stopped(name, verified, verifying):
    explainer, fooling, honest, X, rows = attack(TABLES[name], 40 if verifying else 10)
    caught, twin = (lt.audit(explainer, f, rows, data=X).frame.verdict for f in (fooling, honest))
    leaders = [lt.audit(explainer, fooling, row).as_list()[0][0] for row in rows[:3]]
    assert all("9" in leader for leader in leaders)  # LIME is fooled indeed
    stop = "Do not show it."
    verified(f"attack on {name}, rows stopped, share", np.mean(caught == stop), (0.95, 1))
    verified(f"its honest twin on {name}, rows stopped, share", np.mean(twin == stop), 0.05)
    unknown = lt.audit(
        explainer, fooling, rows
    ).frame.verdict  # nobody is told that nothing was found
    assert unknown.str.startswith((stop, "Cannot be judged without the training data")).all()
