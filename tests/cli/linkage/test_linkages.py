"""curator linkage: what a custodian and a clerk type, and what they are told."""

import shutil

import pytest
from typer.testing import CliRunner

from server.main import cli
from tests.cli.conftest import Commands
from tests.support.installations.harness import ImportingInstallation
from tests.support.linking import Linking


@pytest.fixture(scope="module")
def linked(tmp_path_factory):
    """The folder of an installation whose exports were linked once, and loaded."""
    folder = tmp_path_factory.mktemp("linked")
    made = ImportingInstallation(folder).create()
    with made.services() as services:
        found = Linking(made, services)
        found.create_population(found.write())
        found.link()
    return folder


@pytest.fixture
def commands(linked, tmp_path, monkeypatch):
    shutil.copytree(linked, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return Commands(ImportingInstallation(tmp_path))


def said(commands, *arguments):
    return commands.run("linkage", *arguments).stdout


def told(commands, *arguments):
    return commands.json("linkage", *arguments)


def test_the_page_s_linkage_is_listed_and_shown(commands):
    (item,) = told(commands, "list")["items"]
    shown = told(commands, "show", "patients")
    assert item["name"] == "patients"
    assert shown["report"]["patients"] > 0
    assert shown["history"][0]["snapshot"].startswith("s_")


def test_a_doubt_is_shown_with_its_chart_and_decided(commands):
    doubt = told(commands, "doubts", "patients", "--limit", "1")["items"][0]
    left, right = str(doubt["left"]), str(doubt["right"])
    chart = said(commands, "doubt", "patients", left, right)
    assert f"pair {left}-{right}" in chart
    assert "|#" in chart
    made = told(commands, "decide", "patients", left, right, "match")
    assert made["state"] == "match"
    undone = told(commands, "undo", "patients", made["decision"])
    assert undone["state"] == "open"
    (listed,) = told(commands, "decisions", "patients")["items"]
    assert (listed["decision"], listed["undone"]) == (
        made["decision"],
        undone["undone"],
    )
    assert told(commands, "decisions", "patients", "--before", "1")["items"] == []
    assert told(commands, "agreement", "patients")["clerks"] == []


def test_doubts_are_decided_one_by_one_until_the_clerk_stops(commands):
    done = CliRunner().invoke(
        cli,
        ["linkage", "review", "patients"],
        input="m\nx\nn\nq\n",
        env=commands.installation.environment,
    )
    assert done.stdout.count("probability or score") == 3
    assert "2 decided" in done.stderr
    items = told(commands, "doubts", "patients")["items"]
    assert [one["state"] for one in items[:3]] == ["match", "no_match", "open"]


@pytest.mark.long
def test_decisions_are_applied_and_seen_as_acts(commands):
    doubt = told(commands, "doubts", "patients", "--limit", "1")["items"][0]
    pair = str(doubt["left"]), str(doubt["right"])
    said(commands, "decide", "patients", *pair, "match")
    applied = told(commands, "apply", "patients")
    (act,) = told(commands, "acts", "patients", "--after", "1")["items"]
    assert act["kind"] == "merge"
    assert act["snapshot"] == applied["snapshot"]


def test_a_sheet_a_crosswalk_and_a_view_are_written(commands, tmp_path):
    sheet = told(commands, "export", "patients")["sheet"]
    assert told(commands, "import", "patients", sheet) == {"read": 0, "decided": 0}
    said(commands, "crosswalk", "patients", "keys.csv")
    keys = (tmp_path / "keys.csv").read_text().splitlines()
    assert keys[0] == "source,id,key,record,in_latest_export"
    key = keys[1].split(",")[2]
    shown = told(commands, "view", "patients", key)["items"]
    assert str(shown[0]["record"]) == keys[1].split(",")[3]
    said(commands, "view", "patients", "--to", "view.csv")
    assert (tmp_path / "view.csv").stat().st_mode & 0o077 == 0
    assert "exists" in commands.said("linkage", "crosswalk", "patients", "keys.csv")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("show", "patient"), "no linkage 'patient'"),
        (("doubt", "patients", "1", "2"), "no doubtful pair 1 2"),
        (("decide", "patients", "1", "99999", "match"), "no two records 1 and 99999"),
        (("decide", "patients", "3", "3", "no_match"), "no two records 3 and 3"),
        (("decide", "patients", "1", "2", "maybe"), "match, no_match or unsure"),
        (("undo", "patients", "dec_1"), "no decision 'dec_1'"),
        (("view", "patients"), "one of a unit key and --to"),
        (("view", "patients", "999999"), "nobody has the unit key"),
        (("acts", "patients", "--after", "s_1"), "no run of this linkage"),
        (("import", "patients", "nothing.csv"), "cannot be read"),
        (("run", "nothing.yaml"), "under CURATOR_IMPORT"),
    ],
)
def test_what_is_not_there_is_said(commands, arguments, message):
    arguments = ["linkage", *arguments]
    done = CliRunner().invoke(cli, arguments, env=commands.installation.environment)
    assert done.exit_code in {1, 2}
    assert message in " ".join(done.stderr.replace("│", " ").split())


def test_a_deleted_linkage_is_gone(commands):
    assert told(commands, "delete", "patients", "--yes")["deleted"] == "patients"
    assert told(commands, "list")["items"] == []
