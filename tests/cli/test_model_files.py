"""Model files that attack: nothing runs, nothing crashes, and each ends in one sentence."""

import contextlib
import importlib
import io as streams
import json
import os
import resource
import time
import types
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cases import cases
from crafted import NONE, SCHEMA, Opened, called, model_of, node, of_every_kind, write
from scipy import sparse
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import (
    BaggingRegressor,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    StackingRegressor,
)
from sklearn.impute import SimpleImputer
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    OneHotEncoder,
    PolynomialFeatures,
    StandardScaler,
)
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeRegressor
from skops import io

from limetutor import cli
from limetutor.cli import archives, fitted_arrays, model_files
from limetutor.cli.model_files import CheckedFile, read_model
from limetutor.cli.model_types import CHECK_ARRAY, ELEMENTARY, FITTING_NAMES, trusted_types
from limetutor.cli.refusals import RefusedError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = X @ [1.0, 2.0, 3.0]
CLASSES = np.digitize(Y, [-2, 2])
LABELS = np.array(list("abcdefg"), object)[np.arange(120) % 7].reshape(60, 2)


@pytest.fixture
def refused(tmp_path, capsys):
    """The sentence of the command for a model file, after which nothing is there that was not before."""
    pd.DataFrame(X, columns=["a", "b", "c"]).to_csv(tmp_path / "data.csv", index=False)

    def call(path, *more):
        before, start = sorted(tmp_path.iterdir()), time.perf_counter()
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        code = cli.main(["explain", str(path), str(tmp_path / "data.csv"), "--row", "0", *more])
        said = capsys.readouterr().err
        assert code == 2 and said.startswith("limetutor: model ") and said.count("\n") == 1, said
        assert said.endswith(".\n") and len(said) < 700
        assert sorted(tmp_path.iterdir()) == before
        assert time.perf_counter() - start < 20
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory < 500_000  # kB
        return said

    return call


# --- code ----------------------------------------------------------------------------------------------


def method_chain(*names):
    """numpy, as a loss function's module has it, and attributes of attributes of it."""
    part = node("FunctionNode", "sklearn._loss.loss.np")
    for name in names:
        part = node("MethodNode", "sklearn._loss.loss.np", content={"obj": part, "func": name})
    return part


def partial_of(function, *arguments):
    args = [NONE | {"content": json.dumps(argument)} for argument in arguments]
    content = {
        "func": function,
        "args": node("TupleNode", "builtins.tuple", content=args),
        "kwds": called(node("TypeNode", "builtins.str"), "text") | {"content": {}},
        "namespace": NONE,
    }
    return node("PartialNode", "sklearn._loss.loss.partial", content=content)


def attribute_getter(name):
    text = NONE | {"content": json.dumps(name)}
    attrs = node("TupleNode", "builtins.tuple", content=[text])
    return node("OperatorFuncNode", "operator.attrgetter", attrs=attrs)


SYSTEM, LINK = (method_chain("f2py", "os", name) for name in ("system", "symlink"))
CALLS = {  # from a command, touch and a name, to a part of a file that runs it
    "a chain of attributes": lambda text: called(SYSTEM, text),
    "a partial function": lambda text: called(partial_of(LINK, "/dev/null"), text.split()[1]),
    "a function": lambda text: called(node("FunctionNode", "os.system"), text),
    "a type": lambda text: called(node("TypeNode", "os.system"), text),
    "a constructor": lambda text: node(
        "ConstructorFromReduceNode",
        "os.system",
        content=node("TupleNode", "builtins.tuple", content=[NONE | {"content": json.dumps(text)}]),
    ),
    "a list": lambda text: node(
        "ListNode", "subprocess.check_output", content=[NONE | {"content": json.dumps(word)} for word in text.split()]
    ),
    "an old function": lambda text: called(
        node("FunctionNode", "numpy.exp", content={"module_path": "os", "function": "system"}), text
    ),
}  # fmt: skip


@pytest.mark.parametrize("how", CALLS)
def test_calls_that_skops_would_make_are_refused_by_name(tmp_path, refused, how):
    """Each of them runs its command where all names of the file are trusted."""
    marker = tmp_path / "marker"
    schema = model_of(CALLS[how](f"touch {marker}"))
    if how == "an old function":
        schema["protocol"] = 0
    path = write(tmp_path / "attack.skops", schema)
    with contextlib.suppress(TypeError):  # what the command returned is no function
        io.load(path, trusted=io.get_untrusted_types(file=path))
    assert marker.exists(), "this attack is none"
    marker.unlink()
    said = refused(path)
    assert "read only if you name them" in said and "pass --trust " in said


def test_more_chains(tmp_path, refused):
    getter = partial_of(attribute_getter("system"), "x")
    check = partial_of(node("FunctionNode", CHECK_ARRAY), "an argument")
    check |= {"__module__": "functools"}  # that of trees with categorical splits has no arguments
    made = partial_of(node("TypeNode", "builtins.map"))
    for part in (getter, attribute_getter("system"), made, check):
        said = refused(write(tmp_path / "attack.skops", model_of(part)))
        assert "read only if you name them" in said


def test_names_that_could_be_pasted_into_a_shell_are_not_printed(tmp_path, refused):
    for name in ("os.x;touch marker", "os.x\x1b[2J", "os.$(touch marker)", "os.x --trust os.y"):
        said = refused(write(tmp_path / "attack.skops", model_of(node("ObjectNode", name))))
        assert "a node without a name" in said


def trusted_names():
    return sorted({name for names in trusted_types().values() for name in names})


def resolved(name):
    module, _, last = name.rpartition(".")
    return getattr(importlib.import_module(module), last)


def test_trusted_names_are_classes_under_their_own_names_or_elementary_functions():
    found = 0
    for name in trusted_names():
        try:
            thing = resolved(name)
        except (AttributeError, ImportError):  # of another version of scikit-learn
            continue
        found += 1
        if name in ELEMENTARY:
            assert isinstance(thing, np.ufunc) and thing.nin == 1
        elif name == CHECK_ARRAY:
            assert isinstance(thing, types.FunctionType)
        else:
            assert isinstance(thing, type) and thing.__name__ in (name.rpartition(".")[2], "bool")
            own = f"{thing.__module__}.{thing.__qualname__}"
            assert own == name or not name.startswith("sklearn"), name
    assert found > 150


def test_whatever_else_the_same_modules_hold_is_refused():
    """Functions, modules and classes of others that a trusted module has imported."""
    modules = {name.rpartition(".")[0] for name in trusted_names()} | {"sklearn._loss._loss", "os"}
    modules = {module for module in modules if module not in ("builtins", "numpy")}
    tried = 0
    for module in sorted(modules):
        for last in dir(importlib.import_module(module)):
            name = f"{module}.{last}"
            for part in of_every_kind(name):
                schema = {SCHEMA: json.dumps(model_of(part)).encode()}
                kind = part["__loader__"]
                if kind == "ObjectNode" and name in trusted_types()[kind]:
                    continue
                if name in trusted_types().get(kind, ()) and kind != "TreeNode":
                    continue
                tried += 1
                try:
                    checked = CheckedFile(schema, [])
                except RefusedError:
                    continue
                assert name in FITTING_NAMES and name not in json.dumps(checked.schema), name
    assert tried > 10_000


def test_a_type_can_be_named_by_a_flag(tmp_path):
    model = make_pipeline(FunctionTransformer(np.clip, kw_args={"a_min": 0, "a_max": 1}), Ridge())
    io.dump(model.fit(X, Y), tmp_path / "clip.skops")
    with pytest.raises(RefusedError, match=r"pass --trust numpy\.clip\.$"):
        read_model(str(tmp_path / "clip.skops"), [])
    read = read_model(str(tmp_path / "clip.skops"), ["numpy.clip"])
    np.testing.assert_array_equal(read.predict(X), model.predict(X))


def test_compiled_models_of_other_packages_need_the_flag(tmp_path, refused):
    xgboost = pytest.importorskip("xgboost")
    io.dump(xgboost.XGBRegressor(n_estimators=2).fit(X, Y), tmp_path / "boosted.skops")
    said = refused(tmp_path / "boosted.skops")
    assert "--trust xgboost.sklearn.XGBRegressor --trust xgboost.core.Booster." in said
    trust = ["xgboost.sklearn.XGBRegressor", "xgboost.core.Booster"]
    assert read_model(str(tmp_path / "boosted.skops"), trust).predict(X).shape == (60,)


# --- models that are read ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "model",
    [
        GridSearchCV(Ridge(), {"alpha": [1, 2]}, scoring="r2", cv=2),
        KNeighborsRegressor(algorithm="ball_tree", metric="manhattan", n_jobs=3),
        KNeighborsRegressor(algorithm="kd_tree", metric="minkowski", p=3),
        KNeighborsRegressor(
            algorithm="brute", metric="seuclidean", metric_params={"V": np.ones(3)}
        ),
        MLPRegressor(hidden_layer_sizes=4, tol=10.0, random_state=np.random.RandomState(0)),
        BaggingRegressor(n_estimators=3, random_state=0),
        make_pipeline(FunctionTransformer(np.arcsinh), KernelRidge(kernel="rbf")),
        make_column_transformer((OneHotEncoder(max_categories=3), [0]), remainder="passthrough"),
        HistGradientBoostingClassifier(max_iter=3, categorical_features=[0], min_samples_leaf=3),
        make_pipeline(SimpleImputer(), LogisticRegression()),
        make_pipeline(StandardScaler(), MLPClassifier(5, tol=10.0)),
        KNeighborsClassifier(),
        CalibratedClassifierCV(LogisticRegression(), cv=2),
    ],
    ids=lambda model: type(model).__name__,
)
def test_what_is_left_out_or_built_anew_changes_no_prediction(tmp_path, model):
    rows = np.column_stack([np.arange(60) % 5, X[:, 1:]])
    classes = hasattr(model, "predict_proba")
    model.fit(rows, CLASSES if classes else Y)
    io.dump(model, tmp_path / "model.skops")
    read = read_model(str(tmp_path / "model.skops"), [])
    call = "predict_proba" if classes else "predict" if hasattr(model, "predict") else "transform"
    first, second = (getattr(one, call)(rows) for one in (model, read))
    first, second = (v.toarray() if sparse.issparse(v) else v for v in (first, second))
    np.testing.assert_array_equal(first, second)
    assert getattr(read, "n_jobs", None) is None


# --- arrays --------------------------------------------------------------------------------------------


def entry(name, where, value):
    """A change of one entry of a field of nodes."""

    def change(nodes):
        nodes = nodes.copy()
        nodes[name][where] = value
        return nodes

    return change


TREE = Opened(DecisionTreeRegressor(max_depth=3, random_state=0).fit(X, Y))
TREE_EDITS = dict(cases(Path(__file__).parent / "support" / "tree_edits.txt", globals()))


@pytest.mark.parametrize("edit", TREE_EDITS)
def test_edited_trees_are_refused(tmp_path, refused, edit):
    opened = TREE.copy()
    opened.edit(*TREE_EDITS[edit])
    assert "a tree" in refused(opened.write(tmp_path / "tree.skops"))


def test_a_tree_is_read_as_it_is_checked(tmp_path, refused):
    """Nodes of other kinds that hold the same parts: skops made something else of them."""
    for key, value in (
        ("__loader__", "DefaultDictNode"), ("__class__", "OrderedDict"), ("key_types", []),
    ):  # fmt: skip
        opened = TREE.copy()
        content = opened.node("tree_")["content"]
        if key == "key_types":
            content[key]["content"] = value
        else:
            content[key] = value
            content["__module__"] = "collections"
        content["content"]["main"] = content["content"]["nodes"]
        refused(opened.write(tmp_path / "tree.skops"))
        del content["content"]["main"]
        assert "a tree" in refused(opened.write(tmp_path / "tree.skops"))


@pytest.mark.parametrize(("position", "value"), [(0, 2), (0, 0), (0, -3), (2, 10**6), (2, 0)])
def test_trees_of_other_sizes_are_refused_before_they_are_made(tmp_path, refused, position, value):
    """10**6 outputs of a tree of one made the constructor read beyond the end of an array."""
    opened = TREE.copy()
    args = opened.node("args")["content"]
    args[position]["content"] = json.dumps(value)
    assert "a tree" in refused(opened.write(tmp_path / "tree.skops"))


def test_infinite_thresholds_are_those_of_scikit_learn(tmp_path):
    """A split of missing values from all others has one."""
    rows = np.where(RNG.random((60, 1)) < 0.5, np.nan, 1.0)
    model = DecisionTreeRegressor().fit(rows, np.isnan(rows[:, 0]))
    assert np.isinf(model.tree_.threshold[0])
    io.dump(model, tmp_path / "tree.skops")
    read = read_model(str(tmp_path / "tree.skops"), [])
    np.testing.assert_array_equal(read.predict(rows), model.predict(rows))


HIST = Opened(
    HistGradientBoostingClassifier(max_iter=2, categorical_features=[0], min_samples_leaf=3).fit(
        np.column_stack([np.arange(60) % 5, X]), np.arange(60) % 5 > 2
    )
)
BOOSTED = Opened(GradientBoostingClassifier(n_estimators=2).fit(X, CLASSES))
FOREST = Opened(RandomForestClassifier(2, random_state=0).fit(X, CLASSES))
VECTORS = Opened(SVC().fit(X, CLASSES))
REGRESSED = Opened(SVR().fit(X, Y))
DUMMY = Opened(DummyClassifier().fit(X, CLASSES))
PARTS = Opened(make_column_transformer((StandardScaler(), [0, 1])).fit(X))
SPARSE = Opened(make_pipeline(OneHotEncoder(), SVC()).fit(LABELS, CLASSES))
NEIGHBOURS = Opened(KNeighborsClassifier(algorithm="brute").fit(X, CLASSES))
ENCODED = Opened(
    make_pipeline(OneHotEncoder(max_categories=3, drop="first"), Ridge()).fit(LABELS, Y)
)
EDITS = cases(Path(__file__).parent / "support" / "edits.txt", globals())


@pytest.mark.parametrize("number", range(len(EDITS)))
def test_arrays_that_do_not_fit_together_are_refused(tmp_path, refused, number):
    opened, key, change = EDITS[number]
    opened = opened.copy()
    if key == "_in_fit":
        opened.add(key, NONE | {"content": "true"})
    elif change is not None:
        opened.edit(key, change)
    else:
        entries = opened.node(key)["content"]
        if key == "_default_to_infrequent_mappings":
            opened.put(entries[0], opened.array(entries[0]) + 10**6)
        else:
            entries[0] = NONE | {"content": str(10**9)}
    said = refused(opened.write(tmp_path / "edited.skops"))
    assert "is damaged or was made to do harm: " in said


@pytest.mark.parametrize("order", [[2.0, 0.0, 1.0], [0.0, 2.0, 2.0], [np.nan, 0.0, 2.0]], ids=str)
def test_numbers_that_a_search_would_find_beyond_the_last_are_refused(tmp_path, refused, order):
    """Found by attack: the column of such a category was not there, and a tree wrote to it."""
    opened = Opened(make_pipeline(OneHotEncoder(), Ridge()).fit([[0.0], [1.0], [2.0]], [0, 1, 2]))
    opened.put(opened.node("categories_")["content"][0], np.array(order))
    said = refused(opened.write(tmp_path / "encoder.skops"))
    assert "OneHotEncoder with categories that do not rise" in said


def test_a_feature_does_not_take_columns_away(tmp_path, refused):
    """Found by attack: of one whose only category is dropped no column was compared."""
    rows = np.column_stack([np.ones(3), [0.0, 1.0, 2.0]])
    opened = Opened(make_pipeline(OneHotEncoder(drop="first"), Ridge()).fit(rows, [0, 1, 2]))
    opened.node("_n_features_outs")["content"][0] = NONE | {"content": "-1"}
    said = refused(opened.write(tmp_path / "encoder.skops"))
    assert "OneHotEncoder with columns without a category" in said


def test_a_flag_is_no_number(tmp_path, refused):
    """Found by attack: compiled code computed with it how much memory there is to write to."""
    steps = OneHotEncoder(), PolynomialFeatures(2, interaction_only=True), Ridge()
    opened = Opened(make_pipeline(*steps).fit(X > 0, Y))
    opened.edit("interaction_only", lambda flag: 3)
    said = refused(opened.write(tmp_path / "polynomial.skops"))
    assert "PolynomialFeatures with a flag that is neither true nor false" in said


def test_a_model_inside_is_checked_before_it_is_called(tmp_path, refused, monkeypatch):
    """Found by attack: the check of boosting called the model it starts from, which wrote out of bounds."""
    first = make_pipeline(OneHotEncoder(), DummyClassifier())
    opened = Opened(GradientBoostingClassifier(n_estimators=1, init=first).fit(X > 0, CLASSES))
    opened.node("_n_features_outs")["content"][0] = NONE | {"content": "1"}
    monkeypatch.setattr(OneHotEncoder, "transform", lambda *given: pytest.fail("it was called"))
    said = refused(opened.write(tmp_path / "inside.skops"))
    assert "OneHotEncoder with a category without a column" in said


@pytest.mark.parametrize(
    ("rows", "order"),
    [
        (np.array([["b"], ["c"], ["a"]]), ["c", "a", "b"]),
        (np.array([["b"], [None], ["a"]], object), ["b", "a", None]),
        (np.array([[1.0], [np.nan], [-2.0]]), [-2.0, 1.0, np.nan]),
        (np.array([[3], [1], [2]]), [1, 2, 3]),
        (np.array([[True], [False]]), "auto"),
    ],
    ids=["texts", "objects", "missing", "numbers", "truth"],
)
def test_categories_that_scikit_learn_takes_are_read(tmp_path, rows, order):
    model = OneHotEncoder(categories=order if order == "auto" else [order]).fit(rows)
    io.dump(model, tmp_path / "encoder.skops")
    read = read_model(str(tmp_path / "encoder.skops"), [])
    np.testing.assert_array_equal(read.transform(rows).toarray(), model.transform(rows).toarray())


def test_what_stands_in_the_way_of_a_check_is_refused(tmp_path, refused):
    """Found by attack: each of these ran code, wrote a file or crashed."""
    broken = HIST.copy()
    broken.edit("nodes", entry("left", 0, 10**6))
    for name, content in (("tocsr", "1"), ("format", '"csr"')):
        broken.add(name, NONE | {"content": content})
    broken.add("check_format", node("TypeNode", "collections.OrderedDict"))
    masked, one_class = NEIGHBOURS.copy(), REGRESSED.copy()
    labels = dict(masked.node("_y"))
    masked.add(
        "_y",
        node("MaskedArrayNode", "numpy.ma.MaskedArray", content={"data": labels, "mask": labels}),
    )
    one_class.add("classes_", one_class.node("support_"))
    called = Opened(make_pipeline(FunctionTransformer(np.exp), Ridge()).fit(X, Y))
    called.node("func").update(node("TypeNode", "numpy.uint8"))
    parts = Opened(make_pipeline(FunctionTransformer(np.exp), Ridge()).fit(X, Y))
    parts.node("kw_args").update(
        Opened(FunctionTransformer(np.exp, kw_args={"where": False})).node("kw_args")
    )
    chooser = PARTS.copy()
    selector = Opened(make_column_selector("(a+)+$")).schema
    chooser.node("transformers_")["content"][0]["content"][2] = selector
    attacks = {"a tree": broken, "KNeighbors": masked, "classes of a regressor": one_class,
               "a class in place": called, "arguments for parts": parts, "still to choose": chooser}  # fmt: skip
    for words, opened in attacks.items():
        assert words in refused(opened.write(tmp_path / "attack.skops"))


def test_bounds_of_classes_and_of_sparse_matrices():
    for number, allowed in ((10_000, True), (10_001, False)):
        model = DummyClassifier()
        model.classes_, model.n_classes_ = np.arange(number), number
        with contextlib.nullcontext() if allowed else pytest.raises(RefusedError, match="10,000"):
            fitted_arrays._check_classes(model)
    for side, allowed in ((2**20, True), (2**20 + 1, False)):
        with (
            contextlib.nullcontext() if allowed else pytest.raises(RefusedError, match="1,048,576")
        ):
            fitted_arrays._check_sparse(sparse.csr_matrix((1, side)))


def test_a_function_has_one_name(tmp_path):
    """Of a name in an old place and another in the new one, skops took the second."""
    opened = Opened(make_pipeline(FunctionTransformer(np.exp), Ridge()).fit(X, Y))
    old = {"module_path": "numpy", "function": "absolute"}
    opened.node("func").update(node("FunctionNode", "builtins.bytes", content=old))
    model = read_model(str(opened.write(tmp_path / "model.skops")), [])
    assert model[0].func is np.absolute


def test_support_vectors_are_stored_by_rows(tmp_path, refused):
    opened = SPARSE.copy()
    for key in ("support_vectors_", "_dual_coef_"):
        matrix, stream = opened.node(key), streams.BytesIO()
        sparse.save_npz(
            stream,
            sparse.csc_matrix(sparse.load_npz(streams.BytesIO(opened.members[matrix["file"]]))),
        )
        matrix["file"], opened.members["by columns.npz"] = "by columns.npz", stream.getvalue()
        assert "of another kind" in refused(opened.write(tmp_path / "svc.skops"))


@pytest.mark.parametrize(
    ("field", "value"), [("indices", 10**6), ("indptr", 10**6), ("indices", -1)]
)
def test_sparse_matrices_that_point_outside_are_refused(tmp_path, refused, field, value):
    opened = Opened(LogisticRegression().fit(X, CLASSES).sparsify())
    matrix = opened.node("coef_")
    parts = dict(np.load(streams.BytesIO(opened.members[matrix["file"]])))
    parts[field] = parts[field].copy()
    parts[field][1] = value
    stream = streams.BytesIO()
    np.savez(stream, **parts)
    opened.members[matrix["file"]] = stream.getvalue()
    refused(opened.write(tmp_path / "sparse.skops"))


def test_other_formats_of_sparse_matrices_are_refused(tmp_path, refused):
    opened = Opened(LogisticRegression().fit(X, CLASSES).sparsify())
    for matrix, words in (
        (sparse.dia_matrix(np.eye(3)), "the format dia"), (sparse.csc_matrix((2**21, 3)), "1,048,576 rows")
    ):  # fmt: skip
        stream = streams.BytesIO()
        sparse.save_npz(stream, matrix)
        opened.members[opened.node("coef_")["file"]] = stream.getvalue()
        assert words in refused(opened.write(tmp_path / "sparse.skops"))


@pytest.mark.parametrize(
    ("opened", "name", "part"),
    [
        (TREE, "_validate_X_predict", node("FunctionNode", "numpy.absolute")),
        (TREE, "predict", node("TypeNode", "builtins.str")),
        (VECTORS, "_impl", NONE | {"content": '"one_class"'}),
        (VECTORS, "_sparse_kernels", NONE | {"content": '["rbf"]'}),
    ],
)
def test_an_attribute_in_place_of_one_of_the_class_is_refused(
    tmp_path, refused, opened, name, part
):
    opened = opened.copy()
    opened.add(name, part)
    assert "an attribute in place of " in refused(opened.write(tmp_path / "method.skops"))


def test_models_in_arrays_of_models_are_checked_too(tmp_path, refused):
    opened = BOOSTED.copy()
    tree = opened.node("estimators_")["content"][0]["content"][0]
    opened.add("predict", node("TypeNode", "builtins.str"), tree)
    assert "an attribute in place of predict" in refused(opened.write(tmp_path / "inner.skops"))


def test_the_methods_that_a_stack_calls_are_not_for_the_file_to_choose(
    tmp_path, refused, monkeypatch
):
    """An array in the place of a model, and "tofile" for a method, wrote a file: found by attack."""
    monkeypatch.chdir(tmp_path)
    stack = StackingRegressor([("a", Ridge())], cv=2)
    opened = Opened(make_pipeline(FunctionTransformer(), stack).fit(X, Y))
    array = dict(opened.node("coef_"))
    opened.put(array, np.array([b"any content"]))
    opened.node("estimators_")["content"] = [array]
    opened.node("stack_method_")["content"] = [NONE | {"content": '"tofile"'}]
    assert "a method that predicts nothing" in refused(opened.write(tmp_path / "stack.skops"))
    opened.node("stack_method_")["content"] = [NONE | {"content": '"predict"'}]
    assert "models that are none" in refused(opened.write(tmp_path / "stack.skops"))
    opened.node("func").update(node("TypeNode", "builtins.str"))
    assert "a class in place of a func" in refused(opened.write(tmp_path / "stack.skops"))


METRICS = [
    ("mahalanobis", "VI", np.eye(1)),
    ("seuclidean", "V", np.ones(2)),
    ("pyfunc", "func", None),
]


@pytest.mark.parametrize(("metric", "name", "value"), METRICS)
@pytest.mark.parametrize("search", ["brute", "ball_tree"])
def test_metrics_of_other_features_are_refused(tmp_path, refused, search, metric, name, value):
    opened = Opened(KNeighborsRegressor(algorithm=search).fit(X, Y))
    opened.edit("effective_metric_", lambda _: metric)
    opened.edit("metric", lambda _: metric)
    part = dict(opened.node("_fit_X"))
    if value is None:
        part = node("FunctionNode", "numpy.absolute")
    else:
        opened.put(part, value)
    keys = node("ListNode", "builtins.list", content=[node("TypeNode", "builtins.str")])
    opened.add(
        "metric_params", node("DictNode", "builtins.dict", content={name: part}, key_types=keys)
    )
    assert "a metric of other features" in refused(opened.write(tmp_path / "metric.skops"))


# --- archives ------------------------------------------------------------------------------------------


def linear():
    return Opened(LinearRegression().fit(X, Y))


def test_a_large_archive_is_refused_before_it_is_unpacked(tmp_path, refused, monkeypatch):
    """4 GiB of zeros in 4 MB, made by telling so in the directory of the archive."""
    opened = linear()
    opened.members["zeros"] = bytes(1000)
    path = opened.write(tmp_path / "bomb.skops")
    content = path.read_bytes()
    place = content.rindex(b"PK\x01\x02", 0, content.rindex(b"zeros"))
    path.write_bytes(
        content[: place + 24] + (2**32 - 2).to_bytes(4, "little") + content[place + 28 :]
    )
    assert "at most 0.125 GiB, uncompressed, got 4" in refused(path)
    monkeypatch.setattr(archives, "MAX_BYTES", 10**6)
    bomb = write(tmp_path / "bomb.skops", "[" + " " * 10**7 + "]", compression=zipfile.ZIP_DEFLATED)
    assert bomb.stat().st_size < 20_000
    assert "uncompressed" in refused(bomb)


def test_one_array_in_a_thousand_places_is_refused(tmp_path, refused, monkeypatch):
    opened = linear()
    monkeypatch.setattr(archives, "MAX_BYTES", 10**6)
    array = opened.node("coef_")
    opened.put(array, np.zeros(10**4))
    for i in range(100):
        opened.add(f"a{i}", array)
    assert "must need at most" in refused(opened.write(tmp_path / "many.skops"))


def test_archives_in_archives_count_too(tmp_path, refused, monkeypatch):
    opened = Opened(LogisticRegression().fit(X, CLASSES).sparsify())
    stream = streams.BytesIO()
    np.savez_compressed(stream, data=np.zeros(10**5))
    matrix = opened.node("coef_")
    opened.members[matrix["file"]] = stream.getvalue()
    opened.add("again", matrix)
    for module in (archives, model_files):
        monkeypatch.setattr(module, "MAX_BYTES", 10**6)
    path = opened.write(tmp_path / "nested.skops")
    assert path.stat().st_size < 100_000 and "must need at most" in refused(path)
    with path.open("ab") as file:
        file.truncate(10**6 + 1)
    assert "a file of at most" in refused(path)


def test_many_small_parts_are_refused(tmp_path, refused, monkeypatch):
    opened = linear()
    monkeypatch.setattr(archives, "MAX_MEMBERS", len(opened.members) + 1)
    assert read_model(str(opened.write(tmp_path / "m.skops")), []).coef_.shape == (3,)
    opened.members["more"] = b""
    assert "at most" in refused(opened.write(tmp_path / "m.skops"))
    few = write(tmp_path / "m.skops", model_of(NONE | {"content": json.dumps([0] * 1000)}))
    monkeypatch.setattr(model_files, "MAX_ENTRIES", 1000)
    assert "at most 1,000 entries" in refused(few)


def test_small_files_that_would_take_long_or_much_memory_are_refused(
    tmp_path, refused, monkeypatch
):
    path, opened = tmp_path / "small.skops", linear()
    deflated = {"compression": zipfile.ZIP_DEFLATED}
    assert archives.most_bytes(streams.BytesIO(bytes(2**25))) == 10 * 2**25
    monkeypatch.setattr(archives, "SMALL", 10**6)
    zeros = {"zeros": bytes(10**6)}
    assert "uncompressed" in refused(write(path, opened.schema, opened.members | zeros, **deflated))
    text = node("BytearrayNode", "builtins.bytearray", file="zeros")  # of which skops makes a list
    zeros = {"zeros": bytes(200_000)}
    assert "must need at most" in refused(write(path, model_of(text), zeros, **deflated))
    monkeypatch.setattr(model_files, "MAX_LETTERS", 20_000)
    blanks = json.dumps(opened.schema) + " " * 20_000
    assert "at most 20,000 bytes" in refused(write(path, blanks))
    monkeypatch.setattr(model_files, "MAX_SPARSE", 2)
    opened = Opened(LogisticRegression().fit(X, CLASSES).sparsify())
    for i in range(2):
        opened.add(f"a{i}", opened.node("coef_"))
    assert "at most 2 sparse matrices" in refused(opened.write(path))


@pytest.mark.parametrize("names", [["a", "a", "b"], ["a", "b", 3], None, [["a", "b", "c"]]])
def test_names_of_features_are_different_texts(tmp_path, refused, names):
    opened = Opened(LinearRegression().fit(pd.DataFrame(X, columns=["a", "b", "c"]), Y))
    opened.add("feature_names_in_", NONE | {"content": json.dumps(names)})
    assert "features of the same name" in refused(opened.write(tmp_path / "m.skops"))


def test_a_file_does_not_choose_what_a_sentence_looks_like(tmp_path, refused, capsys):
    path, opened = tmp_path / "m.skops", linear()
    refused(write(path, model_of(node("TypeNode", "a." + "x" * 10**5))))
    opened.edit("_sklearn_version", lambda version: "0.1\nlimetutor: all is well" + "!" * 10**5)
    data = str(tmp_path / "data.csv")
    assert cli.main(["explain", str(opened.write(path)), data, "--row", "0"]) == 0
    (said,) = capsys.readouterr().err.splitlines()
    assert said.startswith("note: model was saved by") and len(said) < 200
    opened = Opened(make_pipeline(LinearRegression()).fit(X, Y))
    opened.add("steps", node("TypeNode", "builtins.str"))
    assert cli.main(["explain", str(opened.write(path)), data, "--row", "0"]) == 2
    assert "the model or the table failed with TypeError" in capsys.readouterr().err


def test_archives_that_are_odd_are_refused(tmp_path, refused):
    path, opened = tmp_path / "odd.skops", linear()
    assert "another method" in refused(write(path, opened.schema, compression=zipfile.ZIP_BZIP2))
    opened.write(path)
    with pytest.warns(UserWarning, match="Duplicate"), zipfile.ZipFile(path, "a") as file:
        file.writestr(SCHEMA, json.dumps(model_of(node("FunctionNode", "os.system"))))
    assert "two of the same" in refused(path)
    content = bytearray(opened.write(path).read_bytes())
    content[content.rindex(b"PK\x01\x02") + 8] |= 1  # encrypted, says the directory
    path.write_bytes(content)
    assert "is damaged" in refused(path)
    path.write_bytes(bytes(opened.write(path).read_bytes()[:-30]))
    refused(path)
    assert f"has no {SCHEMA}" in refused(write(path, "[]"))
    zipfile.ZipFile(path, "w").close()
    assert f"has no {SCHEMA}" in refused(path)
    for schema in ('{"__loader__": 3}', "{", "\ud800".encode("utf-8", "surrogatepass"), "1" * 9999):
        path.unlink()
        with zipfile.ZipFile(path, "w") as file:
            file.writestr(SCHEMA, schema)
        refused(path)


def test_names_of_members_are_only_names(tmp_path):
    outside = tmp_path / "outside.npy"
    opened = linear()
    for name in (f"../{outside.name}", str(outside), "/etc/passwd", "a" * 5000):
        array = opened.node("coef_")
        opened.members[name] = opened.members.pop(array["file"])
        array["file"] = name
        read = read_model(str(opened.write(tmp_path / "model.skops")), [])
        np.testing.assert_allclose(read.predict(X), Y)
    assert not outside.exists()


def headed(header):
    """An array in numpy's format that declares something else than it holds."""
    text = header.encode().ljust(118 - 10 + 10)
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text


@pytest.mark.parametrize(
    "header",
    [
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (10**12,), }",
        "{'descr': '|V0', 'fortran_order': False, 'shape': (1000000000000,), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (-1,), }",
        "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }",
        "__import__('os').system('touch marker')",
        "(" * 90,
    ],
)
def test_arrays_that_declare_what_they_do_not_hold_are_refused(tmp_path, refused, header):
    opened = linear()
    opened.members[opened.node("coef_")["file"]] = headed(header)
    assert "an array that is damaged" in refused(opened.write(tmp_path / "array.skops"))


def test_pickled_objects_in_an_array_are_not_opened(tmp_path, refused):
    stream, opened = streams.BytesIO(), linear()
    np.save(stream, np.array([Marker(tmp_path / "marker")], dtype=object), allow_pickle=True)
    opened.members[opened.node("coef_")["file"]] = stream.getvalue()
    assert "an array that is damaged" in refused(opened.write(tmp_path / "array.skops"))
    header = b"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }".ljust(118)
    opened.members[opened.node("coef_")["file"]] = headed(header.decode()) + bytes(8)
    assert "an array that is damaged" in refused(opened.write(tmp_path / "array.skops"))


class Marker:
    """What a pickle can do to whoever opens it."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


def test_deep_and_circular_files_are_refused(tmp_path, refused):
    path, deep = tmp_path / "deep.skops", NONE
    refused(write(path, "[" * 100_000))
    refused(write(path, '{"__loader__": ' * 100_000))
    assert "RecursionError" in refused(write(path, model_of(NONE | {"content": "[" * 100_000})))
    for _ in range(200):
        deep = node("ListNode", "builtins.list", content=[deep])
    assert "nested at most" in refused(write(path, model_of(deep)))
    again = node("CachedNode", "builtins.list", __id__=7)
    circle = node("ListNode", "builtins.list", content=[again], __id__=7)
    assert "--trust builtins.list" in refused(write(path, model_of(circle)))
    inner = node("ListNode", "builtins.list", content=[], __id__=7)
    circle = node("ListNode", "builtins.list", content=[inner], __id__=7)
    assert read_model(str(write(path, model_of(circle))), []).coef_ == [[]]


def test_a_node_that_stands_for_another_is_read_as_what_it_says(tmp_path):
    """Nodes of one number are one node for skops: the first was checked, and another one used."""
    opened = TREE.copy()
    nodes = opened.node("nodes")
    edited = {**nodes, "__id__": 99}
    opened.put(edited, entry("left_child", 0, 10**6)(opened.array(nodes)))
    nodes["__id__"] = 99
    state = opened.schema["content"]
    state["content"] = {"first": edited, **state["content"]}
    state["key_types"]["content"].append(node("TypeNode", "builtins.str"))
    read = read_model(str(opened.write(tmp_path / "twice.skops")), [])
    assert read.tree_.children_left[0] == 1 and read.first["left_child"][0] == 10**6
    fitted_arrays.check(read)
