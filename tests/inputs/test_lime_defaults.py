"""Defaults of `lime`: those of the package that is installed."""

import inspect

import numpy as np
from lime.lime_base import LimeBase
from lime.lime_tabular import LimeTabularExplainer
from lime.lime_text import LimeTextExplainer

from limetutor.inputs import lime_defaults as defaults


def test_defaults_are_those_of_lime():
    for explainer in (LimeTabularExplainer, LimeTextExplainer):
        parameters = inspect.signature(explainer.explain_instance).parameters
        assert parameters["num_samples"].default == defaults.NUM_SAMPLES
    explainer = LimeTabularExplainer(np.eye(7), mode="regression")
    width = explainer.base.kernel_fn.keywords["kernel_width"]
    assert width == defaults.KERNEL_WIDTH_FACTOR * np.sqrt(7)
    source = inspect.getsource(LimeBase)
    assert f"if num_features <= {defaults.FORWARD_SELECTION_MAX}:" in source
    assert f"Ridge(alpha={defaults.RIDGE:g}," in source
