"""Lists of private columns are public: they name no single patients, nor repeat ids."""

import random

import pytest

from upstream.errors import IngestionError

PATIENTS = 120
FIRST = ("Anna", "Ben", "Carla", "Dora", "Eva", "Finn")
LAST = [
    *("Abel", "Berg", "Clark", "Dahl", "Ender", "Funk", "Gard", "Holm", "Ilse", "Jung"),
    *("Koch", "Lang", "Mohn", "Nord", "Olin", "Pohl", "Quast", "Rust", "Senn", "Thal"),
]
NAMES = [f"{first} {last}" for first in FIRST for last in LAST]
VISITS = [str(90_000_000 + 7_919 * i) for i in range(PATIENTS)]
CODES = [f"SP-{i * 37 % 1000:03}-{i:04}" for i in range(PATIENTS)]


def stays(hospital, values, unit="K{:05}", **keys):
    """Declare a row of each patient, with one more column, ``x``."""
    hospital.unit_type = "text"
    hospital.columns = [
        {"name": "pid", "type": "text"},
        {"name": "x", "type": "text", **keys},
    ]
    lines = "".join(f"{unit.format(i)},{one}\n" for i, one in enumerate(values))
    hospital.csv = f"pid,x\n{lines}"


def listed(values, **keys):
    return {"domain": {"values": list(values)}, "source": "the protocol", **keys}


def own_hierarchy(hospital, codes):
    rows = "".join(f"{code},{code[:2]}\n" for code in codes)
    (hospital.folder / "own.csv").write_text(f"code,group\n{rows}")
    hospital.hierarchies = [{"name": "own", "file": "own.csv"}]
    return {"domain": {"hierarchy": "own"}, "source": "the protocol"}


def refused(hospital):
    with pytest.raises(IngestionError) as error:
        hospital.load()
    return "\n".join(problem.sentence for problem in error.value.problems)


@pytest.mark.sampled
@pytest.mark.parametrize(
    "values", [VISITS, CODES, NAMES], ids=["ids", "codes", "names"]
)
def test_a_list_of_what_one_patient_each_has_is_not_public(hospital, values):
    stays(hospital, values, **listed(values))
    told = refused(hospital)
    assert "the list of stays.x" in told
    assert "Leave it out" in told
    assert not any(value in told for value in values)
    stays(hospital, values, **own_hierarchy(hospital, values))
    assert "hierarchy own" in refused(hospital)


def test_numbers_that_are_listed_are_found_in_lists_and_public_tables(hospital):
    numbers = [int(one) for one in VISITS]
    stays(hospital, numbers, type="integer", **listed(numbers[:3]))
    (hospital.folder / "open.csv").write_text("visit\n" + "\n".join(VISITS))
    columns = [{"name": "visit", "type": "integer", "source": "x"}]
    hospital.more_tables = [
        {"name": "open", "files": ["open.csv"], "public": True, "columns": columns}
    ]
    assert "the column open.visit holds values of stays.x" in refused(hospital)
    hospital.more_tables = []
    stays(hospital, numbers, type="integer", **listed(numbers))
    assert "the list of stays.x holds values of stays.x" in refused(hospital)


def test_two_persons_may_say_that_a_list_names_nobody(hospital):
    stays(hospital, NAMES, **listed(NAMES))
    assert "the list of stays.x" in refused(hospital)
    stays(hospital, NAMES, not_unit_ids=True, **listed(NAMES))
    assert hospital.load().report.warnings == ()


def test_short_numbers_of_one_patient_each_are_told_to_the_custodian(hospital):
    numbers = random.Random(3).sample(range(1_000, 9_999), PATIENTS)
    stays(hospital, numbers, type="integer", **listed(numbers))
    (warning,) = hospital.load().report.warnings
    assert "most values of the list of stays.x stand in stays.x" in warning
    assert not any(str(number) in warning for number in numbers)


DRUGS = [f"{c}{i:02}AB{j:02}" for c in "ABCN" for i in range(1, 12) for j in range(9)]
WARDS = ["north", "south", "east", "west", "emergency", "surgery"]
LISTS = {
    "wards": WARDS, "towns": LAST, "drugs": DRUGS, "few drugs": DRUGS[:130],
    "ages": list(range(121)), "years": list(range(1900, 2026)), "sexes": ["F", "M"],
    "postcodes": [f"{i:05}" for i in range(10_115, 14_200, 13)],
    "articles": list(range(100_000, 100_300)),
    "days": [f"2024-{m:02}-{d:02}" for m in range(1, 13) for d in range(1, 29)],
}  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("kind", LISTS)
@pytest.mark.parametrize("patients", [15, 200, 1_500])
def test_ordinary_lists_are_public(hospital, kind, patients):
    rng, values = random.Random(patients), LISTS[kind]
    keys = {"type": "integer"} if isinstance(values[0], int) else {}
    rows = [rng.choice(values) for _ in range(patients)]
    stays(hospital, rows, **listed(values, **keys))
    assert not hospital.load().report.warnings
    if not keys:
        hospital.target = "second.duckdb"
        stays(hospital, rows, **own_hierarchy(hospital, values))
        assert not hospital.load().report.warnings


def test_a_full_list_of_beds_is_public_though_each_is_of_one_patient(hospital):
    beds = [f"B{i:02}" for i in range(1, 60)]
    taken = random.Random(1).sample(beds, 55)
    stays(hospital, taken, **listed(beds))
    assert not hospital.load().report.warnings


def test_a_column_that_repeats_the_ids_of_its_patients_is_told(hospital):
    ids = [f"K-{i:05}" for i in range(PATIENTS)]
    stays(hospital, ids)
    told = "stays.x holds the ids of the patients whose rows these are"
    assert any(told in one for one in hospital.load().report.warnings)
    hospital.target = "second.duckdb"
    stays(hospital, [f"K{(7 * i + 1) % PATIENTS:05}" for i in range(PATIENTS)])
    assert not any(told in one for one in hospital.load().report.warnings)


def test_a_derived_column_has_a_list_and_is_looked_at_like_any_other(hospital):
    loud = {"name": "loud", "expression": "UPPER(x)", "type": "text"}
    wards = [f"ward {letter}" for letter in "abcdef"]
    stays(hospital, [wards[i % 6] for i in range(PATIENTS)])
    upper = [ward.upper() for ward in wards]
    hospital.table = {"derived": [{**loud, **listed(upper)}]}
    assert hospital.load().report.warnings == ()
    stays(hospital, NAMES)
    names = [name.upper() for name in NAMES]
    hospital.table = {"derived": [{**loud, **listed(names)}]}
    hospital.target = "names.duckdb"
    assert "the list of stays.loud stand in stays.loud" in refused(hospital)
    assert not (hospital.folder / hospital.target).exists()


def test_a_derived_column_that_repeats_the_ids_is_told(hospital):
    stays(hospital, [f"x{i:05}K" for i in range(PATIENTS)])
    code = {"name": "code", "expression": "'K' || SUBSTR(x, 2, 5)", "type": "text"}
    hospital.table = {"derived": [code]}
    told = "\n".join(hospital.load().report.warnings)
    assert "stays.code holds the ids of the patients whose rows these are" in told
