"""Each row of the threat model names a test, and a fault that the test catches."""

import re
from pathlib import Path

import pytest

from tests.mutants.run import ALL

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/threat-model.md").read_text("utf-8")
FAULTS = {fault.name: fault for fault in ALL}
ROWS = [
    [cell.strip() for cell in line.strip("| ").split(" | ")]
    for line in PAGE.splitlines()
    if re.match(r"\| [A-Z]?\d", line)
]
WITHOUT_A_FAULT = {"C9", "D4", "E5", "E10"}
"""Rows whose defence is no one line that could be switched off by a replacement."""


def names(row):
    return f"{row[0]} {row[1][:40]}"


def named_in(row):
    return re.findall(r"`(tests/[\w/.]+)`", row[3])


def test_the_page_has_its_rows():
    assert len(ROWS) >= 30


@pytest.mark.parametrize("row", ROWS, ids=names)
def test_each_row_says_what_why_and_by_which_test(row):
    assert len(row) == 5
    assert all(row)
    assert named_in(row)


@pytest.mark.parametrize("row", ROWS, ids=names)
def test_each_test_that_a_row_names_is_collected(row):
    for name in named_in(row):
        path = ROOT / name
        assert path.name.startswith("test_"), name
        assert re.search(
            r"^def test_|^Test\w+ = ", path.read_text("utf-8"), re.MULTILINE
        )


@pytest.mark.parametrize("row", ROWS, ids=names)
def test_each_row_names_a_fault_that_its_test_must_catch(row):
    if row[4] == "-":
        assert row[0] in WITHOUT_A_FAULT
        return
    fault = FAULTS[row[4].strip("`")]
    assert any(
        test.startswith(caught) for test in named_in(row) for caught in fault.tests
    ), f"{fault.name} is to be caught by {fault.tests}"


@pytest.mark.parametrize("name", sorted(FAULTS))
def test_each_fault_still_fits_the_code(name):
    fault = FAULTS[name]
    text = (ROOT / fault.file).read_text("utf-8")
    assert text.count(fault.right) == 1, f"{fault.file} has changed: mend the fault"
    assert all((ROOT / test).exists() for test in fault.tests)


def test_no_two_faults_have_one_name():
    assert len(FAULTS) == len(ALL)
