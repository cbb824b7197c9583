"""Records, pairs of them, and how sure it is that two are one patient's."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Record:
    """What one row of a source, or one document, says of a patient.

    Attributes:
        number: Names it in its linkage, for ever; from 1, by first appearance.
        source: The source's name.
        id: Names it in its source.
        values: As they were written, by field; a field without a value is missing.
    """

    number: int
    source: str
    id: str
    values: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Step:
    """What one field says about a pair.

    Attributes:
        field: The field.
        level: How well the values agree, in words: ``exact``, ``one letter differs``,
            ``day and month swapped``, ``missing``, ``different`` ...
        similarity: From 0 to 1; None where a value is missing.
        weight: Added to the match weight, in bits; of a weighted sum its part of it.
    """

    field: str
    level: str
    similarity: float | None
    weight: float


@dataclass(frozen=True, slots=True)
class ScoredPair:
    """Two records that were compared.

    Attributes:
        left: The smaller number.
        right: The larger.
        score: The match probability, or the weighted sum; from 0 to 1.
        weight: The match weight in bits, prior included; of a weighted sum the score.
        differs: Whether they differ wholly in what is a person's own, where families
            are: a clerk decides, however well all else agrees.
    """

    left: int
    right: int
    score: float
    weight: float
    differs: bool = False


Verdict = Literal["match", "no_match", "unsure"]
"""What a clerk says of a pair."""


@dataclass(frozen=True, slots=True)
class Decision:
    """That two records are one patient's, or are not: said by clerks, and agreed.

    Attributes:
        left: The smaller number.
        right: The larger.
        is_match: Whether they are.
    """

    left: int
    right: int
    is_match: bool
