"""The cube that a custodian publishes first."""

from fractions import Fraction
from typing import Final

from benchmarks.economy.asking import DATASET
from benchmarks.economy.groups import GROUPS
from benchmarks.economy.hospital import Cap, Spec
from benchmarks.economy.tables import OF_A_PATIENT
from privacy.losses import Loss

SHARE: Final = Fraction(1, 10)
"""Of the cap, for the cube: with a fifth there were 244 useful answers, not 255."""

DIMENSIONS: Final = tuple(
    column
    for column in OF_A_PATIENT
    if 2 * sum(column in group.columns for group in GROUPS) >= len(GROUPS)
)
"""The columns that at least half of the groups look at: four, of 360 cells."""


def cube(cap: Cap) -> Spec:
    """Return a cube of patients by what groups look at, as ``auto`` has it."""
    return {
        "name": "first_stays",
        "dataset": DATASET,
        "kind": "cube",
        "strategy": "auto",
        "from": "patients",
        "count": "units",
        "dimensions": [{"column": column} for column in DIMENSIONS],
        cap.measure.word: str(price_of(cap)),
    }


def price_of(cap: Cap) -> Loss:
    """Return the cube's share of a cap, in what its population counts."""
    return Loss(int(cap.loss.nano_epsilon * SHARE))
