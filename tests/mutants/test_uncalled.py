import subprocess
import sys

import pytest

from tests.mutants.uncalled import PACKAGES, mark

MODULE = '''"""Says what it is."""

from __future__ import annotations

import functools
from typing import Protocol


class Shape(Protocol):
    def area(self): ...


class Square(Shape):
    def __init__(self, side): self.side = side

    @property
    def area(self):
        """Return the area."""
        return self.side**2

    def doubled(self):
        for _ in "x":
            return Square(2 * self.side)

    def _hidden(self):
        return 7


def wrapped(call):
    @functools.wraps(call)
    def called():
        return call()

    return called


async def later(): return 1


print(__doc__, wrapped(lambda: Square(3).area)())
'''


@pytest.fixture
def copy(tmp_path):
    for package in PACKAGES:
        (tmp_path / package).mkdir(parents=True)
        (tmp_path / package / "__init__.py").touch()
    (tmp_path / "privacy/shapes.py").write_text(MODULE)
    return tmp_path


def test_a_marked_copy_tells_which_public_functions_were_called(copy):
    functions = mark(copy, copy / "called.txt")
    done = subprocess.run(
        [sys.executable, "-m", "privacy.shapes"],
        cwd=copy,
        capture_output=True,
        text=True,
        check=True,
    )
    called = (copy / "called.txt").read_text().splitlines()
    assert done.stdout == "Says what it is. 9\n"
    assert [each.name for each in functions] == [
        *("Square.area", "Square.doubled", "wrapped", "later"),
    ]
    assert [each.name for each in functions if each.mark in called] == [
        *("Square.area", "wrapped"),
    ]
