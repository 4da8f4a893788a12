"""Texts of students as HTML: nothing of them runs or is fetched."""

import pandas as pd
import pytest

from limetutor.classroom.texts import cleaned, in_html, mathml, shown_cell

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a < b & <script>x</script>", "<p>a &lt; b &amp; &lt;script&gt;x&lt;/script&gt;</p>"),
        ("`a < b`", "<p><code>a &lt; b</code></p>"),
        ("[x](javascript:alert)", "<p>[x](javascript:alert)</p>"),
        ("![p](https://a.org/b.png)", "<p>[p https://a.org/b.png]</p>"),
        ('![p"><b>](attachment:b.png)', "<p>[p&quot;&gt;&lt;b&gt; attachment:b.png]</p>"),
        ("![p](attachment:a.png)", f'<p><img src="data:image/png;base64,{PIXEL}" alt="p"></p>'),
        ("![p](data:image/png;base64,AA)", "<p>[p data:image/png;base64,AA]</p>"),
    ],
)
def test_markdown_is_text(text, shown):
    attached = {"a.png": {"image/png": PIXEL}, "b.png": {"image/png": '"><script>'}}
    assert in_html(text, attached).strip() == shown


def test_formulas_are_mathml_and_stay_tex_where_they_cannot_be_read():
    assert "<msup>" in in_html("If $a^2 < b$, …") and "<code>" not in in_html("$a^2 < b$")
    assert 'display="block"' in in_html("$$a$$")
    assert "<mtable" in in_html("\\begin{align}a &= b\\end{align}")
    assert mathml("\\frac{1", False) == "<code>\\frac{1</code>"
    assert mathml("\\href{javascript:alert(1)}{x}", False).count("href=") == 0
    assert mathml("x" * 2000, False).startswith("<math")  # the longest
    assert mathml("x" * 2001, False).startswith("<code>")
    assert mathml(r"\def\a{\a\a}\a", True).startswith("<code>")


@pytest.mark.parametrize(("length", "more"), [(30_000, ""), (30_001, " … (1 more characters)")])
def test_texts_are_shown_up_to_30_000_characters(length, more):
    cell = shown_cell({"cell_type": "markdown"}, "x" * length, {})
    assert cell.source == "x" * 30_000 + more


def test_tables_stay_tables():
    """... as pandas writes them, without its styles."""
    table = pd.DataFrame({"a": [1], "b": ["<i>"]})._repr_html_()
    found = cleaned(table)
    assert all(f"<{tag}>" in found for tag in ("thead", "tbody", "th"))
    assert "vertical-align" not in found and "&lt;i&gt;" in found and "&lt;th" not in found
    code = '<div class="highlight hl-ipython3"><pre><span class="kn">import</span></pre></div>'
    assert cleaned(f'{code}<p class="navbar kn">9</p>') == f"{code}<p>9</p>"  # over the points


@pytest.mark.parametrize(
    "html",
    [
        "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "<a href='javascript:alert(1)'>x</a>",
        "<style>@import 'https://a.org'", "<iframe src='https://a.org'></iframe>", "<base href='https://a.org'>",
        "<meta http-equiv=refresh content='0;url=https://a.org'>", "<svg><script>alert(1)</script></svg>",
        "<p style='background: url(https://a.org)' onclick='alert(1)'>x</p>", "<form action='https://a.org'>",
    ],
)  # fmt: skip
def test_other_tags_and_attributes_go(html):
    assert not any(word in cleaned(html) for word in ("<script", "http", "javascript", "on"))
