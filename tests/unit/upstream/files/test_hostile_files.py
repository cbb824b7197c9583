"""Files as they should not be: refused with what to do, or handled as declared."""

import gzip
import os

import duckdb
import pytest

from upstream.errors import IngestionError

HEADER = "pid,day,ward\n"

REFUSED = [
    ("the wrong id column", HEADER + "A,2024-01-01,1\n", 2, 1, "unit_type: text"),
    ("no id column", "id,day,ward\n1,,A\n", 1, None, "name the file's column"),
    ("the id column twice", "pid,pid,day,ward\n1,2,,A\n", 1, None, "twice"),
    ("an id with a NUL", HEADER + "1\0,,A\n", 2, 1, "no integer"),
    ("a date with a NUL", HEADER + "1,2024-01-01\0,A\n", 2, 2, "YYYY-MM-DD"),
    ("a quote in a field", HEADER + '1,,A\n2,,x"y\n', 3, None, "never closed|broken"),
    ("text after a quote", HEADER + '1,,"A"B\n', 2, None, "never closed|broken"),
    ("a quote left open", HEADER + '1,,"A\n2,,B\n', 2, None, "never closed"),
    ("a field too many", HEADER + "1,,A\n2,,A,B\n", 3, 4, "4 fields"),
    ("a field too few", HEADER + "1,,A\n2,\n", 3, 3, "2 fields"),
    ("another separator", "pid;day;ward\n1;;A\n", 1, None, "semicolons"),
    ("mixed types", HEADER + "1,2024-01-01,A\n2,ward 7,A\n", 3, 2, "mend the value"),
    ("half of UTF-16", HEADER + "1,,\udcff\udcfe\n", 2, 3, "save it as UTF-8"),
    ("a header in two lines", 'pid,"da\ny",ward\n1,,A\n', 1, None, "line break"),
    ("UTF-16 without a mark", HEADER.encode("utf-16-le"), 1, None, "UTF-8|NUL"),
    ("UTF-16", (HEADER * 9).encode("utf-16"), 1, None, "UTF-8|NUL"),
    ("gzip", gzip.compress(HEADER.encode()), 1, None, "UTF-8|bare CR|NUL"),
    ("zeros", bytes(3000), 1, None, "UTF-8|NUL"),
    ("nothing", "", 1, None, "needs a header"),
    ("a blank first line", "\n" + HEADER, 1, None, "header"),
    ("mixed line ends", HEADER + "1,,A\r\n", 2, None, "two ways"),
]


@pytest.mark.parametrize(
    ("csv", "line", "column", "words"),
    [case[1:] for case in REFUSED],
    ids=[case[0] for case in REFUSED],
)
def test_a_broken_file_is_refused_with_its_place(hospital, csv, line, column, words):
    is_text = isinstance(csv, str)
    hospital.csv = csv.encode(errors="surrogateescape") if is_text else csv
    with pytest.raises(IngestionError, match=words) as refusal:
        hospital.load()
    problem = refusal.value.problems[0]
    assert (problem.file, problem.line) == ("stays.csv", line)
    assert column is None or problem.column == column
    assert {path.name for path in hospital.folder.iterdir()} == {"stays.csv"}


INJECTED = [
    '"; DROP TABLE snapshot.stays; --',
    "'); ATTACH 'x' AS y; --",
    "=HYPERLINK(1)",
    "c0",
    "r0",
    "filename",
    "../../etc",
    "\x1b[31m",
    "",
]


@pytest.mark.sampled
@pytest.mark.parametrize("name", INJECTED, ids=range(len(INJECTED)))
def test_a_header_is_read_as_names_and_never_as_commands(hospital, name):
    hospital.column("ward", **{"from": name})
    quoted = '"' + name.replace('"', '""') + '"'
    hospital.csv = f"pid,day,{quoted}\n1,2024-01-01,A\n"
    assert hospital.rows("ward") == [("A",)]


@pytest.mark.sampled
@pytest.mark.parametrize(
    "cell", ["a\0b", "'; DROP TABLE stays; --", "=1+1", "\x1b[2J", "{}", "%s", "\\"]
)
def test_a_hostile_text_is_stored_as_it_is(hospital, cell):
    hospital.csv = f"pid,day,ward\n1,2024-01-01,{cell}\n"
    assert hospital.rows("ward") == [(cell,)]


@pytest.mark.parametrize("equal", [True, False])
def test_a_hundred_thousand_rows_of_one_patient_are_cut_to_the_bound(hospital, equal):
    rows = (f"1,2024-01-01,{'A' if equal else n}\n" for n in range(100_000))
    hospital.csv = HEADER + "".join(rows) + "2,2024-01-01,B\n"
    hospital.bucket_bytes = 10**6
    report = hospital.report()
    assert (report.rows_kept, report.dropped_over_bound) == (10, 99_991)


def test_a_column_of_one_value_taken_for_the_unit_is_one_unit(hospital):
    hospital.csv = HEADER + "".join(f"0,2024-01-01,{n}\n" for n in range(1000))
    assert (hospital.report().units, len(hospital.rows())) == (1, 9)


def test_ids_that_differ_in_nothing_that_counts_are_one_unit(hospital):
    hospital.csv = HEADER + "1,,A\n01,,A\n 1,,A\n+1,,A\n1\u2003,,A\n"
    assert hospital.report().units == 1


@pytest.mark.sampled
@pytest.mark.parametrize("later", [HEADER + "1,,B\n1,,B\n", "", 'pid\n"'])
def test_a_file_that_changes_under_a_load_is_refused(hospital, later):
    hospital.csv = HEADER + "1,,A\n1,,A\n"

    def change(step):
        if step.phase == "read" and step.percent == 100:
            (hospital.folder / "stays.csv").write_text(later)

    hospital.progress = change
    with pytest.raises(IngestionError, match="changed while it was read"):
        hospital.load()


ROWS = "".join(f"{20 + n},2024-01-01,{n}\n" for n in range(9))
SWAPPED = "ward,day,pid\n" + ROWS  # as many rows, other columns at their places


@pytest.mark.sampled
@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("when", ["units", "read"])
def test_a_file_swapped_for_one_with_other_columns_is_refused(hospital, kind, when):
    path, other = hospital.folder / f"stays.{kind}", hospital.folder / f"later.{kind}"
    hospital.table["files"] = [path.name]
    hospital.csv = None
    for target, text in ((path, HEADER + ROWS), (other, SWAPPED)):
        (hospital.folder / "text").write_text(text)
        if kind == "csv":
            (hospital.folder / "text").rename(target)
        else:
            duckdb.connect().sql(
                f"COPY (FROM read_csv('{hospital.folder}/text', all_varchar=true)) "
                f"TO '{target}'"
            )
    first = path.stat()

    def swap(step):
        if step.phase == when and other.exists():
            other.replace(path)
            os.utime(path, ns=(first.st_atime_ns, first.st_mtime_ns))

    hospital.progress = swap
    with pytest.raises(IngestionError, match="changed while it was read: repeat"):
        hospital.load()
    assert not (hospital.folder / hospital.target).exists()


def test_a_file_that_was_away_for_a_moment_is_refused(hospital):
    hospital.csv = HEADER + ROWS
    path, aside = hospital.folder / "stays.csv", hospital.folder / "aside"

    def swap(step):
        if step.phase == "units" and step.percent == 0:
            path.rename(aside)
            path.write_text(SWAPPED)
        elif step.phase == "read" and step.percent == 100 and aside.exists():
            aside.replace(path)  # the very file again, with all its times but one

    hospital.progress = swap
    with pytest.raises(IngestionError, match="changed while it was read: repeat"):
        hospital.load()


def test_what_is_no_file_of_rows_is_refused_by_its_kind_alone(hospital):
    inside, hospital.csv = hospital.folder / "in", None
    (inside / "folder.csv").mkdir(parents=True)
    os.mkfifo(inside / "pipe.csv")
    (inside / "line\nend.csv").write_text(HEADER)
    (hospital.folder / "out.csv").write_text(HEADER + ROWS)
    (inside / "link.csv").symlink_to(hospital.folder / "out.csv")
    (inside / "zero.csv").symlink_to("/dev/zero")
    (inside / "loop.csv").symlink_to(inside / "loop.csv")
    for name, words in (
        ("folder.csv", "is a folder: name the files in it"),
        ("pipe.csv", "is no regular file"),
        ("line*.csv", "control character"),
        ("link.csv", "outside the import folder"),
        ("../out.csv", "outside the import folder"),
        ("zero.csv", "outside the import folder"),
        ("loop.csv", "no file matches|no regular file|cannot be read"),
        ("absent.csv", "no file matches"),
    ):
        hospital.table["files"] = [f"in/{name}"]
        with pytest.raises(IngestionError, match=words) as refusal:
            hospital.load(import_folder=inside)
        assert "\n" not in str(refusal.value)


@pytest.mark.sampled
@pytest.mark.parametrize(
    "name", ["\u5165\u9662\u3000\u4e00", "\u0645\u06cc\u200c\u0634", "a\u00a0b"]
)
def test_names_of_all_languages_are_names(hospital, name):
    inside, hospital.csv = hospital.folder / "in", None
    inside.mkdir()
    (inside / f"{name}.csv").write_text(HEADER + ROWS)
    hospital.table["files"] = [f"in/{name}.csv"]
    loaded = hospital.load(import_folder=inside)
    assert loaded.report.tables[0].rows_kept == len(ROWS.splitlines())


def test_a_load_beyond_its_memory_says_what_to_do(hospital):
    hospital.memory_limit = "1MB"
    hospital.csv = HEADER + "".join(f"{n},2024-01-01,{n}\n" for n in range(50_000))
    with pytest.raises(IngestionError, match="needs more memory"):
        hospital.load()
    assert {path.name for path in hospital.folder.iterdir()} == {"stays.csv"}
