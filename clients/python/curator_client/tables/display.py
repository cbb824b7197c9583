"""Tables of text cells for terminals and, escaped, for notebooks."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Literal

Side = Literal["left", "right"]


def text_table(rows: Sequence[Sequence[str]], sides: Sequence[Side]) -> str:
    """Return rows of cells, the first of them titles, in aligned columns."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(sides))]
    return "\n".join(
        "  " + "  ".join(map(_padded, row, widths, sides)).rstrip() for row in rows
    )


def _padded(cell: str, width: int, side: Side) -> str:
    return cell.ljust(width) if side == "left" else cell.rjust(width)


def html_table(rows: Sequence[Sequence[str]], sides: Sequence[Side]) -> str:
    """Return rows of cells, the first of them titles, as an HTML table."""
    body = "".join(_html_row("td", cells, sides) for cells in rows[1:])
    head = _html_row("th", rows[0], sides)
    return f"<table><thead>{head}</thead><tbody>{body}</tbody></table>"


def _html_row(tag: str, cells: Sequence[str], sides: Sequence[Side]) -> str:
    inner = "".join(
        f'<{tag} style="text-align:{side};padding:0.1em 0.8em">{html.escape(cell)}'
        f"</{tag}>"
        for cell, side in zip(cells, sides, strict=True)
    )
    return f"<tr>{inner}</tr>"


def paragraph(text: str) -> str:
    """Return a sentence for a notebook, escaped."""
    return f"<p>{html.escape(text)}</p>"


def preformatted(text: str) -> str:
    """Return text of several lines for a notebook, escaped."""
    return f"<pre>{html.escape(text)}</pre>"
