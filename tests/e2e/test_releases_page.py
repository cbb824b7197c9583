"""The custodian's page about releases: its spec runs as it is written."""

import re
from pathlib import Path

import pytest
import yaml

from release.contract.spec import SpecFile, json_schema
from release.cubes.strategies.registry import STRATEGIES
from release.sequences.strategies.registry import (
    STRATEGIES as SEQUENCE_STRATEGIES,
)
from server.demo.hospital import write_hospital
from tests.support.installations.harness import Installation
from tests.support.installations.publishing import Press

pytestmark = pytest.mark.thorough

PAGE = Path(__file__).parents[2] / "docs" / "releases.md"


def written():
    return re.search(r"```yaml\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)[1]


def test_the_pages_spec_is_published_by_the_pages_commands(tmp_path):
    made = Installation(tmp_path).create()
    made.load_manifest(write_hospital(tmp_path / "hospital", 300))
    made.analyst(dataset="hospital", allotment="1")
    (tmp_path / "cube.yaml").write_text(written())
    session = re.search(r"```sh\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)[1]
    for line in session.splitlines():
        words = line.partition("#")[0].replace("cube.yaml", f"{tmp_path}/cube.yaml")
        done = made.curator(*words.split()[1:])
        assert done.returncode == 0, done.stderr
    (folder,) = Press(made).folders()
    assert "stays_by_age" in done.stdout
    assert (folder / "cube.csv").exists()


def tree_spec():
    blocks = re.findall(r"```yaml\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    return next(block for block in blocks if "kind: sequences" in block)


def test_a_cube_and_a_tree_share_one_epsilon_by_the_pages_commands(tmp_path):
    made = Installation(tmp_path).create()
    made.load_manifest(write_hospital(tmp_path / "hospital", 300))
    made.analyst(dataset="hospital", allotment="1")
    (tmp_path / "cube.yaml").write_text(written())
    (tmp_path / "tree.yaml").write_text(tree_spec())
    sessions = re.findall(r"```sh\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    session = next(one for one in sessions if "tree.yaml" in one)
    for line in session.splitlines():
        words = re.sub(r"(\w+\.yaml)", rf"{tmp_path}/\1", line)
        done = made.curator(*words.split()[1:])
        assert done.returncode == 0, done.stderr
    assert len(Press(made).folders()) == 2
    assert any((folder / "tree.csv").exists() for folder in Press(made).folders())


def test_the_pages_periods_are_planned(tmp_path):
    made = Installation(tmp_path).create()
    made.load_manifest(write_hospital(tmp_path / "hospital", 300))
    made.analyst(dataset="hospital", allotment="1")
    (periods,) = re.findall(r"```yaml\n(  periods: .*\n)```", PAGE.read_text("utf-8"))
    spec = re.sub(r"  symbol: .*\n", periods, tree_spec())
    (tmp_path / "tree.yaml").write_text(spec)
    planned = made.curator("release", "plan", str(tmp_path / "tree.yaml"))
    assert planned.returncode == 0, planned.stderr
    assert "stays" in planned.stdout


def test_every_key_of_a_spec_stands_on_the_page():
    page = PAGE.read_text("utf-8")
    definitions = json_schema()["$defs"]
    for shape in (
        "CubeSpec",
        "SequenceSpec",
        "PeriodsSpec",
        "DimensionSpec",
        "BoundsSpec",
        "ReaderSpec",
    ):
        for key in definitions[shape]["properties"]:
            assert f"`{key}" in page or f"{key}: " in page, key


def test_the_pages_spec_is_whole_and_reads_back_the_same():
    spec = SpecFile.model_validate(yaml.safe_load(written())).release
    again = SpecFile.model_validate_json(f'{{"release": {spec.canonical_json()}}}')
    assert again.release == spec


def test_every_strategy_has_a_row_that_says_when():
    page = PAGE.read_text("utf-8")
    known = {*STRATEGIES, *SEQUENCE_STRATEGIES}
    assert [name for name in known if f"| `{name}` |" not in page] == []
