"""Pictures of an answer: the axes that it needs, and what stands around them."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from curator_client.plots.labels import cut_to, named_across, named_downwards
from curator_client.plots.layout import Layout, layout_of
from curator_client.plots.marks import draw_bars, draw_lines
from curator_client.plots.points import Answer, Measured, measured
from curator_client.tables.exports import optional

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_WIDE_INCHES, _HIGH_INCHES = 6.4, 3.2  # of one measure
_PANEL_INCHES = (3.2, 2.4)
_BAR_INCHES = 0.22
_AROUND_INCHES = 0.9  # of lying bars: the axis, its name and the title
_MOST_ACROSS = 3  # panels
_LETTERS_PER_INCH = 13  # of small print
_FEW_TICKS = 4

Panels = list[list["Axes"]]
"""The axes of each measure, a panel each."""


def draw(
    answer: Answer, measure: str | None, ax: Axes | None, *, as_bars: bool = False
) -> Axes | list[Axes]:
    """Draw one measure, or all of them one below another.

    Args:
        answer: What is drawn.
        measure: One measure, or None for all of them.
        ax: Axes to draw one measure on, or None for new ones.
        as_bars: No group is joined to the next by a line.

    Returns:
        The axes, or a list of them where there are several measures or panels.
    """
    measures = answer.measures if measure is None else [measure]
    if ax is not None and len(measures) != 1:
        message = f"name the measure to draw on these axes: {', '.join(measures)}"
        raise ValueError(message)
    every = [measured(answer, name) for name in measures]
    layout = layout_of(answer, alone=ax is not None, as_bars=as_bars)
    axes = [[ax]] if ax is not None else _new_axes(layout, len(every))
    for what, row in zip(every, axes, strict=True):
        _draw_measure(answer, layout, what, row)
    if axes and ax is None:
        _say_above(axes, [_held(answer), *layout.left_out])
    elif ax is not None:
        said = "\n".join([_held(answer), *layout.left_out])
        ax.set_title(said, fontsize="small")
    _name_places(layout, axes)
    flat = [each for row in axes for each in row]
    return flat[0] if len(flat) == 1 else flat


def _held(answer: Answer) -> str:
    percent = f"{100 * float(answer.confidence):g}"
    return f"noisy, with {percent} % intervals of the noise"


def _across(layout: Layout) -> int:
    count = len(layout.panels)
    return 2 if count in {2, 4} else min(count, _MOST_ACROSS)


def _new_axes(layout: Layout, measures: int) -> Panels:
    """Return new axes for each measure, in rows of panels."""
    pyplot = optional("matplotlib.pyplot", "plot()")
    across = _across(layout)
    down = math.ceil(len(layout.panels) / across)
    wide, high = _size_of_panel(layout)
    _, grid = pyplot.subplots(
        down * measures,
        across,
        squeeze=False,
        figsize=(wide * across, high * down * measures),
        layout="constrained",
    )
    found = []
    for number in range(measures):
        rows = grid[number * down : (number + 1) * down]
        axes = [each for row in rows for each in row]
        for unused in axes[len(layout.panels) :]:
            unused.remove()
        found.append(axes[: len(layout.panels)])
    return found


def _size_of_panel(layout: Layout) -> tuple[float, float]:
    """Return the inches that one pair of axes has across and down."""
    one = len(layout.panels) == 1
    wide, high = (_WIDE_INCHES, _HIGH_INCHES) if one else _PANEL_INCHES
    if layout.is_lying:
        high = max(_AROUND_INCHES + _BAR_INCHES * layout.bars, high / 2)
        wide = max(wide, _PANEL_INCHES[0] + 0.6)
    return wide, high


def _draw_measure(
    answer: Answer, layout: Layout, what: Measured, axes: Sequence[Axes]
) -> None:
    for panel, ax in zip(layout.panels, axes, strict=True):
        if layout.axis.is_ordered:
            draw_lines(ax, panel, what)
        else:
            draw_bars(ax, layout, panel, what)
        _name_axes(layout, what, ax)
        if panel.title:
            ax.set_title(panel.title, fontsize="small")
    if len(axes) > 1:
        _share_scale(layout, axes)
        _only_outside(axes, _across(layout))
    _legend(answer, layout, what, axes[min(_across(layout), len(axes)) - 1])


def _name_axes(layout: Layout, what: Measured, ax: Axes) -> None:
    values, keys = (ax.xaxis, ax.yaxis) if layout.is_lying else (ax.yaxis, ax.xaxis)
    if what.is_dated:
        dates = optional("matplotlib.dates", "plot()")
        locator = dates.AutoDateLocator(minticks=2, maxticks=_FEW_TICKS)
        values.set_major_locator(locator)
        values.set_major_formatter(dates.ConciseDateFormatter(locator))
    elif layout.is_lying:
        ticker = optional("matplotlib.ticker", "plot()")
        values.set_major_locator(ticker.MaxNLocator(_FEW_TICKS))
    values.set_label_text(what.title)
    keys.set_label_text(layout.axis.name)
    keys.set_ticks([])  # named when it is known how much room there is


def _share_scale(layout: Layout, axes: Sequence[Axes]) -> None:
    """Give all panels of a measure one scale, so that they may be compared."""
    name = "xlim" if layout.is_lying else "ylim"
    ends = [getattr(ax, f"get_{name}")() for ax in axes]
    for ax in axes:
        getattr(ax, f"set_{name}")(min(e[0] for e in ends), max(e[1] for e in ends))


def _only_outside(axes: Sequence[Axes], across: int) -> None:
    """Name the axes of the outer panels alone."""
    for place, ax in enumerate(axes):
        if place % across:
            ax.set_ylabel("")
        if place + across < len(axes):
            ax.set_xlabel("")


def _legend(answer: Answer, layout: Layout, what: Measured, ax: Axes) -> None:
    handles, labels = ax.get_legend_handles_labels()
    if any(point is not None and point.is_small for point in what.points):
        (small,) = ax.plot([], [], "s", markerfacecolor="white", color="C0")
        handles, labels = [*handles, small], [*labels, _pass_on(answer)]
    if handles:
        ax.legend(
            handles,
            labels,
            title=layout.by or None,
            fontsize="small",
            title_fontsize="small",
            loc="upper left",
            bbox_to_anchor=(1, 1),
        )


def _pass_on(answer: Answer) -> str:
    return f"below {answer.hide_below}: pass on as such"


def _say_above(axes: Panels, sentences: Sequence[str]) -> None:
    """Write sentences above all axes, in lines as long as the figure is wide."""
    figure: Any = axes[0][0].figure
    room = int(figure.get_figwidth() * _LETTERS_PER_INCH)
    lines = [line for said in sentences for line in textwrap.wrap(said, room)]
    figure.suptitle("\n".join(lines), fontsize="small")


def _name_places(layout: Layout, axes: Panels) -> None:
    """Name the groups, as many as have room, where the layout has settled."""
    names = named_downwards if layout.is_lying else named_across
    key = layout.axis
    for row in axes:
        if not layout.is_lying:
            break
        for ax in row:  # labels take room from the axes: they stand there first
            ax.set_yticks(key.positions, key.labels)
    for figure in {ax.figure.figure for row in axes for ax in row}:
        figure.draw_without_rendering()
    for row in axes:
        for ax in row:
            names(ax, key.positions, key.labels)
            cut_to(ax.title, ax.get_window_extent().width)
