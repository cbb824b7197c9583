"""Which groups stand on which axes: bars, grouped bars, lines, or a panel a value."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace

from curator_client.plots.keys import Key, keys_of, taken_as_one
from curator_client.plots.points import Answer
from curator_client.tables.display import shortened

_MOST_BARS = 40
_MOST_SIDE_BY_SIDE = 4  # bars of one group
_MOST_LINES = 6
_MOST_PANELS = 12
_MOST_UPRIGHT = 12  # bars; more of them lie
_UPRIGHT_LETTERS = 50  # of labels beside one another; more of them lie, too
_TITLE_LETTERS = 60  # at most; what is wider than its axes is cut

Places = Sequence[tuple[float, int]]
"""Of each group its position on the axis, and the row that it is."""


@dataclass(frozen=True)
class Series:
    """The groups that have one colour.

    Attributes:
        label: The value of the key that tells series apart; empty where there is one.
        places: Its groups.
        null: The group whose key is NULL, beyond an ordered axis.
    """

    label: str
    places: Places
    null: tuple[float, int] | None = None


@dataclass(frozen=True)
class Panel:
    """What stands on one of several axes; the title is the value that it is of."""

    title: str
    series: Sequence[Series]


@dataclass(frozen=True)
class Layout:
    """How an answer's groups are drawn, whatever is measured of them.

    Attributes:
        axis: The key along the axis.
        by: The name of the key that colours tell apart; empty where none does.
        panels: One, or one for each value of a further key.
        left_out: Sentences on what is not drawn.
    """

    axis: Key
    by: str
    panels: Sequence[Panel]
    left_out: Sequence[str] = field(default_factory=list)

    @property
    def is_lying(self) -> bool:
        """Whether bars lie, with a label before each: many, or of long names."""
        labels = self.axis.labels
        room = _UPRIGHT_LETTERS // min(len(self.panels), 3)
        return not self.axis.is_ordered and (
            self.bars > _MOST_UPRIGHT or sum(map(len, labels)) > room
        )

    @property
    def bars(self) -> int:
        """How many bars stand beside one another."""
        return len(self.axis.values) * max(len(p.series) for p in self.panels)


def layout_of(answer: Answer, *, alone: bool, as_bars: bool = False) -> Layout:
    """Return how the groups of an answer are drawn.

    Args:
        answer: Its groups are drawn.
        alone: There is one pair of axes, so that there can be no panels.
        as_bars: No group is joined to the next by a line.
    """
    keys = keys_of(answer)
    if as_bars:
        keys = [replace(key, is_ordered=False) for key in keys]
    axis, by, panels = _roles(keys, len(answer.rows))
    if alone and panels:
        axis, by, panels = taken_as_one(keys, len(answer.rows)), None, []
    panel = _combined(panels)
    most = _MOST_LINES if axis.is_ordered else _MOST_SIDE_BY_SIDE
    shown_by = None if by is None else by.first(most)
    count = 1 if shown_by is None else len(shown_by.values)
    shown = axis if axis.is_ordered else axis.first(_MOST_BARS // count)
    shown_panel = None if panel is None else panel.first(_MOST_PANELS)
    pairs = ((axis, shown), (by, shown_by), (panel, shown_panel))
    return Layout(
        axis=shown,
        by="" if shown_by is None else shown_by.name,
        panels=_panels(shown, shown_by, shown_panel),
        left_out=[
            _left_out(key, len(few.values))
            for key, few in pairs
            if key is not None and few is not None
            if len(few.values) < len(key.values)
        ],
    )


def _roles(keys: Sequence[Key], count: int) -> tuple[Key, Key | None, list[Key]]:
    """Return the key along the axis, that of colours, and those of panels."""
    if not keys:
        return taken_as_one([], count), None, []
    axis = next((key for key in keys[:2] if key.is_ordered), keys[0])
    if len(keys) == 1:
        return axis, None, []
    by, *panels = [key for key in keys if key is not axis]
    most = _MOST_LINES if axis.is_ordered else _MOST_SIDE_BY_SIDE
    if len(by.values) > most >= len(axis.values) and not axis.is_ordered:
        axis, by = by, axis
    if len(by.values) > most and not panels:
        return axis, None, [by]
    return axis, by, panels


def _combined(keys: Sequence[Key]) -> Key | None:
    """Return keys as one that has each combination of their values once."""
    if len(keys) < 2:  # noqa: PLR2004 - one is one already
        return keys[0] if keys else None
    rows = list(zip(*(key.of_rows for key in keys), strict=True))
    return Key(", ".join(key.name for key in keys), list(dict.fromkeys(rows)), rows)


def _panels(axis: Key, by: Key | None, panel: Key | None) -> list[Panel]:
    if panel is None:
        return [Panel("", _series(axis, by, range(len(axis.of_rows))))]
    return [
        Panel(
            shortened(f"{panel.name}: {label}", _TITLE_LETTERS),
            _series(axis, by, _rows_with(panel, value)),
        )
        for value, label in zip(panel.values, panel.labels, strict=True)
    ]


def _series(axis: Key, by: Key | None, rows: Sequence[int]) -> list[Series]:
    if by is None:
        return [_one_series("", axis, rows)]
    return [
        _one_series(label, axis, [row for row in rows if by.of_rows[row] == value])
        for value, label in zip(by.values, by.labels, strict=True)
    ]


def _one_series(label: str, axis: Key, rows: Sequence[int]) -> Series:
    where = dict(zip(axis.values, axis.positions, strict=True))
    row_of = {axis.of_rows[row]: row for row in rows}
    found = {value: (where[value], row_of[value]) for value in where if value in row_of}
    null = found.pop(None, None) if axis.is_ordered else None
    return Series(label, list(found.values()), null)


def _rows_with(key: Key, value: Hashable) -> list[int]:
    return [row for row, own in enumerate(key.of_rows) if own == value]


def _left_out(key: Key, shown: int) -> str:
    total = len(key.values)
    name = key.name or "groups"
    left = f"{total - shown} {'is' if total - shown == 1 else 'are'} left out"
    return f"{name}: the first {shown} of {total} are drawn, {left}"
