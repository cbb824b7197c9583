"""Texts as people type them in four dialects: answered, or refused with a fix that fits.

``dialects.txt`` has a text a line, and below it what it gets: nothing where it is
answered, else the rule, what is wrong and the hint, and the mended text where there
is one. ``CURATOR_GOLDEN=1`` rewrites what they get; whoever reviews reads the hints.
"""

import os
from pathlib import Path

from privacy.errors import QueryError
from query_lang.rewriting.mending import mended
from tests.golden.reference_pages import hospital
from tests.support.compiling import compile_query

FILE = Path(__file__).with_name("dialects.txt")


def compiles(sql):
    return compile_query(sql, hospital())


def outcome(sql):
    """Return the lines that stand below a text."""
    try:
        compiles(sql)
    except QueryError as error:
        found = mended(sql, error, compiles)
        told = [f"    {error.rule}: {error.detail}", f"    instead: {error.hint}"]
        return told if found is None else [*told, f"    rewritten: {found}"]
    return []


def texts():
    """Return the lines of the file that are no outcome."""
    lines = FILE.read_text("utf-8").splitlines()
    return [line for line in lines if not line.startswith("    ")]


def page():
    found = []
    for line in texts():
        found.append(line)
        if line and not line.startswith("["):
            found += outcome(line)
    return "\n".join(found) + "\n"


def test_each_text_is_answered_or_gets_its_fix():
    made = page()
    if os.environ.get("CURATOR_GOLDEN"):
        FILE.write_text(made, "utf-8")
    assert FILE.read_text("utf-8") == made


def test_no_text_stands_twice():
    asked = [line for line in texts() if line and not line.startswith("[")]
    assert len(asked) == len(set(asked)) >= 400
