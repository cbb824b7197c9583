"""A doubtful pair on a terminal: both records, and a chart of match weights."""

from collections.abc import Sequence
from typing import Final

from server.cli.terminal.output import write
from server.use_cases.linkage.replies import DoubtDetail, StepShape

_BAR: Final = 20  # characters on each side of nothing
_WIDEST: Final = 40  # characters of a value


def print_doubt(doubt: DoubtDetail) -> None:
    """Print a pair: what differs stands in brackets, weights are bars of bits."""
    left, right = doubt["records"]
    write(
        f"pair {doubt['left']}-{doubt['right']}: probability or score "
        f"{doubt['score']:.3f}, weight {doubt['weight']:+.1f}; doubtful: "
        f"{doubt['reason']}; {doubt['state']}"
    )
    for one in (left, right):
        write(
            f"  record {one['record']}: {one['source']} {one['id']}, "
            f"patient {one['patient']}"
        )
    most = max((abs(one["weight"]) for one in doubt["steps"]), default=1.0)
    rows = [_row(one, most) for one in doubt["steps"]]
    widths = [max(len(row[n]) for row in rows) for n in range(4)] if rows else []
    for row in rows:
        told = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        write("  " + "  ".join([*told, row[4]]).rstrip())
    write(f"  prior {doubt['prior']:+.1f}")
    for opinion in doubt["opinions"]:
        undone = f", undone by {opinion['undone_by']}" if opinion["undone"] else ""
        write(
            f"  {opinion['created_by']}: {opinion['verdict']} "
            f"({opinion['decision']}{undone})"
        )


def _row(step: StepShape, most: float) -> tuple[str, str, str, str, str]:
    return (
        step["field"],
        _value(step["left"]),
        _value(step["right"]),
        step["level"],
        f"{step['weight']:+6.1f} {bar(step['weight'], most)}",
    )


def _value(segments: Sequence[tuple[str, bool]]) -> str:
    """Return a value with what differs in brackets."""
    told = "".join(f"[{text}]" if differs else text for text, differs in segments)
    return told if len(told) <= _WIDEST else told[: _WIDEST - 1] + "…"


def bar(weight: float, most: float) -> str:
    """Return a bar of a weight: to the right for a match, to the left against it.

    >>> bar(5, 10).strip(), len(bar(-5, 10))
    ('|##########', 21)
    """
    size = round(_BAR * min(1.0, abs(weight) / (most or 1.0)))
    if weight >= 0:
        return " " * _BAR + "|" + "#" * size
    return ("-" * size).rjust(_BAR) + "|"
