"""What is learnt is what the records were made by."""

import random
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.linking.people import FIELDS
from benchmarks.linking.slips import Mix, drawn_records
from tests.unit.upstream.linkage.scoring.records import database_of, spec_of
from upstream.linkage.records import Decision
from upstream.linkage.scoring.parameters import Parameters
from upstream.linkage.scoring.scoring import Scoring
from upstream.linkage.scoring.thresholds import ENOUGH, choose

AGREES = {"given": 0.9, "born": 0.85, "town": 0.7, "surname": 0.95}
KINDS = {"given": "category", "surname": "name", "born": "date", "town": "category"}


def twins(people, seed=3):
    """Draw two records of each person; a field of both is one as often as AGREES says.

    Otherwise it is drawn anew, as for a stranger.
    """
    drawn = random.Random(seed)
    surnames = ["".join(drawn.choices("abcdefghijklm", k=7)) for _ in range(80)]

    def value(field):
        if field == "born":
            month, day = drawn.randint(1, 12), drawn.randint(1, 28)
            return f"{drawn.randint(1920, 1999)}{month:02}{day:02}"
        if field == "surname":
            return drawn.choice(surnames)
        return f"{field} {drawn.randrange(40)}"

    rows = []
    for _ in range(people):
        first = {field: value(field) for field in KINDS}
        second = {
            field: first[field] if drawn.random() < AGREES[field] else value(field)
            for field in KINDS
        }
        rows += [first, second]
    return rows


@pytest.mark.long
def test_em_finds_how_often_fields_of_matches_and_of_others_agree():
    scoring = Scoring(database_of(twins(1500), KINDS), spec_of(KINDS))
    parameters = scoring.learn()
    by_field = {each.field: each.levels[0] for each in parameters.fields}
    for field in ("given", "town"):
        m = AGREES[field] + (1 - AGREES[field]) / 40
        assert by_field[field].m == pytest.approx(m, abs=0.03)
        assert by_field[field].u == pytest.approx(1 / 40, rel=0.1)
    assert by_field["born"].m == pytest.approx(AGREES["born"], abs=0.03)
    assert by_field["surname"].u == pytest.approx(1 / 80, rel=0.1)
    assert parameters.prior == pytest.approx(1 / 2999, rel=0.2)


@pytest.mark.long
def test_families_are_not_taken_for_one_patient():
    mix = Mix(0.5, most=1, per_field=1, per_record=2, households=0.5)
    drawn = list(drawn_records(800, mix, seed=11))
    scoring = Scoring(database_of([row for _, row in drawn], FIELDS), spec_of(FIELDS))
    parameters = scoring.learn()
    scoring.score(parameters)
    pairs = scoring._connection.execute(
        f'SELECT "left", "right" FROM pair WHERE score >= {parameters.link}'
    ).fetchall()
    right = sum(drawn[one - 1][0] == drawn[other - 1][0] for one, other in pairs)
    matches = len(drawn) - 800
    assert right >= 0.95 * len(pairs)
    assert right >= 0.95 * matches


@pytest.mark.long
def test_twins_and_namesakes_who_live_together_are_not_taken_for_one_patient():
    mix = Mix(0.3, most=1, per_field=1, per_record=2, households=0.4, alike=0.05)
    drawn = list(drawn_records(1500, mix, seed=23))
    scoring = Scoring(database_of([row for _, row in drawn], FIELDS), spec_of(FIELDS))
    parameters = scoring.learn()
    assert set(parameters.guarded) == {"date_of_birth", "given_name"}
    scoring.score(parameters)
    pairs = scoring._connection.execute(
        f'SELECT "left", "right" FROM pair WHERE score >= {parameters.link} '
        "AND NOT differs"
    ).fetchall()
    right = sum(drawn[one - 1][0] == drawn[other - 1][0] for one, other in pairs)
    assert right >= 0.95 * len(pairs)  # 0.84 with those that differ
    assert right >= 0.95 * (len(drawn) - 1500)


@pytest.mark.long
def test_where_there_are_no_families_a_value_that_differs_is_a_slip():
    mix = Mix(0.8, most=3, per_field=3, per_record=10)
    drawn = list(drawn_records(600, mix, seed=23))
    scoring = Scoring(database_of([row for _, row in drawn], FIELDS), spec_of(FIELDS))
    parameters = scoring.learn()
    assert parameters.guarded == ()
    scoring.score(parameters)
    count = "SELECT count(*) FROM pair WHERE differs"
    assert scoring._connection.execute(count).fetchone() == (0,)


@pytest.mark.long
def test_who_has_one_id_does_not_differ():
    fields = {**FIELDS, "no": "id"}
    mix = Mix(0.3, most=1, per_field=1, per_record=2, households=0.4, alike=0.05)
    drawn = list(drawn_records(400, mix, seed=23))
    rows = [{**row, "no": str(10_000 + 7 * who)} for who, row in drawn]
    scoring = Scoring(database_of(rows, fields), spec_of(fields))
    scoring.score(scoring.learn())
    found = scoring._connection.execute(
        'SELECT "left", "right" FROM pair WHERE differs'
    ).fetchall()
    assert found
    assert all(drawn[one - 1][0] != drawn[other - 1][0] for one, other in found)


def test_parameters_are_read_as_they_were_written():
    scoring = Scoring(database_of(twins(200), KINDS), spec_of(KINDS))
    parameters = scoring.learn()
    assert Parameters.from_json(parameters.to_json()) == parameters


@pytest.mark.parametrize("text", ["[]", "{}", '{"fields": [{}]}', '{"fields": 1}'])
def test_what_are_no_parameters_is_refused(text):
    with pytest.raises(ValueError, match="no parameters"):
        Parameters.from_json(text)


@pytest.mark.long
def test_labelled_pairs_choose_the_thresholds_if_there_are_enough():
    rows = twins(300)
    scoring = Scoring(database_of(rows, KINDS), spec_of(KINDS))
    matches = [Decision(2 * n + 1, 2 * n + 2, is_match=True) for n in range(ENOUGH)]
    others = [Decision(2 * n + 1, 2 * n + 4, is_match=False) for n in range(ENOUGH)]
    told = scoring.learn([*matches, *others])
    assert "labelled" in told.found["thresholds"]
    assert "labelled" in told.found["m"]
    usual = scoring.learn([*matches, *others[1:]])
    assert usual == scoring.learn()
    assert usual.found["thresholds"] == "usual"


def test_thresholds_part_labelled_pairs_with_the_fewest_wrong():
    spec = spec_of(KINDS)
    labelled = [(0.9, True)] * 30 + [(0.5, True)] + [(0.3, False)] * 30
    chosen = choose(spec, labelled).thresholds
    assert (chosen.link, chosen.review) == (0.4, 0.4)


def test_declared_thresholds_hold():
    declared = {"link": 0.7, "review": 0.2}
    scoring = Scoring(
        database_of(twins(50), KINDS), spec_of(KINDS, thresholds=declared)
    )
    assert (scoring.learn().link, scoring.learn().review) == (0.7, 0.2)


@pytest.mark.sampled
@pytest.mark.parametrize("rows", [[], [{}], [{}, {}], [{"given": "a"}, {"given": "a"}]])
@pytest.mark.parametrize("kind", ["fellegi_sunter", "weighted_sum"])
def test_few_records_or_none_are_no_trouble(rows, kind):
    scoring = Scoring(database_of(rows, KINDS), spec_of(KINDS, method={"kind": kind}))
    scoring.score(scoring.learn())
    assert scoring.blocking().labelled_completeness is None


WORDS = st.one_of(st.none(), st.text(max_size=12), st.sampled_from(["Ann", "ann", "-"]))


@pytest.mark.long
@pytest.mark.parametrize("kind", ["fellegi_sunter", "weighted_sum"])
def test_scores_are_from_0_to_1_and_the_same_in_either_order(kind):
    fields = {"given": "name", "surname": "name", "born": "date", "home": "address"}
    spec = spec_of(fields, method={"kind": kind})
    learnt = Scoring(database_of(twins(60), KINDS), spec_of(KINDS)).learn()
    assert learnt

    @settings(max_examples=10, deadline=None)
    @given(st.lists(st.fixed_dictionaries(dict.fromkeys(fields, WORDS)), max_size=4))
    def check(rows):
        rows = [
            {
                k: v and v.replace("\x00", "").encode("utf-8", "ignore").decode()
                for k, v in row.items()
            }
            for row in rows
        ]
        pairs = [(a, b) for a, b in product(range(1, len(rows) + 1), repeat=2) if a < b]
        scoring = Scoring(database_of(rows, fields), spec)
        parameters = scoring.learn()
        other = Scoring(database_of(rows[::-1], fields), spec)
        found = scoring.score_pairs(parameters, pairs)
        turned = other.score_pairs(parameters, pairs)
        last = len(rows) + 1
        by_pair = {(last - one.right, last - one.left): one.score for one in turned}
        assert {(one.left, one.right): one.score for one in found} == by_pair
        assert all(0 <= one.score <= 1 for one in found)

    check()
