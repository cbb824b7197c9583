from curator_client.answers.history import PastQuery


def test_a_past_query_says_who_paid_how_much_for_which_question():
    past = PastQuery(
        {
            "query_id": "q_1",
            "state": "answered",
            "time": "2026-01-02T03:04:05Z",
            "dataset": "clinic",
            "project": "study",
            "sql": "SELECT COUNT(*) FROM visits",
            "charge": {"epsilon": "0.5", "delta": "0", "reused": False},
        }
    )
    assert (past.query_id, past.project, past.dataset) == ("q_1", "study", "clinic")
    assert past.charge["epsilon"] == "0.5"
    assert "SELECT COUNT(*) FROM visits" in repr(past)
