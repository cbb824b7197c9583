"""What a manifest says of how columns are named and written, from files to rows."""

import pytest

from upstream.drafting.drafting import draft_manifest
from upstream.errors import IngestionError, ManifestError

SEX = {"type": "text", "domain": {"values": ["F", "M"]}, "source": "form"}


def yearly(hospital, *files):
    """Write files of the table, one after the other."""
    hospital.csv = None
    for number, text in enumerate(files):
        (hospital.folder / f"stays_{number}.csv").write_text(text)
    hospital.table = {"files": ["stays_*.csv"]}


def test_blanks_at_the_ends_go_where_it_is_declared(hospital):
    hospital.column("sex", **SEX, map={"w": "F"})
    hospital.csv = (
        "pid,day,ward,sex\n"
        "1,2024-01-01, A ,F \n"
        "2,2024-01-01,A, M\n"
        "3,2024-01-01,,  \n"
        "4,2024-01-01,,w \n"
        "5,2024-01-01,,m\n"
    )
    report = hospital.load().report
    (sex,) = [c for c in report.tables[0].columns if c.name == "sex"]
    assert (sex.to_null, sex.but_for_blanks, sex.but_for_case) == (5, 2, 1)
    said = "\n".join(report.warnings)
    assert "stays.sex: 2 of 5 values are declared but for blanks at their ends" in said
    assert "1 of 5 values are declared but for capitals" in said
    hospital.target, hospital.table = "trimmed.duckdb", {"trim": True}
    assert sorted(hospital.rows("ward, sex"), key=str) == [
        ("A", "F"),
        ("A", "M"),
        (None, "F"),
        (None, None),
        (None, None),
    ]


def test_a_column_may_be_called_otherwise_in_some_files(hospital):
    hospital.column("ward", **{"from": ["Ward", "Station"], "null_values": ["", "-"]})
    yearly(
        hospital,
        "pid,day,Ward\n1,2022-01-01,A\n",
        "Station,pid,day\nB,2,2023-01-01\n",
        "pid,day,Station\n3,2024-01-01,-\n4,2024-01-01,E\n",
    )
    assert sorted(w for (w,) in hospital.rows("ward") if w) == ["A", "B", "E"]


@pytest.mark.parametrize("column", ["pid", "ward"])
def test_a_file_that_has_two_names_of_a_column_is_refused(hospital, column):
    """Else one patient is two units, and what is not read is compared with nothing."""
    hospital.column(column, **{"from": [column, "mrn"]})
    yearly(hospital, "pid,mrn,day,ward\n1,9,2022-01-01,A\n,9,2022-01-01,B\n")
    with pytest.raises(IngestionError) as error:
        hospital.load()
    (problem,) = error.value.problems
    assert f"has '{column}' and 'mrn', all of them names of stays.{column}" in str(
        problem.sentence
    )


def test_files_with_the_same_rows_are_refused(hospital):
    yearly(
        hospital,
        "pid,day,ward\n1,2022-01-01,A\n",
        'pid,day,ward\r\n1,2022-01-01,"A"\r\n',
        "pid,day,ward\n1,2022-01-01,B\n",
        "pid,day,ward\n",
        "pid,day,ward\n",
    )
    with pytest.raises(IngestionError) as error:
        hospital.load()
    (problem,) = error.value.problems
    assert problem.file == "stays_1.csv"
    assert "has the same rows as stays_0.csv" in problem.sentence
    (hospital.folder / "stays_1.csv").unlink()
    assert hospital.report().rows_read == 2


def test_a_file_in_utf8_among_those_of_one_byte_a_letter_is_told(hospital):
    text = "pid,day,ward\n{},2022-01-01,Gynäkologie\n"
    yearly(hospital)
    for number, encoding in enumerate(("cp1252", "utf-8", "ascii")):
        content = text.format(number).encode(encoding, "ignore")
        (hospital.folder / f"stays_{number}.csv").write_bytes(content)
    hospital.table["csv"] = {"encoding": "windows-1252"}
    (said,) = hospital.load().report.warnings
    assert "stays_1.csv: all that is beyond ASCII in it is UTF-8" in said


def test_a_file_half_in_utf8_is_told_with_its_line(hospital):
    lines = ["pid,day,ward", "1,2022-01-01,Süd", "2,2022-01-01,A", "3,2022-01-01,Süd"]
    encodings = ("cp1252", "cp1252", "cp1252", "utf-8")
    pairs = zip(lines, encodings, strict=True)
    content = b"".join(f"{line}\n".encode(how) for line, how in pairs)
    hospital.csv = None
    (hospital.folder / "stays.csv").write_bytes(content)
    hospital.table["csv"] = {"encoding": "windows-1252"}
    (said,) = hospital.load().report.warnings
    assert said.startswith("stays.csv:4: 1 line beyond ASCII in UTF-8, this one the")
    assert "beside 1 in another encoding" in said
    assert "stays.csv:4: 1 line" in draft_manifest([hospital.folder / "stays.csv"])


def test_files_that_lack_an_optional_column_are_named(hospital):
    hospital.column("ward", optional=True)
    yearly(hospital, "pid,day,ward\n1,2022-01-01,A\n", "pid,day\n1,2022-01-02\n")
    (said,) = hospital.load().report.warnings
    assert "1 file of 2 lack 'ward', so its values are NULL there (stays_1.csv)" in said


def test_a_value_that_cannot_be_read_is_told_where_it_stands(hospital):
    hospital.column("day", **{"from": ["Day", "Tag"]})
    yearly(hospital, "pid,ward,Tag\n1,A,1.1.2024\n2,B,2024-01-01\n")
    with pytest.raises(IngestionError) as error:
        hospital.load()
    (problem,) = error.value.problems
    assert (problem.line, problem.column) == (2, 3)
    yearly(hospital, "pid,ward\n1,A\n")
    with pytest.raises(IngestionError, match="has no column 'Day' or 'Tag'"):
        hospital.load()


def test_no_name_of_the_unit_s_column_is_another_column_or_public(hospital):
    hospital.column("pid", **{"from": ["PatNo", "Patient"]})
    hospital.column("other", type="text", **{"from": ["x", "Patient"]})
    with pytest.raises(ManifestError, match="reads the unit column once more"):
        hospital.manifest()
    hospital.columns.pop()
    columns = [{"name": "who", "from": ["w", "pid"], "type": "text"}]
    hospital.more_tables = [
        {"name": "o", "files": ["o.csv"], "public": True, "columns": columns}
    ]
    with pytest.raises(ManifestError, match="contains the unit column"):
        hospital.manifest()


@pytest.mark.parametrize(
    ("name", "keys", "said"),
    [
        ("day", {"trim": True}, "only a text column has trim"),
        ("day", {"format": "%d.%m.%y"}, "declare century: 1930"),
        ("day", {"format": "%d.%m.%Y", "century": 1930}, "formats with %y need"),
        ("ward", {"century": 1930}, "formats with %y need"),
        ("pid", {"trim": True}, "a unit column has no trim"),
        ("ward", {"from": []}, "write a name, or a list of different names"),
        ("ward", {"from": ["a", "a"]}, "write a name, or a list of different names"),
    ],
)
def test_what_cannot_be_said_is_refused(hospital, name, keys, said):
    hospital.column(name, **keys)
    with pytest.raises(ManifestError, match=said):
        hospital.manifest()
