"""A published tree as a picture: each path as wide as it has sequences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from curator_client.exports import optional
from curator_client.trees import ENDED, NOT_KNOWN, ROOT

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

_SIZE_INCHES = (7.2, 3.6)
_LETTER = 0.016  # of the width; narrower paths have no room for their name
_LEGEND = 16  # symbols
_COLOURS = ("C0", "C1", "C2", "C3", "C4", "C5", "C6", "C8", "C9")  # no grey
_SHADES = {ENDED: "0.75", NOT_KNOWN: "0.92"}


def draw_tree(paths: pd.DataFrame, depth: int, ax: Axes | None) -> Axes:
    """Draw the first steps, one row each, downwards; parents above their children."""
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
    ax.set_xlim(0, 1)
    ax.set_yticks(range(1, depth + 1), [f"step {n}" for n in range(1, depth + 1)])
    ax.invert_yaxis()
    ax.set_xlabel("share of all sequences (estimated)")
    ax.set_title("grey: ended; pale: goes on, not known how", fontsize="small")
    return ax


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
