"""The text of an HTML page: without tags, character references written out.

The parser of Python's library takes a time that grows with the square of some pages'
lengths; here each character is looked at a bounded number of times.
"""

import re
from html import unescape

from upstream.extraction.reading.decoding.breaks import Breaker
from upstream.extraction.reading.decoding.rewriting import Rewriter
from upstream.extraction.reading.outcomes import Written

_MARKUP = re.compile(r"[<&]")
_REFERENCE = re.compile(
    r"&(?:#[0-9]{1,8};?|#[xX][0-9a-fA-F]{1,8};?|[a-zA-Z][a-zA-Z0-9]{0,31};?)"
)
_TAG_NAME = re.compile(r"</?([a-zA-Z][^\s/>]{0,100})")
_TAG_END = re.compile(r"""[^"'>]*+(?:"[^"]*+"[^"'>]*+|'[^']*+'[^"'>]*+)*+>""")
_UNSHOWN = {
    "script": re.compile(r"</script", re.IGNORECASE),
    "style": re.compile(r"</style", re.IGNORECASE),
}
_STRETCHES = (("<!--", "-->"), ("<![CDATA[", "]]>"), ("<!", ">"), ("<?", ">"))
_CDATA = 9  # length of what opens such a section, whose text is shown


def html_text(written: Written) -> Written:
    r"""Return what a page shows; each character keeps its place in the page's bytes.

    Comments, attributes, scripts and styles are left out; what is open at the end of
    the page, such as a tag without its end, is text.

    Args:
        written: The page, decoded.

    >>> from upstream.extraction.reading.outcomes import stored_text
    >>> html_text(stored_text("<p>Frau<br>M&uuml;ller &lt;56></p>")).text
    'Frau\nMüller <56>'
    """
    return _Page(written).shown()


class _Page:
    """Walks over a page from left to right."""

    def __init__(self, written: Written) -> None:
        self.text = written.text
        self.rewriter = Rewriter(written)
        self.breaker = Breaker()
        self.absent: set[str] = set()  # ends of which none stands ahead

    def shown(self) -> Written:
        """Return what the page shows."""
        at = 0
        while match := _MARKUP.search(self.text, at):
            self._copy(at, match.start())
            if match[0] == "&":
                at = self._behind_reference(match.start())
            else:
                at = self._behind_tag(match.start())
        self._copy(at, len(self.text))
        return self.rewriter.written()

    def _copy(self, start: int, end: int) -> int:
        if start < end:
            self.breaker.before(self.text[start : start + 1], self.rewriter)
            self.rewriter.copy(start, end)
        return end

    def _behind_reference(self, start: int) -> int:
        match = _REFERENCE.match(self.text, start)
        by = unescape(match[0]) if match else ""
        if match is None or by == match[0]:
            return self._copy(start, start + 1)
        self.breaker.before(by, self.rewriter)
        self.rewriter.replace(start, match.end(), by)
        return match.end()

    def _behind_tag(self, start: int) -> int:
        for opening, closing in _STRETCHES:
            if self.text.startswith(opening, start):
                return self._behind_stretch(start, opening, closing)
        name = _TAG_NAME.match(self.text, start)
        end = self._end_of_tag(name.end()) if name else -1
        if name is None or end < 0:
            return self._copy(start, start + 1)
        element = name[1].lower()
        self.breaker.passes(element)
        is_unshown = element in _UNSHOWN and self.text[start + 1] != "/"
        return self._behind_unshown(element, end) if is_unshown else end

    def _behind_unshown(self, element: str, start: int) -> int:
        """Return where a script or a style ends; one without an end is shown."""
        if element in self.absent:
            return start
        closing = _UNSHOWN[element].search(self.text, start)
        if closing is None:
            self.absent.add(element)
        return closing.start() if closing else start

    def _behind_stretch(self, start: int, opening: str, closing: str) -> int:
        end = self._find(closing, start + len(opening))
        if end < 0:
            return self._copy(start, start + 1)
        if len(opening) == _CDATA:
            self._copy(start + _CDATA, end)
        return end + len(closing)

    def _end_of_tag(self, start: int) -> int:
        """Return the offset behind a tag's end, or -1; quotes may hold a >."""
        if self._find(">", start) < 0:
            return -1
        match = _TAG_END.match(self.text, start)
        return match.end() if match else self._find(">", start) + 1

    def _find(self, wanted: str, start: int) -> int:
        found = -1 if wanted in self.absent else self.text.find(wanted, start)
        if found < 0:
            self.absent.add(wanted)
        return found
