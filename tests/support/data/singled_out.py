"""Questions that single out one patient, and a comparison in an order drawn at random.

They are asked about the patient, and about nobody, of one server: so the two differ in
the patient's rows alone, not in the process, not in the hour.
"""

import secrets

from tests.support.installations.arms import TARGET
from tests.support.installations.harness import Installation

AGES = (111, 112)
"""Of the patient, and of nobody."""
COSTLY = (
    "SELECT COUNT(*) FROM (SELECT patient_id, day,"
    " LAG(day) OVER (PARTITION BY patient_id ORDER BY day) AS last"
    " FROM visits WHERE age = {age}) h WHERE h.last <> h.day"
)


def rows(patients, visits, of_the_patient):
    """Yield the visits of so many others, and of the patient who is 111."""
    for unit in range(1, patients):
        for visit in range(visits):
            yield (
                f"{unit},{'FM'[unit % 2]},{20 + unit % 70},south,"
                f"2024-0{1 + visit % 9}-{10 + visit % 18},note{unit}x{visit}"
            )
    for visit in range(of_the_patient):
        yield f"{TARGET},F,111,north,2024-12-{10 + visit % 18},seen{visit}"


def make_installation(folder, *, patients, visits, of_the_patient, **more):
    """Make an installation, its sizes declared as they are."""
    made = Installation(folder, **more).create()
    given = rows(patients, visits, of_the_patient)
    most = max(visits, of_the_patient)
    manifest = made.write_manifest(given, max_rows=most)
    declared = manifest.read_text()
    for said, true in (
        ("max_units: 50000", f"max_units: {patients}"),
        ("max_rows: 200000", f"max_rows: {patients * visits + of_the_patient}"),
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


def most_at_random(turns):
    """Return how far an area strays from a half once in a million, in equal arms.

    The order was drawn, so this supposes nothing of how turns hang together.
    """
    return 4.9 * ((turns + 1) / (3 * turns**2)) ** 0.5
