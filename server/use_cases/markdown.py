"""Markdown that no name, reason or SQL can break out of."""

import re
import unicodedata
from collections.abc import Iterable, Sequence

_PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")


def plain(text: str) -> str:
    r"""Return a text as one line that Markdown shows as it stands.

    >>> plain("a|b <i>")
    'a\\|b \\<i\\>'
    """
    return _PUNCTUATION.sub(r"\\\1", " ".join(visible(text).split()))


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
