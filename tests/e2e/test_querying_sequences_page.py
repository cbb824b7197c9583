"""What the page about asking sequences tells its readers to type does what it says."""

import re

import pytest
import yaml

from curator_client import Curator, SqlRefusedError
from release.sequences.questions.rules import RULES
from server.demo import sequences
from server.demo.hospital import write_hospital
from tests.support.installations.harness import Installation, serve_in_thread
from tests.support.installations.pages import ROOT, assert_python_runs_for_nothing
from tests.support.installations.publishing import Press

PAGE = "querying-sequences.md"
TEXT = (ROOT / "docs" / PAGE).read_text("utf-8")
ROW = re.compile(r"^\| `(\w+)` \|.*\| (?:`(SELECT .*)` )?\|$", re.MULTILINE)
PATHWAYS = yaml.safe_load(sequences.SPEC)["release"]
DURATIONS = yaml.safe_load((ROOT / "docs/notebooks/durations.yaml").read_text("utf-8"))


@pytest.fixture(scope="module")
def hospital(tmp_path_factory):
    folder = tmp_path_factory.mktemp("querying")
    made = Installation(folder).create()
    made.load_manifest(write_hospital(folder, 400))
    key = made.analyst(dataset="hospital", allotment="9")
    for spec in (PATHWAYS, DURATIONS["release"]):
        ended = Press(made).publish(spec)
        assert ended["state"] == "done", ended
    with serve_in_thread(made) as url:
        yield url, key


@pytest.mark.long
def test_the_python_runs_as_written_and_pays_nothing(hospital, tmp_path):
    assert_python_runs_for_nothing(PAGE, hospital, tmp_path)


def test_the_page_has_a_row_for_each_rule_of_sequences():
    table = TEXT.partition("## Refusals")[2]

    assert [name for name, _ in ROW.findall(table)] == [rule.name for rule in RULES]


@pytest.mark.sampled
@pytest.mark.parametrize(("rule", "sql"), [row for row in ROW.findall(TEXT) if row[1]])
def test_each_example_is_refused_by_its_rule(hospital, rule, sql):
    with Curator(*hospital) as curator:
        name = "durations" if "FROM durations" in sql else "pathways"
        with pytest.raises(SqlRefusedError) as refused:
            curator.release(name).query(sql)

    assert refused.value.problem["rule"] == rule
