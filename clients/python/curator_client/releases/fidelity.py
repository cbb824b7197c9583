"""How well made-up rows follow a release, by its own noisy numbers alone."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from curator_client.releases.synthetic import likely_counts
from curator_client.tables.listing import Listing

if TYPE_CHECKING:
    from curator_client.answers.release_answer import ReleaseAnswer

MOST_GROUPS = 10_000  # that one answer of a release has
TITLES = ("columns", "groups", "distance", "by_chance", "noise", "outside")
NOTE = (
    "compared with the release's noisy numbers alone, so it costs nothing and says "
    "nothing of the rows behind them: a score against those is computed from people's "
    "data, and must be paid for as any answer"
)
Key = tuple[str, ...]


@dataclass(frozen=True)
class _Group:
    """What the release says of one group."""

    estimate: float
    half_width: float
    low: float
    high: float


def report(rows: list[list[Any]], skipped: list[str]) -> Listing:
    """Return the report; what was not compared is named under it."""
    left = f"; too many groups to compare: {'; '.join(skipped)}" if skipped else ""
    return Listing(list(TITLES), rows, NOTE + left)


def compared(
    name: str,
    answer: ReleaseAnswer,
    made_up: Iterable[tuple[Any, ...]],
    *,
    has_null: bool = True,
) -> list[Any]:
    """Return one line of the report.

    Args:
        name: Of the columns that are compared.
        answer: Their counts by the release, with the measure ``n`` last.
        made_up: Their values in each made-up row.
        has_null: Whether NULL is a value; else whatever has one is left out.
    """
    groups = _groups(answer)
    drawn = Counter(map(key_of, made_up))
    if not has_null:
        groups = {key: group for key, group in groups.items() if "" not in key}
    likely = dict(
        zip(groups, likely_counts([g.estimate for g in groups.values()]), strict=True)
    )
    total, size = sum(likely.values()), drawn.total()
    if total <= 0 or size == 0:
        return [name, len(groups), None, None, None, None]
    shares = {key: count / total for key, count in likely.items()}
    known = shares.keys() | drawn.keys()
    apart = sum(abs(shares.get(k, 0.0) - drawn[k] / size) for k in known) / 2
    noise = sum(group.half_width for group in groups.values()) / (2 * total)
    outside = sum(
        not group.low <= drawn[key] * total / size <= group.high
        for key, group in groups.items()
    )
    drawing = distance_of_draws(list(shares.values()), size)
    rounded = [round(value, 4) for value in (apart, drawing, min(noise, 1.0))]
    return [name, len(groups), *rounded, outside]


def distance_of_draws(shares: list[float], size: int) -> float:
    """Return how far draws from these very shares lie from them, about.

    Half the sum of the mean absolute errors of each share, by the normal curve.

    >>> round(distance_of_draws([0.5, 0.5], 10_000), 4)
    0.004
    """
    spread = sum(math.sqrt(share * (1 - share)) for share in shares)
    return spread * math.sqrt(2 / (math.pi * size)) / 2


def key_of(values: Iterable[Any]) -> Key:
    """Return values as texts, alike in a data frame and in an answer.

    >>> key_of([3.0, None, float("nan"), True, "F"])
    ('3', '', '', 'true', 'F')
    """
    return tuple(map(_text, values))


def _text(value: Any) -> str:
    if value is None or value != value:  # noqa: PLR0124 - NaN is not itself
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    is_whole = isinstance(value, float) and value.is_integer()
    return str(int(value)) if is_whole else str(value)


def _groups(answer: ReleaseAnswer) -> dict[Key, _Group]:
    widths = answer.row_half_widths["n"]
    ends = answer.interval("n")
    return {
        key_of(row[:-1]): _Group(float(row[-1]), float(width), *_floats(pair))
        for row, width, pair in zip(answer.rows, widths, ends, strict=True)
    }


def _floats(pair: Any) -> tuple[float, float]:
    low, high = pair
    return (
        -math.inf if low is None else float(low),
        math.inf if high is None else float(high),
    )
