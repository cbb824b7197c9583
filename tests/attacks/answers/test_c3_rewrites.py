"""C3: what is equal after binding is one question; what is not is paid again."""

from itertools import count

import pytest

from tests.support.installations.arms import repeatable

_fresh, _ages = count(), count(20)  # ages within their domain: others are nobody's

EQUAL = (
    "select sex, count(*) from visits where {c} group by sex",
    "SELECT  sex ,\n\tCOUNT ( * )\nFROM visits\nWHERE {c}\nGROUP BY sex",
    "SELECT visits.sex, COUNT(*) FROM visits WHERE {c} GROUP BY visits.sex",
    "SELECT v.sex, COUNT(*) FROM visits AS v WHERE {c} GROUP BY v.sex",
    "SELECT v.sex, COUNT(*) FROM visits v WHERE {c} GROUP BY sex",
    "SELECT sex, COUNT(*) FROM visits WHERE ({c}) GROUP BY sex",
    "SELECT sex, COUNT(*) FROM visits WHERE (({c})) GROUP BY 1",
    'SELECT "sex", COUNT(*) FROM "visits" WHERE {c} GROUP BY "sex"',
    "SELECT sex, COUNT(*) AS count FROM visits WHERE {c} GROUP BY sex",
    "SELECT sex, COUNT(*) -- note\nFROM visits /* note */ WHERE {c} GROUP BY sex",
    "SELECT sex, COUNT(*) FROM visits WHERE {c} GROUP BY sex;",
)
CONDITIONS = (
    ("age >= {n}", "{n} <= age"),
    ("age >= {n}", "age >= {n}.0"),
    ("age BETWEEN 1 AND {n}", "age >= 1 AND age <= {n}"),
    ("NOT age IN ({n}, 3)", "age NOT IN ({n}, 3, {n})"),
    ("NOT note IS NULL AND age < {n}", "note IS NOT NULL AND age < {n}"),
    (
        "(age < {n} AND sex = 'F') AND day > '2024-02-01'",
        "age < {n} AND (sex = 'F' AND day > DATE '2024-02-01')",
    ),
    ("age <> {n}", "age != {n}"),
)
OTHER = (
    "SELECT sex, COUNT(DISTINCT patient_id) FROM visits WHERE {c} GROUP BY sex",
    "SELECT ward, COUNT(*) FROM visits WHERE {c} GROUP BY ward",
    "SELECT COUNT(*) FROM visits WHERE {c}",
    "SELECT sex, COUNT(*) FROM visits WHERE {c} AND age >= 1 GROUP BY sex",
    "SELECT sex, ward, COUNT(*) FROM visits WHERE {c} GROUP BY sex, ward",
)
PLAIN = "SELECT sex, COUNT(*) FROM visits WHERE {c} GROUP BY sex"


@pytest.fixture
def condition():
    """A condition that nobody asked for before."""
    return f"note = 'rewrites {next(_fresh)}'"


def test_rewrites_that_bind_alike_bring_the_same_noise_for_nothing(house, condition):
    first = repeatable(house.http, PLAIN.format(c=condition), "0.01").json()
    for text in EQUAL:
        again = repeatable(house.http, text.format(c=condition), "0.01").json()
        assert again["charge"]["reused"], text
        assert again["rows"] == first["rows"]


@pytest.mark.parametrize("pair", CONDITIONS, ids=lambda pair: pair[0])
def test_conditions_that_bind_alike_are_one_question(house, pair):
    number = next(_ages)
    texts = [PLAIN.format(c=c.format(n=number)) for c in pair]
    first, again = (repeatable(house.http, text, "0.01").json() for text in texts)
    assert not first["charge"]["reused"]
    assert again["charge"]["reused"]
    assert again["rows"] == first["rows"]


def test_other_questions_are_paid_each(house, condition):
    repeatable(house.http, PLAIN.format(c=condition), "0.01")
    for text in OTHER:
        reply = repeatable(house.http, text.format(c=condition), "0.01").json()
        assert reply["charge"] == {"epsilon": "0.01", "delta": "0", "reused": False}


def test_rewrites_that_escape_the_look_up_never_cost_less(house, condition):
    """Forty ways to say it: each is the stored answer or is paid in full."""
    stored = repeatable(house.http, PLAIN.format(c=condition), "0.01").json()
    for number in range(40):
        text = PLAIN.format(c=f"{condition} AND age > {-1 - number}")
        reply = repeatable(house.http, text, "0.01").json()
        if reply["charge"]["reused"]:
            assert reply["rows"] == stored["rows"]
        else:
            assert reply["charge"]["epsilon"] == "0.01"
