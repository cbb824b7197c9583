"""Loads and drafts tell of cells that show something else than they hold."""

import io
import zipfile

import pytest

from tests.support.workbooks import write_workbook
from upstream.drafting.drafting import draft_manifest
from upstream.files.exports import cell_forms
from upstream.files.exports.cell_forms import odd_cells

ROWS = [["pid", "ef", "bmi"], *([n, 0.45 if n % 2 else 45, 20 + n] for n in range(40))]


@pytest.fixture
def workbook(tmp_path):
    """A sheet of which half of the cells of B are percentages, and C has formulas."""
    write_workbook(tmp_path / "plain.xlsx", {"Echo": ROWS})
    path = tmp_path / "t.xlsx"
    with (
        zipfile.ZipFile(tmp_path / "plain.xlsx") as plain,
        zipfile.ZipFile(path, "w") as made,
    ):
        for name in plain.namelist():
            text = plain.read(name).decode()
            text = text.replace('numFmtId="14"', 'numFmtId="10"')
            for n in range(1, 40, 2):
                text = text.replace(f'r="B{n + 2}"', f'r="B{n + 2}" s="1"')
            for n in range(5):
                value = f'r="C{n + 2}"><v>{20 + n}</v>'
                text = text.replace(value, f'r="C{n + 2}"><f>W/H^2</f>')
            made.writestr(name, text)
    return path


def test_percentages_beside_numbers_and_formulas_without_values_are_told(
    workbook, monkeypatch
):
    for size in (1 << 20, 200):
        monkeypatch.setattr(cell_forms, "_BLOCK", size)
        with workbook.open("rb") as file:
            percent, unsaved = odd_cells(file, "t.xlsx", None)
        assert percent.startswith("t.xlsx: column B has 20 cells in the format of perc")
        assert unsaved.startswith("t.xlsx: column C has 5 formulas without a saved")
    text = draft_manifest([workbook], ["pid"])
    assert "column B has 20 cells in the format of percentages and 20 in others" in text


def test_of_other_files_and_sheets_nothing_is_told(workbook, tmp_path):
    with (tmp_path / "plain.xlsx").open("rb") as file:
        assert list(odd_cells(file, "t.xlsx", "Echo")) == []
    with workbook.open("rb") as file:
        assert list(odd_cells(file, "t.xlsx", "Other")) == []
    assert list(odd_cells(io.BytesIO(b"no archive"), "t.xls", None)) == []
