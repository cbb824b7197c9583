"""The cell magic in a real shell."""

import pytest
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell

from curator_client import Answer, Budget, Curator, Plan

BY_WARD = "SELECT ward, COUNT(*) AS visits FROM visits GROUP BY ward"


@pytest.fixture
def shell(url, key, monkeypatch):
    """Return a shell of its own that knows the server by the environment."""
    monkeypatch.setenv("CURATOR_URL", url)
    monkeypatch.setenv("CURATOR_API_KEY", key)
    made = InteractiveShell()
    made.history_manager.enabled = False
    made.run_line_magic("load_ext", "curator_client")
    yield made
    made.run_line_magic("unload_ext", "curator_client")
    assert made.find_line_magic("curator") is None


def test_a_cell_is_asked_and_its_answer_comes_back(shell):
    answer = shell.run_cell_magic("curator", "--epsilon 1", BY_WARD)
    assert isinstance(answer, Answer)
    assert len(answer.rows) == 4


def test_an_answer_can_be_kept_under_a_name(shell):
    shown = shell.run_cell_magic(
        "curator", "--within 9 --dataset clinic --into wards", BY_WARD
    )
    assert shell.user_ns["wards"] is shown
    assert shown.half_widths == {"visits": 9.0}


def test_a_plan_only_prices(shell):
    plan = shell.run_cell_magic("curator", "--plan --epsilon 0.5", BY_WARD)
    assert isinstance(plan, Plan)
    assert plan.epsilon == "0.5"


def test_a_line_asks_too_and_alone_it_shows_the_budget(shell):
    counted = shell.run_line_magic(
        "curator", "--epsilon 1 SELECT COUNT(*) AS n FROM visits WHERE note = '-- x'"
    )
    assert counted.measures == ["n"]
    assert isinstance(shell.run_line_magic("curator", ""), Budget)


def test_the_variable_curator_is_asked_where_there_is_one(shell, url, key):
    said = []
    with Curator(url, key, dataset="nowhere", say=said.append) as other:
        shell.user_ns["curator"] = other
        assert shell.run_cell_magic("curator", "--epsilon 1", BY_WARD) is None


def test_a_refusal_is_shown_without_a_traceback(shell, capsys):
    sql = "SELECT ward,\n  MAX(age)\nFROM visits GROUP BY ward"
    assert shell.run_cell_magic("curator", "--epsilon 1", sql) is None
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("sql_not_allowed")
    assert lines[1:3] == ["    MAX(age)", "    ^"]


def test_what_cannot_be_meant_is_said_without_ending_the_kernel(shell, capsys):
    with pytest.raises(UsageError, match="not allowed with"):
        shell.run_cell_magic("curator", "--epsilon 1 --within 3", BY_WARD)
    assert shell.run_cell_magic("curator", "", BY_WARD) is None
    assert "give --epsilon" in capsys.readouterr().err
