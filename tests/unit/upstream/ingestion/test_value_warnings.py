"""What a load says of stored rows that look like a slip."""

from tests.support.workbooks import write_workbook


def warned(hospital, rows, words, **table):
    hospital.csv = f"pid,{','.join(c['name'] for c in hospital.columns[1:])}\n{rows}"
    hospital.table |= table
    return [one for one in hospital.load().report.warnings if words in one]


def columns(hospital, *others):
    hospital.columns = [{"name": "pid", "type": "integer"}, *others]


def test_days_after_the_snapshots_are_warned_of(hospital):
    columns(hospital, {"name": "seen", "type": "date"}, {"name": "ok", "type": "date"})
    said = warned(hospital, "1,2025-01-05,2023-01-05\n2,,2024-02-29\n", " after ")
    assert len(said) == 1
    assert said[0].startswith("stays.seen: 1 row after 2024-12-31 (the snap")


def test_the_century_is_named_where_days_to_come_have_short_years(hospital):
    born = {"name": "born", "type": "date", "format": "%d.%m.%y"}
    columns(hospital, born | {"century": 1930})
    (said,) = warned(hospital, "1,05.01.26\n2,05.01.80\n", " after ")
    assert said.endswith("if none is to come, as of births, declare century: 1925")
    hospital.target = "mended.duckdb"
    columns(hospital, born | {"century": 1925})
    assert warned(hospital, "1,05.01.26\n2,05.01.80\n", " after ") == []


def test_no_century_is_named_where_older_days_have_four_digits(hospital):
    born = {"name": "born", "type": "date", "formats": ["%d.%m.%y", "%d/%m/%Y"]}
    columns(hospital, born | {"century": 1930})
    rows = "1,05.01.26\n2,05.01.80\n3,05/01/1921\n"
    (said,) = warned(hospital, rows, "stays.born")
    assert said.startswith("stays.born: days before 1930 are written with four digits")
    assert said.endswith("export all years with four digits")


def test_truths_that_are_never_false_are_warned_of(hospital):
    mark = {"name": "shunt", "type": "boolean", "map": {"x": True}}
    columns(hospital, mark)
    assert len(warned(hospital, "1,x\n2,\n3,x\n", "never false")) == 1


def test_truths_with_a_false_are_not(hospital):
    mark = {"name": "shunt", "type": "boolean", "map": {"x": True, "": False}}
    columns(hospital, mark | {"null_values": []})
    assert warned(hospital, "1,x\n2,\n3,x\n", "never false") == []


def test_a_bound_far_beyond_all_units_is_warned_of(hospital):
    rows = "1,2024-01-01,A\n1,2024-01-02,B\n2,2024-01-02,B\n"
    said = warned(hospital, rows, "no unit has a tenth", max_rows_per_unit=1000)
    assert said[0].startswith("stays: no unit has a tenth of max_rows_per_unit, 1,000")
    assert "what these files happen to have" in said[0]


def test_sizes_far_beyond_the_table_are_warned_of(hospital):
    said = warned(hospital, "1,2024-01-01,A\n", "max_rows is", max_rows=5_000_000)
    assert len(said) == 1


def test_columns_that_tell_units_apart_are_warned_of(hospital):
    columns(
        hospital, {"name": "mrn", "type": "text"}, {"name": "age", "type": "integer"}
    )
    rows = "".join(f"{n},M{n * 7},{n}\n" for n in range(30))
    said = warned(hospital, rows, "second identity")
    assert [one.partition(":")[0] for one in said] == ["stays.mrn"]


def test_texts_that_end_in_blanks_are_warned_of(hospital):
    columns(hospital, {"name": "code", "type": "text"}, {"name": "w", "type": "text"})
    (said,) = warned(hospital, "1,HR,A\n2,HR ,A\n", "at the end of its text")
    assert said.startswith("stays.code: 1 of 2 rows have blanks at the end")
    hospital.target = "trimmed.duckdb"
    columns(hospital, {"name": "code", "type": "text", "trim": True})
    assert warned(hospital, "1,HR\n2,HR \n", "at the end of its text") == []


def test_few_days_that_are_none_may_be_written_month_first(hospital):
    columns(hospital, {"name": "seen", "type": "date", "format": "%d/%m/%Y"})
    rows = "".join(f"{n},{n % 28 + 1:02}/05/2023\n" for n in range(40))
    said = warned(hospital, rows + "40,05/28/2023\n", "if they are written as")
    assert said[0].startswith("stays.seen: 1 value no day as %d/%m/%Y, and NULL: if th")
    assert "written as %m/%d" in said[0]


def test_files_of_two_tables_with_the_same_rows_are_warned_of(hospital):
    hospital.csv = "pid,day,ward\n1,2024-01-01,A\n2,2024-01-02,B\n"
    (hospital.folder / "copy.csv").write_text(hospital.csv)
    declared = hospital.manifest().model_dump(mode="json", by_alias=True)["tables"][0]
    plain = {k: v for k, v in declared.items() if k in {"unit_column", "source"}}
    columns_of = [{"name": c["name"], "type": c["type"]} for c in declared["columns"]]
    hospital.more_tables = [
        {**plain, "name": "copies", "files": ["copy.csv"], "max_rows_per_unit": 9}
        | {"columns": columns_of}
    ]
    said = [one for one in hospital.load().report.warnings if "same rows" in one]
    assert len(said) == 1
    assert said[0].startswith("copy.csv of table copies has the same rows as stays.csv")


def test_a_hidden_sheet_is_warned_of(hospital):
    sheets = {"Now": [["pid", "ward"], [1, "A"]], "Old": [["pid", "ward"], [1, "B"]]}
    write_workbook(hospital.folder / "t.xlsx", sheets, hidden=["Old"])
    hospital.csv = None
    columns(hospital, {"name": "ward", "type": "text"})
    hospital.table = {"files": ["t.xlsx"], "excel": {"sheet": "Old"}}
    warnings = hospital.load().report.warnings
    assert [one for one in warnings if "the sheet 'Old' is hidden" in one]


def test_a_column_of_a_sheet_without_values_is_warned_of(hospital):
    rows = [["pid", "Size\nmm", "w"], [1, None, "A"], [2, None, "B"]]
    write_workbook(hospital.folder / "t.xlsx", {"Now": rows})
    hospital.csv = None
    size = {"name": "size", "from": "Size mm", "type": "integer"}
    columns(hospital, size, {"name": "w", "type": "text"})
    hospital.table = {"files": ["t.xlsx"]}
    (said,) = hospital.load().report.warnings
    assert said.startswith("stays.size: no value in any row: if formulas stand there")


def test_rows_without_an_id_are_warned_of(hospital):
    rows = "1,2024-01-01,A\n,2024-01-02,B\n,2024-01-02,B\n2,2024-01-02,B\n"
    said = warned(hospital, rows, "as in merged cells")
    assert said[0].startswith("stays: 2 of 4 rows have no unit id, and are no part of")


def test_the_least_number_has_a_size_too(hospital):
    """What would have warned of it ended the load: it has no other sign."""
    columns(hospital, {"name": "code", "type": "integer"})
    rows = "".join(f"{n},{n - 2**63}\n" for n in range(30))
    said = warned(hospital, rows, "second identity")
    assert [one.partition(":")[0] for one in said] == ["stays.code"]
