"""The drivers of ``benchmarks.economy`` on a hospital of made-up records."""

import csv
import gzip
import random

import pytest

from benchmarks.economy.drivers import defaults, even
from benchmarks.economy.hospital import Cap, Hospital
from benchmarks.economy.releases import cube
from benchmarks.economy.runs import Fate, account, run
from benchmarks.economy.tables import SOURCE, opened
from benchmarks.economy.usefulness import truths
from benchmarks.economy.workload import workload

CHOICES = {
    "race": ("Caucasian", "AfricanAmerican", "Asian", "?"),
    "gender": ("Female", "Male"),
    "age": tuple(f"[{low}-{low + 10})" for low in range(0, 100, 10)),
    "admission_type_id": ("1", "2", "3", "5"),
    "time_in_hospital": tuple(str(days) for days in range(1, 15)),
    "num_medications": tuple(str(many) for many in range(1, 60)),
    "diag_1": ("250.01", "410", "486", "820", "V57", "?"),
    "A1Cresult": ("None", "Norm", ">7", ">8"),
    "metformin": ("No", "Steady", "Up", "Down"),
    "insulin": ("No", "Steady", "Up", "Down"),
    "readmitted": ("<30", ">30", "NO"),
}
QUESTIONS = 100

pytestmark = pytest.mark.thorough


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """Return a folder of shared data whose records are made up, in the same form."""
    folder = tmp_path_factory.mktemp("shared")
    drawn = random.Random(3)
    (folder / SOURCE).parent.mkdir()
    with gzip.open(folder / SOURCE, "wt", newline="") as file:
        out = csv.DictWriter(file, ["encounter_id", "patient_nbr", *CHOICES])
        out.writeheader()
        for stay in range(6_000):
            row = {name: drawn.choice(values) for name, values in CHOICES.items()}
            out.writerow(
                {"encounter_id": stay, "patient_nbr": drawn.randrange(4_000), **row}
            )
    return folder


@pytest.mark.parametrize("word", ["epsilon", "rho"])
def test_every_driver_asks_all_and_spends_no_more_than_the_cap(
    word, shared, tmp_path_factory
):
    folder = tmp_path_factory.mktemp("economy") / word
    hospital = Hospital(folder, shared, word)
    questions, cap = workload(QUESTIONS), Cap(10, word)
    known = truths(opened(folder), questions)
    found = {
        name: account(
            run(hospital, cap, questions, driver, spec), cap, questions, known
        )
        for name, driver, spec in (
            ("even", even, None),
            ("defaults", defaults, None),
            ("cube", defaults, cube(cap)),
        )
    }
    fit = sum(not truth.is_too_small for truth in known.values())
    for each in found.values():
        assert each.number() == fit
        assert 0 < each.spent <= 1
        assert each.outside is not None
        assert each.outside < 0.2  # of a thousand cells and more, where 0.05 is told
        assert each.number(Fate.USEFUL) > 0
    assert found["even"].number(Fate.REFUSED) == 0
    assert found["even"].number(free=True) > 0  # repeats, though nobody asked for them
