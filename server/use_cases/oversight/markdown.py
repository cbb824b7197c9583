"""Markdown that no name, reason or SQL can break out of."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

_ACTIVE = re.compile(
    r"""
    [\\`*\[\]<|~$@]                     # wherever they stand
    | (?<![^\W_])_ | _(?![^\W_])        # but not within words
    | & (?=[#A-Za-z])                   # an entity
    | (?<=\w) : (?=//)                  # an address that shows as a link
    | (?<=www) \.
    | ^ [#=>] | \#+ $                  # a heading, a quotation
    | ^ [+-] (?=[ -]|$)                # a list, a rule
    | ^ [0-9]{1,9} [.)] (?=\ |$)       # a numbered list
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""What Markdown could take for more than text, in a line, a cell or a heading."""


def plain(text: str) -> str:
    r"""Return a text as one line that Markdown shows as it stands.

    Only what could matter is escaped, so that the source can be read too.

    >>> plain("a|b <i>")
    'a\\|b \\<i>'
    >>> plain("10 -> 12, e^2.5; s_1")
    '10 -> 12, e^2.5; s_1'
    """
    line = " ".join(visible(text).split())
    return _ACTIVE.sub(lambda found: _escaped(found[0]), line)


def _escaped(characters: str) -> str:
    """Return characters with a backslash before each that Markdown lets escape."""
    return re.sub(r"([^0-9])", r"\\\1", characters)


def moment(time: str) -> str:
    """Return a stored time to the second, as people read it.

    >>> moment("2026-05-04T09:30:00.125000+00:00")
    '2026-05-04 09:30:00 UTC'
    """
    read = datetime.fromisoformat(time).astimezone(UTC)
    return read.strftime("%Y-%m-%d %H:%M:%S UTC")


def visible(text: str) -> str:
    """Return a text whose control and direction characters are written out."""
    return "".join(
        character
        if character in "\n\t"
        or unicodedata.category(character)[0] not in "CZ"
        # A space is a separator too, and the only one that is shown.
        or character == " "
        else f"\\u{{{ord(character):x}}}"
        for character in text.replace("\r\n", "\n")
    )


def code_block(text: str, language: str = "sql") -> str:
    """Return a text in a fence that is longer than any run of backticks in it."""
    runs = re.findall(r"`+", text)
    fence = "`" * max([3, *(len(run) + 1 for run in runs)])
    return f"{fence}{language}\n{visible(text)}\n{fence}"


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; its cells are made plain here."""
    lines = [header, ["---"] * len(header)]
    shown = [" | ".join(line) for line in lines]
    shown += [" | ".join(plain(cell) for cell in row) for row in rows]
    return "\n".join(f"| {line} |" for line in shown)


def bullets(lines: Iterable[str]) -> str:
    """Return a list; its lines are made plain here."""
    return "\n".join(f"- {plain(line)}" for line in lines)
