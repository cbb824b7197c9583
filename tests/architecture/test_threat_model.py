"""Each row of the threat model names a test, and a fault that the test catches."""

import re
from pathlib import Path

import pytest

from tests.mutants.defences import DEFENCES
from tests.mutants.run import ALL

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/threat-model.md").read_text("utf-8")
FAULTS = {fault.name: fault for fault in ALL}


def rows_of(heading):
    """Return the cells of the table under a heading."""
    section = PAGE.partition(f"## {heading}")[2].partition("\n## ")[0]
    lines = [line for line in section.splitlines() if re.match(r"\| [A-Z]?\d", line)]
    return [
        [cell.strip() for cell in re.split(r" \| ", line.strip("| "))] for line in lines
    ]


ROWS = rows_of("What is defended")
PLANTED = rows_of("Defences switched off")


def names(row):
    return f"{row[0]} {row[1][:40]}"


def named_in(row):
    return re.findall(r"`(tests/[\w/.]+)`", row[3])


def test_the_page_has_its_rows():
    assert len(ROWS) >= 30


@pytest.mark.parametrize("row", ROWS, ids=names)
def test_each_row_says_what_why_and_by_which_test(row):
    assert len(row) == 4
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


@pytest.mark.parametrize("row", PLANTED, ids=names)
def test_each_defence_that_is_switched_off_is_missed_by_a_test_of_its_row(row):
    number, name, what = row
    fault = FAULTS[name.strip("`")]
    assert what == fault.what
    named = [test for r in ROWS if r[0] == number for test in named_in(r)]
    assert any(test.startswith(caught) for test in named for caught in fault.tests)


def test_every_defence_of_the_second_list_is_switched_off_somewhere():
    assert {fault.name for fault in DEFENCES} <= {row[1].strip("`") for row in PLANTED}
    assert len({row[0] for row in PLANTED}) >= 25


@pytest.mark.parametrize("name", sorted(FAULTS))
def test_each_fault_still_fits_the_code(name):
    fault = FAULTS[name]
    text = (ROOT / fault.file).read_text("utf-8")
    assert text.count(fault.right) == 1, f"{fault.file} has changed: mend the fault"
    assert all((ROOT / test).exists() for test in fault.tests)


def test_no_two_faults_have_one_name():
    assert len(FAULTS) == len(ALL)
