"""What the page about asking releases tells its readers to type does what it says."""

import re

import pytest
import yaml

from curator_client import Curator, SqlRefusedError
from release.cubes.questions.binding.rules import RULES
from server.demo.hospital import write_hospital
from tests.support.installations.harness import Installation, serve_in_thread
from tests.support.installations.pages import ROOT, assert_python_runs_for_nothing
from tests.support.installations.publishing import Press

PAGE = "querying-releases.md"
TEXT = (ROOT / "docs" / PAGE).read_text("utf-8")
ROW = re.compile(r"^\| `(\w+)` \|.*\| (?:`(SELECT .*)` )?\|$", re.MULTILINE)
SPEC = (ROOT / "examples/releases/admissions.yaml").read_text("utf-8")
ADMISSIONS = yaml.safe_load(SPEC)["release"]
PATIENTS = {
    **ADMISSIONS,
    "name": "patients_by_department",
    "count": "units",
    "dimensions": [{"column": "department"}],
}


@pytest.fixture(scope="module")
def hospital(tmp_path_factory):
    folder = tmp_path_factory.mktemp("querying")
    made = Installation(folder).create()
    made.load_manifest(write_hospital(folder, 300))
    key = made.analyst(dataset="hospital", allotment="9")
    for spec in (ADMISSIONS, PATIENTS):
        ended = Press(made).publish(spec)
        assert ended["state"] == "done", ended
    with serve_in_thread(made) as url:
        yield url, key


def test_the_python_runs_as_written_and_pays_nothing(hospital, tmp_path):
    assert_python_runs_for_nothing(PAGE, hospital, tmp_path)


def test_the_page_about_metadata_runs_and_pays_nothing(hospital, tmp_path):
    assert_python_runs_for_nothing("metadata.md", hospital, tmp_path)


def test_the_page_has_a_row_for_each_rule_of_releases():
    table = TEXT.partition("## Refusals")[2]

    assert [name for name, _ in ROW.findall(table)] == [
        "one_release",
        "release_counts",
        "rows_counted",
        "distinct_units",
        "finer_values",
        "absent_value",
        "cell_mask",
        "many_rolls",
        "many_values",
        "many_combinations",
        "much_work",
        "too_long",
    ]
    assert {rule.name for rule in RULES} == {name for name, _ in ROW.findall(table)}


@pytest.mark.sampled
@pytest.mark.parametrize(("rule", "sql"), [row for row in ROW.findall(TEXT) if row[1]])
def test_each_example_is_refused_by_its_rule(hospital, rule, sql):
    with Curator(*hospital) as curator:
        name = "patients_by_department" if "patients_by" in sql else "admissions"
        with pytest.raises(SqlRefusedError) as refused:
            curator.release(name).query(sql)

    assert refused.value.problem["rule"] == rule
