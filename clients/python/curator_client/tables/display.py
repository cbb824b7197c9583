"""Tables of text cells for terminals and, escaped, for notebooks."""

from __future__ import annotations

import html
import shutil
import textwrap
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


def wrapped(text: str) -> str:
    """Break lines that are wider than the terminal; elsewhere nothing is broken."""
    width = shutil.get_terminal_size(fallback=(0, 0)).columns
    if not width:
        return text
    return "\n".join(_broken(line, width) for line in text.splitlines())


def _broken(line: str, width: int) -> str:
    indent = line[: len(line) - len(line.lstrip())]
    parts = textwrap.wrap(
        line,
        width,
        subsequent_indent=f"{indent}  ",
        break_long_words=False,
        break_on_hyphens=False,
    )
    return "\n".join(parts)


def paragraph(text: str) -> str:
    """Return a sentence for a notebook, escaped."""
    return f"<p>{html.escape(text)}</p>"


def preformatted(text: str) -> str:
    """Return text of several lines for a notebook, escaped."""
    return f'<pre style="white-space:pre-wrap">{html.escape(text)}</pre>'


def parted(text: str) -> str:
    """Write a number's thousands apart; what is none, such as a day, stays.

    >>> parted("-12345.60"), parted("2024-01-31")
    ('-12,345.60', '2024-01-31')
    """
    before, point, after = text.partition(".")
    if not before.removeprefix("-").isdigit():
        return text
    sign = "-" if before.startswith("-") else ""
    return f"{sign}{int(before.removeprefix('-')):,}{point}{after}"
