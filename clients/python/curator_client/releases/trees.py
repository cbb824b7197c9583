"""Made-up sequences with the frequencies of a published tree."""

from __future__ import annotations

import random
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from curator_client.tables.exports import optional

if TYPE_CHECKING:
    import pandas as pd

ROOT, ENDED, NOT_KNOWN = "(all)", "(end)", "(not known)"
"""What the listed tree shows where a step is no symbol."""


def made_up_sequences(
    paths: pd.DataFrame, split: str | None, n: int | None, seed: int | None
) -> pd.DataFrame:
    """Return a row a symbol, drawn from the leaves' estimates alone."""
    pandas = optional("pandas", "synthetic()")
    leaves = leaves_of(paths)
    weights = [weight for weight, _, _ in leaves]
    total = round(sum(weights)) if n is None else n
    drawn: list[int] = []
    if total > 0 and any(weights):
        drawn = random.Random(seed).choices(  # noqa: S311 - sequences that are made up
            range(len(leaves)), cum_weights=list(accumulate(weights)), k=total
        )
    rows = [
        (number, leaves[leaf][1], place, symbol)
        for number, leaf in enumerate(drawn)
        for place, symbol in enumerate(leaves[leaf][2], 1)
    ]
    columns = ["sequence", split or "split", "place", "symbol"]
    frame: pd.DataFrame = pandas.DataFrame(rows, columns=columns)
    return frame if split else frame.drop(columns="split")


def symbols_of(rows: pd.DataFrame) -> list[tuple[str, ...]]:
    """Return the symbols of each made-up sequence, in order.

    Raises:
        ValueError: The rows are not those of ``made_up_sequences``.
    """
    missing = [name for name in ("sequence", "place", "symbol") if name not in rows]
    if missing:
        message = f"the rows have no column {', '.join(missing)}"
        raise ValueError(message)
    ordered = rows.sort_values(["sequence", "place"])
    found: dict[Any, list[str]] = {}
    numbers, symbols = ordered["sequence"].tolist(), ordered["symbol"].tolist()
    for number, symbol in zip(numbers, symbols, strict=True):
        found.setdefault(number, []).append(symbol)
    return [tuple(each) for each in found.values()]


def leaves_of(paths: pd.DataFrame) -> list[tuple[float, Any, tuple[str, ...]]]:
    """Return each leaf's weight, the split's value, and the symbols that lead to it."""
    parents = paths["parent"].tolist()
    symbols, weights = paths["symbol"].tolist(), paths["estimate"].tolist()
    places = {path: row for row, path in enumerate(paths["path"].tolist())}
    splits = paths["split"].tolist() if "split" in paths else [None] * len(paths)
    inner = set(parents)
    led: list[tuple[str, ...]] = []
    for row, symbol in enumerate(symbols):
        above = led[places[parents[row]]] if parents[row] in places else ()
        led.append(above if symbol in {ROOT, ENDED, NOT_KNOWN} else (*above, symbol))
    return [
        (max(float(weights[row]), 0.0), splits[row], led[row])
        for path, row in places.items()
        if path not in inner
    ]
