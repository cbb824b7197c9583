"""Bars, points and lines with their intervals, on one pair of axes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from curator_client.plots.layout import Layout, Panel, Series
from curator_client.plots.points import Measured, Point

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_WIDTH = 0.8  # of the bars of one group
_DARK = "0.2"
_MOST_MARKED = 60  # points of a line


def draw_bars(ax: Axes, layout: Layout, panel: Panel, what: Measured) -> None:
    """Draw a bar a group, or a point, upright or lying, and the interval of each."""
    width = _WIDTH / len(panel.series)
    held: list[tuple[float, Point]] = []
    for number, series in enumerate(panel.series):
        aside = (number - (len(panel.series) - 1) / 2) * width
        places = [(place + aside, row) for place, row in _all(series)]
        drawn = list(_drawn(places, what))
        held += drawn
        _mark(ax, layout, what, (f"C{number}", series.label, width, drawn))
    between = ax.hlines if layout.is_lying else ax.vlines
    between(*_ends(held), color=_DARK, linewidth=1.2)
    if what.is_filled:
        (ax.axvline if layout.is_lying else ax.axhline)(0, color="0.5", linewidth=0.8)
    side, axis = (ax.set_ylim, "y") if layout.is_lying else (ax.set_xlim, "x")
    ends_at = max(len(layout.axis.values), 1) - 0.5
    side((ends_at, -0.5) if axis == "y" else (-0.5, ends_at))


def _mark(
    ax: Axes,
    layout: Layout,
    what: Measured,
    series: tuple[str, str, float, list[tuple[float, Point]]],
) -> None:
    color, label, width, drawn = series
    places = [place for place, _ in drawn]
    values = [one.value for _, one in drawn]
    named: dict[str, Any] = {"label": label} if label else {}
    if not what.is_filled:
        pair = (values, places) if layout.is_lying else (places, values)
        ax.plot(*pair, "o", color=color, **named)
        return
    bar = ax.barh if layout.is_lying else ax.bar
    bars = bar(places, values, width, color=color, alpha=0.75, **named)
    for each, (_, one) in zip(bars, drawn, strict=True):
        if one.is_small:
            each.set(hatch="///", facecolor="white", edgecolor=color)


def draw_lines(ax: Axes, panel: Panel, what: Measured) -> None:
    """Draw a line a series with the band of its intervals; NULL as a point beyond."""
    for number, series in enumerate(panel.series):
        color = f"C{number}"
        label: dict[str, Any] = {"label": series.label} if series.label else {}
        for stretch in _stretches(series.places, what):
            _draw_stretch(ax, stretch, color, label)
            label = {}
        if series.null is not None:
            _draw_null(ax, series.null, what, color)
        small = [each for each in _drawn(_all(series), what) if each[1].is_small]
        places, points = zip(*small, strict=True) if small else ((), ())
        values = [one.value for one in points]
        ax.plot(places, values, "o", color=color, markerfacecolor="white", markersize=4)


def _draw_stretch(
    ax: Axes, stretch: Sequence[tuple[float, Point]], color: str, label: dict[str, Any]
) -> None:
    places = [place for place, _ in stretch]
    marker = "o" if len(places) <= _MOST_MARKED else None
    values = [one.value for _, one in stretch]
    ax.plot(places, values, color=color, marker=marker, markersize=3, **label)
    held, lows, highs = _ends(stretch)
    if len(held) == 1:
        ax.vlines(held, lows, highs, color=color, alpha=0.5)
    else:
        ax.fill_between(held, lows, highs, color=color, alpha=0.2, linewidth=0)


def _ends(
    places: Iterable[tuple[float, Point]],
) -> tuple[list[float], list[float], list[float]]:
    """Return where intervals stand, and their ends; of points that have one."""
    held = [
        (place, one.low, one.high)
        for place, one in places
        if one.low is not None and one.high is not None
    ]
    return [p for p, _, _ in held], [low for _, low, _ in held], [h for *_, h in held]


def _draw_null(ax: Axes, null: tuple[float, int], what: Measured, color: str) -> None:
    for place, one in _drawn([null], what):
        ax.plot([place], [one.value], "o", color=color, markersize=4)
        ax.vlines(*_ends([(place, one)]), color=color, alpha=0.5)


def _stretches(
    places: Sequence[tuple[float, int]], what: Measured
) -> Iterator[list[tuple[float, Point]]]:
    """Yield what a line joins: it ends where a number is NULL."""
    there = groupby(places, key=lambda each: what.points[each[1]] is not None)
    for is_there, group in there:
        if is_there:
            yield list(_drawn(list(group), what))


def _all(series: Series) -> list[tuple[float, int]]:
    return [*series.places, *([series.null] if series.null is not None else [])]


def _drawn(
    places: Sequence[tuple[float, int]], what: Measured
) -> Iterator[tuple[float, Point]]:
    for place, row in places:
        point = what.points[row]
        if point is not None:
            yield place, point
