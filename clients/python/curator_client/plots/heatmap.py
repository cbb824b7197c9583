"""Counts over two groups as shades."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from curator_client.plots.points import Answer
from curator_client.tables.exports import optional

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_TICKS = 20
_SIZE_INCHES = (6.4, 3.2)


def draw_heatmap(answer: Answer, ax: Axes | None) -> Axes:
    """Draw the counts over two groups as shades, the first group downwards."""
    axes = _new_axes() if ax is None else ax
    down, across = answer.groups
    rows = list(dict.fromkeys(row[0] for row in answer.rows))
    columns = list(dict.fromkeys(row[1] for row in answer.rows))
    image = [[0.0] * len(columns) for _ in rows]
    for one, other, count in answer.rows:
        image[rows.index(one)][columns.index(other)] = float(count)
    shown = axes.imshow(image, aspect="auto", interpolation="nearest")
    axes.figure.colorbar(shown, ax=axes, label=answer.measures[0])
    _tick(axes.xaxis, columns)
    _tick(axes.yaxis, rows)
    axes.set_xlabel(across)
    axes.set_ylabel(down)
    return axes


def _new_axes() -> Axes:
    pyplot = optional("matplotlib.pyplot", "heatmap()")
    _, axes = pyplot.subplots(figsize=_SIZE_INCHES, layout="constrained")
    found: Axes = axes
    return found


def _tick(axis: Any, values: list[Any]) -> None:
    """Name the values, no more of them than can be read."""
    step = -(-len(values) // _MOST_TICKS)
    places = range(0, len(values), step)
    names = [
        "NULL" if values[place] is None else str(values[place]) for place in places
    ]
    axis.set_ticks(list(places), names)
    if axis.axis_name == "x" and any(len(name) > 2 for name in names):  # noqa: PLR2004 - two digits stand upright
        axis.set_tick_params(rotation=60)
