"""What is audited of a population that counts rho: neighbours, questions, statistics.

As in ``suites``: a sample is a block of cells of one answer, with a patient of its own.
"""

import re
from dataclasses import dataclass

import numpy as np

from tests.audit.instruments.arms import Question, Table
from tests.audit.instruments.concentrated import Statistic
from tests.audit.subjects.suites import AGES, GROUPED, ROWS, SPREAD, STACKED, UNITS

CHARGE = "0.5"
SAMPLES = 60_000  # an arm
CONTROL_SAMPLES = 20_000
_LOSSES = (
    'measure: zcdp\n  delta: "0.000001"\n  rho_cap: "900000"\n'
    '  rho_per_query: {min: "0.000001", max: "0.5"}'
)
_EPSILONS = re.compile(r'epsilon_cap: "[0-9]+"\n  epsilon_per_query: \{.*\}')


@dataclass(frozen=True)
class RhoTable(Table):
    """A dataset as those of pure populations, of one that counts rho."""

    def load(self, installation, *, added):
        rows = [*self.shared, *(self.added if added else ())]
        path = installation.write_manifest(
            rows, dataset=self.dataset, max_rows=self.max_rows
        )
        told, replaced = _EPSILONS.subn(_LOSSES, path.read_text("utf-8"))
        assert replaced == 1
        path.write_text(told, "utf-8")
        installation.load_manifest(path)


def _of(table):
    return RhoTable(table.dataset, table.max_rows, table.shared, table.added)


@dataclass(frozen=True)
class RhoSuite:
    """One audit.

    Attributes:
        moves: How far one patient moves each cell of its block.
        blocks: How many an answer has.
    """

    name: str
    table: RhoTable
    measure: str
    moves: tuple[int, ...]
    blocks: int

    @property
    def question(self):
        text = GROUPED.format(self.measure)
        return Question(self.table.dataset, text, CHARGE, word="rho")

    @property
    def claim(self):
        return float(CHARGE)

    def answers_for(self, samples):
        return -(-samples // self.blocks)

    def samples_for(self, samples):
        return self.answers_for(samples) * self.blocks

    def blocks_of(self, body):
        """Return the cells of each block."""
        cells = self.blocks * len(self.moves)
        values = [row[-1] for row in body["rows"][:cells]]
        return np.reshape(values, (self.blocks, len(self.moves)))

    def statistics(self, absent, bodies):
        """Return the ratio of each block of each answer, the present arm first.

        Args:
            absent: The exact answer without the patients.
            bodies: Noisy answers of both arms.
        """
        scale = float(bodies[0][0]["noise"][0]["scale"])
        statistic, truth = Statistic(self.moves, scale), self.blocks_of(absent)
        return [
            np.concatenate([statistic.of(self.blocks_of(b) - truth) for b in arm])
            for arm in bodies
        ]


RHO_SUITES = (
    RhoSuite("rows by group, in rho", _of(STACKED), ROWS, (2,), AGES),
    RhoSuite("patients by group, in rho", _of(SPREAD), UNITS, (1, 1), 60),
)
RHO_TABLES = tuple(suite.table for suite in RHO_SUITES)
