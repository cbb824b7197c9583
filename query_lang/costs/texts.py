"""What functions of texts cost a row, and how wide their texts are."""

from collections.abc import Mapping
from typing import Final

from query_lang.costs.constants import (
    BYTES_A_STEP,
    FOLD_STEPS,
    FOLDED_BYTE_STEPS,
    MATCH_STEPS,
    MATCHED_BYTE_STEPS,
    PART_STEPS,
    PARTED_BYTE_STEPS,
    REPLACE_STEPS,
    REPLACED_BYTE_STEPS,
    SEARCHED_BYTE_STEPS,
    TRIM_STEPS,
    TRIMMED_BYTE_STEPS,
)
from query_lang.plans.expressions import Call, Function
from query_lang.syntax.automata import Reading, reading_of
from query_lang.syntax.patterns import read_back

STEPS: Final[Mapping[Function, tuple[int, int]]] = {
    **dict.fromkeys((Function.UPPER, Function.LOWER), (FOLD_STEPS, FOLDED_BYTE_STEPS)),
    **dict.fromkeys(
        (Function.TRIM, Function.LTRIM, Function.RTRIM),
        (TRIM_STEPS, TRIMMED_BYTE_STEPS),
    ),
    Function.SUBSTRING: (PART_STEPS, PARTED_BYTE_STEPS),
    Function.RIGHT: (PART_STEPS, PARTED_BYTE_STEPS),
    Function.LENGTH: (PART_STEPS, PARTED_BYTE_STEPS),
    Function.REPLACE: (REPLACE_STEPS, REPLACED_BYTE_STEPS),
    Function.STRPOS: (PART_STEPS, SEARCHED_BYTE_STEPS),
    Function.CONCAT: (PART_STEPS, BYTES_A_STEP),
    Function.MATCHES: (MATCH_STEPS, MATCHED_BYTE_STEPS),
}
"""Of a text, and of each of its bytes."""


def reading_as_written(call: Call) -> Reading:
    """Return what a call of MATCHES keeps and makes while it reads."""
    pattern = read_back(str(call.parameters[0]))
    reading = reading_of(pattern)
    if reading is None:
        message = "a pattern of too many states was bound"
        raise AssertionError(message)
    return reading
