"""The page that shows a text beside its copy."""

from html.parser import HTMLParser

from upstream.anonymization.texts.deidentifying import Deidentifier, Patient
from upstream.anonymization.texts.kinds import kinds_of
from upstream.anonymization.texts.preview import WARNING, Previewed, preview_page
from upstream.anonymization.texts.profiles import profile
from upstream.anonymization.texts.residual import ResidualCheck
from upstream.extraction.text.spans import Span


class Texts(HTMLParser):
    """Collects the cells of a table and what is marked in them."""

    def __init__(self):
        super().__init__()
        self.cells, self.marks, self.tags = [], [], set()
        self._in_cell = self._in_mark = False

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self._in_cell |= tag == "td"
        self._in_mark |= tag == "mark"
        if tag == "td":
            self.cells.append("")
        if tag == "mark":
            self.marks.append(dict(attrs)["class"] + ":")

    def handle_endtag(self, tag):
        self._in_cell &= tag != "td"
        self._in_mark &= tag != "mark"

    def handle_data(self, data):
        if self._in_cell:
            self.cells[-1] += data
        if self._in_mark:
            self.marks[-1] += data


def test_texts_are_shown_as_they_are_with_what_was_replaced_and_what_is_left():
    text = '<b>Ada</b> & "Bob", 56. Ada.'
    spans = [Span(3, 6, "NAME"), Span(20, 22, "AGE")]
    own = Deidentifier(profile("full"), kinds_of(["NAME", "AGE"]))
    copy = own.rewrite(text, spans, Patient())
    left = ResidualCheck([(next(iter(own.kinds.values())), "Ada")]).find(copy.text)
    page = preview_page([Previewed("<n1>", text, copy, tuple(left))], "A & B")
    read = Texts()
    read.feed(page)
    assert read.cells == ["<n1>", text, copy.text]
    legend, marks = read.marks[:4], read.marks[4:]
    assert [one.partition(":")[0] for one in legend] == ["old", "new", "tagged", "left"]
    assert marks == ["old:Ada", "old:56", "new:[NAME]", "new:[AGE]", "left:Ada"]
    assert "b" not in read.tags
    assert "script" not in read.tags
    assert "default-src 'none'" in page
    assert WARNING.split(":")[0] in page
