"""Trajectories: a patient's diagnosis codes at ages, in order of age.

Source: Tamersoy 2011, section IV.2.2.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from upstream.trajectories.codes.tree import CodeTree
from upstream.trajectories.lda.losses import LossTable, Reading, loss_table

Pair = tuple[int, int]
"""The places of a code and of an age in their tables of losses."""

Trajectory = tuple[Pair, ...]

NamedPair = tuple[str, str]
"""A code, or what generalises it, and an age, or an interval."""


@dataclass(frozen=True, slots=True)
class Weights:
    """How much the loss of each attribute counts in an alignment.

    Attributes:
        code: 0 or more.
        age: 0 or more; the thesis has both sum to 1.
    """

    code: float = 0.5
    age: float = 0.5

    def __post_init__(self) -> None:
        if min(self.code, self.age) < 0 or not self.code + self.age > 0:
            message = "weights are 0 or more, and one is above 0"
            raise ValueError(message)


@dataclass(frozen=True, eq=False)
class Losses:
    """What generalising and suppressing pairs costs.

    Attributes:
        code: Of diagnosis codes.
        age: Of ages.
        weights: Of both in an alignment.
    """

    code: LossTable
    age: LossTable
    weights: Weights

    def merged(self, left: Pair, right: Pair) -> Pair:
        """Return the lowest common ancestors of two pairs."""
        return (
            int(self.code.ancestors[left[0], right[0]]),
            int(self.age.ancestors[left[1], right[1]]),
        )

    def named(self, trajectory: Trajectory) -> tuple[NamedPair, ...]:
        """Return the names in a trajectory."""
        return tuple((self.code.name(c), self.age.name(a)) for c, a in trajectory)

    def placed(self, pairs: Iterable[NamedPair]) -> Trajectory:
        """Return the trajectory of named pairs, in their order.

        Raises:
            KeyError: A name does not occur.
        """
        return tuple((self.code.place(c), self.age.place(a)) for c, a in pairs)


@dataclass(frozen=True, eq=False)
class Cohort:
    """Records whose trajectories are anonymized together.

    Attributes:
        trajectories: By record, in order of age.
        losses: Over the values that occur.
    """

    trajectories: Sequence[Trajectory]
    losses: Losses


def cohort_of(
    records: Iterable[Iterable[tuple[str, int]]],
    codes: CodeTree,
    ages: CodeTree,
    weights: Weights | None = None,
    reading: Reading = "difference",
) -> Cohort:
    """Return the trajectories of records.

    Pairs are put in order of age; those of one age keep the order that they came in,
    so hand them sorted where it says nothing.

    Args:
        records: Of each its codes with the age in years.
        codes: The tree of codes.
        ages: The tree of ages.
        weights: One half each unless they are said.
        reading: Of the loss.

    Raises:
        KeyError: A code or an age is not in its tree.
    """
    ordered = [sorted(record, key=lambda pair: pair[1]) for record in records]
    named = [[(code, str(age)) for code, age in record] for record in ordered]
    pairs = list(dict.fromkeys(pair for record in named for pair in record))
    losses = Losses(
        loss_table(codes, (code for code, _ in pairs), reading),
        loss_table(ages, (age for _, age in pairs), reading),
        weights or Weights(),
    )
    placed = {pair: losses.placed([pair])[0] for pair in pairs}
    return Cohort([tuple(placed[pair] for pair in each) for each in named], losses)
