"""What settling is given and what it returns: rules, keys, doubts and acts."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from upstream.linkage.records import ScoredPair

Reason = Literal[
    "score",
    "tie",
    "once",
    "chain",
    "size",
    "differs",
    "patients",
    "changed",
    "contradiction",
]
"""Why a pair is a doubt.

``score``: it is below the threshold of links; ``tie``: two records of a source in which
nobody stands twice agree as well with one; ``once``: the patient has a record of the
source already; ``chain``: most pairs of the two groups disagree; ``size``: the patient
would be too large; ``differs``: where families are, records of the two differ wholly in
a birth date or a given name; ``patients``: both were patients before; ``changed``: what
a record says now agrees with no record of its patient, as when a number is given to
somebody else; ``contradiction``: other decisions say otherwise.
"""


@dataclass(frozen=True, slots=True)
class Rules:
    """What links have to keep to.

    Attributes:
        link: From this score on a pair is linked.
        review: From this score on a pair agrees well enough to be asked about.
        once: Sources in which no patient stands twice.
        largest: How many records a patient has at most, unless a clerk says so.
    """

    link: float
    review: float
    once: frozenset[str] = frozenset()
    largest: int = 50


NewKey = Callable[[int, int], int]
"""Of a record's number and a turn, a unit key."""


@dataclass(frozen=True, slots=True)
class Known:
    """The records, and what they were before.

    Attributes:
        sources: By number, from 1: place 0 is unused.
        homes: Unit key that each was first given; 0: none yet.
        keys: Unit key that each has now; 0: none yet.
        new_key: Draws a unit key for the group whose first record has a number, the
            first time (0), and again where somebody has that key. It depends on
            that record alone: nobody's key moves when somebody else leaves.
    """

    sources: Sequence[str]
    homes: Sequence[int]
    keys: Sequence[int]
    new_key: NewKey


@dataclass(frozen=True, slots=True)
class Doubt:
    """A pair that a clerk has to decide, the best of all between two patients."""

    pair: ScoredPair
    reason: Reason


@dataclass(frozen=True, slots=True)
class Act:
    """That records of one patient are another's now.

    Attributes:
        kind: ``merge``: all of them; ``split``: some.
        old: Their unit key before.
        new: Their unit key now.
        records: How many.
    """

    kind: Literal["merge", "split"]
    old: int
    new: int
    records: int


@dataclass(frozen=True, slots=True)
class Settled:
    """Whose each record is.

    Attributes:
        homes: By number: place 0 is unused.
        keys: Unit keys, likewise.
        acts: What changed for records that had a unit key.
        doubts: By falling weight.
    """

    homes: list[int]
    keys: list[int]
    acts: list[Act] = field(default_factory=list)
    doubts: list[Doubt] = field(default_factory=list)
