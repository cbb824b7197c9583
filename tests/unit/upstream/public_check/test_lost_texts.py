"""All columns of a public table's files are compared with unit ids, declared or not."""

from pathlib import Path

import duckdb
import pytest

from upstream.errors import IngestionError
from upstream.files.sources import compared_name
from upstream.public_check.published_ids import HANDFUL

IDS = [f"P{i:07}" for i in range(5_970, 5_990)]
NUMBERS = [str(i) for i in range(1_000_007, 1_000_027)]


@pytest.fixture
def ward(hospital):
    """Twenty patients with text ids, and room for a public table."""
    return identified(hospital, IDS)


def identified(hospital, ids):
    hospital.unit_type = "text" if ids is IDS else "integer"
    hospital.column("pid", type=hospital.unit_type)
    hospital.csv = "pid,day,ward\n" + "".join(f"{uid},,A\n" for uid in ids)
    return hospital


def publish(hospital, text, *columns, file="marks.csv"):
    """Declare a public table of some columns of a file."""
    declared = [{"type": "text", "source": "test", **column} for column in columns]
    table = {"name": "marks", "files": [file], "public": True, "columns": declared}
    hospital.more_tables = [table]
    if text is not None:
        (hospital.folder / file).write_text(text)


def csv(header, rows):
    return "\n".join([header, *rows]) + "\n"


@pytest.mark.parametrize("ids", [IDS, NUMBERS])
def test_a_table_of_patients_is_not_public_without_their_ids_either(hospital, ids):
    ward = identified(hospital, ids)
    rows = [f"{uid},19{i + 10}-03-01,E1{i % 10}" for i, uid in enumerate(ids)]
    publish(ward, csv("mrn,born,dx", rows), {"name": "born"}, {"name": "dx"})
    with pytest.raises(IngestionError, match=r"'mrn' in the files of marks") as refused:
        ward.load()
    assert "whichever columns are declared" in str(refused.value)
    assert "leave" not in str(refused.value)
    assert not any(uid in str(refused.value) for uid in ids)


def test_a_handful_of_ids_is_counted_over_declared_and_undeclared_columns(ward):
    rows = [f"{uid},x,{i}" for i, uid in enumerate(IDS[:HANDFUL])]
    publish(ward, csv("code,a,b", rows), {"name": "a"})
    ward.load()
    ward.target = "again.duckdb"
    publish(ward, csv("code,a,b", [*rows, f"z,{IDS[-1]},x"]), {"name": "a"})
    with pytest.raises(IngestionError, match="hold, together, ids"):
        ward.load()


def test_the_ids_of_parquet_files_are_found_in_columns_of_any_type(ward):
    path = ward.folder / "marks.parquet"
    listed = ", ".join(f"('{uid}', {i})" for i, uid in enumerate(IDS))
    for text in ("id", "[id]", "{'who': id}", "CAST(id AS BLOB)", "map([id], [1])"):
        duckdb.connect().execute(
            f"COPY (SELECT {text} AS x, i::VARCHAR AS a FROM "
            f"(VALUES {listed}) t(id, i)) TO '{path}' (FORMAT parquet)"
        )
        publish(ward, None, {"name": "a"}, file="marks.parquet")
        with pytest.raises(IngestionError, match=r"'x' in the files of marks"):
            ward.load()


@pytest.mark.long
def test_files_of_one_table_may_differ_in_the_columns_that_are_not_declared(ward):
    publish(ward, csv("a,mrn,more,mrn", ["x,1,2,y"]), {"name": "a"})
    ward.more_tables[0]["files"] = ["m*.csv"]
    rows = [f"z{i},{uid},x" for i, uid in enumerate(IDS)]
    (ward.folder / "m1.csv").write_text(csv("more,mrn,a", ["1,2,x"]))
    ward.load()
    ward.target = "again.duckdb"
    (ward.folder / "m1.csv").write_text(csv("more,mrn,a", rows))
    with pytest.raises(IngestionError, match=r"'mrn' in the files of marks"):
        ward.load()


LOSING = {
    "list": (IDS, {"domain": {"values": ["x"], "other": True}}),
    "length": (IDS, {"max_length": 3}),
    "range": (NUMBERS, {"type": "integer", "domain": {"min": 0, "max": 5}}),
}


@pytest.mark.sampled
@pytest.mark.parametrize("how", LOSING)
def test_values_that_no_domain_keeps_are_compared_too(hospital, how):
    ids, keys = LOSING[how]
    ward = identified(hospital, ids)
    rows = [f"{uid},E1{i % 10}" for i, uid in enumerate(ids)]
    publish(ward, csv("a,dx", rows), {"name": "a", **keys}, {"name": "dx"})
    with pytest.raises(IngestionError, match=r"the files have in place of marks\.a"):
        ward.load()


def test_codes_that_a_map_replaces_are_the_way_out_of_a_coincidence(hospital):
    hospital.csv = "pid,day,ward\n" + "".join(f"{i},,A\n" for i in range(1, 100))
    mapped = {str(i): f"w{i}" for i in range(1, 20)}
    publish(hospital, csv("a", mapped), {"name": "a", "map": mapped})
    assert hospital.publishes()


def test_numbers_of_an_undeclared_column_are_no_ids_once_it_is_declared(hospital):
    hospital.csv = "pid,day,ward\n" + "".join(f"{i},,A\n" for i in range(1, 100))
    rows = [f"{i},x" for i in range(1, 20)]
    publish(hospital, csv("number,a", rows), {"name": "a"})
    with pytest.raises(IngestionError, match="declare their column"):
        hospital.load()
    exempt = {"name": "number", "type": "integer", "not_unit_ids": True}
    publish(hospital, csv("number,a", rows), {"name": "a"}, exempt)
    hospital.load()


CASES = {
    "decimals": ([f"2019.{n:04}" for n in range(11, 300, 3)],
                 {"type": "decimal", "scale": 4}),
    "rounded": ([f"2019.{n:04}" for n in range(11, 300, 3)],
                {"type": "decimal", "scale": 1}),
    "days": ([f"2019{n // 28 + 1:02}{n % 28 + 1:02}" for n in range(300)],
             {"type": "date", "format": "%Y%m%d"}),
}  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("how", CASES)
def test_ids_that_are_read_as_days_or_decimals_are_found(hospital, how):
    ids, keys = CASES[how]
    ward = identified(hospital, IDS)
    ward.csv = "pid,day,ward\n" + "".join(f"{uid},,A\n" for uid in ids)
    publish(ward, csv("a,dx", [f"{uid},x" for uid in ids]), {"name": "a", **keys})
    with pytest.raises(
        IngestionError, match=r"what the files write for marks\.a"
    ) as no:
        ward.load()
    assert not any(uid in str(no.value) for uid in ids)
    mapped = {uid: typed(keys, n) for n, uid in enumerate(ids)}
    publish(ward, csv("a", ids), {"name": "a", **keys, "not_unit_ids": True})
    ward.load()
    ward.target = "again.duckdb"
    publish(ward, csv("a", ids), {"name": "a", **keys, "map": mapped})
    ward.load()


def typed(keys, number):
    return "1950-01-01" if keys["type"] == "date" else number


@pytest.mark.long
def test_decimals_and_days_are_public_beside_patients_with_numbers(hospital):
    ids = [*range(1, 3_000), *range(10_000_000, 90_000_000, 40_009)]
    hospital.unit_type = "text"
    hospital.column("pid", type="text")
    cases = [f"{uid % 9_000}.{uid % 97:02}" for uid in ids[::50]]
    hospital.csv = "pid,day,ward\n" + "".join(f"{i},,A\n" for i in [*ids, *cases])
    rows = [
        f"{n}.{n % 100:02},{n}.{n * 7 % 1000:03},{2010 + n % 20}{n % 12 + 1:02}"
        f"{n % 28 + 1:02},0.{n:05}"
        for n in range(3_001, 6_000)
    ]
    publish(
        hospital, csv("price,liters,day,share", rows),
        {"name": "price", "type": "decimal", "scale": 2},
        {"name": "liters", "type": "decimal", "scale": 3},
        {"name": "day", "type": "date", "format": "%Y%m%d"},
        {"name": "share", "type": "decimal", "scale": 5},
    )  # fmt: skip
    assert hospital.publishes()


HEADERS = ["PatientID", "patient-id", "patient id", " patient_id ", "\uff30atient_ID"]


@pytest.mark.parametrize("header", HEADERS)
def test_a_header_is_compared_by_its_letters_and_digits(hospital, header):
    assert compared_name(header) == "patientid"
    hospital.csv = "patient_id,day,ward\n1,,A\n"
    hospital.column("pid", **{"from": "patient_id"})
    publish(hospital, csv(f"{header},a", ["x,y"]), {"name": "a"})
    with pytest.raises(IngestionError, match="the file has the unit column"):
        hospital.load()


def test_nothing_of_an_undeclared_column_is_stored(hospital):
    publish(hospital, csv("a,b", [f"x,a-private-note-{i}" for i in range(50)]),
            {"name": "a"})  # fmt: skip
    hospital.load()
    assert b"a-private-note" not in (hospital.folder / hospital.target).read_bytes()
    left = [path.name for path in Path(hospital.folder).iterdir()]
    assert sorted(left) == ["marks.csv", hospital.target, "stays.csv"]
