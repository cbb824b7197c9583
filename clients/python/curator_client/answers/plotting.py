"""Bars with intervals, by matplotlib."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Any, Protocol

from curator_client.tables.exports import optional

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_LABELS = 40
_MANY_LABELS = 6
_MOST_TICKS = 20
_LONG_LABEL = 8  # characters; longer ones are slanted
_SIZE_INCHES = (6.4, 3.2)  # of one measure


class Answer(Protocol):
    """What is drawn: an answer's rows, and how far each measure may be off."""

    @property
    def columns(self) -> list[dict[str, Any]]:
        """The columns: name, kind (group or measure), type, unit."""

    @property
    def rows(self) -> list[list[Any]]:
        """The rows, in column order."""

    @property
    def groups(self) -> list[str]:
        """The names of the group columns."""

    @property
    def measures(self) -> list[str]:
        """The names of the measured columns."""

    @property
    def half_widths(self) -> dict[str, float]:
        """The 95 % half-width of each count and sum."""

    @property
    def hide_below(self) -> int | None:
        """Counts below it are not shown to others."""

    def interval(self, column: str) -> list[tuple[str | None, str | None] | None]:
        """Return the 95 % interval of each row of a measure."""

    def is_small(self, value: object) -> bool:
        """Whether a count lies under the custodian's display rule."""


def draw(answer: Answer, measure: str | None, ax: Axes | None) -> Axes | list[Axes]:
    """Draw one measure, or all of them one below another."""
    measures = answer.measures if measure is None else [measure]
    if ax is not None and len(measures) != 1:
        message = f"name the measure to draw on these axes: {', '.join(measures)}"
        raise ValueError(message)
    axes = [ax] if ax is not None else _new_axes(len(measures))
    for name, each in zip(measures, axes, strict=True):
        _draw_measure(answer, name, each)
    return axes[0] if len(axes) == 1 else axes


def _new_axes(count: int) -> list[Axes]:
    pyplot = optional("matplotlib.pyplot", "plot()")
    wide, high = _SIZE_INCHES
    _, axes = pyplot.subplots(
        count,
        squeeze=False,
        figsize=(wide, high * count),
        layout="constrained",
    )
    return [row[0] for row in axes]


def _draw_measure(answer: Answer, measure: str, ax: Axes) -> None:
    ends = answer.interval(measure)
    place = [str(column["name"]) for column in answer.columns].index(measure)
    values = [row[place] for row in answer.rows]
    (column,) = [c for c in answer.columns if c["name"] == measure]
    drawn = [i for i, value in enumerate(values) if value is not None]
    heights = [_position(values[i]) for i in drawn]
    held = [(i, e) for i, e in enumerate(ends) if e is not None and i in drawn]
    known = [_position(end) for _, e in held for end in e if end is not None]
    farthest = [*known, *heights]
    lows = [min(farthest) if e[0] is None else _position(e[0]) for _, e in held]
    highs = [max(farthest) if e[1] is None else _position(e[1]) for _, e in held]
    if column["unit"] or measure in answer.half_widths:
        _draw_bars(answer, ax, drawn, values)
    else:
        ax.plot(drawn, heights, "o", color="C0")
    ax.vlines([i for i, _ in held], lows, highs, color="0.2", linewidth=1.2)
    _label(answer, ax, measure, column)


def _draw_bars(answer: Answer, ax: Axes, drawn: list[int], values: list[Any]) -> None:
    bars = ax.bar(drawn, [float(values[i]) for i in drawn], color="C0", alpha=0.75)
    small = [answer.is_small(values[i]) for i in drawn]
    for bar, hatched in zip(bars, small, strict=True):
        if hatched:
            bar.set(hatch="///", facecolor="white", edgecolor="C0")
    ax.axhline(0, color="0.5", linewidth=0.8)
    if any(small):
        ax.plot(
            [],
            [],
            "s",
            markerfacecolor="white",
            color="C0",
            label=f"below {answer.hide_below}: pass on as such",
        )
        ax.legend(fontsize="small", loc="upper left", bbox_to_anchor=(1, 1))


def _position(value: Any) -> Any:
    """Return where a value lies on its axis: a number, or a day."""
    try:
        return float(value)
    except ValueError:
        return date.fromisoformat(str(value)[:10])


def _label(answer: Answer, ax: Axes, measure: str, column: dict[str, Any]) -> None:
    names = answer.groups
    titles = [str(c["name"]) for c in answer.columns]
    places = [titles.index(name) for name in names]
    labels = [", ".join(_key(row[p]) for p in places) for row in answer.rows]
    step = -(-max(len(labels), 1) // _MOST_LABELS)
    ticks = range(0, len(labels), step)
    slanted = len(labels) > _MANY_LABELS or any(
        len(label) > _LONG_LABEL for label in labels
    )
    ax.set_xticks(
        list(ticks),
        [labels[i] for i in ticks],
        rotation=30 if slanted else 0,
        ha="right" if slanted else "center",
    )
    ax.set_xlabel(", ".join(names))
    ax.set_ylabel(f"{measure} ({column['unit']})" if column["unit"] else measure)
    ax.set_title("noisy, with 95 % intervals of the noise", fontsize="small")


def _key(value: object) -> str:
    return "NULL" if value is None else str(value)


def draw_heatmap(answer: Answer, ax: Axes | None) -> Axes:
    """Draw the counts over two groups as shades, the first group downwards."""
    axes = _new_axes(1)[0] if ax is None else ax
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
