"""Windows over the rows of an answer: sums so far, shares of a total, ranks.

They read what is shown and nothing else: they cost nothing (docs/proofs/computed.md).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Final

from query_lang.plans.compiled import (
    DependentShown,
    KeyShown,
    NamedTotal,
    Operation,
    OrderTerm,
    WindowShown,
)
from query_lang.showing.arithmetic import Number, exact_column
from query_lang.showing.cells import CellValues, ShownValue
from query_lang.showing.noisy_conditions import truths

ENDS: Final = frozenset({"first_value", "last_value"})
"""What reads one row of its frame."""

EXTREMES: Final = {"max": Operation.GREATEST, "min": Operation.LEAST}
"""What is the greatest or the least of its frame."""

SortKey = tuple[bool, int | Decimal]
"""Whether it is NULL, in the way that it sorts; and its place on its line."""


def sort_keys(term: OrderTerm, values: CellValues) -> list[SortKey]:
    """Return what each cell is sorted by; a reversed sort turns NULL's place too."""
    found = values.column(term.value)
    null_is_greatest = term.nulls_first == term.descending
    if isinstance(term.value, KeyShown | NamedTotal):
        ranks = {value: rank for rank, value in enumerate(dict.fromkeys(found))}
        found = tuple(None if value is None else ranks[value] for value in found)
    if isinstance(term.value, DependentShown):
        ranks = {value: rank for rank, value in enumerate(term.value.listed)}
        found = tuple(None if value is None else ranks.get(value) for value in found)
    return [((value is None) == null_is_greatest, _place(value)) for value in found]


def _place(value: ShownValue) -> int | Decimal:
    """Return where a number or a day lies on its line."""
    if isinstance(value, date):
        return value.toordinal()
    return value if isinstance(value, int | Decimal) else 0


def window_numbers(shown: WindowShown, values: CellValues) -> list[Number]:
    """Return what a window is in each cell, exact; NULL where HAVING leaves it out."""
    found: list[Number] = [None] * len(values.cells)
    taken = _Taken()
    if shown.operand is not None:
        column = exact_column(shown.operand, values.column, len(values.cells))
        taken = _Taken.of(column)
    for window in windows(shown, values):
        for place, cell in enumerate(window.cells):
            found[cell] = _value(shown, window, place, taken)
    return found


class Window:
    """The cells of one partition, in order, and where ties begin and end."""

    def __init__(self, cells: Sequence[int], ties: Sequence[object]) -> None:
        self.cells = cells
        self.first: list[int] = []
        self.number: list[int] = []
        for place, tie in enumerate(ties):
            same = place > 0 and tie == ties[place - 1]
            self.first.append(self.first[-1] if same else place)
            self.number.append(self.number[-1] + (not same) if place else 1)
        self.last = [0] * len(cells)
        for place in reversed(range(len(cells))):
            ends = place + 1 == len(cells) or self.first[place + 1] == place + 1
            self.last[place] = place if ends else self.last[place + 1]

    def frame(self, shown: WindowShown, place: int) -> Sequence[int]:
        """Return the cells that the row at a place reads, in order."""
        match shown.name:
            case "lag" | "lead":
                other = place + (
                    shown.offset if shown.name == "lead" else -shown.offset
                )
                return self.cells[other : other + 1] if other >= 0 else ()
            case "row_number" | "rank" | "dense_rank":
                return ()
            case _:
                start, end = shown.frame
                first = 0 if start is None else max(0, place + start)
                last = len(self.cells) - 1 if end is None else place + end
                if not shown.is_by_rows and end == 0:
                    last = self.last[place]
                return self.cells[first : max(first, last + 1)]


def windows(shown: WindowShown, values: CellValues) -> list[Window]:
    """Return the partitions of the rows that stay, each in its order."""
    cells = range(len(values.cells))
    if shown.rows is not None:
        kept = truths(shown.rows, values)
        kept_cells = [cell for cell in cells if kept[cell] is True]
    else:
        kept_cells = list(cells)
    keys = [values.column(key) for key in shown.partition]
    parts: dict[tuple[ShownValue, ...], list[int]] = {}
    for cell in kept_cells:
        parts.setdefault(tuple(key[cell] for key in keys), []).append(cell)
    orders = [(sort_keys(term, values), term.descending) for term in shown.order]
    for part in parts.values():
        for order, descending in reversed(orders):
            part.sort(key=order.__getitem__, reverse=descending)
    return [
        Window(part, [tuple(order[cell] for order, _ in orders) for cell in part])
        for part in parts.values()
    ]


@dataclass(frozen=True, slots=True)
class _Taken:
    """What a window reads in each cell, on one grid: whole numbers are added fast."""

    steps: Sequence[int | None] = ()
    steps_a_unit: int = 1

    @classmethod
    def of(cls, column: Sequence[Number]) -> "_Taken":
        """Lay numbers on their coarsest common grid."""
        finest = math.lcm(*(one.denominator for one in column if one is not None))
        steps = [
            None if one is None else one.numerator * (finest // one.denominator)
            for one in column
        ]
        return cls(steps, finest)


def _value(shown: WindowShown, window: Window, place: int, taken: _Taken) -> Number:
    numbered: Mapping[str, int] = {
        "row_number": place + 1,
        "rank": window.first[place] + 1,
        "dense_rank": window.number[place],
    }
    if shown.name in numbered:
        return Fraction(numbered[shown.name])
    read = [taken.steps[cell] for cell in window.frame(shown, place)]
    if shown.name in ENDS:
        read = read[:1] if shown.name == "first_value" else read[-1:]
    held = [value for value in read if value is not None]
    if not held:
        return None
    if shown.name in EXTREMES:
        most = max(held) if shown.name == "max" else min(held)
        return Fraction(most, taken.steps_a_unit)
    total = Fraction(sum(held), taken.steps_a_unit)
    return total / len(held) if shown.name == "avg" else total
