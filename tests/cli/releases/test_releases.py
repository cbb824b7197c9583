"""``curator release``: what it prints, where it points, how it exits."""

import json

import pytest
import yaml

from tests.support.installations.harness import ImportingInstallation
from tests.support.installations.publishing import Press, spec

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    made = ImportingInstallation(tmp_path_factory.mktemp("cli")).create()
    made.load()
    return made


def written(made, **changed):
    path = made.folder / "cube.yaml"
    path.write_text(yaml.safe_dump({"release": spec(**changed)}, sort_keys=False))
    return str(path)


def test_a_mistake_in_a_spec_is_shown_with_line_and_column(made):
    path = made.folder / "wrong.yaml"
    path.write_text(
        "release:\n"
        "  name: wrong\n"
        "  dataset: clinic\n"
        "  kind: cube\n"
        "  strategy: cells\n"
        "  from: visits\n"
        "  count: units\n"
        "  dimensions:\n"
        "    - {column: sex}\n"
        "    - {column: note}\n"
        "  epsilon: 0.5\n"
    )
    for command in ("plan", "publish"):
        refused = made.curator("release", command, str(path))
        assert refused.returncode == 1
        assert f"refused: {path}:10:7: note has no declared list" in refused.stderr
    text = path.read_text().replace("epsilon: 0.5", "epsilon: lots")
    path.write_text(text.replace("    - {column: note}\n", "  colour: red\n"))
    refused = made.curator("release", "plan", str(path))
    assert ":11:3: release.epsilon: write a plain decimal" in refused.stderr


def test_publish_prints_what_was_made_and_a_second_time_is_refused(made):
    path = written(made)
    done = made.curator("release", "publish", path, "--json")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert (result["name"], result["cells"]) == ("visitors", 26)
    listed = json.loads(made.curator("release", "list", "--json").stdout)["items"]
    assert result["visible"] == listed[0]["visible"] is not None
    again = made.curator("release", "publish", path, "--json")
    assert again.returncode == 1
    assert "another name" in again.stderr
    verified = made.curator("release", "verify", "visitors", "--json")
    assert json.loads(verified.stdout)["ok"]
    (folder,) = Press(made).folders()
    key = json.loads(made.curator("release", "key", "--json").stdout)["public_key"]
    (folder / "cells.csv").write_text("value\n0\n")
    for named in ("visitors", str(folder)):
        red = made.curator("release", "verify", named, "--json")
        assert red.returncode == 1
        assert json.loads(red.stdout)["problems"] == ["cells.csv was changed"]
    strange = made.curator("release", "verify", str(folder), "--public-key", key[::-1])
    assert "signature" in strange.stdout


def test_in_the_background_a_worker_publishes(made):
    path = written(made, name="later")
    queued = made.curator("release", "publish", path, "--background", "--json")
    job = json.loads(queued.stdout)["job"]
    made.run_jobs()
    assert Press(made).run(job)["state"] == "done"
    unsaid = made.curator("release", "withdraw", "later", "--reason", " ")
    assert (unsaid.returncode, "say why" in unsaid.stderr) == (1, True)
    withdrawn = made.curator("release", "withdraw", "later", "--reason", "wrong")
    assert withdrawn.stdout.splitlines()[-1] == "state: withdrawn"
    listed = json.loads(made.curator("release", "list", "--json").stdout)["items"]
    assert {item["name"]: item["state"] for item in listed}["later"] == "withdrawn"


def test_what_is_not_there_is_refused(made):
    for words in (
        ("show", "nothing"),
        ("verify", "nothing"),
        ("withdraw", "nothing", "--reason", "x"),
        ("plan", str(made.folder / "none.yaml")),
    ):
        refused = made.curator("release", *words)
        assert refused.returncode == 1, words
        assert refused.stderr.startswith("refused: "), words


def test_the_schema_of_specs_is_printed(made):
    schema = json.loads(made.curator("release", "schema").stdout)
    assert all(
        schema["$defs"][name]["additionalProperties"] is False
        for name in ("CubeSpec", "SequenceSpec", "PeriodsSpec")
    )


def test_what_is_planned_is_announced_listed_and_taken_back(made):
    path = written(made, name="coming")
    for day, said in (("soon", "is no date"), ("2020-01-01", "has passed")):
        refused = made.curator("release", "announce", path, "--by", day)
        assert refused.returncode != 0
        assert said in refused.stderr
    done = made.curator("release", "announce", path, "--by", "2999-12-31", "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["name"], told["by"], told["state"]) == (
        "coming",
        "2999-12-31",
        "open",
    )
    for dataset, count in (((), 1), (("clinic",), 1), (("elsewhere",), 0)):
        listed = made.curator("release", "announced", *dataset, "--json")
        assert len(json.loads(listed.stdout)["items"]) == count
    assert "2999-12-31" in made.curator("release", "announced").stdout
    again = made.curator("release", "announce", path, "--by", "2999-12-31")
    assert "announced already" in again.stderr
    taken = made.curator("release", "withdraw-announcement", told["id"])
    assert taken.returncode == 0, taken.stderr
    assert "withdrawn" in taken.stdout
    gone = made.curator("release", "withdraw-announcement", told["id"])
    assert "is withdrawn" in gone.stderr


def test_a_mistake_in_an_announced_spec_is_shown_with_line_and_column(made):
    path = written(made, name="odd", dimensions=[{"column": "note"}])
    refused = made.curator("release", "announce", path, "--by", "2999-12-31")
    assert refused.returncode == 1
    assert "note has no declared list" in refused.stderr
    assert f"refused: {path}:" in refused.stderr
