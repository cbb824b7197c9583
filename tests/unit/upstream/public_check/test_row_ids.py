"""What identifies rows of private tables is not public: encounters, specimens."""

import random
from datetime import UTC, datetime, timedelta

import pytest

from privacy.schema_json import dataset_from_json, dataset_to_json
from upstream.errors import IngestionError
from upstream.public_check.public_watch import Surroundings
from upstream.public_check.published_ids import HANDFUL, Declared, EarlierSnapshot

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


@pytest.mark.long
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


@pytest.mark.long
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
    assert clinic.publishes()


@pytest.mark.long
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


def visits(hospital, ids, **column):
    """Declare two visits of each patient, with an id of any kind, ``enc``."""
    hospital.unit_type = "text"
    hospital.columns = [
        {"name": "pid", "type": "text"},
        {"name": "enc", "type": "text", **column},
    ]
    lines = "".join(f"K{i // 2:05},{one}\n" for i, one in enumerate(ids))
    hospital.csv = f"pid,enc\n{lines}"


def hexadecimal(rng, digits):
    return f"{rng.randrange(16**digits):0{digits}x}"


def moment(number):
    return f"2024-{number % 12 + 1:02}-{number % 28 + 1:02} 10:{number % 60:02}"


KINDS = {
    "DICOM": lambda rng: f"1.2.840.113619.2.55.3.{rng.randrange(10**9)}.7",
    "25 digits": lambda rng: str(rng.randrange(10**24, 10**25)),
    "FHIR": lambda rng: (
        f"https://fhir.hospital.org/r4/Encounter/{rng.random()}-{hexadecimal(rng, 32)}"
    ),
    "SHA-512": lambda rng: hexadecimal(rng, 128),
    "SHA-256": lambda rng: f"sha256:{hexadecimal(rng, 64)}",
    "words": lambda rng: f"ward 3, bed 7, visit no {rng.randrange(10**6)} of 2024",
    "signed": lambda rng: f"+{rng.randrange(10**9, 10**10)}",
}


@pytest.mark.sampled
@pytest.mark.parametrize("kind", KINDS)
def test_ids_are_found_however_long_they_are_and_whatever_parts_them(hospital, kind):
    rng = random.Random(3)
    ids = [KINDS[kind](rng) for _ in range(2 * PATIENTS)]
    visits(hospital, ids, max_length=200)
    publish(hospital, "dx", [f'"{one}",I10' for one in ids], "x", "icd", max_length=200)
    hospital.csv = "pid,enc\n" + "".join(
        f'K{i // 2:05},"{one}"\n' for i, one in enumerate(ids)
    )
    assert "the column dx.x holds values of stays.enc" in refused(hospital)[0]


@pytest.mark.long
@pytest.mark.parametrize("rows", [{"max_rows_per_unit": 1}, {"key": ["day"]}])
def test_rows_that_no_bound_or_key_keeps_are_compared(hospital, rows):
    hospital.unit_type, hospital.table = "text", rows
    hospital.column("pid", type="text")
    hospital.columns[2]["name"] = "encounter"
    stays = [(f"K{p:05}", f"ENC{p * 30 + e:06}") for p in range(90) for e in range(30)]
    hospital.csv = "pid,day,encounter\n" + "".join(
        f"{pid},2024-01-01,{encounter}\n" for pid, encounter in stays
    )
    hospital.load()
    hospital.target = "again.duckdb"
    kept = set(hospital.rows("encounter"))
    others = [e for _, e in stays if (e,) not in kept]
    assert len(others) > len(stays) / 2
    publish(hospital, "diagnoses", others, "x")
    hospital.target = "third.duckdb"
    assert "holds values of stays.encounter" in refused(hospital)[0]


@pytest.mark.sampled
@pytest.mark.parametrize("declared", [
    {"type": "integer", "domain": {"min": 0, "max": 1_000}, "source": "x"},
    {"type": "text", "max_length": 3},
    {"type": "decimal", "scale": 0},
    {"type": "decimal", "scale": 2},
    {"type": "decimal", "scale": 2, "domain": {"min": 0, "max": 10}, "source": "x"},
])  # fmt: skip
def test_numbers_are_compared_as_the_files_have_them(hospital, declared):
    fraction = ".0" if declared["type"] == "decimal" else ""
    visits(hospital, [f"{n}{fraction}" for n in NUMBERS], **declared)
    publish(hospital, "dx", NUMBERS, "x")
    publish(hospital, "written", [f"{n}.0" for n in NUMBERS], "x")
    publish(hospital, "signed", [f"+{n}" for n in NUMBERS], "x")
    publish(hospital, "decimals", NUMBERS, "x", type="decimal", scale=1)
    assert len(refused(hospital)) == 5  # the decimals as stored, and as written


@pytest.mark.long
def test_times_to_the_second_are_of_one_visit_and_those_of_calendars_of_many(hospital):
    times = [f"{moment(n)}:{n % 59 + 1:02}" for n in range(2 * PATIENTS)]
    visits(hospital, times, type="timestamp")
    publish(hospital, "events", times, "x", type="timestamp")
    assert "the column events.x holds values of stays.enc" in refused(hospital)[0]
    minutes = [f"{moment(n)}:00" for n in range(2 * PATIENTS)]
    visits(hospital, minutes, type="timestamp")
    hospital.more_tables = []
    publish(hospital, "slots", minutes, "x", type="timestamp")
    hospital.load()


@pytest.mark.long
def test_more_ordinary_tables_are_public(hospital):
    rng = random.Random(5)
    columns = {
        "charge": [f"{n * 5 // 100}.{n * 5 % 100:02}" for n in range(2_000, 9_000)],
        "test": [f"Glucose, {n} minutes after {m} g of glucose, in plasma or serum "
                 "by a method that the laboratory has certified (mmol/l)"
                 for n in range(100, 400) for m in (50, 75)],
        "address": [f"Long Street {n}, flat {m}, {10_000 + n} Town"
                    for n in range(1_000, 1_400) for m in range(9)],
        "oid": [f"1.2.840.10008.5.1.4.1.1.{n}" for n in range(1, 400)],
        "link": [f"https://terminology.hospital.org/fhir/CodeSystem/ward-equipment/v1/"
                 f"{n:05}" for n in range(400)],
        "at": [f"2024-{m:02}-{d:02} {h:02}:00:00" for m in range(1, 13)
               for d in range(1, 29) for h in range(24)],
        "serial": [str(n) for n in range(60_000, 130_000)],
    }  # fmt: skip
    types = {"charge": {"type": "decimal", "scale": 2}, "at": {"type": "timestamp"}}
    hospital.unit_type = "text"
    hospital.columns = [
        {"name": "pid", "type": "text"},
        *({"name": n, "type": "text", **types.get(n, {})} for n in columns),
    ]
    for column in hospital.columns[1:]:
        if column["type"] == "text":
            column["max_length"] = 200
    rows = [
        f"K{i // 2:05}," + ",".join(f'"{rng.choice(v)}"' for v in columns.values())
        for i in range(6 * PATIENTS)
    ]
    hospital.csv = "\n".join([f"pid,{','.join(columns)}", *rows, ""])
    for name, values in columns.items():
        kind = types.get(name, {"max_length": 200})
        publish(hospital, f"all_{name}", [f'"{v}"' for v in values], name, **kind)
    assert len(hospital.load().report.tables) == 1 + len(columns)


@pytest.mark.long
def test_running_numbers_stay_running_beside_a_number_of_many_digits(hospital):
    rows = [f"K{i // 2:05},{i + 1}\n" for i in range(20_000)]
    visits(hospital, [])
    hospital.csv = "pid,enc\n" + "".join(rows) + f"K1,{10**24}\nK2,99999999\n"
    publish(hospital, "articles", range(1, 20_000), "article")
    assert hospital.publishes()


def test_long_notes_are_compared_whole(hospital):
    notes = [f"Seen on ward 3 after {n} hours, " + "and again " * 30 + f"{n * 37}"
             for n in range(2 * PATIENTS)]  # fmt: skip
    visits(hospital, [f'"{note}"' for note in notes], max_length=500)
    publish(hospital, "texts", [f'"{n.upper()}"' for n in notes], "x", max_length=500)
    assert "the column texts.x holds values of stays.enc" in refused(hospital)[0]


def encounters(hospital):
    """Have 240 patients of an encounter each; return its numbers."""
    numbers = [500_000 + 7919 * i % 400_009 for i in range(240)]
    hospital.unit_type, hospital.table = "text", {}
    hospital.columns = [
        {"name": "pid", "type": "text"},
        {"name": "encounter_id", "type": "integer"},
    ]
    lines = "".join(f"K{i:05},{number}\n" for i, number in enumerate(numbers))
    hospital.csv = f"pid,encounter_id\n{lines}"
    return numbers


@pytest.mark.long
def test_a_handful_in_each_of_many_columns_is_counted_together(hospital):
    numbers = encounters(hospital)
    rows = [numbers[20 * i : 20 * i + 20] for i in range(5)]
    names = [f"encounter_{i}" for i in range(20)]
    publish(hospital, "beds", [",".join(map(str, row)) for row in rows], *names)
    assert len(refused(hospital)) == 20


@pytest.mark.long
def test_a_handful_in_each_of_many_tables_is_counted_together(hospital):
    numbers = encounters(hospital)
    for i in range(20):
        rows = [f"{number},E11" for number in numbers[5 * i : 5 * i + 5]]
        publish(hospital, f"ward_{i}", rows, "encounter_id", "dx")
    assert len(refused(hospital)) == 20


@pytest.mark.long
def test_single_values_in_lists_of_others_are_not_counted_together(hospital):
    numbers = encounters(hospital)
    for i in range(20):
        codes = [str(100_000 + 31 * i + 1_000 * j) for j in range(20)]
        publish(hospital, f"lab_{i}", [str(numbers[i]), *codes], "loinc")
    assert hospital.publishes()


def seconds(rng, count):
    return [
        f"{rng.randrange(2019, 2025)}-{rng.randrange(1, 13):02}-"
        f"{rng.randrange(1, 29):02} {rng.randrange(24):02}:{rng.randrange(60):02}:"
        f"{rng.randrange(1, 60):02}"
        for _ in range(count)
    ]


def as_time(form):
    return lambda one: f"{datetime.fromisoformat(one):{form}}"


TIMES = {
    "T": as_time("%Y-%m-%dT%H:%M:%S"),
    "UTC": as_time("%Y-%m-%dT%H:%M:%SZ"),
    "offset": as_time("%Y-%m-%dT%H:%M:%S.000+00:00"),
    "another offset": lambda one: (
        f"{datetime.fromisoformat(one) + timedelta(hours=2):%Y-%m-%dT%H:%M:%S}+02:00"
    ),
    "local": as_time("%Y-%m-%d %H:%M:%S-0530"),
    "day first": as_time("%d.%m.%Y %H:%M:%S"),
    "month first": as_time("%m/%d/%Y %I:%M:%S %p"),
    "two digits": as_time("%d/%m/%y %H:%M:%S"),
    "names": as_time("%d-%b-%y %I.%M.%S %p"),
    "SAS": as_time("%d%b%Y:%H:%M:%S"),
    "mail": as_time("%a, %d %b %Y %H:%M:%S GMT"),
    "C": as_time("%c"),
    "compact": as_time("%Y%m%dT%H%M%SZ"),
    "digits": as_time("%Y%m%d%H%M%S"),
    "files": as_time("scan_%Y-%m-%d_%H-%M-%S.dcm"),
    "clock first": as_time("%H:%M:%S %d.%m.%Y"),
    "interval": as_time("%Y-%m-%dT%H:%M:%SZ/2025-01-01T01:01:01Z"),
    "since 1970": lambda one: str(
        int(datetime.fromisoformat(one).replace(tzinfo=UTC).timestamp())
    ),
}


@pytest.mark.thorough
@pytest.mark.sampled(1)
@pytest.mark.parametrize("private", ["timestamp", "text", "zoned"])
def test_times_to_the_second_are_found_however_they_are_written(hospital, private):
    times = seconds(random.Random(2), 2 * PATIENTS)
    written = [TIMES["UTC"](one) for one in times] if private == "zoned" else times
    visits(hospital, written, type="text" if private == "zoned" else private)
    for i, form in enumerate(TIMES.values()):
        publish(hospital, f"events{i}", [f'"{form(one)}"' for one in times], "x")
    told = refused(hospital)
    for i, form in enumerate(TIMES):
        place = f"the column events{i}.x holds values of stays.enc"
        assert any(place in sentence for sentence in told), form


@pytest.mark.sampled(1)
@pytest.mark.parametrize("form", ["day first", "month first", "UTC", "names"])
def test_texts_of_a_private_table_are_found_among_public_times(hospital, form):
    times = seconds(random.Random(2), 2 * PATIENTS)
    visits(hospital, [TIMES[form](one) for one in times])
    publish(hospital, "events", times, "x", type="timestamp")
    assert "the column events.x holds values of stays.enc" in refused(hospital)[0]


@pytest.mark.long
def test_clocks_of_machines_and_calendars_are_public_beside_times_of_visits(hospital):
    rng = random.Random(8)
    visits(hospital, seconds(rng, 40 * PATIENTS), type="timestamp")
    for name, form in TIMES.items():
        log = [f'"{form(one)}"' for one in seconds(rng, 2_000)]
        publish(hospital, name.replace(" ", "_").lower(), log, "x")
    slots = [f"{day[:4]}-{day[4:6]}-{day[6:]}T10:00:00Z" for day in DAYS]
    publish(hospital, "slots", slots, "x")
    hours = [f"{h:02}:{m:02}:00" for h in range(24) for m in range(60)]
    publish(hospital, "hours", hours, "x")
    assert hospital.publishes()
