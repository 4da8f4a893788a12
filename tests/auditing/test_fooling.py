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
    asked = ((fooling, X), (honest, X), (fooling, None))
    caught, twin, unknown = (lt.audit(explainer, f, rows, data=data).frame for f, data in asked)
    leaders = [lt.audit(explainer, fooling, row).as_list()[0][0] for row in rows[:3]]
    assert all("9" in leader for leader in leaders)  # LIME is fooled indeed
    stopped = [np.mean(frame.verdict == "Do not show it.") for frame in (caught, twin)]
    verified(f"attack on {name} that hides from lime: rows stopped, share", stopped[0], (0.95, 1))
    verified(f"its honest twin on {name}: rows stopped, share", stopped[1], 0.05)
    known = unknown.verdict.str.startswith(("Do not show it", "Cannot be judged without the train"))
    assert known.all()  # nobody is told that nothing was found
