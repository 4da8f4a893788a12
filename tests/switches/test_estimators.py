"""Models of counts and of switches as forms."""

import numpy as np
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import BernoulliNB
from sklearn.tree import DecisionTreeRegressor

from limetutor.switches.estimators import Counted, presence, tree_rules
from limetutor.switches.fits import fit_form
from limetutor.switches.forms import Enumerated, Rule, Switched
from limetutor.switches.switches import all_masks, text_switches


def test_models_of_presence_are_forms():
    rng = np.random.default_rng(8)
    X = rng.random((300, 6)) < 0.5
    y = np.where(X[:, 0] & X[:, 1], 2, X[:, 3].astype(int))
    z = all_masks(6)
    forest = RandomForestClassifier(9, random_state=0).fit(X, y)
    for output in (0, 2, None):
        column = 2 if output is None else output
        form = presence(forest, output)
        assert np.allclose(form(z), forest.predict_proba(z)[:, column], rtol=0, atol=1e-12)
    bayes, logistic = BernoulliNB().fit(X, y), LogisticRegression().fit(X, y == 2)
    joint = bayes.predict_joint_log_proba(z)[:, 1]
    assert np.allclose(presence(bayes, 1)(z), joint, rtol=0, atol=1e-12)
    score = logistic.decision_function(z)
    assert np.allclose(presence(logistic)(z), score, rtol=0, atol=1e-12)
    assert np.allclose(presence(logistic, 0)(z), -score, rtol=0, atol=1e-12)
    tree = DecisionTreeRegressor(max_depth=3).fit(X, y)
    assert np.allclose(presence(tree)(z), tree.predict(z), rtol=0, atol=1e-12)


def test_trees_on_counts_are_rules():
    """Words that occur twice, words in two spellings, words the text does not have."""
    rng = np.random.default_rng(5)
    columns = {
        0: Counted((0,), (2,), {0: 0.0, 2: 2.0}),
        1: Counted((1, 2), (1, 3), {0: 0.0, 1: 1.0, 3: 3.0, 4: 4.0}),
        2: Counted((3, 4, 5), (1, 1, 1), {t: 0.37 * t for t in range(4)}),
        4: Counted((6,), (1,), {0: 0.0, 1: 1.0}),
    }
    d = 8  # switch 7 is read by no column, column 3 by no switch

    def read(z):
        x = np.zeros((len(z), 5))
        for c, column in columns.items():
            totals = z[:, column.members] @ np.array(column.sizes)
            x[:, c] = [column.values[t] for t in totals]
        return x

    train = rng.poisson(1.5, (400, 5)) * np.array([1, 1, 0.37, 1, 1])
    y = train[:, 0] * (train[:, 1] > 1) - train[:, 2] + rng.normal(size=400)
    for model in (
        DecisionTreeRegressor(max_depth=6, random_state=0),
        RandomForestRegressor(7, max_depth=5, random_state=0),
    ):
        trees = getattr(model.fit(train, y), "estimators_", [model])
        rules = [
            Rule(r.value / len(trees), r.groups)
            for t in trees
            for r in tree_rules(t.tree_, columns, t.tree_.value[:, 0, 0])
        ]
        form = Switched(0.0, np.zeros(d), tuple(rules))
        z = all_masks(d)
        assert np.allclose(form(z), model.predict(read(z)), rtol=0, atol=1e-12)
        world = text_switches(d)
        answers = model.predict(read(z))
        exact = fit_form(Enumerated(lambda _, y=answers: y, d), world)
        assert np.allclose(fit_form(form, world).coef, exact.coef, rtol=0, atol=1e-12)
        assert abs(exact.coef[7]) < 0.2 * np.abs(exact.coef).max()
