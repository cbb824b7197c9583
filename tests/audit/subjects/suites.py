"""What is audited: neighbours that attain a stated sensitivity, and their events.

Every suite fixes, before any answer is seen, its neighbours, question and event. A
sample is a block of cells of one answer. Blocks of one answer are independent samples:
one patient lies in one block alone, and the noise of every cell is drawn afresh (the
proof of grouped counts). So each block is an audit of its own patients, whoever else is
there, and its loss is bounded by the charge of the answer (times its clones).
"""

from dataclasses import dataclass

from tests.audit.instruments.arms import Question, Table, rows_of
from tests.audit.instruments.bounds import (
    REPORT_ALPHA,
    VERDICT_ALPHA,
    Hits,
    threshold_event,
)

LEAST = 0.7  # of the claim: a lower bound below it means too much noise
VECTOR_SAMPLES = 15_000  # an arm
SINGLE_SAMPLES = 450  # too few for that: there the shape of the noise tells
AGES = 121
SHARED = tuple(row for unit in range(1, 61) for row in rows_of(unit, [unit * 2 % AGES]))
CLONES = {"0.05": 20, "0.1": 10, "0.25": 4, "1": 1}
CLONED_CELLS = 30  # of each number of clones
SINGLE = "SELECT {} FROM visits"
GROUPED = "SELECT age, {} FROM visits GROUP BY age"
ROWS = "COUNT(*)"
UNITS = "COUNT(DISTINCT patient_id)"


def _patients(ages_of_patients):
    return tuple(
        row
        for unit, ages in enumerate(ages_of_patients, start=1_000)
        for row in rows_of(unit, ages)
    )


def _cloned():
    ages = []
    for block, clones in enumerate(CLONES.values()):
        for cell in range(CLONED_CELLS):
            ages += [[block * CLONED_CELLS + cell]] * clones
    return _patients(ages)


ONE = Table("one", 3, SHARED, _patients([[40, 40, 40]]))
STACKED = Table("stacked", 2, SHARED, _patients([age, age] for age in range(AGES)))
SPREAD = Table("spread", 2, SHARED, _patients([a, a + 1] for a in range(0, 120, 2)))
CLONED = Table("cloned", 1, SHARED, _cloned())
HEAVY_ROWS = 100_000
HEAVY = Table(
    "heavy",
    HEAVY_ROWS,
    SHARED,
    _patients([[visit % AGES for visit in range(HEAVY_ROWS)]]),
)


@dataclass(frozen=True)
class Suite:
    """One audit.

    Attributes:
        shift: By how much one block's patients move each of its cells.
        l1: Stated L1 sensitivity of the answer, for one patient.
        block: Cells that one sample has.
        clones: Equal patients in a block: the claim is clones times the charge.
        first: First block that is looked at.
        blocks: How many are; 1 for single numbers.
    """

    name: str
    table: Table
    measure: str
    shift: int
    l1: int
    epsilon: str = "1"
    block: int = 1
    clones: int = 1
    first: int = 0
    blocks: int = 1
    grouped: bool = True

    @property
    def question(self):
        text = GROUPED if self.grouped else SINGLE
        return Question(self.table.dataset, text.format(self.measure), self.epsilon)

    @property
    def claim(self):
        """The loss that two neighbours of a block may show: clones times the charge."""
        return self.clones * float(self.epsilon)

    def event(self, noise_factor=1.0):
        """Return how likely the event is, with noise of this factor."""
        scale = noise_factor * self.l1 / float(self.epsilon)
        return threshold_event(self.shift, scale, self.block)

    def answers_for(self, samples):
        """Return how many answers hold so many samples."""
        return -(-samples // self.blocks)

    def samples_for(self, samples):
        """Return how many samples so many answers hold: no fewer than asked for."""
        return self.answers_for(samples) * self.blocks

    def blocks_of(self, body):
        """Return the cells of each block that is looked at."""
        values = [row[-1] for row in body["rows"]]
        starts = range(self.first, self.first + self.blocks)
        return [values[s * self.block : (s + 1) * self.block] for s in starts]

    def hits(self, exact_present, present, absent):
        """Count the event: every cell is at least its count with the patients there."""
        marks = self.blocks_of(exact_present)
        samples = len(present) * self.blocks
        return Hits(_count(self, marks, present), _count(self, marks, absent), samples)

    def noise(self, exact, bodies):
        """Return the noise of every cell that is looked at."""
        truth = self.blocks_of(exact)
        return [
            value - mark
            for body in bodies
            for block, marks in zip(self.blocks_of(body), truth, strict=True)
            for value, mark in zip(block, marks, strict=True)
        ]

    def noise_of_arms(self, exact, bodies):
        """Return the noise of both arms' answers, present arm first."""
        pairs = zip(exact, bodies, strict=True)
        return [value for mark, arm in pairs for value in self.noise(mark, arm)]


def _count(suite, marks, bodies):
    return sum(
        all(value >= mark for value, mark in zip(block, line, strict=True))
        for body in bodies
        for block, line in zip(suite.blocks_of(body), marks, strict=True)
    )


def describe(suite, hits):
    return (
        f"{suite.name}: charge {suite.epsilon}, claim {suite.claim:g}, "
        f"{hits.samples} an arm, LB99.9 {hits.lower_bound(REPORT_ALPHA):.3f}, "
        f"LB at 1 - 1e-6 {hits.lower_bound(VERDICT_ALPHA):.3f}"
    )


SINGLE_SUITES = (
    Suite("rows", ONE, ROWS, shift=3, l1=3, grouped=False),
    Suite("patients", ONE, UNITS, shift=1, l1=1, grouped=False),
)
VECTOR_SUITES = (
    Suite("rows by group", STACKED, ROWS, shift=2, l1=2, blocks=AGES),
    Suite("patients by group", SPREAD, UNITS, shift=1, l1=2, block=2, blocks=60),
)
HEAVY_SUITE = Suite("rows, heavy", HEAVY, ROWS, HEAVY_ROWS, HEAVY_ROWS, grouped=False)
CLONED_SUITES = tuple(
    Suite(
        f"rows by group, {clones} clones at {epsilon}",
        CLONED,
        ROWS,
        shift=clones,
        l1=1,
        epsilon=epsilon,
        clones=clones,
        first=position * CLONED_CELLS,
        blocks=CLONED_CELLS,
    )
    for position, (epsilon, clones) in enumerate(CLONES.items())
)
SMALL_SUITES = tuple(
    Suite(
        f"rows by group, one patient at {epsilon}",
        CLONED,
        ROWS,
        shift=1,
        l1=1,
        epsilon=epsilon,
        first=3 * CLONED_CELLS,
        blocks=CLONED_CELLS,
    )
    for epsilon in CLONES
)
