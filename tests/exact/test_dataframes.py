"""Models get the DataFrames, and the categories, that they were fitted on."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from lightgbm import LGBMRegressor
from sklearn.ensemble import HistGradientBoostingRegressor

import limetutor as lt
from limetutor.core.problem import Problem
from limetutor.inputs.predictors import predictor


def with_categories(gaps: bool = False) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(8)
    home, level = rng.choice(["own", "rent", "free"], 400), rng.choice([1, 2, 7], 400)
    frame = pd.DataFrame({"home": home, "age": rng.normal(40, 10, 400), "level": level})
    y = 2.0 * (home == "own") + 0.1 * frame["age"] + (level == 7)
    frame = frame.astype({"home": "category", "level": "category"})
    if gaps:
        frame.loc[::9, "home"] = np.nan
    return frame[["age", "home", "level"]], y.to_numpy()


def categorical_models() -> dict[str, Any]:
    import lightgbm
    import xgboost

    return {
        "lightgbm": lightgbm.LGBMRegressor(n_estimators=20, verbose=-1),
        "xgboost": xgboost.XGBRegressor(n_estimators=20, enable_categorical=True),
        "sklearn": HistGradientBoostingRegressor(max_iter=20, categorical_features="from_dtype"),
    }


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("name", ["lightgbm", "xgboost", "booster", "sklearn"])
def test_models_get_the_categories_that_they_were_fitted_on(name, gaps):
    """What a model says of the encoded table is what it says of the table itself."""
    frame, y = with_categories(gaps)
    model = categorical_models()["xgboost" if name == "booster" else name].fit(frame, y)
    expected = model.predict(frame)
    if name == "booster":
        model = model.get_booster()
    said = lt.Empirical(
        frame.astype({"home": object, "level": float}), categorical=["home", "level"]
    )
    for world in (lt.Empirical(frame), said):
        boxes = world.boxes()
        predict = predictor(model, boxes)
        np.testing.assert_allclose(predict(boxes.encode_rows(frame)), expected, rtol=1e-6)
        found = lt.explain(model, frame.iloc[3], world, 1.0, kernel="mismatch", n=2000, seed=0)
        assert np.all(np.isfinite(found.coef))


def test_lightgbm_in_another_world_is_refused():
    frame, y = with_categories()
    model = categorical_models()["lightgbm"].fit(frame, y)
    world = lt.Empirical(frame.astype({"level": float}))
    with pytest.raises(ValueError, match="f was fitted on 2 columns of pandas' dtype 'category'"):
        lt.explain(model, frame.iloc[0], world, 1.0)


def test_a_number_with_gaps_is_no_column_of_labels():
    """LightGBM with a category, and missing values in a number: the table of a bank."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"age": rng.normal(40, 10, 300), "job": rng.choice(["a", "b", "c"], 300)})
    frame["job"], frame["balance"] = frame["job"].astype("category"), rng.normal(size=300)
    frame.loc[::7, "balance"] = np.nan
    model = LGBMRegressor(n_estimators=5, verbose=-1).fit(frame, frame["age"])
    problem = Problem.of(model, frame.iloc[7], lt.Empirical(frame), 2.0)
    rows = problem.boxes.encode_rows(frame)
    np.testing.assert_array_equal(problem.predict(rows), model.predict(frame))
