"""Names that would break a page, and a reader of pages."""

from html.parser import HTMLParser

HOSTILE = (
    "<script>document.title='ran'</script>", "]]><img src=x onerror=document.title='ran'>",
    "safe\u202egnp.exe\u2066", "a$$", "$\\frac{1}", '" onmouseover="document.title=1',
    "</style><style>@import url(//evil.example/x.css)", "<!--", "nul\x00bell\x07half\ud800",
    "שם עמודה", "列名 🍋", "&lt;b&gt;",
)  # fmt: skip


class Reader(HTMLParser):
    """The tags and the text of a page, as a parser of HTML sees them."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.attributes: dict[str, list[str]] = {}
        self.words: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        for name, value in attrs:
            self.attributes.setdefault(name, []).append(value or "")

    def handle_data(self, data):
        self.words.append(data)


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    reader.close()
    return reader
