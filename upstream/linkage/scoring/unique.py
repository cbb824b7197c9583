"""Fields of which two patients share a value by mistake alone: ids.

How often strangers share one is no question to the records: pairs that agree on an id
and on nothing else that is known are no less one patient's, and EM, which sees them in
the pass of the id alone, cannot say.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from upstream.linkage.comparing.levels import Comparison
from upstream.linkage.scoring.expectation import Learnt, Levels

MISTAKEN: Final = 0.002
"""How many of all other records bear a record's id by mistake, on the average."""
LEAST_M: Final = 0.05
"""How often two records of a patient bear one id, at least: it is there for that."""


def with_unique(
    found: Learnt, comparisons: Sequence[Comparison], values: Mapping[str, int]
) -> Learnt:
    """Return what was learnt, agreement on ids as what is known of ids says.

    Args:
        found: As it was learnt.
        comparisons: Of the fields, in order.
        values: How many records have a value, by field.
    """
    mistaken = {
        place: MISTAKEN / max(1, values[each.field])
        for place, each in enumerate(comparisons)
        if each.is_unique
    }
    likely = {place: max(float(found.m[place][0]), LEAST_M) for place in mistaken}
    return replace(
        found,
        m=_with_first(found.m, likely),
        u=_with_first(found.u, mistaken),
        family=_with_first(found.family, mistaken),
    )


def _with_first(levels: Levels, first: Mapping[int, float]) -> Levels:
    """Return levels with another probability of the best one, in some fields."""
    return [
        np.concatenate(([first[place]], own[1:])) if place in first else own
        for place, own in enumerate(levels)
    ]
