"""The cube that a custodian publishes first."""

from fractions import Fraction
from typing import Final

from benchmarks.economy.asking import DATASET
from benchmarks.economy.groups import GROUPS
from benchmarks.economy.hospital import Cap, Spec
from benchmarks.economy.tables import OF_A_PATIENT
from mechanisms.scales.conversions.pure import pure_ceil
from privacy.losses import Loss

SHARE: Final = Fraction(1, 5)
"""Of the cap, for the cube."""

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
        "epsilon": str(epsilon_of(cap)),
    }


def epsilon_of(cap: Cap) -> Loss:
    """Return the greatest epsilon that costs at most the cube's share of a cap."""
    most = Loss(int(cap.loss.nano_epsilon * SHARE))
    low, high = 0, cap.epsilon * 10**9
    while high - low > 1:
        middle = (low + high) // 2
        fits = pure_ceil(cap.measure, Loss(middle)) <= most
        low, high = (middle, high) if fits else (low, middle)
    return Loss(low)
