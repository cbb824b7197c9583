"""What is audited of the language: joins, roll-ups, windows, EXISTS, sums, quantiles.

As in ``suites``, every suite fixes its neighbours, question and event before any answer
is seen. Of 120 cells each holds one patient in question and nobody else: two visits and
two laboratory values, so that every cap is full on both sides of a join, and each value
at the end of its domain that is farther from zero. Taking away the patient of one cell
alone gives a neighbour; so a cell is a sample, and its loss is bounded by the charge.
"""

import csv
import math
from dataclasses import dataclass
from pathlib import Path

from tests.audit.instruments.arms import CAP, Question
from tests.audit.instruments.bounds import Event, Hits, threshold_event

CELLS = 120  # in question; one more holds everybody else
EVERYBODY = CELLS
SHARED_PATIENTS = range(1, 61)
FIRST_PATIENT = 1_000
MOST_COST = 10
FAULTY_SAMPLES = 5_000  # an arm, of a server with half the noise
HEAVY_VISITS, HEAVY_LABS = 10_000, 10

MANIFEST = """\
version: 1
population:
  id: people
  unit: patient
  unit_type: integer
  epsilon_cap: "{cap}"
  epsilon_per_query: {{min: "0.001", max: "5"}}
  source: test protocol
dataset: {dataset}
snapshot_date: 2024-12-31
tables:
- name: people
  files: [{dataset}-people.csv]
  unit_column: patient_id
  key: [patient_id]
  max_rows_per_unit: 1
  source: test protocol
  columns:
  - {{name: patient_id, type: integer, nullable: false}}
  - name: cell
    type: integer
    nullable: false
    domain: {{min: 0, max: 120}}
    source: test protocol
- name: visits
  files: [{dataset}-visits.csv]
  unit_column: patient_id
  max_rows_per_unit: {visits}
  source: test protocol
  columns:
  - {{name: patient_id, type: integer, nullable: false}}
  - name: cell
    type: integer
    nullable: false
    domain: {{min: 0, max: 120}}
    source: test protocol
  - {{name: day, type: date, domain: {{min: 2024-01-01, max: 2024-12-31}}, source: t}}
  - {{name: cost, type: integer, domain: {{min: 6, max: 10}}, source: t}}
- name: labs
  files: [{dataset}-labs.csv]
  unit_column: patient_id
  max_rows_per_unit: {labs}
  source: test protocol
  columns:
  - {{name: patient_id, type: integer, nullable: false}}
  - {{name: level, type: integer, domain: {{min: 0, max: 8}}, source: t}}
"""
HEADERS = {
    "people": ("patient_id", "cell"),
    "visits": ("patient_id", "cell", "day", "cost"),
    "labs": ("patient_id", "level"),
}


@dataclass(frozen=True)
class Cohort:
    """A dataset of three tables; ``added`` stands in one arm alone.

    Attributes:
        visits: Rows of visits that the manifest allows a patient.
        labs: Rows of labs, likewise.
    """

    dataset: str
    visits: int
    labs: int
    added: tuple[tuple[int, tuple[int, ...]], ...]  # patient, the cells of its visits

    def rows(self, *, added):
        """Return {table: rows}."""
        shared = [(unit, (EVERYBODY,) * 2) for unit in SHARED_PATIENTS]
        units = [*shared, *(self.added if added else ())]
        return {
            "people": [(unit, cells[0]) for unit, cells in units],
            "visits": [
                (unit, cell, f"2024-03-{1 + n % 28:02}", MOST_COST)
                for unit, cells in units
                for n, cell in enumerate(cells)
            ],
            "labs": [(unit, 0) for unit, _ in units for _ in range(self.labs)],
        }

    def write(self, folder, *, added):
        """Write files and manifest; return the manifest's path."""
        for table, rows in self.rows(added=added).items():
            path = Path(folder) / f"{self.dataset}-{table}.csv"
            with path.open("w", newline="") as out:
                csv.writer(out, lineterminator="\n").writerows([HEADERS[table], *rows])
        path = Path(folder) / f"{self.dataset}.yaml"
        path.write_text(
            MANIFEST.format(
                cap=CAP, dataset=self.dataset, visits=self.visits, labs=self.labs
            )
        )
        return path

    def load(self, installation, *, added):
        """Load into an installation, as its custodian would."""
        installation.load_manifest(self.write(installation.folder, added=added))


FULL = Cohort("cohort", 2, 2, tuple((FIRST_PATIENT + c, (c, c)) for c in range(CELLS)))
HEAVY = Cohort(
    "heavy_cohort",
    HEAVY_VISITS,
    HEAVY_LABS,
    ((FIRST_PATIENT, tuple(n % (CELLS + 1) for n in range(HEAVY_VISITS))),),
)


@dataclass(frozen=True)
class CohortSuite:
    """One audit of counts by cell: the patient's cell is at least what it holds.

    Attributes:
        shift: What a patient adds to its cell.
        l1: Stated L1 sensitivity of every vector, in order.
        part: Of the charge, what the event can show: it reads one vector.
    """

    name: str
    sql: str
    shift: int
    l1: tuple[int, ...]
    epsilon: str = "1"
    part: float = 1.0
    cohort: Cohort = FULL

    @property
    def question(self):
        return Question(self.cohort.dataset, self.sql, self.epsilon)

    @property
    def claim(self):
        """The most that the event may show."""
        return float(self.epsilon) * self.part

    def answers_for(self, samples):
        return -(-samples // CELLS)

    def samples_for(self, samples):
        return self.answers_for(samples) * CELLS

    def event(self, noise_factor=1.0):
        """Return how likely the event is, with noise of this factor."""
        return threshold_event(self.shift, noise_factor * self.l1[-1] / self.claim)

    def is_seen(self, value):
        return value >= self.shift

    def hits(self, present, absent):
        """Count the event in the cells in question, which stand first."""
        seen = [
            sum(
                self.is_seen(row[-1]) for body in bodies for row in body["rows"][:CELLS]
            )
            for bodies in (present, absent)
        ]
        return Hits(*seen, len(present) * CELLS)


class MissingSuite(CohortSuite):
    """One audit of values that are NULL where the noisy count is too small.

    The event is a number: with the patient's rows it is likelier by the whole part. For
    an average: its noisy count is at least 1. For a quantile of two bins: one is.
    """

    empty_bins = 0

    def event(self, noise_factor=1.0):
        a = math.exp(-self.claim / (noise_factor * self.l1[-1]))
        low = 1 / (1 + a)
        rest = low**self.empty_bins
        return Event(1 - a**self.shift * low * rest, 1 - low * rest)

    def is_seen(self, value):
        return value is not None


class QuantileSuite(MissingSuite):
    """The same with one more bin, in which the patient has nothing."""

    empty_bins = 1


JOIN = (
    "SELECT p.cell, COUNT(*) FROM people p "
    "JOIN visits v ON v.patient_id = p.patient_id "
    "LEFT JOIN labs l ON l.patient_id = p.patient_id GROUP BY p.cell"
)
ROLLUP = (
    "SELECT f.cell, COUNT(*) FROM (SELECT patient_id, MIN(cell) AS cell, "
    "COUNT(*) AS n FROM visits GROUP BY patient_id) f WHERE f.n >= 2 GROUP BY f.cell"
)
WINDOW = (
    "SELECT w.cell, COUNT(*) FROM (SELECT patient_id, cell, "
    "COUNT(*) OVER (PARTITION BY patient_id) AS n, "
    "ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY day) AS place FROM visits) w "
    "WHERE w.n >= 2 AND w.place <= 2 GROUP BY w.cell"
)
EXISTS = (
    "SELECT v.cell, COUNT(*) FROM visits v WHERE EXISTS (SELECT 1 FROM labs l "
    "WHERE l.patient_id = v.patient_id AND l.level <= v.cost) GROUP BY v.cell"
)
SUITES = (
    CohortSuite("join by cell", JOIN, 4, (4,)),
    CohortSuite("roll-up by cell", ROLLUP, 1, (1,)),
    CohortSuite("window by cell", WINDOW, 2, (2,)),
    CohortSuite("exists by cell", EXISTS, 2, (2,)),
    CohortSuite(
        "sum by cell",
        "SELECT cell, SUM(cost) FROM visits GROUP BY cell",
        2 * MOST_COST,
        (2 * MOST_COST,),
    ),
    MissingSuite(
        "average by cell",
        "SELECT cell, AVG(cost) FROM visits GROUP BY cell",
        2,
        (2 * MOST_COST, 2),
        epsilon="2",
        part=0.5,
    ),
    QuantileSuite(
        "quantile by cell",
        "SELECT p.cell, QUANTILE(l.level, 0.5, 2) FROM people p "
        "JOIN labs l ON l.patient_id = p.patient_id GROUP BY p.cell",
        2,
        (2,),
    ),
)
HEAVY_L1 = HEAVY_VISITS * HEAVY_LABS
HEAVY_JOIN = Question(
    HEAVY.dataset,
    "SELECT COUNT(*) FROM visits v JOIN labs l ON v.patient_id = l.patient_id",
)
HEAVY_UNITS = Question(
    HEAVY.dataset,
    "SELECT v.cell, COUNT(DISTINCT v.patient_id) FROM visits v "
    "JOIN labs l ON v.patient_id = l.patient_id GROUP BY v.cell",
)
