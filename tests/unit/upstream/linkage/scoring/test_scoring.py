"""Pairs are found, scored and explained, the same each time."""

import random
from dataclasses import astuple

import pytest

from tests.unit.upstream.linkage.scoring.records import database_of, spec_of
from upstream.linkage.scoring.scoring import FieldNameError, Scoring

FIELDS = {"given": "name", "surname": "name", "born": "date", "town": "place"}


def people(count, seed=1):
    """Draw people, every third of whom stands there twice, once with a slip."""
    drawn = random.Random(seed)
    letters = "abcdefghijklmnop"

    def word():
        return "".join(drawn.choice(letters) for _ in range(drawn.randint(4, 9)))

    towns = [word() for _ in range(40)]
    names = [word() for _ in range(150)]
    rows = []
    for person in range(count):
        year, month, day = (
            drawn.randint(*ends) for ends in ((10, 99), (1, 12), (1, 28))
        )
        row = {
            "given": drawn.choice(names),
            "surname": drawn.choice(names),
            "born": f"19{year}-{month:02}-{day:02}",
            "town": drawn.choice(towns),
        }
        rows.append(row)
        if person % 3 == 0:
            field = drawn.choice(list(row))
            rows.append({**row, field: drawn.choice([None, row[field][::-1]])})
    return rows


def scored(rows, spec, **options):
    connection = database_of(rows, FIELDS)
    scoring = Scoring(connection, spec, **options)
    parameters = scoring.learn()
    compared = scoring.score(parameters)
    pairs = connection.execute("SELECT * FROM pair").fetchall()
    return connection, scoring, parameters, pairs, compared


@pytest.mark.long
@pytest.mark.parametrize("kind", ["fellegi_sunter", "weighted_sum"])
def test_the_same_records_bring_the_same_parameters_and_pairs(kind):
    rows, spec = people(400), spec_of(FIELDS, method={"kind": kind})
    first, second = scored(rows, spec), scored(rows, spec, threads=1)
    assert first[2].to_json() == second[2].to_json()
    assert first[3] == second[3]
    assert first[3]


@pytest.mark.long
@pytest.mark.parametrize("kind", ["fellegi_sunter", "weighted_sum"])
def test_steps_add_up_to_the_weight_of_the_pair(kind):
    spec = spec_of(FIELDS, method={"kind": kind})
    _, scoring, parameters, pairs, _ = scored(people(200), spec)
    for left, right, _, weight, _ in pairs[:20]:
        total = parameters.prior_weight
        for step in scoring.steps(parameters, left, right):
            total += step.weight
        assert total == weight


@pytest.mark.long
def test_new_records_alone_bring_the_pairs_that_all_bring_with_them():
    connection, scoring, parameters, pairs, compared = scored(
        people(300), spec_of(FIELDS)
    )
    again = scoring.score(parameters, since=250)
    assert again < compared
    since = connection.execute("SELECT * FROM pair").fetchall()
    assert since == [pair for pair in pairs if pair[1] >= 250]
    assert since


@pytest.mark.long
def test_given_pairs_score_as_they_do_when_blocking_finds_them():
    _, scoring, parameters, pairs, _ = scored(people(200), spec_of(FIELDS))
    ends = [(right, left) for left, right, *_ in pairs]
    given = scoring.score_pairs(parameters, ends)
    assert [astuple(one) for one in given] == pairs


@pytest.mark.parametrize("name", ["number", "source", "id"])
def test_a_field_is_not_called_as_what_every_record_has(name):
    with pytest.raises(FieldNameError, match=name):
        Scoring(database_of([], []), spec_of({name: "name"}))
