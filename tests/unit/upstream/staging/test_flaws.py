"""Refused values are told a line a column: how many, where, and what to declare."""

import pytest

from upstream.errors import IngestionError

CASES = [
    ({"type": "decimal", "scale": 2}, ["1,5", "2,25", "3"], 2, 'declare decimal: ","'),
    ({"type": "decimal", "scale": 2}, ["1.234,5"], 1, 'thousands: "."'),
    ({"type": "decimal", "scale": 2, "decimal": ","}, ["1.5"], 1, "decimal is ','"),
    ({"type": "integer"}, ["1.0", "2.5"], 2, "declare type: decimal"),
    ({"type": "integer"}, ["n/a", "-"], 2, "declare them in null_values"),
    ({"type": "date"}, ["03.01.2024", "2024-01-01"], 1, 'format: "%d.%m.%Y"'),
    ({"type": "date"}, ["03/01/2024"], 1, "%m/%d/%Y: look which is meant"),
    ({"type": "date"}, ["45300", "45301"], 2, "Excel's numbers of days"),
    ({"type": "date"}, ["03.01.24"], 1, "two digits"),
    ({"type": "date"}, ["2024-01-01 10:00"], 1, "declare type: timestamp"),
    (
        {"type": "date", "format": "%d.%m.%Y"},
        ["2024-01-05"],
        1,
        'formats: ["%d.%m.%Y", "%Y-%m-%d"]',
    ),
    ({"type": "boolean"}, ["ja", "nein"], 2, "true_values and false_values"),
    ({"type": "text", "nullable": False}, [""], 1, "is not nullable"),
    ({"type": "date"}, ["20220304", "19850102"], 2, 'declare format: "%Y%m%d"'),
    ({"type": "integer"}, ["'17'", "'18'"], 2, "declare csv: {quote: "),
    (
        {"type": "decimal", "scale": 1},
        ["12,5", "1,5", "ca. 7,3", "1.2.3", "12.5 mg"],
        5,
        "2 have a decimal comma, 1 has letters before digits, 1 has more than one",
    ),
    ({"type": "decimal", "scale": 1}, ["viel", "wenig"], 2, "2 have letters and no"),
    ({"type": "date"}, ["heute", "3. Mai 22"], 2, "1 has letters behind digits"),
]


@pytest.mark.parametrize(("declared", "texts", "count", "words"), CASES)
def test_each_column_is_told_once_with_what_to_declare(
    hospital, declared, texts, count, words
):
    hospital.csv = None
    hospital.column("x", **declared)
    rows = "".join(f"{n};{text}\n" for n, text in enumerate(texts, 1))
    (hospital.folder / "stays.csv").write_text(f"pid;x\n{rows}")
    hospital.columns = [hospital.columns[0], hospital.columns[-1]]
    hospital.table = {"csv": {"delimiter": ";"}}
    with pytest.raises(IngestionError) as refusal:
        hospital.load()
    (problem,) = refusal.value.problems
    assert words in problem.sentence
    assert (f"({count} values" in problem.sentence) == (count > 1)
    assert not any(text in problem.sentence for text in texts if len(text) > 3)


def test_ids_with_decimals_are_told_to_be_exported_as_whole_numbers(hospital):
    hospital.csv = "pid,day,ward\n1.0,2024-01-01,A\n2.0,2024-01-01,A\n"
    with pytest.raises(IngestionError) as refusal:
        hospital.load()
    (problem,) = refusal.value.problems
    assert "export the column as whole numbers" in problem.sentence
    assert "type: decimal" not in problem.sentence


def test_all_values_are_counted_and_three_places_told(hospital):
    (hospital.folder / "stays_1.csv").write_text(
        "pid,day,ward\n" + "1,1.1.24,A\n" * 1_500
    )
    (hospital.folder / "stays_2.csv").write_text("pid,day,ward\n1,1.1.24,A\nx,,A\n")
    hospital.csv = None
    hospital.table = {"files": ["stays_*.csv"]}
    with pytest.raises(IngestionError) as refusal:
        hospital.load()
    day, unit = refusal.value.problems
    assert (day.file, day.line, day.column) == ("stays_1.csv", 2, 2)
    assert "(1,501 values; others at stays_1.csv:3 and stays_1.csv:4)" in day.sentence
    assert (unit.file, unit.line) == ("stays_2.csv", 3)
    assert "footer_rows: 1" in unit.sentence
