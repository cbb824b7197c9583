"""The analyst's commands, in process and in processes of their own."""

import argparse
import csv
import io
import json
import os
import subprocess
import sys

import pytest

from curator_client.asking import add_question_options, question_of
from curator_client.command import COMMANDS, main

BY_SEX = "SELECT sex, COUNT(DISTINCT patient_id) AS patients FROM visits GROUP BY sex"


@pytest.fixture(autouse=True)
def connected(url, key, monkeypatch, tmp_path):
    """Say where the server is, and that this is all there is to be known of it."""
    for name in list(os.environ):
        if name.startswith("CURATOR_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("CURATOR_URL", url)
    monkeypatch.setenv("CURATOR_API_KEY", key)


def printed(capsys, *arguments):
    """Run a command that does what it is told; return what it prints."""
    assert main(arguments) == 0
    return capsys.readouterr().out


def documented(capsys, *arguments):
    return json.loads(printed(capsys, *arguments, "--json"))


def test_a_plan_shows_price_noise_and_reason(capsys):
    shown = printed(capsys, "plan", BY_SEX, "--within", "20")
    assert shown.startswith("price: epsilon ")
    assert "patients: ± 20 (95 %)" in shown
    assert "Neighbours differ" in shown


def test_an_answer_shows_its_half_widths(capsys):
    shown = printed(capsys, "query", BY_SEX, "--epsilon", "1", "--dataset", "clinic")
    assert shown.splitlines()[0].split() == ["sex", "patients"]
    assert "± 3" in shown
    assert "paid epsilon 1; remaining: project " in shown


def test_json_is_the_servers_document(capsys):
    answer = documented(capsys, "query", BY_SEX, "--epsilon", "1", "--never-reuse")
    assert {"query_id", "snapshot", "rows", "noise", "charge"} <= answer.keys()
    plan = documented(capsys, "plan", BY_SEX, "--epsilon", "1")
    assert plan["free"][0]["kind"] == "answer"
    again = documented(capsys, "query", BY_SEX, "--epsilon", "1")
    assert again["charge"]["reused"]
    assert documented(capsys, "budget")["projects"][0]["project"] == "study"


def test_metadata_is_printed_for_other_tools(capsys):
    shown = json.loads(printed(capsys, "metadata", "--format", "croissant"))
    assert shown["conformsTo"] == "http://mlcommons.org/croissant/1.0"
    assert json.loads(printed(capsys, "metadata"))["@type"] == "TableGroup"


def test_a_table_of_values_has_the_half_widths_beside_them(capsys):
    shown = printed(capsys, "query", BY_SEX, "--epsilon", "1", "--csv")
    rows = list(csv.DictReader(io.StringIO(shown)))
    assert [row["sex"] for row in rows] == ["F", "M"]
    assert {row["patients_half_width_95"] for row in rows} == {"3"}


def test_the_question_may_come_from_a_file_or_standard_input(
    capsys, tmp_path, monkeypatch
):
    file = tmp_path / "wards.sql"
    file.write_text(f"-- by sex\n{BY_SEX}\n")
    said = printed(capsys, "plan", "--file", str(file), "--epsilon", "0.5")
    monkeypatch.setattr(sys, "stdin", io.StringIO(BY_SEX))
    assert printed(capsys, "plan", "--epsilon", "0.5") == said


def test_a_release_is_preferred_by_a_flag():
    parser = argparse.ArgumentParser()
    add_question_options(parser)
    flags = ["--epsilon", "1", "--prefer", "release"]
    asked = question_of(parser.parse_args(flags))
    assert asked["options"] == {"prefer": "release"}
    fresh = question_of(parser.parse_args([*flags, "--never-reuse"]))
    assert fresh["options"] == {"reuse": "never", "prefer": "release"}
    assert question_of(parser.parse_args(flags[:2]))["options"] is None


def test_the_budget_says_how_many_more_questions_fit(capsys):
    shown = printed(capsys, "budget", "--epsilon", "1000")
    assert "more at 1000" in shown
    assert "99 more questions at epsilon 1000 fit" in shown


def test_the_history_is_listed_newest_first(capsys):
    for epsilon in ("1", "2"):
        printed(capsys, "query", BY_SEX, "--epsilon", epsilon, "--never-reuse")
    items = documented(capsys, "history", "--limit", "2")["items"]
    assert [item["charge"]["epsilon"] for item in items] == ["2", "1"]
    assert items[0]["query_id"] in printed(capsys, "history", "--limit", "1")
    assert "(none)" in printed(capsys, "history", "--limit", "0")


def test_a_refusal_exits_with_1_and_shows_the_place(capsys):
    assert main(["query", "SELECT MIN(age) FROM visits", "--epsilon", "1"]) == 1
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("refused: sql_not_allowed")
    assert lines[2].index("^") == lines[1].index("MIN")
    assert lines[3].startswith("hint: ")


def test_a_refusal_is_a_document_for_programs(capsys):
    assert main(["plan", "SELECT 1", "--epsilon", "1", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["status"] == 422


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["plan", BY_SEX], "give --epsilon"),
        (["plan", BY_SEX, "--confidence", "0.9", "--epsilon", "1"], "--within"),
        (["plan", BY_SEX, "--file", "x.sql", "--epsilon", "1"], "not both"),
        (["plan", "--file", "absent.sql", "--epsilon", "1"], "cannot be read"),
        (["budget", "--epsilon", "0"], "no price"),
    ],
)
def test_what_cannot_be_meant_exits_with_2(capsys, arguments, said):
    assert main(arguments) == 2
    assert said in capsys.readouterr().err


def test_words_that_do_not_exist_exit_with_2(capsys):
    with pytest.raises(SystemExit) as left:
        main(["query", BY_SEX, "--epsilons", "1"])
    assert left.value.code == 2


def test_without_address_and_key_it_exits_with_2(capsys, monkeypatch):
    monkeypatch.delenv("CURATOR_API_KEY")
    assert main(["budget"]) == 2
    assert "CURATOR_API_KEY" in capsys.readouterr().err


def test_an_unreachable_server_exits_with_3(capsys, monkeypatch):
    monkeypatch.setenv("CURATOR_URL", "http://127.0.0.1:9")
    question = [BY_SEX, "--epsilon", "1", "--dataset", "clinic"]
    assert main(["query", *question]) == 3
    said = capsys.readouterr().err
    assert "does the server run?" in said
    assert "--idempotency-key" in said


def test_a_wrong_key_exits_with_1(capsys, monkeypatch):
    monkeypatch.setenv("CURATOR_API_KEY", "cur_wrong")
    assert main(["budget"]) == 1
    assert "mistyped" in capsys.readouterr().err


def test_the_configuration_file_says_where_and_as_whom(
    capsys, monkeypatch, tmp_path, url, key
):
    file = tmp_path / "client.toml"
    file.write_text(f'url = "{url}"\nkey = "{key}"\ndataset = "clinic"\n')
    file.chmod(0o644)
    monkeypatch.delenv("CURATOR_URL")
    monkeypatch.delenv("CURATOR_API_KEY")
    monkeypatch.setenv("CURATOR_CONFIG", str(file))
    assert main(["plan", BY_SEX, "--epsilon", "1"]) == 0
    assert "others can read it" in capsys.readouterr().err
    file.chmod(0o600)
    assert main(["plan", BY_SEX, "--epsilon", "1"]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("program", ["curator_client", "server.main"])
def test_the_commands_need_no_installation(program, url, key, tmp_path):
    environment = {k: v for k, v in os.environ.items() if "CURATOR" not in k}
    environment |= {"CURATOR_URL": url, "CURATOR_API_KEY": key}
    done = subprocess.run(
        [sys.executable, "-m", program, "plan", BY_SEX, "--epsilon", "1", "--json"],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["epsilon"] == "1"


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_has_help_with_an_example(capsys, command):
    with pytest.raises(SystemExit) as left:
        main([command, "--help"])
    assert left.value.code == 0
    shown = capsys.readouterr().out
    assert f"Example: curator-client {command} " in shown
    assert "Exit codes: 0 done, 1 refused, 2 usage, 3 unreachable." in shown
