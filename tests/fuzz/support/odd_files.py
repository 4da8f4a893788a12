"""Files for the command: tables as many programs write them, and model files that something was done to.

A table is written in odd ways, and the command must explain the row that was meant: f(xi) is a sum known
beforehand, the coefficients are those of the table that was never written. A model file is edited, byte by
byte or part by part, and must be refused, or predict what its numbers say, looked up by hand.
"""

import csv
import io
import json
from contextlib import contextmanager, redirect_stderr
from functools import cache

import crafted
import fuzz
import numpy as np
import pandas as pd
from fuzz import Case, RefusedError, damaged, kind
from sklearn.compose import make_column_transformer
from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeRegressor
from skops import io as skops

import limetutor as lt
from limetutor import cli

RNG = np.random.default_rng(2)
NUMBERS = pd.DataFrame(RNG.normal(size=(40, 3)).round(6), columns=["a", "b", "c d"])
TOWNS = ["Rome", "NA", "None", "Zürich", "10115", " Oslo", 'the "old" one', "x,y"]
TEXTS = NUMBERS[["a", "b"]].assign(town=TOWNS * 5)
SLOPES, FILL = {"a": 2.0, "b": -3.0, "c d": 0.5}, 40.0


def at(row):
    """f of a row: what its cells add up to."""
    effects = [
        TOWNS.index(v) if c == "town" else SLOPES[c] * (FILL if v != v else v) for c, v in row.items()
    ]  # fmt: skip
    return float(sum(effects))


@contextmanager
def with_models():
    """A folder with the models that tables are written for."""
    y, fill = NUMBERS.apply(at, axis=1), SimpleImputer(strategy="constant", fill_value=FILL)
    encoded = make_column_transformer((OneHotEncoder(), ["town"]), remainder="passthrough")
    models = {
        "named": LinearRegression().fit(NUMBERS, y),
        "plain": LinearRegression().fit(NUMBERS.to_numpy(), y),
        "gaps": make_pipeline(fill, LinearRegression()).fit(NUMBERS, y),
        "texts": make_pipeline(encoded, LinearRegression()).fit(TEXTS, TEXTS.apply(at, axis=1)),
    }
    with fuzz.in_folder() as folder:
        for name, model in models.items():
            skops.dump(model, folder / f"{name}.skops")
        NUMBERS.to_csv(folder / "numbers.csv", index=False)
        yield


def run(model, data, *options):
    """What `limetutor explain` writes as JSON; a refusal that is one sentence is raised."""
    said, out, names = io.StringIO(), fuzz.FOLDER[0] / "out.json", (fuzz.FOLDER[0] / model, fuzz.FOLDER[0] / data)  # fmt: skip
    with redirect_stderr(said):
        code = cli.main(
            ["explain", *map(str, names), *options, "--samples", "60", "--json", str(out)]
        )
    text = said.getvalue()
    if code == 2:
        assert text.startswith("limetutor: ") and text.count("\n") == 1 and len(text) < 600, text
        assert text.endswith((".\n", ")\n")) and "Traceback" not in text, text
        raise RefusedError(text)
    assert code == 0, text
    return json.loads(out.read_text())


FORMS = [repr, repr, repr, "{:.17g}".format, "{:+}".format, " {} ".format, "{:e}".format]
ODD_FORMS = [lambda v: repr(v).replace(".", ","), "${}".format, "{}%".format, "'{}".format, "{}f".format, lambda v: f"{v * 1000:,.3f}"]  # fmt: skip
SPOILT = [None] * 16 + ["twice", "ragged", "short", "comma", "comment", "blank", "case", "header", "bytes", "bytes"]  # fmt: skip
ENCODINGS = ["utf-8"] * 9 + ["utf-8-sig"] * 3 + ["latin-1", "utf-16"]


def spoil(chance, lines, how):
    """Do to a table what people and programs do."""
    if how == "twice":
        lines[:] = [[*r, r[-1]] for r in lines]
    elif how in ("ragged", "short"):
        line = chance.choice(lines)
        line[:] = [*line, "7"] if how == "ragged" else line[:-1]
    elif how == "comma":
        lines[1:] = [[*r, ""] for r in lines[1:]]
    elif how in ("comment", "blank"):
        lines.insert(
            0 if how == "comment" else chance.randrange(len(lines)), ["# R"] * (how == "comment")
        )
    elif how == "case":
        lines[0] = [chance.choice([h.upper(), f" {h}", f"{h} "]) for h in lines[0]]
    elif how == "header":
        del lines[0]


@kind("tables", 40, 1500, around=with_models)
def odd_table(chance, index):
    """A table in an odd file, and the prediction and the coefficients of the row that was meant."""
    name, spoilt = chance.choice(["named", "plain", "gaps", "texts"]), chance.choice(SPOILT)
    frame = (TEXTS if name == "texts" else NUMBERS).sample(
        chance.randint(12, 40), random_state=index
    )
    frame, options = frame.reset_index(drop=True), []
    row = chance.randrange(len(frame))
    if name == "gaps":
        frame = frame.where(np.random.default_rng(index).random(frame.shape) > 0.15)
    odd = chance.random() < 0.1
    form, word = chance.choice(ODD_FORMS if odd else FORMS), chance.choice(["", "NA", "nan", "null", "None"])  # fmt: skip
    if name == "gaps" and chance.random() < 0.2:
        word, options = "?", ["--missing", "?"]
    lines = [list(frame)] + [
        [v if isinstance(v, str) else word if v != v else form(v) for v in r] for r in frame.to_numpy(object)
    ]  # fmt: skip
    if extra := chance.choice([None, None, None, "id", "y"]):
        lines = [[*r, str(k) if k else extra] for k, r in enumerate(lines)]
        options += ["--drop", extra] if name == "plain" or chance.random() < 0.5 else []
    order = list(range(len(lines[0])))
    if name != "plain":
        chance.shuffle(order)
    lines = [[r[k] for k in order] for r in lines]
    if names := chance.choice([None] * 6 + ["R", "pandas"]):
        lines = [[f"r{len(lines) - k}" if k else "", *r] for k, r in enumerate(lines)]
        lines[0] = lines[0][names == "R" :]
    spoil(chance, lines, spoilt)
    separator, encoding = chance.choice([","] * 12 + [";", "\t"]), chance.choice(ENCODINGS)
    text, end = io.StringIO(), chance.choice(["\n", "\n", "\r\n", "\r"])
    quoting = chance.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
    csv.writer(text, delimiter=separator, quoting=quoting, lineterminator=end).writerows(lines)
    content = text.getvalue().encode(encoding)
    content = damaged(chance, content)[1] if spoilt == "bytes" else content
    fine = not odd and spoilt is None and separator == "," and encoding.startswith("utf-8")

    def call():
        (fuzz.FOLDER[0] / "data.csv").write_bytes(content)
        return run(f"{name}.skops", "data.csv", "--row", str(row), *options)

    def wrong(found, notes):
        if spoilt == "bytes":  # which may have made other numbers
            return None if np.all(np.isfinite(found["coef"])) else f"coef is {found['coef']}"
        f = lambda x: pd.DataFrame(x, columns=list(frame)).apply(at, axis=1).to_numpy(float)  # noqa: E731
        world = lt.Empirical(frame, categorical=["town"] if name == "texts" else ())
        nu = 0.75 * np.sqrt(frame.shape[1])
        truth = lt.explain(f, frame.iloc[row], world, nu, 60, 0, "mismatch", ridge=1.0)
        columns = truth.names if name == "plain" else found["names"]
        by_name = dict(zip(columns, found["coef"], strict=True))
        near = np.isclose(found["prediction"], at(frame.iloc[row])) and np.allclose(
            [by_name[c] for c in truth.names], truth.coef, rtol=1e-6, atol=1e-9
        )
        return None if near else f"{found['prediction']}, {by_name}, not {truth}"

    words = f"{name}, row {row}, {options}, {names}, {spoilt}, {content[:300]!r}"
    return Case(words, call, wrong, may_refuse=not fine)


@cache
def opened(name):
    """A fitted model, its file taken apart, and the file."""
    model = {
        "linear": LinearRegression(),
        "tree": DecisionTreeRegressor(max_depth=3, random_state=0),
        "forest": RandomForestRegressor(3, max_depth=3, random_state=0),
        "boosting": GradientBoostingRegressor(n_estimators=3, random_state=0),
        "scaled": make_pipeline(StandardScaler(), LinearRegression()),
    }[name].fit(NUMBERS.to_numpy(), NUMBERS.apply(at, axis=1))
    return model, crafted.Opened(model), skops.dumps(model)


def by_hand(name, parts, x):
    """What the numbers in a file predict for a row."""
    if name == "linear":
        coef, start = (
            parts.array(parts.node(key)).astype(float) for key in ("coef_", "intercept_")
        )
        return float(np.ravel(coef) @ x + np.ravel(start)[0])
    nodes, values, k = parts.array(parts.node("nodes")), parts.array(parts.node("values")), 0
    while nodes["left_child"][k] != -1:
        low = np.float32(x[nodes["feature"][k]]).astype(float) <= nodes["threshold"][k]
        k = nodes["left_child"][k] if low else nodes["right_child"][k]
    return float(np.ravel(values[k])[0])


def edited(chance, array):
    """An array with another value, shape or type."""
    changed = array.copy() if array.dtype.names else array.astype(float)
    field = changed[chance.choice(array.dtype.names)] if array.dtype.names else changed
    odd = [0, -7.5, 1e12, 1e300, np.nan, np.inf] if field.dtype.kind == "f" else [0, 1, 2, 99]
    field.flat[chance.randrange(array.size)] = chance.choice(odd)
    turned = [array.ravel()[:-1], array[..., None], array.ravel()[:0]]
    turned.append(array.astype(array.dtype.newbyteorder()))
    others = [] if array.dtype.names else [array.astype(t) for t in (str, "f4", "i8")]
    return chance.choice([changed, changed, changed, *turned, *others])


def leaves(part):
    """The places of a schema that hold a text, a number or nothing."""
    for key, entry in part.items() if isinstance(part, dict) else enumerate(part):
        if isinstance(entry, dict | list):
            yield from leaves(entry)
        else:
            yield part, key


JUNK = [None, 0, -1, 10**400, "", "x", [], {}, "null", "[" * 5000, "builtins.eval", "os", "system", True, 1.5, "1e999"]  # fmt: skip
DANGEROUS = ["os.mkdir", "builtins.exec", "subprocess.Popen", "pickle.loads", "numpy.load", "operator.methodcaller"]  # fmt: skip


@kind("model files", 40, 1500, around=with_models)
def odd_model(chance, index):
    """A model file that was edited, and what its numbers predict by hand, or what it predicted before."""
    how = chance.choice(
        ["bytes", "bytes", "member", "array", "array", "array", "leaf", "leaf", "node"]
    )
    families = ["linear", "tree", "forest", "boosting", "scaled"]
    name = chance.choice(families[: 2 if how in ("array", "leaf") else 5])
    model, parts, content = opened(name)
    parts, row, path = parts.copy(), chance.randrange(len(NUMBERS)), fuzz.FOLDER[0] / "odd.skops"

    def call():
        if how == "bytes":
            path.write_bytes(damaged(chance, content)[1])
        elif how == "node":
            node = chance.choice(list(crafted.of_every_kind(chance.choice(DANGEROUS))))
            crafted.write(path, crafted.model_of(node))
        else:
            if how == "member":
                one, other = chance.choices(sorted(parts.members), k=2)
                lost = parts.members.pop(one)
                parts.members |= chance.choice([{}, {other: lost}, {one: lost[:-1]}, {one: b""}])
            elif how == "array":
                node = parts.node(chance.choice({"linear": ["coef_", "intercept_"], "tree": ["nodes", "values"]}[name]))  # fmt: skip
                parts.put(node, edited(chance, parts.array(node)))
            else:
                part, key = chance.choice(list(leaves(parts.schema)))
                part[key] = chance.choice(JUNK)
            parts.write(path)
        return run("odd.skops", "numbers.csv", "--row", str(row))

    def wrong(found, notes):
        x = NUMBERS.iloc[row].to_numpy()
        truth = by_hand(name, parts, x) if how == "array" else model.predict([x])[0]
        near = np.isclose(found["prediction"], truth, rtol=1e-6, atol=1e-9)
        return None if near and how != "node" else f"f(xi) is {found['prediction']}, not {truth}"

    return Case(f"{name}, {how}, row {row}", call, wrong)
