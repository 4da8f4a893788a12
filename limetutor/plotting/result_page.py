"""What results show of themselves: pages that stand alone, and tables in notebooks.

Words are for readers who have never seen the book; its symbols come on request. Chapter: trust.
"""

import warnings
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

import numpy as np

from ..inputs import arguments as arg
from . import page

MAX_DRAWN = 20  # bars of the picture on a page
MAX_FRAME_ROWS = 30  # of a table on a page
MAX_NOTEBOOK_ROWS = 10  # of a table in a notebook
MAX_LISTED = 20  # coefficients of one instance in a notebook
MIN_SCORE = 0.2  # the R² below which a summary names no effect
MISSED = "what the explanation misses"
HOW_TO_READ = (
    "An effect is the average prediction of made-up rows like this one for which the condition "
    "holds, less the average of those for which it does not. It compares; it does not say that "
    "changing the feature would cause the change."
)


def to_html(result: Any, path: Any, title: Any, notes: Iterable[str], **options: Any) -> str | None:
    """The page of a result, as text or into a file; options ``top`` and ``symbols`` where it has them."""
    title = arg.text("title", title, result.page_title)
    if options:
        options["top"] = arg.whole("top", options["top"], 1)
        options["symbols"] = arg.truth("symbols", options["symbols"])
    blocks = [*result.blocks(**options), *page.notes(notes)]
    return page.written(page.page(title, *blocks, lead=result.summary()), path)


# --- results about one instance


def summary(result: Any) -> str:
    """One sentence: the prediction, and the largest effect or why that says little."""
    start = f"The model predicts {page.number(result.prediction)}"
    order = result.order()
    if not len(order) or result.coef[order[0]] == 0:
        return f"{start}, and no feature moves that."
    j, score = int(order[0]), getattr(result, "score", 1.0)
    if score < MIN_SCORE or abs(result.local_prediction - result.prediction) > abs(result.coef[j]):
        share = f", and explains {score:.0%} of what varies nearby" if score < MIN_SCORE else ""
        sums = f"{start}; the explanation adds up to {page.number(result.local_prediction)} there{share}"
        return f"{sums}: its effects say little about this prediction."
    verb = "higher" if result.coef[j] > 0 else "lower"
    return (
        f"{start}; the largest effect is that of “{result.box_names[j]}”, with which predictions "
        f"nearby are {page.number(abs(result.coef[j]), 3)} {verb} than without."
    )


def blocks(result: Any, top: int, symbols: bool, picture: bool) -> list[page.Markup]:
    """The parts of a page: numbers, a picture, the effects one by one, how to read them."""
    facts = [(f.symbols if symbols else f.words, f.value) for f in result.facts()]
    parts, names, bounds = [page.facts(facts)], result.box_names, result.bounds()
    order = result.order()[:top]
    if picture and page.can_draw() and len(order):
        largest = [f"{names[j]} {page.number(result.coef[j], 3)}" for j in result.order()[:6]]
        alt = f"Bars for the effects with their 95% intervals, the largest on top: {'; '.join(largest)}."
        parts.append(page.picture(result.plot(top=min(top, MAX_DRAWN)), alt))
    rows = []
    for j in order:
        effect = (float(result.coef[j]), *map(float, bounds[j]))
        rows.append((names[j], *effect, in_words(*effect)))
    more = len(result.order()) - len(order)
    caption = "Effects, the largest first" + (f"; {more} more are not listed" if more else "")
    columns = ["what is true of this row", "effect", "at least", "at most", "in words"]
    if symbols:
        columns = ["box of ξ", "β", "lower", "upper", "in words"]
    numbers = result.world.regression
    how_to_read = HOW_TO_READ if numbers is None else numbers.how_to_read
    return [*parts, page.table(caption, columns, rows), page.paragraph(how_to_read)]


def in_words(coef: float, lower: float, upper: float) -> str:
    """An effect in words."""
    if coef == 0 and lower == upper:
        return "no effect"
    if lower < 0 < upper:
        return "not distinguishable from no effect"
    return "raises the prediction" if coef > 0 else "lowers the prediction"


def in_notebook(result: Any) -> str:
    """The coefficients as a table, for the output of a cell."""
    noisy = result._is_noisy
    rows = [
        [result.box_names[j], f"{result.coef[j]:+.4g}", f"± {result.stderr[j]:.2g}"][: 2 + noisy]
        for j in result.order()[:MAX_LISTED]
    ]
    columns = ["box of ξ", result.coefficient_heading, "standard error"][: 2 + noisy]
    first, *others = result._closing("ξ")
    sentences = [f"f(ξ) = {result.prediction:.4g}; {first}.", *others]
    if (more := len(result.order()) - len(rows)) > 0:
        sentences.insert(0, f"{more} more coefficients are not listed.")
    return notebook_table(columns, rows, sentences, result.warnings * result.notes_in_repr)


def notebook_table(
    columns: Sequence[str], rows: Iterable[Sequence[str]], sentences: Iterable[str],
    warnings: Iterable[str] = (), caption: str = "",
) -> str:  # fmt: skip
    """A table with sentences and warnings below, for the output of a cell."""

    def row(cells: Sequence[str], tag: str) -> str:
        first, *others = map(escape, cells)
        rest = "".join(f"<{tag}>{cell}</{tag}>" for cell in others)
        return f"<tr><{tag} style='text-align:left'>{first}</{tag}>{rest}</tr>"

    above = f"<caption>{escape(caption)}</caption>" if caption else ""
    body = "".join(row(cells, "td") for cells in rows)
    below = [*sentences, *(f"⚠ {text}" for text in warnings)]
    return (
        f"<table>{above}<thead>{row(columns, 'th')}</thead><tbody>{body}</tbody></table>"
        + "".join(f"<p>{escape(text)}</p>" for text in below)
    )


def to_shap(result: Any) -> Any:
    """From the intercept to the prediction, as a ``shap.Explanation``; of many rows a row for each.

    A feature adds its coefficient, times its scaled number where there are no boxes, and
    :data:`MISSED` what the model predicts beside the surrogate.
    """
    try:
        with warnings.catch_warnings():  # of packages that shap imports
            warnings.simplefilter("ignore")
            import shap
    except ImportError:
        raise ImportError("to_shap needs shap; install it with `pip install shap`.") from None
    missed = np.asarray(result.prediction - result.local_prediction)[..., None]
    if np.ndim(result.coef) == 2:
        question, rows = result.question, range(len(result.coef))
        at_xi: Any = np.array([question.problem(i).value_at_xi for i in rows])
        data = np.hstack([question.boxes.fed(question.table), np.full_like(missed, np.nan)])
    else:
        at_xi = result.setting.value_at_xi
        data = np.array([*result.values().values(), None], dtype=object)
    return shap.Explanation(
        values=np.concatenate([result.coef * at_xi, missed], axis=-1),
        base_values=np.array(result.intercept) if np.ndim(result.coef) == 2 else result.intercept,
        data=data,
        feature_names=[*result.names, MISSED],
    )


# --- results that are a table


def frame_blocks(frame: Any) -> list[page.Markup]:
    """The first rows of a DataFrame, for a page."""
    more = f", the first {MAX_FRAME_ROWS} of {len(frame):,}" if len(frame) > MAX_FRAME_ROWS else ""
    rows = [(str(i), *row) for i, row in zip(frame.index, frame.to_numpy(), strict=True)]
    columns = [frame.index.name or "row", *frame.columns]
    return [page.table(f"Coefficients{more}", columns, rows[:MAX_FRAME_ROWS])]


def frame_in_notebook(sentences: Iterable[str], frame: Any) -> str:
    """A few rows of a DataFrame below some sentences, for the output of a cell."""
    table = frame.to_html(escape=True, max_rows=MAX_NOTEBOOK_ROWS)
    return "".join(map(page.paragraph, sentences)) + table
