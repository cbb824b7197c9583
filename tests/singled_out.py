"""Questions that single out one patient, and a comparison in an order drawn at random.

Where there is such a patient, the rest of the plan runs; where there is none, it does
not. The two are asked of one server, so that they differ in the row work alone: not in
the process, not in the hour.
"""

import secrets

from tests.arms import TARGET
from tests.harness import Installation

AGES = (111, 112)
"""Of the patient, and of nobody."""
COSTLY = (
    "SELECT COUNT(*) FROM (SELECT patient_id, day,"
    " LAG(day) OVER (PARTITION BY patient_id ORDER BY day) AS last FROM visits) h"
    " JOIN (SELECT DISTINCT patient_id FROM visits WHERE age = {age}) t"
    " ON h.patient_id = t.patient_id WHERE h.last <> h.day"
)
"""It takes about a third of what it may take; a fourth of that about nobody."""
ROOMY = (
    "SELECT COUNT(*) FROM (SELECT patient_id, note,"
    " LAG(note) OVER (PARTITION BY patient_id ORDER BY day, note) AS last,"
    " LAG(ward) OVER (PARTITION BY patient_id ORDER BY note, day) AS ward"
    " FROM visits) h JOIN (SELECT DISTINCT patient_id FROM visits WHERE age = {age}) t"
    " ON h.patient_id = t.patient_id WHERE h.last <> h.note"
)
"""It takes about a tenth of what it may take: texts as long as they may be are rare."""


def rows(patients, visits):
    """Yield the visits of so many patients, so many each; one of them is 111."""
    for unit in range(1, patients):
        for visit in range(visits):
            yield (
                f"{unit},{'FM'[unit % 2]},{20 + unit % 70},south,"
                f"2024-0{1 + visit % 9}-{10 + visit},note{unit}x{visit}"
            )
    yield from (
        f"{TARGET},F,111,north,2024-12-{10 + visit},seen{visit}"
        for visit in range(visits)
    )


def make_installation(folder, patients, visits):
    """Make an installation with default slots, its sizes declared as they are."""
    made = Installation(folder, slot_ms=100).create()
    manifest = made.write_manifest(rows(patients, visits), max_rows=visits)
    declared = manifest.read_text()
    for said, true in (
        ("max_units: 50000", f"max_units: {patients}"),
        ("max_rows: 200000", f"max_rows: {patients * visits}"),
    ):
        assert said in declared
        declared = declared.replace(said, true)
    manifest.write_text(declared)
    made.load_manifest(manifest)
    return made


def drawn_order(turns):
    """Return ages, half of them the patient's, in an order drawn at random."""
    order = [AGES[turn % 2] for turn in range(turns)]
    secrets.SystemRandom().shuffle(order)
    return order


def by_age(scores, order):
    """Return the scores of turns about the patient, and of those about nobody."""
    return [
        [score for score, age in zip(scores, order, strict=True) if age == one]
        for one in AGES
    ]


def most_by_chance(turns):
    """Return how far an area strays from a half once in a million, in equal arms.

    The order was drawn, so this supposes nothing of how turns hang together.
    """
    return 4.9 * ((turns + 1) / (3 * turns**2)) ** 0.5
