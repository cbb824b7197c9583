"""What a load changes without refusing it is counted, and told where it is much."""

from upstream.drafting.drafting import draft_manifest

WEIGHT = {"type": "decimal", "scale": 1, "source": "test"}


def told(hospital, values, header="w", **keys):
    """Load one more column of these values; return its report and the warnings."""
    hospital.columns = [{"name": "pid", "type": "integer"}, {"name": "w", **keys}]
    lines = "".join(f"{n},{value}\n" for n, value in enumerate(values))
    hospital.csv = f"pid,{header}\n{lines}"
    report = hospital.load().report
    (column,) = [c for c in report.tables[0].columns if c.name == "w"]
    return column, "\n".join(report.warnings)


def test_many_values_beyond_a_domain_are_told(hospital):
    keys = {**WEIGHT, "domain": {"min": 0, "max": 300}}
    column, said = told(hospital, range(50_100, 50_200), **keys)
    assert (column.clamped, column.alike_beyond) == (100, 0)
    assert "stays.w: 100 of 100 values lie beyond its domain and became its" in said


def test_one_value_beyond_an_end_may_stand_for_nothing(hospital):
    keys = {**WEIGHT, "domain": {"min": 0, "max": 300}}
    values = [*range(1, 201), *[999] * 6, *[-1] * 5, *[-2, -3]]
    column, said = told(hospital, values, **keys)
    assert (column.clamped, column.alike_beyond) == (13, 6)
    assert "6 of 213 values lie beyond its domain, and all of these" in said
    assert "declare it in null_values" in said


def test_values_that_are_rounded_are_counted(hospital):
    values = ["0.002", "0.10", "0.1000", "1", "2.5", "nan", ""]
    column, said = told(hospital, values, **WEIGHT)
    assert (column.rounded, column.values) == (1, 6)
    assert "1 of 6 values have more decimals than its scale and were rounded" in said


def test_a_derived_value_that_cannot_be_computed_is_counted(hospital):
    day = {"name": "day", "expression": "CAST(w AS DATE)", "type": "date"}
    hospital.table = {"derived": [day]}
    _, said = told(hospital, ["2024-01-02", "2.1.2024", "", "2024-13-01"], type="text")
    assert "stays.day: 2 rows have values in all that its expression reads" in said
    assert "2024-13" not in said


def test_rows_that_are_there_twice_are_told_where_no_key_is_declared(hospital):
    rows = "".join(f"{n},2024-01-{1 + n % 28:02},A\n" for n in range(40))
    hospital.csv = "pid,day,ward\n" + rows + "7,2024-01-08,A\n" * 2
    report = hospital.load().report
    assert report.tables[0].equal_rows == 2
    assert "stays: 2 of 42 rows equal another row of their unit" in report.warnings[0]
    hospital.table, hospital.target = {"key": ["day"]}, "keyed.duckdb"
    report = hospital.load().report
    assert (report.tables[0].deduplicated, report.warnings) == (2, ())


def swallowed(hospital, notes, **csv):
    lines = "".join(f"{n},{note},B\n" for n, note in enumerate(notes, 1))
    hospital.csv = "pid,note,ward\n" + lines
    names = [("pid", "integer"), ("note", "text"), ("ward", "text")]
    hospital.columns = [{"name": name, "type": type_} for name, type_ in names]
    hospital.table = {"csv": csv} if csv else {}
    found = hospital.load().report.warnings
    return [one for one in found if "swallow" in one]


def test_rows_that_a_quote_swallows_are_told(hospital, tmp_path):
    notes = ["ok", '"fell', "ok", 'at home"', "ok", '"dizzy', 'again"']
    (said,) = swallowed(hospital, notes)
    assert said.startswith("stays.csv: 2 quoted texts (lines 3, 7) over lines each of")
    assert "declare csv: {quote: none}" in said
    hospital.target = "declared.duckdb"
    assert swallowed(hospital, notes, quote='"') == [said]
    (tmp_path / "stays.csv").write_text(hospital.csv)
    assert said in draft_manifest([tmp_path / "stays.csv"], ["pid"])
    hospital.target = "mended.duckdb"
    assert swallowed(hospital, notes, quote="none") == []


def test_line_breaks_within_a_text_are_not(hospital):
    notes = ['"fell\nat home"', '"a, b\nc, d, e"', '"one, two\nthree, four"']
    assert swallowed(hospital, notes) == []
