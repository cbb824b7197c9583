"""What keyed hashes cost, and what the runs of hash tables do where there are none."""

from collections.abc import Iterable, Sequence

from query_lang.costs.amounts import Amount, Meter
from query_lang.costs.constants import (
    KEYED_BYTE_STEPS,
    KEYED_STEPS,
    KEYED_TEXT_STEPS,
    LISTED_STEPS,
    NUMBER_BYTES,
    RUN_STEPS,
)
from query_lang.plans.expressions import Facts
from query_lang.rendering.keyed_hashes import (
    is_digested,
    is_keyed,
    listed_texts,
    longest_run,
    may_crowd,
)

Sized = tuple[Facts, int]
"""What is known of a key, and its bytes."""


def looked_up(
    meter: Meter, construct: str, rows: Amount, most: int, keys: Sequence[Sized]
) -> int:
    """Count what rows take that one unit's values could delay; return a hash's bytes.

    Args:
        meter: Counts.
        construct: What looks up.
        rows: That are looked up, or put in.
        most: Rows that one unit has in the table.
        keys: By which, beside the unit key.
    """
    known = [facts for facts, _ in keys]
    if is_keyed(most, known):
        return hashed(meter, construct, rows, keys)
    walked(meter, construct, rows, longest_run(most, known))
    return 0


def walked(meter: Meter, construct: str, rows: Amount, run: int) -> None:
    """Count that each row walks past a run of so many places."""
    if may_crowd(run):
        meter.spend(construct, rows, RUN_STEPS * run)


def hashed(meter: Meter, construct: str, rows: Amount, keys: Iterable[Sized]) -> int:
    """Count the keyed hash of each row; return its bytes."""
    meter.spend(construct, rows, sum(_hash_steps(*key) for key in keys))
    return NUMBER_BYTES


def _hash_steps(facts: Facts, size: int) -> int:
    if is_digested(facts):
        return KEYED_TEXT_STEPS + KEYED_BYTE_STEPS * size
    return KEYED_STEPS + LISTED_STEPS * len(listed_texts(facts))
