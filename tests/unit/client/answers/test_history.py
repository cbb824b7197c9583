from datetime import UTC, datetime

import pytest

from curator_client.answers.history import History, PastQuery

LONG = "SELECT COUNT(*) FROM visits WHERE age > 40 " + "AND age < 90 " * 60


def past(**changes):
    return PastQuery(
        {
            "query_id": "q_1",
            "state": "answered",
            "time": "2026-01-02T03:04:05+00:00",
            "dataset": "clinic",
            "project": "study",
            "sql": "SELECT COUNT(*) FROM visits",
            "charge": {"epsilon": "0.5", "delta": "0", "reused": False},
            **changes,
        }
    )


def history(*queries):
    return History(lambda: iter(queries))


def test_a_past_query_says_who_paid_how_much_for_which_question():
    one = past()
    assert (one.query_id, one.project, one.dataset) == ("q_1", "study", "clinic")
    assert one.charge["epsilon"] == "0.5"
    assert "SELECT COUNT(*) FROM visits" in repr(one)


@pytest.mark.parametrize("columns", ["80", "100", "0"])
def test_a_long_question_is_shown_as_far_as_the_line_goes(monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", columns)
    listed = history(past(sql=LONG))
    lines = [*repr(listed).splitlines(), repr(past(sql=LONG))]
    assert max(map(len, lines)) <= (int(columns) or 180) + 20
    assert "..." in lines[1]
    assert "..." in lines[-1]


def test_a_frame_has_the_whole_question_and_times_with_their_zone():
    pytest.importorskip("pandas")
    frame = history(past(sql=LONG), past(time="2026-01-02T03:04:05.25+00:00"))
    frame = frame.to_pandas()
    assert frame["sql"][0] == " ".join(LONG.split())
    assert str(frame["time"].dtype) == "datetime64[us, UTC]"
    assert frame["time"][0] == datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert str(history().to_pandas()["time"].dtype) == "datetime64[us, UTC]"
