"""What counts as a try of an exercise on a built page, and what the page keeps of it."""

import pytest
from site_visits import visit

import limetutor as lt
from limetutor.course import progress
from limetutor.course.exercises import exercises

pytestmark = [pytest.mark.slow, pytest.mark.browser, pytest.mark.site]

NAME = "switch-off/1"


def test_typos_and_answers_after_the_right_one_are_no_tries(pages, browser, served):
    path = next(path for path in pages if path.stem == "switch_off")
    right = f"{float(exercises()[NAME].value.ravel()[0]):.6g}"
    with visit(browser, served) as visitor:
        tab = visitor.open(path, served)
        box = tab.locator(f'input[data-exercise="{NAME}"]')
        results = tab.get_by_label("Your results as a code")

        def tried(text):
            box.fill(text)
            box.press("Enter")
            return progress.read(results.input_value())[NAME]

        assert tried("7") == progress.Item(1, False)
        for typo in ("7x", "", "1.2.3", "7" * 1001):
            assert tried(typo) == progress.Item(1, False), typo
        assert tried("7") == progress.Item(1, False)  # the same again
        assert tried(right) == progress.Item(2, True)
        assert tried("8") == progress.Item(2, True)
        for tries, told in ((14, 14), (15, 15), (16, 15), (1000, 15)):
            tab.evaluate(f"limetutor.progress.set({NAME!r}, {{ tries: {tries} }})")
            assert progress.read(results.input_value())[NAME] == progress.Item(told, True)
        tab.reload()
        assert progress.read(results.input_value())[NAME] == progress.Item(15, True)


def test_results_are_forgotten_by_two_presses_with_nothing_between(pages, browser, served):
    path = next(path for path in pages if path.stem == "switch_off")
    with visit(browser, served) as visitor:
        tab = visitor.open(path, served)
        tab.evaluate(f"limetutor.progress.set({NAME!r}, {{ tries: 1, done: true }})")
        forget, said = tab.get_by_role("button", name="Forget"), tab.locator(".lt-progress")
        for _ in range(2):
            forget.click()
            assert "press once more" in said.inner_text() and "solved 1 of" in said.inner_text()
            forget.blur()
        forget.click()
        forget.click()
        assert "are forgotten" in said.inner_text() and "solved 0 of" in said.inner_text()
        forget.click()
        assert "press once more" in said.inner_text()


def test_only_results_of_this_version_are_taken_from_storage(pages, browser, served):
    path = next(path for path in pages if path.stem == "switch_off")
    item = f'{{"{NAME}": {{"tries": 3, "done": true, "last": "5"}}}}'
    for version, taken in ((1, True), (2, False), (0, False)):
        with visit(browser, served) as visitor:
            text = f'{{"version": {version}, "items": {item}}}'
            visitor.tab.add_init_script(f"localStorage.setItem('limetutor', '{text}')")
            code = visitor.open(path, served).get_by_label("Your results as a code").input_value()
            assert (progress.read(code).get(NAME) == progress.Item(3, True)) is taken, version


# One row in two pairs of brackets, columns, ragged rows, numbers in per cent and as fractions, edges of lengths.
TEXTS = """[[1, 2]]|[[1], [2]]|1; 2; 3|1, 2; 3|1, 2; 3, 4|[1/2; 1]|(50 %, 100 %)|[0.5]|[[0.5]]|0.5; 1|.5, 1
1e-4|0.0001, 2|1e12, 1|1/0|3/4, 1|50%""".replace("\n", "|").split("|")


def test_rows_and_brackets_are_read_as_python_reads_them(pages, browser, served):
    path = next(path for path in pages if path.stem == "images")
    with visit(browser, served) as visitor:
        tab = visitor.open(path, served)
        for name in ("images/1", "images/2", "images/3"):
            form = tab.locator(f'form:has(input[data-exercise="{name}"])')
            for text in (*TEXTS, "1, " * 999 + "1", "1," * 1000 + "1", "7" * 1000):
                tab.evaluate("limetutor.progress.forget()")
                form.locator("input").fill(text)
                form.locator("input").press("Enter")
                status, said = form.locator('[role="status"]'), lt.judge(name, text)
                found = status.get_attribute("data-verdict"), status.text_content()
                assert found == (said.kind, said.words), (name, text[:40])
