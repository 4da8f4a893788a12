"""How a limit says what it holds."""

from dataclasses import replace

import numpy as np
from fitted_models import MODELS, NU, WORLDS, XI

import limetutor as lt


def test_the_display_of_a_limit():
    limit = lt.limit(MODELS["SVR"][0], XI, WORLDS["empirical"], NU)
    text, page = repr(limit), limit._repr_html_()
    for j, box in enumerate(limit.box_names):
        assert box in text and f"{limit.coef[j]:+.4g}" in text
        assert f"{limit.coef[j]:+.4g}" in page
    assert "&lt;" in page and "exact" in page and "±" not in text + page
    assert [box for box, _ in limit.as_list()] == [limit.box_names[j] for j in limit.order()]
    sizes = [abs(value) for _, value in limit.as_list()]
    assert sizes == sorted(sizes, reverse=True)
    long = lt.limit(lt.Linear(np.arange(1, 13)), np.zeros(12), lt.Gaussian(), 1.0)
    assert "... and 2 more" in repr(long)
    sampled = lt.limit(MODELS["SVR"][0].predict, XI, WORLDS["empirical"], NU, samples=500)
    assert f"± {sampled.stderr[0]:.2g}" in sampled._repr_html_()


def test_the_error_of_the_prediction_is_zero_if_exact_and_infinite_if_squares_overflow():
    f = MODELS["SVR"][0]
    exact, sampled = (lt.limit(g, XI, WORLDS["empirical"], NU, samples=500) for g in (f, f.predict))
    assert exact.local_stderr == 0 < sampled.local_stderr < np.inf
    beyond = sampled.surrogate._replace(
        covariance=np.full_like(sampled.surrogate.covariance, np.inf)
    )
    assert replace(sampled, surrogate=beyond).local_stderr == np.inf
