"""The question bank: read back by others, judged as in the book, true to the numbers it draws."""

import contextlib
import re
import sys
import types
import unicodedata
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from moodle_xml_parser.parser import parse_file

from limetutor.classroom.bank import exam, moodle, questions
from limetutor.classroom.bank.chapters import BOOK, exercises_of, reference_names, spelt_out
from limetutor.classroom.bank.questions import (
    VARIED,
    ChoiceQuestion,
    EssayQuestion,
    NumericalQuestion,
)
from limetutor.cli import main
from limetutor.course.exercises import chapters, exercises
from limetutor.course.judging.kinds import Given, rounded

VERSIONS = 3
BANK = questions.bank(BOOK, VERSIONS, seed=0)
NUMERICAL = [question for question in BANK if isinstance(question, NumericalQuestion)]
KINDS = {NumericalQuestion: "numerical", ChoiceQuestion: "multichoice", EssayQuestion: "essay"}


@pytest.fixture(scope="module")
def written(tmp_path_factory) -> Path:
    """The bank by the command itself."""
    folder = tmp_path_factory.mktemp("bank")
    assert main(["class", "bank", "--out", str(folder), "--versions", str(VERSIONS)]) == 0
    return folder


@pytest.fixture(scope="module")
def read(written) -> list[ET.Element]:
    """The questions as plain XML, without the categories."""
    found = ET.parse(written / "moodle.xml").getroot().findall("question")
    return [question for question in found if question.get("type") != "category"]


def told(question: NumericalQuestion) -> str:
    return f"{question.exercise.name}, version {question.version}"


def test_an_independent_reader_has_every_question_with_its_answer(written, tmp_path, monkeypatch):
    """amc2moodle turns it into LaTeX for paper; for pictures, which we have none, it wants ImageMagick."""
    pictures = types.ModuleType("wand.image")
    pictures.Image = None  # type: ignore[attr-defined]  # fails loudly if there is a picture
    monkeypatch.setitem(sys.modules, "wand.image", pictures)
    from amc2moodle.moodle2amc import Quiz

    amc, _ = Quiz(str(written / "moodle.xml"))._reshape()
    found = amc.findall(".//question")
    assert len(found) == len(BANK)
    targets = [float(node.get("target")) for node in amc.findall(".//question/AMCnumericChoices")]
    stated = [float(moodle.stated(question.exercise)) for question in NUMERICAL]
    np.testing.assert_allclose(targets, stated, rtol=1e-9)
    right = [len(node.findall("correctchoice")) for node in amc.findall(".//question/choices")]
    assert right == [1] * sum(isinstance(question, ChoiceQuestion) for question in BANK)


def test_another_one_reads_every_option_with_its_reason(written):
    found = parse_file(str(written / "moodle.xml"))["multichoice"]
    ours = [question for question in BANK if isinstance(question, ChoiceQuestion)]
    assert len(found) == len(ours) >= 40
    for theirs, question in zip(found, ours, strict=True):
        assert theirs.single and len(theirs.options) == len(question.options)
        assert "shuffleanswers>true<" in moodle.moodle([question])
        for option, read_back in zip(question.options, theirs.options, strict=True):
            assert read_back.score_fraction == (100 if option.right else 0)
            assert read_back.feedback and read_back.answer


def test_names_and_numbers_are_unique_and_every_text_is_whole(read):
    assert [q.get("type") for q in read] == [KINDS[type(question)] for question in BANK]
    for tag in ("name/text", "idnumber"):
        values = [q.findtext(tag) for q in read]
        assert len(set(values)) == len(values) and all(values)
    for text in (node.text or "" for q in read for node in q.iter("text")):
        assert not re.search(r"\{\w*:?ref\}|\{numref\}|\$|<!--|\ue000", text), text
        assert text.count(r"\(") == text.count(r"\)")
        assert not re.search(r"\\(E|Var|R)\b", text), "a macro of the book"


def test_a_subcategory_has_one_exercise_or_the_quiz(written):
    """So a random question out of each poses no exercise twice."""
    inside: dict[str, set[str]] = {}
    category = ""
    for element in ET.parse(written / "moodle.xml").getroot():
        if element.get("type") == "category":
            category = element.findtext("category/text")
            assert category not in inside, "it is begun twice"
            inside[category] = set()
        else:
            name = re.sub(r", version \d+|: quiz \d+$", "", element.findtext("name/text"))
            inside[category].add(name)
    assert all(len(names) == 1 for names in inside.values())
    assert all(category.count("/") - 2 * category.count("//") == 4 for category in inside)


def test_points_are_those_of_exam_and_rubric(read):
    for element, question in zip(read, BANK, strict=True):
        assert int(element.findtext("defaultgrade")) == question.points > 0
        if isinstance(question, EssayQuestion):
            listed = element.findtext("graderinfo/text").partition("</ol>")[0]
            assert listed.count("<li>") == question.points


def test_fifteen_exercises_and_more_have_variants_and_all_of_these_differ():
    assert len(VARIED) >= 15 and {q.exercise.name for q in NUMERICAL} == set(VARIED)
    for name in VARIED:
        params = [repr(q.exercise.params) for q in NUMERICAL if q.exercise.name == name]
        assert len(set(params)) == len(params) >= 2
        assert repr(exercises()[name].params) not in params, "the numbers of the book"
    varied = {given for name in VARIED for given, g in exercises()[name].given.items() if g.draw}
    assert {"xi", "nu", "p"} <= varied


def with_hyphens(text: str) -> str:
    return text.replace("−", "-")


@pytest.mark.parametrize("question", NUMERICAL, ids=told)
def test_the_text_is_the_chapter_s_with_the_numbers_of_the_variant(question):
    """With names in the place of numbers, the book's and the variant's text come from one template."""
    variant, declared = question.exercise, exercises()[question.exercise.name]
    stem = next(stem for stem, entries in chapters().items() if declared in entries)
    original = exercises_of(BOOK / f"{stem}.ipynb")["ex-" + variant.name.replace("/", "-")].text
    drawn = [name for name, given in variant.given.items() if given.draw]
    named_givens = {
        name: replace(given, text=lambda _, name=name: f"«{name}»") if name in drawn else given
        for name, given in variant.given.items()
    }
    template = questions.text_of(replace(variant, given=named_givens), original)
    for words, other in VARIED[variant.name].instead.items():
        original = original.replace(words, other)
    for numbers, text in ((declared, original), (variant, question.text)):
        filled = template
        for name in drawn:
            assert f"«{name}»" in template
            filled = filled.replace(f"«{name}»", numbers.given[name].shown)
        assert with_hyphens(filled) == with_hyphens(text)


@pytest.mark.parametrize("question", NUMERICAL, ids=told)
def test_a_title_names_no_number_that_the_question_has_not(question):
    """A third of the noise, by a factor of four?"""
    forms = {
        "two": "two", "three": "three", "third": "three", "half": "halves", "hundred": "100",
        "nine": r"0\.9\b", "four": "four", "ten": r"0\.9\b|\bten\b",
    }  # fmt: skip
    for word in set(question.title.lower().replace(",", "").split()) & set(forms):
        assert re.search(forms[word], question.text, re.I), question.title


# What is only there on a page of the book. "The theorem *LIME's coefficients for any model*" has a name,
# and *The theorem* is one.
ELSEWHERE = re.compile(
    r"(?i)running example|\b(chapter|page|section|figure|slider|control|histogram)s?\b|see above"
    r"|(?<!\*)\bthe (proposition|theorem|lemma|definition)\b(?! (\*|on the))"
)


def all_words(question: NumericalQuestion | ChoiceQuestion | EssayQuestion) -> list[str]:
    """All that a student, or whoever grades, gets to read of a question."""
    if isinstance(question, ChoiceQuestion):
        told = [words for option in question.options for words in (option.text, option.why)]
    elif isinstance(question, EssayQuestion):
        told = [*question.rubric, question.model]
    else:
        table = question.exercise.table
        told = [*(row.words for row in table.rows), *table.ladder]
    return [question.title, question.text, *told]


def test_a_question_stands_alone_and_so_does_its_feedback():
    found = [(q.chapter, q.title, words) for q in BANK for words in all_words(q)]
    assert [entry for entry in found if ELSEWHERE.search(entry[2])] == []


#: What the package and lime call things, wherever one is.
CALLED = {"lime", "critical_nu", "stderr"}


def test_feedback_speaks_of_what_its_question_names():
    """A column, a patient or a forest that only the chapter has would be a riddle."""
    named = re.compile(r"`(\w+)`|(patient \d+)|\b(?:the|this) (forest|clinic|colleague)\b")
    for question in (q for q in BANK if isinstance(q, ChoiceQuestion)):
        asked = " ".join([question.text, *(option.text for option in question.options)]).lower()
        for option in question.options:
            for found in named.findall(option.why):
                word = next(filter(None, found))
                assert word in CALLED or word.lower() in asked, option.why


def test_a_formula_loses_nothing_on_paper():
    """Greek letters, roots, digits and letters, in their order."""
    texts = [words for question in BANK for words in all_words(question)]
    formulas = {tex for words in texts for tex in re.findall(r"\$+([^$]+)\$+", words)}
    assert len(formulas) > 50
    raised = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
    for tex in formulas:
        shown = unicodedata.normalize("NFD", exam._formula(tex).translate(raised))
        commands = re.findall(r"\\([A-Za-z]+)", tex)
        for name in commands:
            for case in ("SMALL", "CAPITAL"):
                with contextlib.suppress(KeyError):
                    letter = unicodedata.lookup(f"GREEK {case} LETTER {name.upper()}")
                    if name[0].isupper() == (case == "CAPITAL"):
                        assert letter in shown.replace("ϕ", "φ"), tex
        assert shown.count("√") == commands.count("sqrt")
        rest = iter(shown)
        plain = re.sub(r"\\[A-Za-z]+", " ", tex)
        missing = [sign for sign in plain if sign.isalnum() and sign not in rest]
        assert not missing or "mathcal" in tex, (tex, shown)
        assert "()" not in shown


def test_a_given_that_stands_twice_or_nowhere_is_refused():
    variant = next(questions.drawn("switch-off/2", 0, 1))
    for text in ("at 0.8 and 0.8", "at $x^0.8$", "none"):
        with pytest.raises(ValueError, match=r"^switch-off/2: the bandwidth must stand once"):
            questions.text_of(variant, text)


def test_formulas_become_text():
    text = {
        r"0.75\sqrt d": "0.75√(d)", r"\tfrac14 + x": "1/4 + x", r"\xi_j = -0.6": "ξ_j = −0.6",
        r"\bar a": "a̅", r"\tilde\mu_j": "μ̃_j", r"\Sigma^{-1}\Gamma": "Σ⁻¹Γ", r"x^2": "x²",
        r"2^{-d/2}": "2^(−d/2)",
    }  # fmt: skip
    assert {tex: exam._formula(tex) for tex in text} == text


def test_references_become_words():
    assert spelt_out("Use {prf:ref}`lem-inverse`.", BOOK) == "Use the lemma *The inverse of Σ*."
    assert reference_names(BOOK)["ch-switch-off"] == "*Switch-off*"
    assert "$course$/top/LIME/a//b/" in moodle.moodle([BANK[0]._replace(chapter="a/b")])


def first_match(question: ET.Element, value: float) -> ET.Element:
    """As Moodle does: the first answer whose tolerance holds the value."""
    for answer in question.findall("answer"):
        distance = abs(value - float(answer.findtext("text")))
        if distance <= float(answer.findtext("tolerance")) * (1 + 1e-9):
            return answer
    raise AssertionError


def test_moodle_judges_as_the_book_does(read):
    """Right, rounded, mistaken, and anything between: the same verdict, and a mistake gets its hint."""
    rng = np.random.default_rng(0)
    numerical = [q for q in read if q.get("type") == "numerical"]
    marks = {"right": "100", "close": "50", "wrong": "0"}
    for element, question in zip(numerical, NUMERICAL, strict=True):
        exercise = question.exercise
        right = float(exercise.value)
        assert exercise.judge(moodle.stated(exercise)).kind == "right"
        assert first_match(element, rounded(right, exercise.digits)).get("fraction") == "100"
        tried = [right, 1.04 * right, 0.96 * right, *right * rng.uniform(-3, 3, 40)]
        for mistake in exercise.mistakes:
            wrong = float(mistake.value(**exercise.params))
            found = first_match(element, wrong)
            assert found.get("fraction") != "100"
            words = exercise.judge(wrong).words.split(" ", 3)[-1]
            assert words in found.findtext("feedback/text").replace("&#x27;", "'"), told(question)
            tried.append(wrong)
        for value in tried:
            verdict = exercise.judge(value)
            found = first_match(element, value).get("fraction")
            assert found == marks[verdict.kind], f"{told(question)}: {value}"


def posed_in(number: int, minutes: int, seed: int = 0):
    """The questions of a version of an exam."""
    variants = exam.version(BANK, number)
    return [variants[k] for k in exam.composed(BANK, minutes, seed)]


def test_an_exam_has_the_questions_and_then_their_key(written):
    texts = [(written / f"exam_{k}.txt").read_text(encoding="utf-8") for k in (1, 2, 3)]
    assert len(set(texts)) == 3
    for number, text in enumerate(texts, 1):
        posed, key = text.split(exam.NEW_PAGE)
        asked_now = posed_in(number, 60)
        points = [re.findall(r"(?m)^\d+\. \[(\d+) points?\] ", part) for part in (posed, key)]
        assert points == [[str(question.points) for question in asked_now]] * 2
        assert not re.search(r"[$\\`]|\{\w|\?\.|[a-z,]   [a-z]", text.replace("\n   ", "\n"))
        flat = " ".join(key.split())
        for question in asked_now:
            if isinstance(question, NumericalQuestion):
                assert f"{moodle.stated(question.exercise)} ({question.exercise.name})" in flat
                for given in question.exercise.given.values():
                    if given.draw and re.fullmatch(r"[\d.]+", given.shown):
                        assert given.shown in " ".join(posed.split())
            elif isinstance(question, EssayQuestion):
                assert all(" ".join(point.split()) in flat for point in question.rubric)


@pytest.mark.parametrize("minutes", [10, 45, 60, 90, 120])
def test_an_exam_takes_as_long_as_it_says(minutes):
    """Two minutes for a point, of all kinds and from many chapters; another seed poses others."""
    posed = posed_in(1, minutes)
    assert 2 * sum(question.points for question in posed) == minutes // 2 * 2
    text = exam.exam(BANK, 1, minutes, 0)
    assert text.startswith(f"LIME: an exam of {minutes // 2 * 2} minutes, version 1\n")
    assert len({q.chapter for q in posed}) >= min(len(posed), 12)
    if minutes >= 45:
        assert {type(question) for question in posed} == set(KINDS)
    assert [q.text for q in posed] != [q.text for q in posed_in(1, minutes, seed=1)]


def test_an_exam_says_how_long_it_is_where_there_is_not_enough(tmp_path, capsys):
    how = ["--out", str(tmp_path), "--only", "weights", "--versions", "1", "--minutes", "60"]
    assert main(["class", "bank", *how]) == 0
    few = [q for q in exam.version(BANK, 1) if q.chapter == "Weights"]
    assert f"an exam of {2 * sum(q.points for q in few)} minutes" in capsys.readouterr().out


def test_versions_have_the_same_exercises_and_the_right_option_anywhere():
    letters, titles = [], set()
    for number in range(1, 41):
        posed, key = exam.exam(BANK, number, 60, 0).split(exam.NEW_PAGE)
        letters.append(re.findall(r"\[1 point\] \((\w)\)", key))
        titles.add(tuple(re.findall(r"(?m)^\d+\. \[[^]]+\] ([^.?]+)", posed)))
    assert len({entry[0] for entry in titles}) == 1 == len({len(entry) for entry in letters})
    assert len(set(map(tuple, letters))) > 30
    every = "".join(map("".join, letters))
    shares = [every.count(letter) / len(every) for letter in "abc"]
    # a third, within 5 standard errors of 9 × 40 draws
    assert sum(shares) == 1 and max(shares) < 0.42


def test_the_length_of_an_option_says_nothing():
    """The right one is not the longest, nor the shortest, more often than one in three."""
    choices = [question for question in BANK if isinstance(question, ChoiceQuestion)]
    lengths = [[len(option.text) for option in q.options] for q in choices]
    right = [next(len(o.text) for o in q.options if o.right) for q in choices]
    for extreme in (max, min):
        times = sum(one == extreme(all_) for one, all_ in zip(right, lengths, strict=True))
        assert times <= sum(1 / len(all_) for all_ in lengths)
    assert [q.text for q, n in zip(choices, lengths, strict=True) if max(n) > 2 * min(n)] == []


def test_the_same_seed_gives_the_same_bank_and_another_another(tmp_path):
    for out, seed in (("a.xml", 1), ("b.xml", 1), ("c.xml", 2)):
        how = ["--out", str(tmp_path / out), "--seed", str(seed), "--only", "weights"]
        assert main(["class", "bank", *how, "--versions", "1"]) == 0
    same, again, other = (tmp_path / f"{name}.xml" for name in "abc")
    assert same.read_bytes() == again.read_bytes() != other.read_bytes()
    assert (tmp_path / "a_exam_1.txt").is_file()


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [("versions", "0", "from 1 to 50, got 0."), ("versions", "51", "from 1 to 50, got 51."),
     ("minutes", "9", "from 10 to 300, got 9."), ("seed", "-1", "0 or more, got -1."),
     ("only", "weight", "one of"), ("book", "nowhere", "the folder with the chapters")],
)  # fmt: skip
def test_bad_input_is_one_sentence(tmp_path, capsys, option, value, words):
    assert main(["class", "bank", "--out", str(tmp_path / "x"), f"--{option}", value]) == 2
    assert capsys.readouterr().err.startswith(f"limetutor: --{option} must be {words}")
    assert not (tmp_path / "x").exists()


def test_a_number_in_a_formula_has_a_hyphen_for_its_minus():
    given = Given(-1.5, "a slope")
    mark = questions.MARK.format("a")
    filled = questions._filled(f"{mark}, ${mark}x$ and {mark}", "a", given)
    assert filled == "−1.5, $-1.5x$ and −1.5"
