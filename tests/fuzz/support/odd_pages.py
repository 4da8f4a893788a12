"""Pages in a browser whose storage, answers, addresses and history come from a stranger.

What a page shows after a reload is told from the stored text by Python's own reader of JSON, and so is its
code; verdicts are those of ``lt.judge``; where figures stand, from the address by hand.
"""

import json
import re
from contextlib import contextmanager
from urllib.parse import unquote_to_bytes

import fuzz
from browser import ROOT, running_browser
from fuzz import Case, kind
from pads import CONTROLS, page_of_two
from site_visits import JS

import limetutor as lt
from limetutor.course import progress
from limetutor.course.exercises import chapters
from limetutor.course.judging.kinds import Tabulated

CHAPTER = "images"
EXERCISES = [e for e in chapters()[CHAPTER] if isinstance(e, Tabulated)]
TABS = {}  # one for each page: storage is shared by processes of a browser with a delay


@contextmanager
def opened():
    """A tab with a page of exercises, and one with a page of two figures."""
    import exercise_boxes as boxes

    body = [boxes.answer_box(e, "An exercise", None) for e in EXERCISES]
    body += [f'<div class="solution-of-{boxes.label_of(e.name)}">…</div>' for e in EXERCISES]
    assets = [ROOT / "book" / "_assets" / name for name in ("answers.js", "progress.js")]
    scripts = [boxes.script(), *(path.read_text("utf-8") for path in assets)]
    body += [
        boxes.PANEL.format(page=f"book/{CHAPTER}"),
        *(f"<script>{text}</script>" for text in scripts),
    ]
    with fuzz.in_folder() as folder, running_browser() as browser:
        page = "<!doctype html><meta charset=utf-8>" + "".join(body)
        (folder / "exercises.html").write_text(page, "utf-8")
        page_of_two(folder / "figures.html")
        for name in ("exercises", "figures"):
            TABS[name] = browser.new_page()
            TABS[name].goto(f"{folder.as_uri()}/{name}.html")
        yield


def opened_anew(name, before, given):
    """The tab of a page once something was done there and it was loaded again, without an error."""
    tab, errors = TABS[name], []
    tab.on("pageerror", note := lambda error: errors.append(str(error)))
    tab.evaluate(before, given)
    tab.reload()
    tab.remove_listener("pageerror", note)
    assert not errors, errors
    return tab


ODD = [None, 0, 1, 2, 3, 15, 16, 1e99, -1, 1.5, 2.0, "2", True, "yes", [], {}, "x" * 30_000, "<b>", "\u2028", "1" + " " * 5000 + "2", "7", "1/0", "\x00"]  # fmt: skip
NAMES = [e.name for e in EXERCISES] + ["images/quiz-1", "images/99", "text/1", "__proto__", "x", "A/1", "images/1\n", "images/١"]  # fmt: skip


def of_storage(chance):
    """What somebody may have written into this browser's storage."""
    items = {}
    for name in chance.sample(NAMES, chance.randint(0, 6)):
        good = {"tries": chance.choice([1, 2, 20]), "done": True, "last": "0.5"}
        keys = chance.sample(["tries", "done", "last", "more"], 2)
        odd = {key: chance.choice(ODD) for key in keys}
        items[name] = chance.choice([good, good | odd, good | odd, odd, chance.choice(ODD)])
    items = chance.choice([items] * 5 + [None, 5, [items], "x"])
    stored = {"version": chance.choice([1] * 6 + [1.0, 2, "1", None, True]), "items": items}
    text = json.dumps(stored, ensure_ascii=chance.random() < 0.5)
    others = [text[:-1], "", "null", "[1]", text.replace("1", "NaN"), "[" * 20_000, text + text, f" {text}\n"]  # fmt: skip
    text = chance.choice([text] * 8 + others)

    def wrong(found, notes):
        read, count = items_in(text), len(chapters()[CHAPTER])
        listed = {f"{CHAPTER}/{k + 1}" for k in range(count)} | {"images/quiz-1", "text/1"}
        truth = {n: (min(t, 15), d) for n, (t, d, _) in read.items() if n in listed and (t or d)}
        said = {n: tuple(i) for n, i in progress.read(found[0]).items() if i != (0, False)}
        if said != truth or found[1]:
            return f"{said}, not {truth}, {found[1]}"
        for exercise, shown in zip(EXERCISES, found[2:], strict=True):
            tries, done, last = read.get(exercise.name, (0, False, ""))
            words = lt.judge(exercise.name, last, tries).words if tries else ""
            value = re.sub("[\r\n]", "", last) if tries else ""
            if shown != [value, words, not (done or tries >= 2), False]:
                return f"{exercise.name} shows {shown}, not {value} {words}"
        return None

    put = "(text) => localStorage.setItem('limetutor', text)"

    def call():
        tab = opened_anew("exercises", put, text)
        if not tab.evaluate("(text) => localStorage.getItem('limetutor') === text", text):
            tab.reload()  # the process of the page before is late
        return tab.evaluate(JS.STATE)

    return Case(f"stored {text[:500]!r}", call, wrong, may_refuse=False)


def items_in(text):
    """Tries, done and last text of each item of a stored text that has the form of a result."""
    found = {}
    try:
        stored = json.loads(text, parse_constant=lambda word: int("no number"))
        items = stored["items"] if stored["version"] == 1 and stored["version"] is not True else {}
    except (ValueError, TypeError, KeyError, RecursionError):
        items = {}
    for name, item in items.items() if isinstance(items, dict) else ():
        if re.fullmatch("[a-z][a-z-]*/(quiz-)?[0-9]+", name) and isinstance(item, dict | list):
            get = item.get if isinstance(item, dict) else {}.get
            tries, last = get("tries"), get("last")
            number = type(tries) in (int, float) and tries > 0 and tries == int(tries)
            last = last[:20_000] if isinstance(last, str) else ""
            found[name] = (min(int(tries), 1000) if number else 0, get("done") is True, last)
    return found


PIECES = ["1", "20", "000", "0", ".", ",", ", ", " ", ";", "; ", "/", "%", "e-3", "E5", "-", "−", "+", "[", "]", "(", ")", "0.5", "0,5", "\u202f", "\u2028", "x", "_", "\t", "½", "𝟙", "1e200", "and", "\u00a0", "’", "0x1", "∞"]  # fmt: skip


def of_answer(chance):
    """A text that might be an answer, typed into a box at some attempt."""
    exercise, tries = chance.choice(EXERCISES), chance.choice([0, 0, 1, 2, 50])
    text = "".join(chance.choices(PIECES, k=chance.randint(1, 9))) * chance.choice([1, 1, 1, 300])

    def wrong(found, notes):
        said = lt.judge(exercise.name, text.strip(), tries + 1).words
        return None if found == said else f"the page says {found!r}, Python {said!r}"

    call = lambda: TABS["exercises"].evaluate(JS.TYPED, [exercise.name, text, tries])  # noqa: E731
    return Case(f"{exercise.name}, {tries}: {text[:300]!r}", call, wrong, may_refuse=False)


VALUES = ["0.1", "1", "4.64", "-2", "0.5", "1e3", "-1e308", "1e999", "Infinity", "NaN", "", " ", "0x10", "1_0", "%31", "%zz", "%ff", "1,5", "fancy one", "fancy%20one", "plain", "<b>", "=", "1=2", "١"]  # fmt: skip
KEYS = ["nu", "xi", "kind", "other", "__proto__", ""]
STANDS = [[1, 2, 1], [0, 0, 0], [0.5, 1, 1], ["1", 0, 0], [None, 1, True], [99, 0, 0], [-1, 0, 0], [1], [0, 0, 0, 0], None, 5, "abc"]  # fmt: skip


def of_address(chance):
    """An address of a figure, or what a page of an older build left in the history."""
    name = chance.choice(["fig-one", "fig-one", "fig-two", "fig-three", "", "end", "fig-one%20"])
    pairs = [f"{chance.choice(KEYS)}={chance.choice(VALUES)}" for _ in range(chance.randint(0, 4))]
    address = "&".join([name, *pairs]) + chance.choice(["", "", "&", "&nu"])
    left = {n: chance.choice(STANDS) for n in chance.sample(["fig-one", "fig-two", "x"], 2)}
    left = {"limetutor": chance.choice([left, left, left, 5, "x"])}
    state = chance.choice([None, left, left, 7, {"other": 1}])

    def wrong(found, notes):
        controls, truth = list(CONTROLS.values()), {}
        known = state.get("limetutor") if isinstance(state, dict) else None
        for figure in ("fig-one", "fig-two"):
            truth[figure] = [control.values.index(control.default) for control in controls]
            stands = known.get(figure) if isinstance(known, dict) else None
            if stands in STANDS[:2]:
                truth[figure] = stands
            elif not known and figure == name and "&" in address:
                asked = asked_for(address)
                truth[figure] = [stop(c, asked.get(key)) for key, c in CONTROLS.items()]
        return None if found == list(truth.values()) else f"figures stand at {found}, not {truth}"

    put = "([state, address]) => history.replaceState(state, '', `#${address}`)"
    call = lambda: opened_anew("figures", put, [state, address]).evaluate(JS.ALL_STOPS)  # noqa: E731
    return Case(f"#{address} with {state}", call, wrong, may_refuse=False)


def asked_for(address):
    """What an address asks for, by control; what is no text is not asked for."""
    asked = {}
    for key, _, text in (pair.partition("=") for pair in address.split("&")[1:]):
        raw = unquote_to_bytes(text)
        if not re.search("%(?![0-9a-fA-F]{2})", text) and raw != b"\xff":
            asked[key] = raw.decode()
    return asked


def stop(control, text):
    """The stop nearest to a number, or the option of that name; the default where there is none."""
    default, values = control.values.index(control.default), list(control.values)
    if isinstance(control, lt.Choice) or text is None:
        return values.index(text) if text in values else default
    decimal = re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", text, re.ASCII)
    number = float(text) if decimal else 16.0 if text == "0x10" else float("inf")
    distances = [abs(value - number) for value in values]
    return distances.index(min(distances)) if abs(number) < float("inf") else default


@kind("pages", 36, 3000, around=opened)
def odd_page(chance, index):
    """Storage, addresses and answers in turn; answers take the least time."""
    return (of_storage, of_address, of_answer, of_answer)[index % 4](chance)
