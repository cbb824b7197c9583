"""Draw the two pictures of the architecture page: ``python docs/images/pictures.py``.

Plain SVG: boxes, words and arrows at whole places, so that a change shows in a diff.
Text is set in the reader's sans-serif, on a white ground that dark themes keep
readable.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

HERE = Path(__file__).parent
LINE = 18
FILLS = {"plain": "#f4f4f2", "rows": "#fde6d8", "money": "#e0ecf8", "noise": "#e3f1df"}


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle with a heading and lines below it."""

    x: int
    y: int
    width: int
    heading: str
    lines: Sequence[str] = ()
    fill: str = "plain"

    @property
    def height(self) -> int:
        """As its lines need."""
        return 34 + LINE * len(self.lines)

    def drawn(self) -> Iterator[str]:
        """Yield its elements."""
        middle = self.x + self.width // 2
        yield (
            f'<rect x="{self.x}" y="{self.y}" width="{self.width}" '
            f'height="{self.height}" rx="6" fill="{FILLS[self.fill]}" stroke="#555"/>'
        )
        yield text(middle, self.y + 22, self.heading, 'font-weight="bold"')
        for number, line in enumerate(self.lines):
            yield text(middle, self.y + 42 + LINE * number, line)


def text(x: int, y: int, words: str, more: str = "") -> str:
    """Return centred words."""
    return f'<text x="{x}" y="{y}" text-anchor="middle" {more}>{escape(words)}</text>'


def arrow(points: Sequence[tuple[int, int]], words: str = "") -> Iterator[str]:
    """Yield a line that ends in an arrow, with words beside its middle."""
    places = " ".join(f"{x},{y}" for x, y in points)
    yield (
        f'<polyline points="{places}" fill="none" stroke="#333" stroke-width="1.5" '
        'marker-end="url(#end)"/>'
    )
    if words:
        (x1, y1), (x2, y2) = points[0], points[-1]
        yield text((x1 + x2) // 2, (y1 + y2) // 2 - 6, words, 'font-size="12"')


def picture(size: tuple[int, int], title: str, elements: Iterator[str]) -> str:
    """Return a whole SVG file."""
    width, height = size
    body = "\n".join(f"  {element}" for element in elements)
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" \
font-family="sans-serif" font-size="14" role="img">
  <title>{escape(title)}</title>
  <defs><marker id="end" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" \
markerHeight="8" orient="auto"><path d="M0,0 L8,4 L0,8 z" fill="#333"/></marker></defs>
  <rect width="{width}" height="{height}" fill="#fff"/>
{body}
</svg>
"""


ROOMS = (
    Box(20, 20, 860, "server", ["HTTP, commands, use cases, tables of people"]),
    Box(
        20,
        112,
        860,
        "upstream",
        ["what custodians do with rows beside questions"],
        "rows",
    ),
    Box(20, 204, 860, "release", ["what is published: cubes, sequences"], "noise"),
    Box(20, 296, 270, "engines", ["rows to sealed values"], "rows"),
    Box(315, 296, 270, "mechanisms", ["sealed to noisy numbers"], "noise"),
    Box(610, 296, 270, "budget", ["may it be spent? the ledger"], "money"),
    Box(
        20, 388, 860, "query_lang", ["SQL text to a private plan and its cost; no data"]
    ),
    Box(20, 480, 860, "privacy", ["the words: units, domains, losses, charges, seals"]),
    Box(
        20,
        582,
        860,
        "clients",
        ["Python and R, over HTTP; import nothing of the above"],
    ),
)
"""Imports run downwards; the three in the middle never import each other."""

STEPS = (
    Box(20, 20, 250, "1 arrive", ["key, rate, permit;", "the arrival's slot"]),
    Box(
        325,
        20,
        250,
        "2 prepare",
        ["text to plan and price,", "from public facts alone"],
    ),
    Box(630, 20, 250, "refused", ["with rule, place and fix;", "nothing is charged"]),
    Box(325, 150, 250, "3 charge", ["in the ledger, anchored", "to disk"], "money"),
    Box(
        630,
        150,
        250,
        "same question?",
        ["the stored answer", "again, for nothing"],
        "money",
    ),
    Box(325, 280, 250, "4 execute", ["rows to exact values,", "sealed"], "rows"),
    Box(
        325,
        410,
        250,
        "5 measure",
        ["seal and charge in,", "noisy numbers out"],
        "noise",
    ),
    Box(
        325,
        540,
        250,
        "6 show and store",
        ["all declared cells,", "HAVING on noisy values"],
        "noise",
    ),
    Box(20, 540, 250, "7 leave", ["on a slot that rows", "do not move"]),
)


def rooms() -> Iterator[str]:
    """Yield the picture of the rooms."""
    for box in ROOMS:
        yield from box.drawn()
    for upper, lower in ((78, 106), (170, 198), (262, 290), (354, 382), (446, 474)):
        yield from arrow([(450, upper), (450, lower)])


def question() -> Iterator[str]:
    """Yield the picture of a question's way."""
    for box in STEPS:
        yield from box.drawn()
    for upper in (90, 220, 350, 480):
        yield from arrow([(450, upper), (450, upper + 54)])
    yield from arrow([(270, 55), (319, 55)])
    yield from arrow([(575, 55), (624, 55)])
    yield from arrow([(575, 80), (602, 80), (602, 185), (624, 185)])
    yield from arrow([(325, 575), (276, 575)])
    yield text(165, 300, "rows are touched only below", 'fill="#a33"')
    yield text(165, 318, "the charge; after it there is", 'fill="#a33"')
    yield text(165, 336, "no way back to a refund", 'fill="#a33"')


PICTURES = {
    "rooms.svg": ((900, 655), "The packages of Curator, from server to privacy", rooms),
    "question.svg": ((900, 630), "The way of a question, in seven steps", question),
}


def drawn(name: str) -> str:
    """Return one picture as text."""
    size, title, elements = PICTURES[name]
    return picture(size, title, elements())


if __name__ == "__main__":
    for each in PICTURES:
        (HERE / each).write_text(drawn(each), "utf-8")
