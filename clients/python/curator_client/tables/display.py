"""Tables of text cells for terminals and, escaped, for notebooks."""

from __future__ import annotations

import html
import shutil
import textwrap
from collections.abc import Collection, Sequence
from typing import Literal

Side = Literal["left", "right"]
_GAP = 2  # blanks before each column


def text_table(
    rows: Sequence[Sequence[str]],
    sides: Sequence[Side],
    keys: Collection[int] = (),
) -> str:
    """Return rows of cells, the first of them titles, in aligned columns.

    Args:
        rows: The cells.
        sides: Where the cells of each column stand.
        keys: Places of columns that stand in each block, where a table that is wider
            than the terminal is parted into blocks of columns, one below another. A
            table without keys is not parted.
    """
    widths = [max(len(row[i]) for row in rows) for i in range(len(sides))]
    return "\n\n".join(
        "\n".join(_line([row[i] for i in block], block, widths, sides) for row in rows)
        for block in _blocks(widths, keys)
    )


def _blocks(widths: Sequence[int], keys: Collection[int]) -> list[list[int]]:
    """Part columns into blocks that are no wider than the terminal, where that can be.

    A block holds one column at least beside the keys.
    """
    room = terminal_width() - sum(widths[i] + _GAP for i in keys)
    blocks: list[list[int]] = [[]]
    taken = 0
    for place in (i for i in range(len(widths)) if i not in keys):
        taken += widths[place] + _GAP
        if keys and terminal_width() and blocks[-1] and taken > room:
            blocks.append([])
            taken = widths[place] + _GAP
        blocks[-1].append(place)
    return [sorted([*keys, *block]) for block in blocks]


def _line(
    cells: Sequence[str],
    block: Sequence[int],
    widths: Sequence[int],
    sides: Sequence[Side],
) -> str:
    shown = (
        _padded(cell, widths[i], sides[i]) for cell, i in zip(cells, block, strict=True)
    )
    return "  " + "  ".join(shown).rstrip()


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


def terminal_width() -> int:
    """Return how many characters a line of the terminal holds; 0 where there is none.

    The environment's COLUMNS says it for what is no terminal.
    """
    return shutil.get_terminal_size(fallback=(0, 0)).columns


def wrapped(text: str) -> str:
    """Break lines that are wider than the terminal; elsewhere nothing is broken."""
    width = terminal_width()
    if not width:
        return text
    return "\n".join(_broken(line, width) for line in text.splitlines())


def shortened(text: str, most: int) -> str:
    """Return a text in one line of so many characters at most.

    >>> shortened("SELECT sex,  COUNT(*) FROM patients", 20)
    'SELECT sex, COUNT...'
    """
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 3].rstrip()}..."


def each_once(text: str) -> str:
    """Return a text whose equal lines stand once, where the last of them stood."""
    lines = text.splitlines()
    return "\n".join(
        line for place, line in enumerate(lines) if line not in lines[place + 1 :]
    )


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
