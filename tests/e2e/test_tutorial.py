"""Every block of the tutorial runs, in order, on the data set that it speaks of."""

import gzip
import re
import shutil

import pytest

from tests.support.installations.pages import ROOT, run_page

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(shutil.which("curl") is None, reason="the page uses curl"),
]


@pytest.fixture(scope="module")
def session(test_data, tmp_path_factory):
    packed = test_data / "diabetes130" / "diabetic_data.csv.gz"
    if not packed.exists():
        pytest.skip("no diabetes130 test data")
    folder = tmp_path_factory.mktemp("tutorial")
    (folder / "examples").mkdir()
    shutil.copy(ROOT / "examples/diabetes130.yaml", folder / "examples")
    with gzip.open(packed) as file, (folder / "diabetic_data.csv").open("wb") as out:
        shutil.copyfileobj(file, out)
    return run_page("tutorial-diabetes.md", folder, seconds=1_800)


def test_one_stay_a_patient_has_a_twentieth_of_the_noise(session):
    many, one = re.search(
        r"^\{\} (\d+)\n\{'max_rows_per_unit': 1\} (\d+)$", session, re.MULTILINE
    ).groups()
    assert int(many) > 15 * int(one)


def test_the_answer_is_near_the_numbers_that_the_study_published(session):
    found = re.findall(
        r"^ *(not measured|measured) +([\d,]+) ± .*", session, re.MULTILINE
    )
    stays = {name: int(count.replace(",", "")) for name, count in found}
    assert abs(sum(stays.values()) - 71_518) < 1_000  # one stay a patient
    assert stays["not measured"] > 3 * stays["measured"]


def test_the_cube_is_asked_for_nothing_and_made_up_rows_are_judged(session):
    assert "(free, from the release rel_" in session
    assert "must be paid for as any answer" in session


def test_spent_is_what_the_page_says_and_the_ledger_is_whole(session):
    assert re.search(r"^spent: 2$", session, re.MULTILINE)
    assert re.search(r"^remaining: 18$", session, re.MULTILINE)
    assert "ok: true" in session
