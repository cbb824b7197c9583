"""A published tree as a picture: each path as wide as it has sequences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from curator_client.releases.trees import ENDED, NOT_KNOWN, ROOT
from curator_client.tables.exports import optional

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

_SIZE_INCHES = (7.2, 3.6)
_LETTER = 0.016  # of the width; narrower paths have no room for their name
_LEGEND = 16  # symbols
_COLOURS = ("C0", "C1", "C2", "C3", "C4", "C5", "C6", "C8", "C9")  # no grey
_SHADES = {ENDED: "0.75", NOT_KNOWN: "0.92"}


def draw_tree(
    paths: pd.DataFrame, depth: int, split: str | None, ax: Axes | None
) -> Axes:
    """Draw the first steps, one row each, downwards; parents above their children.

    A split tree has a row above them: a box for each value, with a line down where the
    next one begins.
    """
    pyplot = optional("matplotlib.pyplot", "plot_tree()")
    if ax is None:
        _, ax = pyplot.subplots(figsize=_SIZE_INCHES, layout="constrained")
    steps = {symbol: n for n, symbol in enumerate(_symbols(paths))}
    for step, left, width, symbol in _boxes(paths, depth):
        shade = _SHADES.get(symbol) or _COLOURS[steps[symbol] % len(_COLOURS)]
        ax.barh(step, width, 0.92, left, color=shade, edgecolor="white", linewidth=0.3)
        if width >= _LETTER * len(symbol):
            ax.text(left + width / 2, step, symbol, ha="center", va="center", size=8)
    if len(steps) <= _LEGEND:
        for symbol, n in steps.items():
            ax.barh(1, 0, color=_COLOURS[n % len(_COLOURS)], label=symbol)
        ax.legend(fontsize="x-small", loc="center left", bbox_to_anchor=(1, 0.5))
    ticks = {n: f"step {n}" for n in range(1, depth + 1)}
    if split is not None:
        ticks = {0: split} | ticks
        _draw_groups(ax, paths, depth)
    ax.set_xlim(0, 1)
    ax.set_yticks(list(ticks), list(ticks.values()))
    ax.invert_yaxis()
    ax.set_xlabel("share of all sequences (estimated)")
    ax.set_title("grey: ended; pale: goes on, not known how", fontsize="small")
    return ax


def _draw_groups(ax: Axes, paths: pd.DataFrame, depth: int) -> None:
    """Draw which part of the picture is of which value of the split."""
    left = 0.0
    for value, width in _groups(paths):
        ax.barh(0, width, 0.6, left, color="white", edgecolor="0.4", linewidth=0.8)
        if width >= _LETTER * len(value):
            ax.text(left + width / 2, 0, value, ha="center", va="center", size=8)
        left += width
        if left < 1:
            ax.vlines(left, 0.3, depth + 0.5, color="0.2", linewidth=1)


def _groups(paths: pd.DataFrame) -> list[tuple[str, float]]:
    """Return each value of the split, and its share of all sequences."""
    roots = paths[paths["parent"] < 0]
    widths = [max(float(width), 0.0) for width in roots["estimate"].tolist()]
    total = sum(widths) or 1.0
    values = ["NULL" if v is None or v != v else str(v) for v in roots["split"]]  # noqa: PLR0124 - pandas' NaN
    return [(v, width / total) for v, width in zip(values, widths, strict=True)]


def _symbols(paths: pd.DataFrame) -> list[str]:
    known = dict.fromkeys(paths["symbol"].tolist())
    return [symbol for symbol in known if symbol not in {ROOT, *_SHADES}]


def _boxes(paths: pd.DataFrame, depth: int) -> list[tuple[int, float, float, Any]]:
    """Return step, left end, width and symbol of each path, in shares of all."""
    columns = (paths[name].tolist() for name in ("path", "parent", "symbol"))
    widths = dict(zip(paths["path"].tolist(), paths["estimate"].tolist(), strict=True))
    total = sum(width for path, width in widths.items() if path < _roots(paths)) or 1.0
    levels: dict[int, int] = {}
    ends: dict[int, float] = {}
    boxes = []
    begun = 0.0
    for path, parent, symbol in zip(*columns, strict=True):
        share = max(float(widths[path]), 0.0) / total
        if parent < 0:
            levels[path], ends[path] = 0, begun
            begun += share
            continue
        left, step = ends[parent], levels[parent] + 1
        ends[parent] += share
        levels[path], ends[path] = step, left
        if step <= depth and share > 0:
            boxes.append((step, left, share, symbol))
    return boxes


def _roots(paths: pd.DataFrame) -> int:
    return int((paths["parent"] < 0).sum())
