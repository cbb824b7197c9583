import os
import re
from datetime import date

import duckdb
import pytest

from privacy.schema import NOBODY
from upstream.errors import IngestionError
from upstream.ingestion.ingestion import ingest, sweep_dead_loads
from upstream.ingestion.secrets import derive_keys
from upstream.staging.row_hash import population_id, row_hash, unit_key

SECRET = bytes(range(32))
KEYS = derive_keys(SECRET)


def refused(hospital, words, places):
    with pytest.raises(IngestionError, match=words) as refusal:
        hospital.load()
    assert [(p.file, p.line, p.column) for p in refusal.value.problems] == places
    left = {path.name for path in hospital.folder.iterdir()}
    assert not {name for name in left if name.startswith("snapshot")}


# Layout and hashes


def test_stored_rows_carry_the_hashes_that_python_computes(hospital):
    hospital.csv = "pid,day,ward\n007,2024-01-01,A\n7,2024-01-01,\n7,2024-01-01,\n"
    key = unit_key(KEYS.unit, "7")
    expected = sorted(
        (row_hash(KEYS.row, "stays", "7", raw, nth), ward)
        for raw, nth, ward in [
            (["007", "2024-01-01", "A"], 1, "A"),
            (["7", "2024-01-01", ""], 1, None),
            (["7", "2024-01-01", ""], 2, None),
        ]
    )
    assert hospital.rows("unit_key, row_hash, row_rank, ward") == [
        (key, hashed, rank, ward) for rank, (hashed, ward) in enumerate(expected, 1)
    ]


def test_a_snapshot_is_its_owners_alone(hospital):
    hospital.load()
    files = list(hospital.folder.rglob("*.duckdb"))
    assert {path.stat().st_mode & 0o777 for path in files} == {0o600}


def test_columns_are_stored_under_their_declared_names_and_types(hospital):
    for name, type_ in (("n", "integer"), ("t", "timestamp"), ("b", "boolean")):
        hospital.column(name, type=type_)
    hospital.column("x", type="decimal", scale=2)
    hospital.csv = "pid,day,ward,n,t,b,x\n1,2024-01-01,A,3,2024-01-01 10:00,true,2.5\n"
    described = hospital.rows('column_name, column_type, "null"', "(DESCRIBE stays)")
    assert described == [
        ("unit_key", "BIGINT", "NO"),
        ("row_hash", "BIGINT", "NO"),
        ("row_rank", "INTEGER", "NO"),
        ("day", "DATE", "YES"),
        ("ward", "VARCHAR", "YES"),
        ("n", "BIGINT", "YES"),
        ("t", "TIMESTAMP", "YES"),
        ("b", "BOOLEAN", "YES"),
        ("x", "BIGINT", "YES"),
    ]
    assert hospital.rows("n, b, x") == [(3, True, 250)]


def test_raw_unit_ids_are_nowhere_in_the_file(hospital):
    hospital.unit_type = "text"
    hospital.column("pid", type="text")
    names = [f"PATIENT-NAME-{i:05d}" for i in range(2000)]
    hospital.csv = "pid,day,ward\n" + "".join(f"{n},2024-01-01,A\n" for n in names)
    hospital.load()
    content = (hospital.folder / "snapshot.duckdb").read_bytes()
    assert b"PATIENT-NAME" not in content


def test_rows_lie_in_the_order_of_keys_not_of_the_source(hospital):
    lines = [f"{i},2024-01-01,A\n" for i in range(500)]
    hospital.csv = "pid,day,ward\n" + "".join(lines)
    keys = hospital.rows("unit_key")
    assert keys == sorted(keys)
    assert len(set(keys)) == 500


def test_the_order_of_source_rows_does_not_matter(hospital):
    lines = [f"{i % 7},2024-01-0{i % 9 + 1},A\n" for i in range(100)]
    hospital.csv = "pid,day,ward\n" + "".join(lines)
    hospital.table = {"max_rows_per_unit": 5}
    forwards = hospital.rows("*")
    hospital.csv = "pid,day,ward\n" + "".join(reversed(lines))
    hospital.target = "again.duckdb"
    assert hospital.rows("*") == forwards


def test_another_secret_gives_other_keys_and_hashes(hospital):
    hospital.load(secret=b"x" * 32)
    hospital_rows = hospital.rows("unit_key, row_hash")
    hospital.target = "again.duckdb"
    assert not set(hospital.rows("unit_key, row_hash")) & set(hospital_rows)


def test_population_ids_are_sorted_digests_of_all_units(hospital):
    hospital.more_tables = [other_table()]
    (hospital.folder / "other.csv").write_text("pid,code\n3,x\n02,y\n")
    expected = sorted(population_id(KEYS.population, u) for u in "123")
    assert hospital.load().population_ids == b"".join(expected)


def other_table(**keys):
    return {
        "name": "other",
        "files": ["other.csv"],
        "unit_column": "pid",
        "max_rows_per_unit": 3,
        "source": "test",
        "columns": [{"name": "pid", "type": "text"}, {"name": "code", "type": "text"}],
        **keys,
    }


def test_one_unit_has_one_key_in_all_tables_however_they_spell_it(hospital):
    hospital.more_tables = [other_table()]
    (hospital.folder / "other.csv").write_text("pid,code\n +001,x\n")
    keys = set(hospital.rows("unit_key"))
    assert set(hospital.rows("unit_key", "other")) < keys


# Units, keys, bounds, constants


@pytest.mark.parametrize("unit_type", ["integer", "text"])
def test_rows_without_a_unit_are_dropped_and_counted(hospital, unit_type):
    hospital.unit_type = unit_type
    hospital.column("pid", type=unit_type, null_values=["", "?"])
    hospital.csv = "pid,day,ward\n,,A\n \u3000,,B\n?,,C\n1,,D\n"
    report = hospital.report()
    assert (report.rows_read, report.dropped_null_unit, report.rows_kept) == (4, 3, 1)
    assert hospital.rows("ward") == [("D",)]


def test_text_ids_are_trimmed_and_normalised(hospital):
    hospital.unit_type = "text"
    hospital.column("pid", type="text")
    hospital.csv = "pid,day,ward\ne\u0301,,A\n\xe9\u2003,,B\n007,,C\n7,,D\n"
    assert hospital.report().units == 3


def test_an_integer_id_that_is_none_refuses_the_file(hospital):
    hospital.csv = "pid,day,ward\n1,,A\n1.0,,B\n9223372036854775808,,C\n"
    refused(
        hospital,
        "no integer of 64 bits",
        [("stays.csv", 3, 1)],
    )


def test_the_row_bound_keeps_the_rows_of_least_hash(hospital):
    lines = [f"1,2024-01-{i:02d},A" for i in range(1, 21)] + ["2,2024-01-01,B"]
    hospital.csv = "\n".join(["pid,day,ward", *lines, ""])
    everything = {
        row_hash(KEYS.row, "stays", "1", line.split(","), 1) for line in lines[:-1]
    }
    hospital.table = {"max_rows_per_unit": 3}
    report = hospital.report()
    assert (report.dropped_over_bound, report.rows_kept, report.units) == (17, 4, 2)
    kept = hospital.rows("row_hash, row_rank", "stays WHERE ward = 'A'")
    assert kept == list(zip(sorted(everything)[:3], (1, 2, 3), strict=True))


def test_keep_first_by_keeps_the_first_days_and_ranks_them_by_hash(hospital):
    days = [f"2024-01-{i:02d}" for i in range(1, 21)]
    hospital.csv = "pid,day,ward\n1,,A\n" + "".join(f"1,{d},A\n" for d in days[::-1])
    hospital.table = {"max_rows_per_unit": 4, "keep": {"first_by": "day"}}
    rows = hospital.rows("row_hash, row_rank, day")
    assert {day for *_, day in rows} == {date.fromisoformat(d) for d in days[:4]}
    assert [rank for _, rank, _ in sorted(rows)] == [1, 2, 3, 4]


@pytest.mark.parametrize("key", [["day"], ["pid", "day"]])
def test_of_rows_that_share_a_key_the_least_hash_stays(hospital, key):
    hospital.table = {"key": key}
    wards = "ABCDEFGH"
    hospital.csv = "pid,day,ward\n" + "".join(f"1,2024-01-01,{w}\n" for w in wards)
    hospital.csv += "1,2024-01-02,Z\n2,2024-01-01,Y\n"
    hashes = {
        row_hash(KEYS.row, "stays", "1", ["1", "2024-01-01", w], 1): w for w in wards
    }
    report = hospital.report()
    assert (report.deduplicated, report.rows_kept) == (7, 3)
    assert {w for (w,) in hospital.rows("ward")} == {hashes[min(hashes)], "Y", "Z"}
    ranks = hospital.rows("row_rank", "stays WHERE ward <> 'Y'")
    assert ranks == [(1,), (2,)]


def test_a_key_of_the_unit_column_alone_leaves_one_row_a_unit(hospital):
    hospital.table = {"key": ["pid"]}
    hospital.csv = "pid,day,ward\n1,,A\n1,,B\n2,,C\n"
    assert hospital.report().rows_kept == 2


def test_keys_are_compared_as_they_are_stored(hospital):
    hospital.table = {"key": ["n"]}
    hospital.column("n", type="integer", domain={"min": 0, "max": 5}, source="x")
    hospital.csv = "pid,day,ward,n\n1,,A,5\n1,,A,9\n1,,A,05\n1,,A,\n1,,B,\n"
    assert hospital.report().deduplicated == 3
    assert sorted(hospital.rows("n"), key=str) == [(5,), (None,)]


def test_constants_take_the_value_of_the_row_of_rank_one(hospital):
    hospital.column("ward", constant_in_unit=True)
    wards = [["A", "2024-01-01"], ["", "2024-01-02"], ["B", "2024-01-03"]]
    hospital.csv = "pid,day,ward\n" + "".join(f"1,{d},{w}\n" for w, d in wards)
    hospital.csv += "2,2024-01-01,C\n"
    first = min(
        wards, key=lambda r: row_hash(KEYS.row, "stays", "1", ["1", r[1], r[0]], 1)
    )
    assert hospital.report().constants_replaced == 2
    assert (
        hospital.rows("ward", "stays WHERE coalesce(ward, '') <> 'C'")
        == [(first[0] or None,)] * 3
    )


def test_a_key_stays_unique_when_one_of_its_columns_is_constant(hospital):
    hospital.column("ward", constant_in_unit=True)
    hospital.table = {"key": ["ward"]}
    hospital.csv = "pid,day,ward\n1,,A\n1,,B\n1,2024-01-01,C\n2,,A\n"
    assert hospital.report().rows_kept == 2


def test_a_collision_of_row_hashes_within_a_unit_is_refused(hospital, monkeypatch):
    monkeypatch.setattr(
        "upstream.staging.staging.row_hash_sql", lambda *_: "CAST(7 AS BIGINT)"
    )
    monkeypatch.setattr(
        "upstream.ingestion.doubles.row_hash_sql", lambda *_: "CAST(7 AS BIGINT)"
    )
    hospital.csv = "pid,day,ward\n1,,A\n1,,B\n"
    refused(hospital, "two rows of one unit", [("snapshot", None, None)])


def test_a_collision_of_unit_keys_is_refused(hospital, monkeypatch):
    monkeypatch.setattr(
        "upstream.staging.staging.unit_key_sql", lambda _uid: "CAST(7 AS BIGINT)"
    )
    refused(hospital, "two units", [("snapshot", None, None)])


def test_the_key_by_which_joins_hold_nobody_is_refused(hospital, monkeypatch):
    monkeypatch.setattr(
        "upstream.staging.staging.unit_key_sql",
        lambda _uid: f"CAST({NOBODY} AS BIGINT)",
    )
    refused(hospital, "a unit and nobody", [("snapshot", None, None)])


# Values


def test_changed_values_are_counted_for_rows_that_have_a_unit(hospital):
    hospital.column("ward", domain={"values": ["A"], "other": True}, source="x")
    hospital.column("n", type="integer", domain={"min": 0, "max": 9}, source="x")
    hospital.csv = (
        "pid,day,ward,n\n1,2024-02-30,B,10\n2,,A,-1\n3,,,NaN\n,2024-02-30,B,10\n"
    )
    day, ward, n = hospital.report().columns
    assert (day.to_null, ward.to_other, n.clamped, n.to_null) == (1, 1, 2, 1)
    assert sorted(hospital.rows("ward, n"), key=str) == [
        ("A", 0), ("other", 9), (None, None),
    ]  # fmt: skip


def test_quotes_do_not_matter_for_null_and_nothing_is_trimmed(hospital):
    hospital.csv = 'pid,day,ward\n1,"",""\n2,, x \n'
    assert set(hospital.rows("ward")) == {(None,), (" x ",)}


def test_values_that_cannot_be_read_are_all_placed(hospital):
    hospital.column("ward", nullable=False)
    hospital.csv = (
        'pid,x,day,ward\n1,"two\nlines",2024-01-01,A\n2,,01.01.2024,A\n3,,,\n'
    )
    refused(
        hospital,
        r"day cannot be read.*\n.*ward would be NULL",
        [("stays.csv", 4, 3), ("stays.csv", 5, 4)],
    )


def test_problems_name_no_value_of_the_data(hospital):
    hospital.csv = "pid,day,ward\n1,SECRETVALUE,A\nSECRETID,,A\n"
    with pytest.raises(IngestionError) as refusal:
        hospital.load()
    assert "SECRET" not in str(refusal.value)
    assert len(refusal.value.problems) == 2


def test_at_most_twenty_problems_of_a_table_are_listed(hospital):
    for number in range(30):
        hospital.column(f"n{number}", type="integer")
    names = [column["name"] for column in hospital.columns]
    row = ",".join(["1", "", "A", *["x"] * 30])
    hospital.csv = f"{','.join(names)}\n{row}\n"
    with pytest.raises(IngestionError) as refusal:
        hospital.load()
    assert len(refusal.value.problems) == 20


def test_problems_of_all_tables_come_at_once(hospital):
    hospital.csv = "pid,day,ward\n1,x,A\n"
    hospital.more_tables = [other_table()]
    (hospital.folder / "other.csv").write_text("pid,code\nx,y\n")
    refused(hospital, "64 bits", [("stays.csv", 2, 2), ("other.csv", 2, 1)])


# Files


def test_undeclared_columns_are_ignored_and_columns_may_stand_in_any_order(hospital):
    hospital.csv = "x,ward,pid,y,day\n?,A,1,\u00e9,2024-01-01\n"
    assert hospital.rows() == [(date(2024, 1, 1), "A")]


def test_several_files_make_one_table_each_with_its_own_header(hospital):
    hospital.table = {"files": ["part*.csv", "part1.csv"]}
    (hospital.folder / "part1.csv").write_text("pid,day,ward\n1,,A\n")
    (hospital.folder / "part2.csv").write_text("ward,pid,day\r\nB,2,\r\n")
    assert set(hospital.rows("ward")) == {("A",), ("B",)}


@pytest.mark.parametrize(
    ("csv", "words", "places"),
    [
        ("pid,ward\n1,A\n", "no column 'day'", [("stays.csv", 1, None)]),
        ("pid,day,day,ward\n1,,,A\n", "twice", [("stays.csv", 1, None)]),
        ("pid,day,ward\n1,,A,\n", "4 fields", [("stays.csv", 2, 4)]),
        ('pid,day,ward\n1,,"A\n', "never closed", [("stays.csv", 2, None)]),
        (b"pid,day,ward\n1,,\xe9\n", "UTF-8", [("stays.csv", 2, 3)]),
        ("", "empty", [("stays.csv", 1, None)]),
        (None, "no file matches", [("stays.csv", None, None)]),
    ],
)
def test_a_file_that_does_not_fit_is_refused(hospital, csv, words, places):
    hospital.csv = csv
    refused(hospital, words, places)


def test_a_file_outside_the_import_folder_is_refused_even_through_a_link(hospital):
    outside = hospital.folder / "outside"
    inside = hospital.folder / "inside"
    outside.mkdir()
    inside.mkdir()
    (outside / "stays.csv").write_text(hospital.csv)
    (inside / "stays.csv").symlink_to(outside / "stays.csv")
    for pattern in ("outside/stays.csv", "inside/stays.csv", "inside/../outside/*.csv"):
        hospital.table = {"files": [pattern]}
        with pytest.raises(IngestionError, match="outside the import folder"):
            hospital.load(import_folder=inside)


def test_a_path_that_duckdb_would_read_as_a_pattern_is_refused(hospital):
    hospital.table = {"files": ["s*.csv"]}
    hospital.csv = None
    (hospital.folder / "s[1].csv").write_text("pid,day,ward\n1,,A\n")
    refused(hospital, "rename it", [("s[1].csv", None, None)])


def test_a_pipe_is_no_file(hospital):
    os.mkfifo(hospital.folder / "stays.csv")
    hospital.csv = None
    refused(hospital, "no regular file", [("stays.csv", None, None)])


def test_an_existing_snapshot_is_never_replaced(hospital):
    hospital.load()
    before = (hospital.folder / "snapshot.duckdb").read_bytes()
    with pytest.raises(FileExistsError):
        hospital.load()
    assert (hospital.folder / "snapshot.duckdb").read_bytes() == before


def test_nothing_lies_beside_a_finished_snapshot(hospital):
    hospital.load()
    names = {path.name for path in hospital.folder.iterdir()}
    assert names == {"stays.csv", "snapshot.duckdb"}


def test_what_dead_loads_left_is_swept_and_nothing_else(tmp_path):
    (tmp_path / "s_1.duckdb").touch()
    for name in ("s_2.duckdb.part", "s_2.duckdb.part.wal"):
        (tmp_path / name).touch()
    (tmp_path / "s_2.duckdb.spill" / "staged_x").mkdir(parents=True)
    sweep_dead_loads(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["s_1.duckdb"]


def test_progress_runs_to_its_end(hospital):
    (hospital.folder / "stays.csv").write_text(hospital.csv)
    told = []
    ingest(
        hospital.manifest(),
        base=hospital.folder,
        import_folder=hospital.folder,
        secret=SECRET,
        target=hospital.folder / "s.duckdb",
        progress=lambda step: told.append((step.phase, step.table, step.percent)),
    )
    assert told[-1] == ("write", "stays", 100)
    phases = [phase for phase, *_ in told]
    assert list(dict.fromkeys(phases)) == ["check", "units", "read", "rank", "write"]
    assert {table for _, table, _ in told} == {"stays"}


def test_a_report_is_plain_json(hospital):
    (table,) = hospital.load().report.to_json()["tables"]
    assert (table["name"], table["rows_kept"]) == ("stays", 2)


def test_a_report_warns_of_values_that_cannot_be_read(hospital):
    hospital.column("day", format="%d/%m/%Y")
    hospital.column("ward", domain={"values": ["A"]}, source="x")
    rows = [f"{i},{1 + i % 12:02}/{13 + i % 9}/2024,B\n" for i in range(20)]
    hospital.csv = "pid,day,ward\n" + "".join(rows) + "20,,B\n21,01/02/2024,B\n"
    assert hospital.load().report.to_json()["warnings"] == [
        "stays.day: 20 of 21 values became NULL: is its format or type right?",
        (
            "stays.ward: 22 of 22 values became NULL: they are not declared: "
            "is the list whole, or other: true wanted?"
        ),
    ]


def test_a_report_warns_of_a_bound_that_leaves_much_out(hospital):
    rows = "".join(f"1,2024-01-{day:02},A\n" for day in range(1, 29))
    hospital.csv = f"pid,day,ward\n{rows}"
    (said,) = hospital.load().report.warnings
    assert re.match(r"stays: \d+ of 28 rows went beyond max_rows_per_unit", said)


def test_a_few_impossible_days_are_no_warning(hospital):
    rows = "".join(f"{i},2024-01-01,A\n" for i in range(19))
    hospital.csv = f"pid,day,ward\n{rows}19,2024-02-30,A\n"
    assert hospital.load().report.warnings == ()


@pytest.mark.parametrize(
    ("ids", "said"),
    [
        (("001", "002"), "only 0 of 2 units of people can be found in stays"),
        (("1", "2"), None),
    ],
)
def test_a_report_warns_of_tables_whose_units_are_strangers(hospital, ids, said):
    hospital.unit_type = "text"
    hospital.column("pid", type="text")
    hospital.csv = "pid,day,ward\n1,,A\n2,,A\n3,,A\n"
    (hospital.folder / "people.csv").write_text("pid\n" + "\n".join(ids) + "\n")
    hospital.more_tables = [
        {
            "name": "people",
            "files": ["people.csv"],
            "unit_column": "pid",
            "max_rows_per_unit": 1,
            "source": "test",
            "columns": [{"name": "pid", "type": "text"}],
        }
    ]
    warnings = hospital.load().report.warnings
    strangers = [w.split(":")[0] for w in warnings if "can be found in" in w]
    assert strangers == ([said] if said else [])


@pytest.mark.parametrize(
    ("last", "said"),
    [
        ("Zwischensumme,,\n", "1 of 41 units have ids without a digit"),
        ("P40,,\n", None),
    ],
)
def test_a_report_warns_of_lines_of_totals_that_count_as_people(hospital, last, said):
    hospital.unit_type = "text"
    hospital.column("pid", type="text")
    rows = "".join(f"P{i},,A\n" for i in range(40))
    hospital.csv = f"pid,day,ward\n{rows}{last}"
    warnings = hospital.load().report.warnings
    found = [w.split(",")[0] for w in warnings if "without a digit" in w]
    assert found == ([said] if said else [])


@pytest.mark.parametrize(("stays", "asks"), [(3, True), (1, False)])
def test_a_report_asks_whether_a_case_is_taken_for_a_person(hospital, stays, asks):
    hospital.column("patnr", type="integer")
    rows = "".join(f"{i},,A,{i // stays}\n" for i in range(30))
    hospital.csv = f"pid,day,ward,patnr\n{rows}"
    said = "stays.patnr looks like ids of people, of whom there are 10 for 30"
    warnings = hospital.load().report.warnings
    assert any(said in each for each in warnings) == asks


# Public tables


def codes(**keys):
    return {
        "name": "codes",
        "files": ["codes.csv"],
        "public": True,
        "columns": [
            {"name": "code", "type": "text"},
            {"name": "weight", "type": "decimal", "scale": 1},
        ],
        **keys,
    }


def test_a_public_table_is_copied_in_source_order(hospital):
    hospital.more_tables = [codes(key=["code"])]
    rows = [(f"c{i * 7919 % 3000}", i) for i in range(3000)]
    (hospital.folder / "codes.csv").write_text(
        "code,weight\n" + "".join(f"{c},{w / 10}\n" for c, w in rows)
    )
    assert hospital.rows("*", "codes") == [(n, *row) for n, row in enumerate(rows, 1)]


def test_a_public_key_that_is_not_unique_is_refused(hospital):
    hospital.more_tables = [codes(key=["code"])]
    (hospital.folder / "codes.csv").write_text("code,weight\na,1\nb,1\na,2\n")
    refused(hospital, "the same key", [("codes.csv", 4, None)])


def test_of_several_files_the_row_that_repeats_a_key_is_placed_in_its_own(hospital):
    hospital.more_tables = [codes(key=["code"], files=["codes*.csv"])]
    (hospital.folder / "codes1.csv").write_text("code,weight\na,1\nb,1\n")
    (hospital.folder / "codes2.csv").write_text('code,weight\n"c\nd",1\na,2\n')
    refused(hospital, "the same key", [("codes2.csv", 4, None)])


def test_public_rows_with_a_null_in_the_key_are_no_duplicates(hospital):
    hospital.more_tables = [codes(key=["code", "weight"])]
    (hospital.folder / "codes.csv").write_text("code,weight\na,\na,\n,\n,\n")
    assert len(hospital.rows("*", "codes")) == 4


def test_public_rows_are_numbered_through_all_files(hospital):
    hospital.more_tables = [codes(files=["codes*.csv"])]
    (hospital.folder / "codes2.csv").write_text("code,weight\nc,1\n")
    (hospital.folder / "codes1.csv").write_text("code,weight\nb,1\na,1\n")
    assert hospital.rows("_row, code", "codes") == [(1, "b"), (2, "a"), (3, "c")]


def test_a_public_table_without_rows_is_stored(hospital):
    hospital.more_tables = [codes(key=["code"])]
    (hospital.folder / "codes.csv").write_text("code,weight\n")
    assert hospital.rows("*", "codes") == []


@pytest.mark.parametrize("most", [1, 2])
def test_a_fan_out_is_verified(hospital, most):
    hospital.more_tables = [codes(fan_out=[{"columns": ["code"], "max": most}])]
    (hospital.folder / "codes.csv").write_text("code,weight\na,1\n,1\n,1\n,1\na,2\n")
    if most == 1:
        refused(hospital, "1 earlier rows", [("codes.csv", 6, None)])
    else:
        assert len(hospital.rows("*", "codes")) == 5


@pytest.mark.parametrize("header", ["code,weight,pid", "code,weight,PATIENT"])
def test_a_file_with_the_unit_column_cannot_be_public(hospital, header):
    hospital.column("pid", **{"from": "PATIENT"})
    hospital.csv = hospital.csv.replace("pid", "PATIENT")
    hospital.more_tables = [codes()]
    (hospital.folder / "codes.csv").write_text(f"{header}\na,1,1\n")
    refused(hospital, "cannot be public", [("codes.csv", None, None)])


# Parquet


def parquet(hospital, query):
    path = hospital.folder / "stays.parquet"
    duckdb.connect().sql(f"COPY ({query}) TO '{path}' (FORMAT parquet)")
    hospital.csv = None
    hospital.table = {"files": ["stays.parquet"]}


def test_parquet_is_read_by_its_canonical_text(hospital):
    for name in ("n", "f", "g"):
        hospital.column(name, type="decimal", scale=3)
    hospital.column("t", type="timestamp")
    hospital.column("b", type="boolean")
    parquet(
        hospital,
        "SELECT 7::BIGINT AS pid, DATE '2024-01-01' AS day, '' AS ward, "
        "1.50::DECIMAL(5, 2) AS n, 1e-3::DOUBLE AS f, 5::FLOAT AS g, "
        "TIMESTAMP_NS '2024-01-01 10:00:00.5' AS t, true AS b UNION ALL "
        "SELECT 8, DATE '0044-03-15 (BC)', NULL, NULL, 1e15, 1e10::FLOAT, NULL, false "
        "UNION ALL SELECT 9, DATE 'infinity', 'x', 1, 1e-9, 'nan'::FLOAT, "
        "TIMESTAMP '2024-01-01 10:00:00', NULL",
    )
    found = {
        row_hash(KEYS.row, "stays", raw[0], raw, 1): values
        for raw, values in [
            (
                ["7", "2024-01-01", "", "1.50", "0.001", "5",
                 "2024-01-01 10:00:00.500000", "true"],
                (date(2024, 1, 1), None, 1500, 1, 5000, True),
            ),
            (
                ["8", "-0043-03-15", None, None, "1000000000000000", "10000000000",
                 None, "false"],
                (None, None, None, 10**18, 10**13, False),
            ),
            (
                ["9", "infinity", "x", "1.00", "0.000000001", "nan",
                 "2024-01-01 10:00:00", None],
                (None, "x", 1000, 0, None, None),
            ),
        ]
    }  # fmt: skip
    rows = hospital.rows("row_hash, day, ward, n, f, g, b")
    assert {hashed: tuple(values) for hashed, *values in rows} == found


def test_a_parquet_value_that_cannot_be_read_is_placed_by_row(hospital):
    parquet(
        hospital, "SELECT i AS pid, 'x' || i AS day, 'A' AS ward FROM range(2) t(i)"
    )
    refused(
        hospital,
        "row 1: day.*2 values; others at stays.parquet:row 2",
        [("stays.parquet", None, None)],
    )


@pytest.mark.parametrize("type_", ["TIMESTAMPTZ", "INTEGER[]", "BLOB", "TIME"])
def test_a_parquet_type_without_canonical_text_is_refused(hospital, type_):
    parquet(hospital, f"SELECT 1 AS pid, NULL::{type_} AS day, 'A' AS ward")
    refused(hospital, "is not read", [("stays.parquet", None, None)])


def test_what_is_no_parquet_is_refused(hospital):
    hospital.csv = None
    hospital.table = {"files": ["stays.parquet"]}
    (hospital.folder / "stays.parquet").write_text("pid,day,ward\n")
    refused(hospital, "no Parquet", [("stays.parquet", None, None)])
