"""The analyst's client against a real server."""

import html
import re

import httpx
import pytest

from curator_client import (
    Answer,
    Curator,
    CuratorRefusal,
    CuratorUnreachable,
    InvalidRequest,
    NotFound,
    Patience,
    Plan,
)
from server.use_cases.custody.people import PeopleService
from tests.support.installations.harness import Installation, serve_in_thread

BY_WARD = (
    "SELECT ward, COUNT(DISTINCT patient_id) AS patients FROM visits GROUP BY ward"
)

NEVER_ASKED = "SELECT COUNT(*) FROM visits WHERE age = 33"


@pytest.fixture
def curator(url, key):
    with Curator(url, key, dataset="clinic") as connection:
        yield connection


HURRIED = Patience(longest_pause_seconds=0.001)


def test_datasets_are_listed_and_described(curator):
    assert [item["name"] for item in curator.datasets()] == ["clinic"]
    (table,) = curator.dataset("clinic")["tables"]
    assert table["unit_column"] == "patient_id"


def test_an_answer_has_a_row_for_each_declared_cell(curator):
    answer = curator.query(BY_WARD, epsilon="0.5")
    assert [row[0] for row in answer.rows] == ["north", "south", "other", None]
    assert answer.rows[3] == [None, 0]
    assert answer.charge["epsilon"] == "0.5"
    assert answer.half_width("patients") > 0
    assert answer.snapshot.startswith("s_")
    assert "Neighbours differ" in answer.derivation


def test_half_widths_are_of_measured_columns_only(curator):
    with pytest.raises(KeyError, match="no measured column; there are: "):
        curator.query(BY_WARD, epsilon="0.5").half_width("ward")


def test_the_only_dataset_need_not_be_named(url, key):
    with Curator(url, key) as connection:
        assert connection.query("SELECT COUNT(*) FROM visits", epsilon=1).rows


def test_a_plan_prices_without_spending(curator):
    before = curator.budget()
    plan = curator.plan(BY_WARD, accuracy={"within": 7, "confidence": 0.95})
    assert plan.affordable
    assert float(plan.epsilon) > 0
    assert plan.noise[0]["half_width_95"] == "7"
    assert plan.cost["steps"] > plan.cost["unit_steps"] > 0
    assert re.search(r"work: at most 0\.\d\d s of a processor and \d+ MB", str(plan))
    assert curator.budget() == before


def test_a_plan_offers_a_stored_answer_for_nothing(curator):
    paid = curator.query(BY_WARD, epsilon="0.25")
    plan = curator.plan(BY_WARD, epsilon="0.25")
    assert plan.free[0]["kind"] == "answer"
    assert "price: free" in str(plan)
    again = curator.query(BY_WARD, epsilon="0.25")
    assert again.rows == paid.rows
    assert again.charge == {"epsilon": "0", "delta": "0", "reused": True}
    assert "free: answered before" in str(again)


def test_the_budget_counts_what_was_paid(curator):
    (before,) = curator.budget()["projects"]
    curator.query(BY_WARD, epsilon="0.125", options={"reuse": "never"})
    (after,) = curator.budget()["projects"]
    paid = float(after["spent"]) - float(before["spent"])
    assert paid == pytest.approx(0.125)


def test_past_queries_and_their_answers_come_back(curator):
    answer = curator.query(BY_WARD, epsilon="0.5", options={"reuse": "never"})
    (newest,) = curator.history(limit=1)
    assert newest.query_id == answer.query_id
    assert curator.answer(answer.query_id).rows == answer.rows


@pytest.mark.parametrize("epsilon", ["0.1", 0.1, 1])
def test_epsilon_is_sent_as_it_was_written(curator, epsilon):
    assert curator.plan(BY_WARD, epsilon=epsilon).epsilon == str(epsilon)


def test_answers_become_data_frames(curator):
    frame = curator.query(BY_WARD, epsilon="0.5").to_pandas()
    assert list(frame.columns) == ["ward", "patients", "patients_half_width_95"]
    assert frame["patients"].dtype.kind == "i"
    assert frame["patients_half_width_95"].dtype.kind in "if"
    assert len(frame) == 4


def test_answers_print_as_tables(curator):
    lines = str(curator.query(BY_WARD, epsilon="0.5")).splitlines()
    assert lines[0].split() == ["ward", "patients"]
    assert "±" in lines[1]
    assert "NULL" in lines[4]
    assert "remaining: project" in lines[5]


def test_answers_in_notebooks_escape_what_the_data_says():
    nasty = "<script>alert('&')</script>"
    answer = Answer(
        {
            "columns": [
                {"name": nasty, "kind": "group", "type": "text", "unit": None},
                {"name": "n", "kind": "measure", "type": "integer", "unit": nasty},
            ],
            "derivation": nasty,
            "rows": [[nasty, 1]],
            "noise": [{"column": "n", "half_width_95": nasty}],
            "charge": {"epsilon": nasty, "reused": False},
            "remaining": {"project": nasty},
            "warnings": [{"code": "x", "detail": nasty}],
        }
    )
    shown = answer._repr_html_()
    assert "<script" not in shown
    assert shown.count(html.escape(nasty)) >= 6


def test_plans_in_notebooks_escape_too():
    plan = Plan(
        {
            "epsilon": "<b>",
            "affordable": True,
            "noise": [{"column": "<i>", "half_width_95": "1"}],
            "derivation": "<script>",
            "free": [],
        }
    )
    assert not any(tag in plan._repr_html_() for tag in ("<b>", "<i>", "<script>"))


def test_a_real_answer_shows_as_a_table_in_notebooks(curator):
    shown = curator.query(BY_WARD, epsilon="0.5")._repr_html_()
    assert shown.startswith("<table>")
    assert shown.count("<tr>") == 5


def test_a_refusal_points_at_its_place(curator):
    sql = "SELECT COUNT(*) FROM visits\nWHERE age > 3 AND foo = 1"
    with pytest.raises(CuratorRefusal) as refused:
        curator.query(sql, epsilon="1")
    assert refused.value.code == "unknown_column"
    assert refused.value.status == 422
    _, line, caret, hint = str(refused.value).splitlines()
    assert line == "  WHERE age > 3 AND foo = 1"
    assert caret.index("^") == line.index("foo")
    assert hint.startswith("hint: ")


def test_a_refusal_for_want_of_budget_says_what_remains(url, installation):
    poor = installation.analyst("grace", "poor", allotment="0.5")
    with Curator(url, poor, dataset="clinic") as connection:
        with pytest.raises(CuratorRefusal, match=r"remaining: project 0\.5") as refused:
            connection.query(NEVER_ASKED, epsilon="0.6")
        plan = connection.plan(NEVER_ASKED, epsilon="0.6")
        assert not plan.affordable
        attainable = connection.plan(NEVER_ASKED, epsilon="0.5").noise
    assert plan.attainable == {"epsilon": "0.5", "noise": attainable}
    assert refused.value.problem["attainable"] == plan.attainable
    said = "with the epsilon 0.5 that is left: count: ± "
    assert said in str(plan)
    assert said in str(refused.value)
    assert refused.value.code == "budget_exceeded"


def test_an_accuracy_beyond_reach_is_refused_with_the_nearest_within_it(curator):
    with pytest.raises(InvalidRequest) as refused:
        curator.plan(NEVER_ASKED, accuracy=0.001)
    (nearest,) = re.findall(r"that brings ± (\S+) at", str(refused.value))
    plan = curator.plan(NEVER_ASKED, epsilon="5")
    assert plan.half_widths == {"count": float(nearest)}
    assert curator.plan(NEVER_ASKED, accuracy=float(nearest) + 0.5).affordable


def test_a_plan_foretells_averages_and_quantiles(curator):
    sql = "SELECT AVG(age) AS mean, MEDIAN(age) AS middle FROM visits"
    plan = curator.plan(sql, epsilon="5")
    assert [(e["column"], e["of"]) for e in plan.expected] == [
        ("mean", "value"),
        ("middle", "share"),
    ]
    assert "  mean: at most ± " in str(plan)
    assert "of 100,000 rows that count in a cell (95 %)" in str(plan)
    assert "  middle: the share of rows up to its bin, or before it, at most ± 0." in (
        str(plan)
    )
    scarce = str(curator.plan(sql, epsilon="0.001"))
    assert "middle: noise may decide it, even where 100,000 rows count" in scarce


def test_what_was_not_found_is_told_from_what_is_yours(curator):
    with pytest.raises(NotFound, match="no dataset 'clinc'; did you mean clinic"):
        curator.plan(NEVER_ASKED, epsilon="1", dataset="clinc")
    with pytest.raises(NotFound, match=r"no dataset 'x'\. Known: clinic"):
        curator.dataset("x")
    with pytest.raises(NotFound, match="no project 'studdy'; did you mean study"):
        curator.query(NEVER_ASKED, epsilon="1", project="studdy")
    with pytest.raises(NotFound, match="no table 'visit'; did you mean visits"):
        curator.sample("visit")
    with pytest.raises(NotFound, match=r"not yours$"):
        curator.answer("q_unheard_of")


@pytest.mark.parametrize("epsilon", [True, None, "0,1", -1, 1e9, "0"])
def test_what_is_no_loss_is_refused_in_words(curator, epsilon):
    with pytest.raises((ValueError, InvalidRequest), match="epsilon") as refused:
        curator.plan(NEVER_ASKED, epsilon=epsilon)
    if epsilon is not True and epsilon is not None:
        assert "one query may spend 0.001 to 5" in str(refused.value)
    with pytest.raises(ValueError, match="is no price"):
        curator.budget("0,1").questions_left()


def test_a_wrong_key_is_refused_at_once(url):
    with (
        Curator(url, "cur_wrong", dataset="clinic") as connection,
        pytest.raises(CuratorRefusal) as refused,
    ):
        connection.budget()
    assert refused.value.code == "unauthenticated"


class LosesReplies(httpx.HTTPTransport):
    """Sends every request, and loses the first replies on their way back."""

    def __init__(self, losses):
        super().__init__()
        self.losses = losses
        self.keys = []

    def handle_request(self, request):
        reply = super().handle_request(request)
        if request.method == "POST":
            self.keys.append(request.headers["Idempotency-Key"])
            if len(self.keys) <= self.losses:
                reply.read()
                reply.close()
                message = "the reply was lost"
                raise httpx.ReadError(message)
        return reply


def spent(connection):
    (project,) = connection.budget()["projects"]
    return float(project["spent"])


@pytest.mark.parametrize("losses", [1, 3])
def test_a_lost_reply_is_asked_for_again_and_paid_once(url, key, losses):
    transport = LosesReplies(losses)
    with Curator(
        url, key, dataset="clinic", transport=transport, patience=HURRIED
    ) as connection:
        before = spent(connection)
        sql = f"SELECT COUNT(*) FROM visits WHERE age > {losses}"
        answer = connection.query(sql, epsilon="1")
        assert spent(connection) - before == pytest.approx(1)
        assert next(connection.history()).query_id == answer.query_id
    assert len(transport.keys) == losses + 1
    assert len(set(transport.keys)) == 1


def test_two_queries_have_two_keys(url, key):
    transport = LosesReplies(0)
    with Curator(url, key, dataset="clinic", transport=transport) as connection:
        for _ in range(2):
            connection.query(BY_WARD, epsilon="1", options={"reuse": "never"})
    assert len(set(transport.keys)) == 2


def test_no_reply_at_all_is_said(url, key):
    transport = LosesReplies(10_000)
    with (
        Curator(
            url, key, dataset="clinic", transport=transport, patience=HURRIED
        ) as connection,
        pytest.raises(CuratorUnreachable, match="no reply"),
    ):
        connection.query(BY_WARD, epsilon="1")


def test_url_and_key_may_come_from_the_environment(url, key, monkeypatch):
    monkeypatch.setenv("CURATOR_URL", url)
    monkeypatch.setenv("CURATOR_API_KEY", key)
    with Curator() as connection:
        assert connection.datasets()


def test_without_url_and_key_it_says_what_to_set(monkeypatch):
    monkeypatch.delenv("CURATOR_URL", raising=False)
    monkeypatch.delenv("CURATOR_API_KEY", raising=False)
    with pytest.raises(ValueError, match="CURATOR_API_KEY"):
        Curator()


def test_several_datasets_must_be_told_apart(installation):
    both = Installation(installation.folder / "two")
    both.folder.mkdir()
    both.create()
    both.load()
    both.load(dataset="second")
    with both.services() as services:
        token = both.analyst()
        PeopleService(services, "local:test").grant_dataset("study", "second")
    with (
        serve_in_thread(both) as other_url,
        Curator(other_url, token) as connection,
        pytest.raises(ValueError, match="second, clinic"),
    ):
        connection.query(BY_WARD, epsilon="1")
