"""What a draft asks of whole tables: other identities, days to come, copies."""

import pytest
import yaml

from tests.support.workbooks import write_workbook
from upstream.drafting.drafting import draft_manifest


def drafted(tmp_path, header, row, count=40, name="t.csv"):
    rows = "".join(f"{row(n)}\n" for n in range(count))
    (tmp_path / name).write_text(f"{header}\n{rows}", encoding="utf-8")
    text = draft_manifest([tmp_path / name], ["pid"])
    assert yaml.safe_load(text)["tables"]
    return text


def test_columns_that_tell_units_apart_are_left_out(tmp_path):
    text = drafted(
        tmp_path,
        "pid,MRN,email,ssn,weight,ward",
        lambda n: (
            f"{n // 2},M{n // 2 + 7000},u{n // 2}@x.org,{10**8 + n // 2},{n / 7:.2f},A"
        ),
    )
    for name in ("mrn", "email", "ssn"):
        assert f"  # {name} is left out: each unit has a value of its own" in text
        assert f"  # - {{name: {name}," in text
    assert "  - {name: weight," in text
    assert "  - {name: ward," in text


def test_values_that_units_share_or_change_are_kept(tmp_path):
    text = drafted(
        tmp_path, "pid,village,visit", lambda n: f"{n // 2},v{n // 4},{n + 10**8}"
    )
    assert "left out" not in text


def test_days_after_today_are_asked_about(tmp_path):
    text = drafted(
        tmp_path, "pid,born,due", lambda n: f"{n},1980-01-02,{2020 + n}-05-06"
    )
    assert "# some days lie after today" in text
    assert "name it in null_values: due\n" in text


def test_a_table_of_the_same_rows_is_asked_about(tmp_path):
    drafted(tmp_path, "pid,ward", lambda n: f"{n},A{n % 3}", name="stays.csv")
    drafted(
        tmp_path, "pid,ward", lambda n: f"{39 - n},A{(39 - n) % 3}", name="copy.csv"
    )
    files = [tmp_path / "stays.csv", tmp_path / "copy.csv"]
    text = draft_manifest(files, ["pid"])
    assert text.count("# the same rows as table stays: is the file a copy?") == 1


ROWS = [["pid", "ward"], *([n, "A"] for n in range(9))]


def test_hidden_sheets_are_asked_about_and_are_tables_of_their_own(tmp_path):
    book = {"Labor 2023": ROWS, "Labor 2022": ROWS}
    write_workbook(tmp_path / "t.xlsx", book, hidden=["Labor 2022"])
    text = draft_manifest([tmp_path / "t.xlsx"], ["pid"])
    assert 'excel: {sheet: "Labor 2023"}' in text
    assert text.count("hidden in the workbook: is it meant?") == 1
    assert "the same rows as table labor_2023" in text


def test_a_row_of_units_below_the_header_is_left_out(tmp_path):
    rows = "".join(f"{n};{n % 9},5;x\n" for n in range(30))
    (tmp_path / "t.csv").write_text(f"pid;krea;note\n;mg/dl;\n{rows}", encoding="utf-8")
    text = draft_manifest([tmp_path / "t.csv"], ["pid"])
    assert 'skip_rows: 2, names: ["pid", "krea", "note"]' in text
    assert "a second row of headings, such as units, left out" in text
    sheet = [["pid", "krea"], ["", "mg/dl"], *([n, n / 8] for n in range(30))]
    write_workbook(tmp_path / "t.xlsx", {"Labor": sheet})
    text = draft_manifest([tmp_path / "t.xlsx"], ["pid"])
    assert 'excel: {skip_rows: 2, names: ["pid", "krea"]}' in text
    assert "name: krea, type: decimal" in text


def test_ids_in_merged_cells_are_asked_about(tmp_path):
    text = drafted(
        tmp_path, "pid,day", lambda n: f"{'' if n % 3 else n},2023-01-{n % 28 + 1:02}"
    )
    assert '# many rows have no "pid", and a load leaves them out' in text


@pytest.mark.parametrize(
    ("header", "row", "count", "asks"),
    [
        ("region,name", "{n:02},r{n}", 7, True),
        ("region,population", "{n},{n}000", 7, True),
        ("region,name", "{n:02},r{n}", 31, False),  # of people, too many
        ("region,name", "{n}0,r{n}", 7, False),  # not in order
        ("region,came", "{n},2024-05-0{n}", 7, False),  # of things no day is told
        ("patient_no,name", "{n},r{n}", 7, False),
    ],
)
def test_few_numbers_from_one_may_be_those_of_things(
    tmp_path, header, row, count, asks
):
    people = "".join(f"{n},{n % 7}\n" for n in range(1, 301))
    (tmp_path / "people.csv").write_text(f"pid,age\n{people}")
    rows = "".join(f"{row.format(n=n)}\n" for n in range(1, count + 1))
    (tmp_path / "regions.csv").write_text(f"{header}\n{rows}")
    text = draft_manifest([tmp_path / "people.csv", tmp_path / "regions.csv"], ["pid"])
    assert "looks like ids of people: not public" in text
    assert ("not_unit_ids: true with its source" in text) is asks
    assert "public: TODO" not in text
