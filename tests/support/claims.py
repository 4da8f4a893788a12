"""Sentences of the book that say always, never or every, and what stands behind each of them.

``found_in(page)`` splits the text of a page (markdown, captions, descriptions of pictures) and the
sentences that figures write below themselves, and finds those with a word such as *always*, *never*,
*whatever*, *cannot*, *at every*. Statements and proofs are left out: tests/statements has them.

``LEDGER`` says for each such sentence, by a piece of it, why it may stand:

- ``Stated("thm-label")``: it says again what a labelled statement says.
- ``Searched("test_name")``: a Hypothesis search in tests/book/test_claims_searched.py found no
  counterexample (or one elsewhere, ``"tests/core/test_x.py::test_name"``).
- ``NoClaim(reason)``: it claims nothing in general, for one of the ``REASONS``.

To add a sentence with such a word: say which of the three it is. If it is none of them, weaken it.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from statements import ROOT

QUESTION = "a question, or what an exercise asks for"
WRONG = "a wrong answer of a quiz"
QUOTED = "what somebody else says, quoted"
ADVICE = "advice to the reader"
HEADING = "a heading"
TOLD = "what the code on the page was told to do"
PRINTED = "what this page printed or counted once, compared by make notebooks"
DRAWN = "what a picture shows: it is drawn over this range"
ELSEWHERE = "not about LIME"
REASONS = (QUESTION, WRONG, QUOTED, ADVICE, HEADING, TOLD, PRINTED, DRAWN, ELSEWHERE)

UNIVERSAL = re.compile(
    r"""\b(?: always | never | whatever | cannot | no\ matter | if\ and\ only\ if | only\ if
    | exactly\ (?:one|when|where|then|there)
    | however\ (?:many|much|few|small|large)
    | (?:at|for|in)\ (?:every|any|no)
    | no\ (?:\w+\ ){1,4}(?:can|switches|turns|brings)
    )\b""",
    re.IGNORECASE | re.VERBOSE,
)


@dataclass(frozen=True)
class Stated:
    """It restates the statement with this label."""

    label: str


@dataclass(frozen=True)
class Searched:
    """A search for a counterexample found none."""

    test: str

    @property
    def place(self) -> tuple[Path, str]:
        """The file and the function."""
        file, _, name = self.test.rpartition("::")
        return ROOT / (file or "tests/book/test_claims_searched.py"), name


@dataclass(frozen=True)
class NoClaim:
    """Nothing general is claimed."""

    reason: str


Ground = Stated | Searched | NoClaim


# --- the sentences ---------------------------------------------------------------------------------


def prose(text: str) -> str:
    """The text without comments, statements, proofs, code and emphasis."""
    text = re.sub(r"(?s)<!--.*?-->", "", text)
    for block in (r"(`{3,}|:{3,})\{(?:prf:|eval-rst)", r"(`{3,})python"):
        text = re.sub(rf"(?ms)^{block}.*?^\1[ \t]*$", "", text)
    return text.replace("*", "")


def sentences(text: str) -> Iterator[str]:
    """The sentences of a text; a new line, a cell of a table and an item of a list begin a new one."""
    for line in re.split(r"\n+|(?<=\s)\|(?=\s)", prose(text)):
        for sentence in re.split(r"(?<=[.!?])\s+(?=[^a-z\s])", line):
            yield sentence.strip(" |-#\n")


def universal(text: str) -> list[str]:
    """Those with a universal word."""
    return [sentence for sentence in sentences(text) if UNIVERSAL.search(sentence)]


def texts_of(path: Path) -> Iterator[str]:
    """What a reader sees of a page, or the strings of a module that draws figures."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        yield from strings_of(text)
    elif path.suffix == ".md":
        yield text
    else:
        for cell in json.loads(text)["cells"]:
            source = "".join(cell["source"])
            if cell["cell_type"] == "markdown":
                yield source
            else:
                for pieces in re.findall(r'\balt=((?:"[^"]*"\s*)+)', source):
                    yield "".join(re.findall(r'"([^"]*)"', pieces))
                yield cell["metadata"].get("mystnb", {}).get("figure", {}).get("caption", "")


def strings_of(source: str) -> Iterator[str]:
    """The strings of a module but for docstrings; what an f-string puts in is written …"""
    tree = ast.parse(source)
    skipped = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            skipped |= {id(part) for part in node.values}
            yield "".join(
                getattr(part, "value", "") if _plain(part) else "…" for part in node.values
            )
        elif isinstance(getattr(node, "value", None), str) and id(node) not in skipped:
            yield node.value


def _plain(part: ast.expr) -> bool:
    return isinstance(part, ast.Constant)


def pages() -> dict[str, Path]:
    """Every page by its name, and every module of figures as figures/name."""
    book = ROOT / "book"
    figures = (ROOT / "limetutor" / "course" / "figures").glob("*.py")
    return {path.stem: path for path in sorted([*book.glob("*.ipynb"), *book.glob("*.md")])} | {
        f"figures/{path.stem}": path for path in sorted(figures)
    }


def found_in(path: Path) -> list[str]:
    """The universal sentences of a page."""
    return [sentence for text in texts_of(path) for sentence in universal(text)]


# --- what stands behind them -----------------------------------------------------------------------

LEDGER: dict[str, dict[str, Ground]] = {
    "beyond_linear": {
        "LIME's exact coefficient for a parabola at every position": NoClaim(DRAWN),
        "LIME's coefficient at every position of ξ (brown)": NoClaim(DRAWN),
        "but for the two outer boxes, which are never small": Searched(
            "test_outer_boxes_have_no_end"
        ),
        "so the slope at ξ cannot matter either": Searched(
            "test_a_large_bandwidth_forgets_the_place"
        ),
        "in general not the tangent, however small the bandwidth": Stated("prop-secant"),
        r"so the factor $\tfrac12$ cannot be improved": Searched(
            "test_the_factor_one_half_is_needed"
        ),
        "whatever the rest of $f$ is like": Stated("thm-bounded-hessian"),
        r"For every model the values add up to $f(\xi) - \E[f]$": Searched(
            "test_shapley_values_add_up"
        ),
        "a difference of means, for every model": Stated("thm-any-model"),
    },
    "covariance": {
        r"the mean of $\pi z^2$ cannot differ": Stated("lem-covariance"),
        "They are zero at every bandwidth": Stated("lem-inverse"),
        "It cannot be computed reliably": NoClaim(WRONG),
        "Different features always get": NoClaim(WRONG),
    },
    "discretization": {
        "The dashed lines are never further": NoClaim(PRINTED),
        "the coefficient jumps at every edge": Searched("test_a_linear_model_jumps_at_an_edge"),
        "With normal features the coefficient of a linear model jumps, whatever the bandwidth": Searched(
            "test_a_linear_model_jumps_at_an_edge"
        ),
        "it is there at every bandwidth": Searched("test_a_linear_model_jumps_at_an_edge"),
    },
    "gaussian_integrals": {"whatever the edges": Searched("test_any_edges")},
    "images": {
        "no bandwidth switches a superpixel off": Stated("prop-image-linear"),
        "however much the model relies on it": Stated("prop-image-linear"),
        "gets the coefficient zero, whatever the colour": Stated("prop-image-linear"),
        "however much the model relies on seeing healthy skin": Stated("prop-image-linear"),
        "enough samples to determine a fit, it is exact": Stated("prop-image-linear"),
        "So `image_limit` is exact for any model": Searched("test_the_limit_of_an_image_is_exact"),
    },
    "interactions": {
        "the coefficient of $f(x) = x$ at every position": NoClaim(DRAWN),
        "ξ is the mean of the data, at every bandwidth": Stated("thm-total-switch-off"),
        "LIME draws every feature by itself, whatever the data are like": Searched(
            "test_pairs_are_lost"
        ),
        "which the model never sees": NoClaim(TOLD),
        "as many as $j$ has partners in any case": Stated("prop-critical-widths"),
        "Without interactions the limit is the same at every width": Stated("thm-multilinear"),
        "Then its limit would be 0 at every width": Stated("thm-multilinear"),
        "whatever the data look like": Stated("thm-any-model"),
        "under the tilted law, at every bandwidth": Stated("prop-tilted-law"),
    },
    "local_error": {
        "no amount of sampling brings it closer": Stated("thm-local-error"),
        "It holds for every weight that is a product": Searched(
            "test_the_local_error_of_any_product_of_weights"
        ),
        "The error of the surrogate for $f(x) = x$ at every position": NoClaim(DRAWN),
        "In exactly one place per box": Searched("test_one_place_without_error_in_each_box"),
        "it does not vanish, however many samples are drawn": Stated("thm-local-error"),
        "`lt.explain` always returns both": Searched("test_every_explanation_has_its_numbers"),
    },
    "reading_the_paper": {
        "in any of the thirty dimensions": NoClaim(PRINTED),
        r"it promises that $\hat\Gamma$ never moves": NoClaim(QUOTED),
        "is said to be possible only if": NoClaim(QUOTED),
        r"$\theta_j$ is 0 at every bandwidth": Stated("thm-critical-bandwidth"),
        "no bandwidth switches it off": Stated("thm-critical-bandwidth"),
        r"is near 1 only if $\nu^2$ is large beside $d\sigma^2$": Searched(
            "test_the_mean_weight_is_near_one_only_beside_d"
        ),
        "so the lasso in the end leaves out every feature, whatever its slope": Searched(
            "test_the_lasso_leaves_out_every_feature"
        ),
        r"with $\lambda = 1$ it does so with the second one at every bandwidth": Searched(
            "test_the_lasso_leaves_out_feature_two"
        ),
    },
    "trust": {
        "the second number is 0.994": Stated("prop-stability"),
    },
    "real_lime": {
        "With boxes, `lime` never measures a distance": Searched("test_lime_measures_indicators"),
        "uses it for every world that `lt.from_lime` has read": Searched(
            "test_a_limit_of_lime_counts_its_own_row"
        ),
        "for every position of ξ: a staircase": Stated("thm-real-lime"),
        "no bandwidth brings it back": Stated("thm-real-lime"),
        "whose mean is the overall mean is hidden, at every bandwidth": Stated("thm-real-lime"),
        "each with its own sign, at every width": Stated("thm-without-boxes"),
        "A feature is hidden at every bandwidth": Stated("thm-critical-bandwidth"),
        "the unpenalised limits are the same at every width": Stated("thm-real-lime"),
        "Slopes times standard deviations, at every width": Stated("thm-without-boxes"),
        "The slopes only if the width is small": NoClaim(WRONG),
    },
    "samples": {
        "The first coefficient is never far off": NoClaim(PRINTED),
        "whatever they show is noise": Stated("thm-coefficients"),
        "That holds for every model whose weighted residuals": Stated("thm-normal-limit"),
        "Error bars for every explanation": NoClaim(HEADING),
        "`lt.explain` always does": Searched("test_every_explanation_has_its_numbers"),
        "answers for every finite $n$": NoClaim(QUOTED),
        "leaves the coefficients alone, in every sample": Searched(
            "test_a_constant_moves_the_intercept_alone"
        ),
        "So the noise cannot depend on": Searched("test_a_constant_moves_the_intercept_alone"),
        "still holds for every $n$": Stated("thm-finite"),
        "has them at no extra call": Searched("test_every_explanation_has_its_numbers"),
        "and nothing else, in every sample": Searched("test_a_constant_moves_the_intercept_alone"),
    },
    "sampling": {
        "in 95 of 100 samples or a little more often, whatever $n$ is": Searched(
            "test_the_band_of_the_magnifying_glass"
        ),
        "finds no difference in any of the three features": NoClaim(PRINTED),
        "has a bump in every box": NoClaim(DRAWN),
        "Around the edges, in every column": Searched("test_new_examples_avoid_the_edges"),
        "Whatever the training set knows about pairs of features is lost": Searched(
            "test_pairs_are_lost"
        ),
        "Never among the patients": NoClaim(PRINTED),
        "Such a patient cannot exist": NoClaim(ELSEWHERE),
        "<summary>Always": NoClaim(WRONG),
    },
    "surrogate": {
        "it cannot follow the model inside a box at all": Searched(
            "test_the_surrogate_is_a_staircase"
        ),
        r"\text{for any } f": Stated("thm-any-model"),
        "add up to 1 for every example": Searched("test_the_classes_add_up"),
        "the same samples and the same features for every class": Searched(
            "test_the_classes_add_up"
        ),
        "indicators cannot follow it inside a box": Searched("test_the_surrogate_is_a_staircase"),
    },
    "switch_off": {
        "drawing more samples cannot bring the feature back": Stated("thm-critical-bandwidth"),
        "it never comes to the middle": Stated("thm-critical-bandwidth"),
        "no bandwidth switches that feature off": Stated("thm-critical-bandwidth"),
        "in every box but an odd middle one": Stated("prop-sign"),
        "however many there are, the curve in them reaches up to": Searched(
            "test_an_even_number_of_boxes_turns_up_to_one_deviation"
        ),
        "In it no bandwidth turns a sign": Searched("test_an_odd_number_of_boxes_turns_lower"),
        "exactly in the middle it is zero at every bandwidth": Stated("thm-critical-bandwidth"),
        "Half of the pairs oppose the slope at every ν": Searched(
            "test_about_half_oppose_the_slope"
        ),
        "About half of the contrasts oppose the slope at every bandwidth": Searched(
            "test_about_half_oppose_the_slope"
        ),
        "off at once, for every linear model": Stated("thm-total-switch-off"),
        "no sign turns at": Searched("test_an_even_number_of_boxes_turns_up_to_one_deviation"),
        "The two outer boxes are switched off at no bandwidth": Stated("thm-critical-bandwidth"),
        "at $\\nu = \\sigma$ itself, and at no larger bandwidth": Stated("thm-critical-bandwidth"),
        "Only if the model is steep": NoClaim(WRONG),
        "cannot make it zero": Stated("thm-critical-bandwidth"),
    },
    "ten_minutes": {
        "A model we cannot read": NoClaim(HEADING),
        "so the coefficient is negative at every bandwidth": Stated("prop-sign"),
        "here and in every chapter": NoClaim(ADVICE),
        "It never looks inside": Searched("test_only_predictions_are_asked_for"),
        "What the slope is cannot be read from it": Stated("prop-sign"),
    },
    "text": {
        "computes, for any classifier": Stated("thm-switches"),
        "which it never met in training": NoClaim(PRINTED),
        "comes out as it is, at every bandwidth": Stated("prop-text-sum"),
        "whatever is weighed, a sum fits without error": Stated("prop-text-sum"),
        "has never seen gets a coefficient": NoClaim(QUESTION),
    },
    "by_chapter": {
        "computes, for any classifier": Stated("thm-switches"),
        "as the number of samples grows, for any model": Stated("thm-any-model"),
    },
    "theorem": {
        "as the number of samples grows, for any model": Stated("thm-any-model"),
        "whatever $f$ does at ξ itself": Stated("thm-any-model"),
        "^For any model$": NoClaim(HEADING),
        "for any boxes that were fixed before sampling": Searched("test_any_edges"),
        "for every position of ξ": NoClaim(DRAWN),
        "never looks at the data again": Searched(
            "test_a_gaussian_world_sees_means_and_deviations"
        ),
        r"For any model $\beta_j$ is the mean": Stated("thm-any-model"),
        "never as a slope": NoClaim(ADVICE),
        r"whatever $\xi_1$ is": NoClaim(QUESTION),
    },
    "weights": {
        "some weight is always left outside": Searched("test_some_weight_is_left_outside"),
        "a handful of them share the weight, whatever the formula says": Searched(
            "test_drawn_samples_are_worth_at_least_one"
        ),
        "less and less local in any single feature": Searched(
            "test_the_bandwidth_grows_with_the_dimension"
        ),
        "The bars follow the purple line at every bandwidth": Stated("prop-tilted-law"),
        "still has a weight of 0.411": NoClaim(PRINTED),
        "not far from a global fit, in every dimension": Searched(
            "test_the_default_width_in_every_dimension"
        ),
        "with whatever counts outside the box": Stated("thm-any-model"),
        r"$\alpha_j$ is the same for every instance": Stated("thm-real-lime"),
        "for every $h$": Stated("prop-tilted-law"),
        "about two fifths of the largest possible weight, in every dimension": Searched(
            "test_the_default_width_in_every_dimension"
        ),
        "Yes, whatever the dimension": Searched("test_the_default_width_in_every_dimension"),
    },
    "whats_whose": {
        "for any $f$, and works it out": NoClaim(QUOTED),
        "a number of samples that holds for every $n$": Stated("thm-finite"),
    },
    "figures/beyond_linear": {"is within the band at every ξ": Stated("thm-bounded-hessian")},
    "figures/interactions": {"no instance above the mean switches": Stated("thm-total-switch-off")},
    "figures/real_lime": {"0, for every bandwidth": Stated("thm-real-lime")},
}


def matches(piece: str, sentence: str) -> bool:
    """Whether the sentence holds the piece; ^ and $ around it mean that it is all of the sentence."""
    whole = re.fullmatch(r"\^(.*)\$", piece)
    return sentence == whole[1] if whole else piece in sentence
