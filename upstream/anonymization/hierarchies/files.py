"""Hierarchies from CSV files as ARX's are: leaf;level 1;...;top, without a header."""

import csv
from io import StringIO
from pathlib import Path

from upstream.anonymization.errors import HierarchyError
from upstream.anonymization.hierarchies.hierarchy import Hierarchy, hierarchy_of
from upstream.errors import Problem


def read_hierarchy(path: Path, name: str | None = None) -> Hierarchy:
    """Read a hierarchy from a file.

    Args:
        path: A CSV file in UTF-8 whose separator is a semicolon.
        name: What it is called in messages; the file's name, if None.

    Raises:
        HierarchyError: It cannot be read, or is no hierarchy; every problem with its
            line.
    """
    name = name or path.name
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _refused(name, "save the file as UTF-8") from error
    except OSError as error:
        sentence = f"cannot be read ({error.strerror}): check the name"
        raise _refused(name, sentence) from error
    return hierarchy_of_text(text, name)


def hierarchy_of_text(text: str, name: str) -> Hierarchy:
    """Return the hierarchy that a file's text says.

    Raises:
        HierarchyError: As of ``read_hierarchy``.

    >>> hierarchy_of_text("25;20-29;*", "age").height
    2
    """
    try:
        rows = list(csv.reader(StringIO(text, newline=""), delimiter=";", strict=True))
    except csv.Error as error:
        raise _refused(name, f"no plain CSV ({error}): mend the quotes") from error
    while rows and not rows[-1]:
        rows.pop()
    return hierarchy_of(name, rows)


def _refused(name: str, sentence: str) -> HierarchyError:
    return HierarchyError((Problem(name, None, None, sentence),))
