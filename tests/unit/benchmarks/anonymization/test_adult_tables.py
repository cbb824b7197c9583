"""The tables of the benchmark are made of Adult, and of rows drawn like it."""

import pytest

from benchmarks.anonymization import tables
from benchmarks.anonymization.adult import COLUMNS, drawn_like, read_adult
from upstream.anonymization.columns.columns import number_column


def test_rows_are_drawn_again_by_a_seed():
    columns = [number_column("age", [1, 2, 3])]
    one, other = drawn_like(columns, 50, 1)[0], drawn_like(columns, 50, 1)[0]
    assert (one.codes == other.codes).all()
    assert sorted(set(one.codes.tolist())) == [0, 1, 2]


def test_a_missing_table_is_named(tmp_path):
    with pytest.raises(SystemExit, match="name its folder with --data"):
        read_adult(tmp_path)


def test_risks_and_precision_are_printed(tmp_path, capsys):
    folder = tmp_path / "adult"
    folder.mkdir()
    head = ";".join((*COLUMNS, "salary-class"))
    rows = [f"{20 + n % 60};" + f"v{n % 2};" * 7 + "s" for n in range(120)]
    (folder / "adult.csv").write_text("\n".join([head, *rows]) + "\n", "utf-8")
    leaves = dict.fromkeys(COLUMNS[1:], ("v0", "v1"))
    for name, values in {**leaves, "age": range(20, 80)}.items():
        text = "".join(f"{value};*\n" for value in values)
        (folder / f"adult_hierarchy_{name}.csv").write_text(text, "utf-8")
    adult = read_adult(folder)
    tables.print_risks(adult)
    tables.print_precision(adult)
    tables.print_large(adult, 500)
    printed = capsys.readouterr().out
    assert "| as is | " in printed
    assert "| 1 | 1.0000 | 1.00 |" in printed
    assert "500 generated rows" in printed


def test_the_least_time_of_some_runs_is_told():
    made = []
    seconds, last = tables.timed(lambda: made.append(1) or len(made))
    assert (seconds >= 0, last) == (True, 3)
