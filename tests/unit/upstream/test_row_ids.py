"""What identifies rows of private tables is not public: encounters, specimens."""

import random

import pytest

from privacy.schema_json import dataset_from_json, dataset_to_json
from upstream.errors import IngestionError
from upstream.public_watch import Surroundings
from upstream.published_ids import HANDFUL, Declared, EarlierSnapshot

PATIENTS = 120
VISITS = [(f"K{i // 2:05}", 500_000 + 7 * i) for i in range(2 * PATIENTS)]


@pytest.fixture
def clinic(hospital):
    """Two visits of each patient: a long number, a code, a running number, a drug."""
    rng = random.Random(7)
    hospital.unit_type = "text"
    hospital.columns = [
        {"name": "pid", "type": "text"},
        {"name": "encounter_id", "type": "integer"},
        {"name": "specimen", "type": "text"},
        {"name": "visit_no", "type": "integer"},
        {"name": "drug", "type": "text"},
        {"name": "concept", "type": "integer"},
        {"name": "zip", "type": "text"},
        {"name": "born", "type": "integer"},
    ]
    hospital.table = {"key": ["encounter_id"]}
    rows = [
        f"{pid},{enc},{specimen(i)},{i + 1},{rng.choice(DRUGS)},{rng.choice(CONCEPTS)},"
        f"{rng.choice(ZIPS)},{rng.choice(DAYS)}\n"
        for i, (pid, enc) in enumerate(VISITS)
    ]
    header = ",".join(column["name"] for column in hospital.columns)
    hospital.csv = header + "\n" + "".join(rows)
    return hospital


def specimen(number):
    return f"SP-{number * 37 % 1000:03}-{number:04}"


DRUGS = [f"{c}{i:02}AB{j:02}" for c in "ABCN" for i in range(1, 12) for j in range(9)]
CONCEPTS = [200_000 + 31 * i for i in range(400)]
ZIPS = [f"{i:05}" for i in range(10_115, 14_200, 13)]
DAYS = [f"19{y:02}{m:02}{d:02}" for y in range(30, 99) for m in range(1, 13)
        for d in range(1, 29)]  # fmt: skip
NUMBERS = [encounter for _, encounter in VISITS]


def publish(hospital, name, rows, *columns, header="", **keys):
    """Declare one more public table; without columns it has a text, ``code``."""
    declared = [{"name": n, "type": "text", "source": "x", **keys} for n in columns]
    hospital.more_tables.append(
        {"name": name, "files": [f"{name}.csv"], "public": True, "columns": declared}
    )
    lines = "".join(f"{row}\n" for row in rows)
    text = f"{header or ','.join(columns)}\n{lines}"
    (hospital.folder / f"{name}.csv").write_text(text)


def refused(hospital):
    with pytest.raises(IngestionError) as error:
        hospital.load()
    return [problem.sentence for problem in error.value.problems]


def test_a_table_that_a_row_of_a_patient_joins_is_not_public(clinic):
    publish(clinic, "plain", [f"{n},I10" for n in NUMBERS[:90]], "encounter_id", "icd")
    publish(clinic, "left_out", [f"{n},I10" for n in NUMBERS], "icd", header="enc,icd")
    publish(clinic, "renamed", [f"{n}.0" for n in NUMBERS], "x")
    publish(clinic, "fhir", [f"Encounter/{n}" for n in NUMBERS], "reference")
    publish(clinic, "samples", [specimen(i).lower() for i in range(50)], "sample")
    publish(clinic, "unlike", [specimen(i).replace("-", "") for i in range(50)], "code")
    publish(clinic, "running", range(1, 2 * PATIENTS), "VisitNo".lower())
    clinic.column(
        "listed", **{"from": "drug"}, type="text", source="x",
        domain={"values": [str(n) for n in NUMBERS[:60]]},
    )  # fmt: skip
    told = "\n".join(refused(clinic))
    for place, private in (
        ("the column plain.encounter_id", "encounter_id"),
        ("the column 'enc' in the files of left_out", "encounter_id"),
        ("the column renamed.x", "encounter_id"),
        ("the column fhir.reference", "encounter_id"),
        ("the column samples.sample", "specimen"),
        ("the column unlike.code", "specimen"),
        ("the column running.visitno", "visit_no"),
        ("the list of stays.listed", "encounter_id"),
    ):
        assert f"{place} holds values of stays.{private}, more than" in told
    assert "with the column pid that stays.csv has for each encounter_id" in told
    assert "unit_column: pid" in told
    assert not any(str(n) in told for n in NUMBERS)


def test_ordinary_tables_are_public_beside_visits_with_numbers(clinic):
    publish(clinic, "prices", [f"{i},{i * 5}" for i in range(1, 501)], "number", "cent")
    publish(clinic, "articles", range(1, 2 * PATIENTS + 1), "article")
    publish(clinic, "drugs", DRUGS, "drug")
    publish(clinic, "in_use", DRUGS[:150], "drug")
    publish(clinic, "concepts", CONCEPTS, "concept", type="integer")
    publish(clinic, "some_concepts", CONCEPTS[::3], "concept")
    publish(clinic, "towns", [f"{z},Town" for z in ZIPS], "zip", "town")
    publish(clinic, "calendar", DAYS, "born")
    publish(clinic, "years", range(1900, 2100), "born", type="integer")
    publish(clinic, "registers", range(400_000, 600_000, 111), "register")
    publish(clinic, "papers", [f"PMID: {i}" for i in range(1, 900_000, 997)], "paper")
    (clinic.folder / "h.csv").write_text(
        "code,group\n" + "".join(f"{drug},{drug[0]}\n" for drug in DRUGS)
    )
    clinic.hierarchies = [{"name": "atc", "file": "h.csv"}]
    assert len(clinic.load().report.tables) == 12


def test_a_handful_is_public_and_two_persons_may_say_that_it_is_chance(clinic):
    publish(clinic, "few", NUMBERS[:HANDFUL], "encounter_id")
    publish(clinic, "said", NUMBERS, "encounter_id", not_unit_ids=True)
    publish(clinic, "codes", map(specimen, range(90)), "s", not_unit_ids=True)
    clinic.load()


def test_rows_of_a_later_load_are_found_in_what_is_public_already(clinic, hospital):
    publish(clinic, "marks", NUMBERS, "code")
    private, clinic.csv = clinic.csv, clinic.csv.splitlines()[0] + "\nX1,1,,,,,,\n"
    clinic.load()
    schema = dataset_from_json(dataset_to_json(clinic.manifest().schema()))
    earlier = EarlierSnapshot(
        clinic.folder / clinic.target, Declared(schema, frozenset())
    )
    hospital.surroundings = Surroundings(snapshots={"lists": earlier})
    clinic.csv, clinic.target, clinic.more_tables = private, "later.duckdb", []
    assert "the column marks.code of dataset lists" in refused(clinic)[0]
