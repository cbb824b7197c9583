"""Where the elements of a marked-up text break its lines."""

from upstream.extraction.reading.decoding.rewriting import Joiner

_LINES = (
    "address article blockquote body br caption center dd div dl dt fieldset figure "
    "footer form h1 h2 h3 h4 h5 h6 header hr li line list item ol option p para "
    "paragraph pre record row section table tbody text tfoot thead title tr ul"
)
_CELLS = "cell td th"
BREAKS = dict.fromkeys(_LINES.split(), "\n") | dict.fromkeys(_CELLS.split(), "\t")
"""What stands between the text in an element of a name and the text beside it; the
names of HTML and of CDA's narrative texts. Other elements, such as b and content, stand
within a line.
"""


class Breaker:
    """Writes the breaks that elements make, where no blank stands there already."""

    def __init__(self) -> None:
        self._pending = ""

    def passes(self, element: str) -> None:
        """Note that an element begins or ends here."""
        found = BREAKS.get(element.lower(), "")
        if self._pending != "\n":
            self._pending = found or self._pending

    def before(self, text: str, joiner: Joiner) -> None:
        """Write the break that stands before a text, if there is one."""
        is_apart = joiner.ends_in_blank or text[:1].isspace()
        if self._pending and joiner.length and not is_apart:
            joiner.insert(self._pending)
        if text:
            self._pending = ""
