"""Pages as Markdown."""

import markdown_pages
import pytest
from bs4 import BeautifulSoup

MATH = '<span class="math"><math><semantics><mi>x</mi><annotation>\\xi^2</annotation></semantics></math></span>'


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ('<h2>1. A <em>word</em><a class="headerlink">#</a></h2>', "## 1. A *word*"),
        (f"<p>So {MATH},\n and <code>f(x)</code>.</p>", r"So $\xi^2$, and `f(x)`."),
        (f'<div class="math"><span class="eqno">(2)</span>{MATH}</div>', "$$\n\\xi^2\n$$ (2)"),
        ('<div class="highlight-ipython3"><pre>a = 1\n\nb</pre></div>', "```python\na = 1\n\nb\n```"),
        ('<p><a href="b.html#c">b</a> <a href="https://x.org/a.html">x</a></p>', "[b](b.md#c) [x](https://x.org/a.html)"),
        ("<ol><li><p>a</p></li><li>b<ul><li>c</li></ul></li></ol>", "1. a\n\n2. b\n\n   - c"),
        ('<div class="admonition"><p class="admonition-title">T</p><p>a</p></div>', "> **T**\n> \n> a"),
        ("<details><summary>More</summary><p>a</p></details>", "> **More**\n> \n> a"),
        ("<table><tr><th>a</th><th>b</th></tr><tr><td>1|2</td><td>3</td></tr></table>",
         "| a | b |\n| --- | --- |\n| 1\\|2 | 3 |"),
        ('<figure><svg aria-label="Two bars"><path/></svg><figcaption><p>Fig. 1</p></figcaption></figure>',
         "[Figure: Two bars]\n\nFig. 1"),
        ('<dl><dt class="sig">f(x)</dt><dd><p>What.</p></dd></dl>', "`f(x)`\n\n:   What."),
        ('<form><p>no</p></form><p>yes<span class="lt-note">no</span><script>no</script></p>', "yes"),
        ('<blockquote><p>a<br/>b</p></blockquote><p><img src="a.svg" alt="A"/></p>', "> a\n> b\n\n![A](a.svg)"),
    ],
)  # fmt: skip
def test_a_page_becomes_markdown(html, expected):
    soup = BeautifulSoup(f'<article class="bd-article">{html}</article>', "html.parser")
    assert markdown_pages.of_page(soup) == expected + "\n"
