"""Labels on axes that do not lie over one another: their extents are measured."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from curator_client.tables.display import shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Text

_MOST = 60  # labels that are tried
_GAP_PIXELS = 5.0
_BEYOND = "NULL"
_MONTH = re.compile(r"\d{4}-\d\d")
_STEPS_OF_MONTHS = (1, 2, 3, 6, 12, 24, 60, 120)
_SHORTEST = 6  # letters of what is cut to its room


def named_across(ax: Axes, places: Sequence[float], labels: Sequence[str]) -> None:
    """Name places along the lower axis, as many as there is room for.

    A NULL at the end is named always. The figure must have been laid out, since that
    says how much room there is.
    """
    room = _widest(ax, labels) + _GAP_PIXELS
    at = [float(ax.transData.transform((place, 0.0))[0]) for place in places]
    _name(ax.xaxis, places, labels, _with_room(at, labels, room))


def named_downwards(ax: Axes, places: Sequence[float], labels: Sequence[str]) -> None:
    """Name places along the left axis, as many as there is room for."""
    room = float(ax.xaxis.label.get_fontsize()) * ax.figure.dpi / 72 * 1.2
    at = [-float(ax.transData.transform((0.0, place))[1]) for place in places]
    _name(ax.yaxis, places, labels, _with_room(at, labels, room))


def _name(
    axis: Any, places: Sequence[float], labels: Sequence[str], kept: Sequence[int]
) -> None:
    axis.set_ticks([places[n] for n in kept], [labels[n] for n in kept])


def _widest(ax: Axes, labels: Sequence[str]) -> float:
    """Return how many pixels the widest of the longest labels has."""
    longest = sorted(set(labels), key=len)[-_MOST:]
    written = [ax.text(0.0, 0.0, label, fontsize=_tick_size(ax)) for label in longest]
    width = max((each.get_window_extent().width for each in written), default=0.0)
    for each in written:
        each.remove()
    return float(width)


def _tick_size(ax: Axes) -> float:
    ticks = ax.get_xticklabels()
    return float(ticks[0].get_fontsize()) if ticks else 10.0


def _with_room(at: Sequence[float], labels: Sequence[str], room: float) -> list[int]:
    """Return every so-manieth place, so that so many pixels lie between two."""
    known = list(range(len(at)))
    beyond = [known.pop()] if labels and labels[-1] == _BEYOND else []
    are_months = all(map(_MONTH.fullmatch, (labels[n] for n in known)))
    for step in _STEPS_OF_MONTHS if are_months else itertools.count(1):
        kept = known[::step]
        while beyond and len(kept) > 1 and at[beyond[0]] - at[kept[-1]] < room:
            kept.pop()
        near = (b - a < room for a, b in itertools.pairwise([at[n] for n in kept]))
        if not any(near):
            return kept + beyond
    return known[:1] + beyond


def cut_to(text: Text, pixels: float) -> None:
    """Shorten a text until it is no wider than so many pixels."""
    whole = text.get_text()
    for most in range(len(whole) - 1, _SHORTEST, -1):
        if text.get_window_extent().width <= pixels:
            return
        text.set_text(shortened(whole, most))
