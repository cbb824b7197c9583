"""Which pairs are compared, and what is told of those that are not."""

import pytest

from tests.unit.upstream.linkage.scoring.records import database_of, spec_of
from upstream.linkage.blocking import blocks
from upstream.linkage.blocking.keys import BlockingError, sound_sql
from upstream.linkage.scoring.scoring import Scoring

FIELDS = {"given": "name", "surname": "name", "born": "date", "town": "place"}


def compared(rows, sources=None, **declared):
    """Return which pairs are compared: a weighted sum from 0 on keeps all."""
    thresholds = {"link": 1, "review": 0}
    spec = spec_of(
        FIELDS, thresholds=thresholds, method={"kind": "weighted_sum"}, **declared
    )
    scoring = Scoring(database_of(rows, FIELDS, sources), spec)
    scoring.score(scoring.learn())
    pairs = scoring._connection.execute('SELECT "left", "right" FROM pair').fetchall()
    return pairs, scoring


def test_records_meet_that_agree_on_all_keys_of_a_pass():
    rows = [
        {"surname": "Meyer", "born": "1950-01-02"},
        {"surname": "Maier", "born": "1950-11-12"},
        {"surname": "Meyer", "born": "1951-01-02"},
        {"surname": "Meyer"},
    ]
    pairs, _ = compared(rows, blocking=[["surname:sound", "born:year"]])
    assert pairs == [(1, 2)]


def test_swapped_names_meet():
    rows = [
        {"given": "Anna", "surname": "Smith"},
        {"given": "Smith", "surname": "Anna"},
    ]
    pairs, _ = compared(rows, blocking=[["given:sound", "surname:sound"]])
    assert pairs == [(1, 2)]


def test_two_records_of_a_source_where_nobody_stands_twice_do_not_meet():
    rows = [{"surname": "Smith"}] * 4
    pairs, _ = compared(rows, "aabc", blocking=[["surname"]], once=["a"])
    assert (1, 2) not in pairs
    assert len(pairs) == 5


def test_each_pair_is_compared_once_and_counted_where_it_is_new():
    rows = [{"surname": "Smith", "town": "Rome"}] * 3
    pairs, scoring = compared(rows, blocking=[["surname"], ["town"]])
    report = scoring.blocking()
    assert len(pairs) == report.pairs == 3
    assert [(each.pairs, each.new) for each in report.passes] == [(3, 3), (3, 0)]


def test_blocks_that_are_too_large_are_left_out_and_told(monkeypatch):
    monkeypatch.setattr(blocks, "FEWEST_PAIRS", 5)
    monkeypatch.setattr(blocks, "PAIRS_PER_RECORD", 0)
    rows = [{"town": "Rome"}] * 10 + [{"town": "Oslo"}] * 3
    pairs, scoring = compared(rows, blocking=[["town"]])
    (told,) = scoring.blocking().passes
    assert pairs == [(11, 12), (11, 13), (12, 13)]
    assert (told.left_out, told.left_out_records, told.largest) == (1, 10, 3)


@pytest.mark.parametrize(
    "key", ["nobody", "surname:year", "surname:last", "surname:", "born:first3; DROP"]
)
def test_a_key_that_is_none_is_refused(key):
    with pytest.raises(BlockingError):
        Scoring(database_of([], FIELDS), spec_of(FIELDS, blocking=[[key]]))


def test_a_pass_without_keys_is_refused():
    with pytest.raises(BlockingError, match="all pairs"):
        Scoring(database_of([], FIELDS), spec_of(FIELDS, blocking=[[]]))


@pytest.mark.parametrize(
    ("one", "other"),
    [("katherine", "catherin"), ("meyer", "maier"), ("philip", "filip"), ("ng", "ng")],
)
def test_names_that_sound_alike_have_one_sound(one, other):
    connection = database_of([], [])
    sounds = [
        connection.execute(f"SELECT {sound_sql(repr(name))}").fetchone()
        for name in (one, other)
    ]
    assert sounds[0] == sounds[1]
