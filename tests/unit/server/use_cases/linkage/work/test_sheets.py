"""Sheets go out for clerks' spreadsheets, and their verdicts come back."""

import pytest

from server.use_cases.linkage.opinions import Opinion
from server.use_cases.linkage.work.sheets import read_sheet, write_sheet
from server.use_cases.services.errors import CommandRefusedError


def doubt(left, right, name):
    records = [
        {"record": n, "source": "s", "id": str(n), "patient": n, "values": values}
        for n, values in ((left, {"name": name}), (right, {}))
    ]
    return left, right, 0.5, "score", {"records": records, "steps": [{"field": "name"}]}


@pytest.mark.parametrize("name", ["=1+1", "+49 30", "-x", "@cmd", "\tx", "\rx"])
def test_no_cell_is_a_formula(tmp_path, name):
    path = tmp_path / "sheet.csv"
    assert write_sheet(path, [doubt(1, 2, name)]) == 1
    assert f"'{name}" in path.read_bytes().decode("utf-8-sig")
    assert path.stat().st_mode & 0o077 == 0


def test_no_pair_makes_an_empty_sheet(tmp_path):
    path = tmp_path / "sheet.csv"
    assert write_sheet(path, []) == 0
    assert read_sheet(path, "ada") == []


@pytest.mark.parametrize("separator", [",", ";"])
def test_verdicts_come_back_as_people_write_them(tmp_path, separator):
    path = tmp_path / "sheet.csv"
    rows = ["pair,verdict,score", "1-2,Match,", "3-4, no ,", "5-6,,", "'7-8,?,"]
    path.write_text("\ufeff" + "\n".join(rows).replace(",", separator))
    assert read_sheet(path, "ada") == [
        Opinion((1, 2), "ada", "match"),
        Opinion((3, 4), "ada", "no_match"),
        Opinion((7, 8), "ada", "unsure"),
    ]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "columns pair and verdict"),
        (b"pair\n1-2\n", "columns pair and verdict"),
        (b"pair,verdict\n1-2,\xff\n", "not in UTF-8"),
        (b"pair,verdict\n1-2,ja\n", "line 2: 'ja'"),
        (b"pair,verdict\n12,match\n", "is no pair"),
        ("pair,verdict\n12-²,match\n".encode(), "line 2: '12-²' is no pair"),
        ("pair,verdict\n12-٣,match\n".encode(), "is no pair"),
        (b"pair,verdict\n12-99999999999999999999,match\n", "is no pair"),
        (
            b"pair,verdict\n1-2,match\n3-4,no\n1-2,no\n",
            "1-2 is match in line 2 and no_match in line 4: say one",
        ),
        (b"pair,verdict\n1-2,match\n2-1,unsure\n", "line 2 and unsure in line 3"),
    ],
)
def test_a_wrong_sheet_is_refused_by_its_line(tmp_path, content, said):
    path = tmp_path / "sheet.csv"
    path.write_bytes(content)
    with pytest.raises(CommandRefusedError, match=said):
        read_sheet(path, "ada")


def test_a_pair_that_stands_twice_with_one_verdict_is_one_opinion(tmp_path):
    path = tmp_path / "sheet.csv"
    path.write_text("pair,verdict\n1-2,match\n1-2,yes\n1-2,\n")
    assert read_sheet(path, "ada") == [Opinion((1, 2), "ada", "match")]
