from curator_client.answers.release_answer import ReleaseAnswer

DOCUMENT = {
    "release": "rel_1",
    "snapshot": "s_1",
    "price": "0",
    "derivation": "",
    "warnings": [],
    "rows": [["F", 12]],
    "columns": [
        {"name": "sex", "kind": "group", "type": "text", "unit": None},
        {"name": "n", "kind": "measure", "type": "integer", "unit": "rows"},
    ],
    "intervals": [{"column": "n", "confidence": "0.95", "rows": [["9", "15"]]}],
    "half_widths": [{"column": "n", "confidence": "0.95", "rows": ["3"]}],
}


def test_a_releases_answer_is_free_and_not_kept():
    answer = ReleaseAnswer(DOCUMENT)
    assert answer.charge == {"epsilon": "0", "delta": "0", "reused": True}
    assert answer.remaining == {}
    assert answer.query_id == ""
    assert answer.noise == []


def test_sequences_that_are_undecided_are_told_by_column():
    told = [{"column": "n", "rows": ["3"]}]
    assert ReleaseAnswer({**DOCUMENT, "undecided": told}).undecided == {"n": ["3"]}
    assert ReleaseAnswer(DOCUMENT).undecided == {}
