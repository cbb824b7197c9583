"""What short texts with repeated operands take is counted, whatever comes of it."""

import pytest

from privacy.errors import QueryError
from server.api.routing.backlog import comparing
from server.use_cases.questions.advising.ways import Adviser
from server.use_cases.questions.looked_at import LookedAt
from server.use_cases.questions.questions import prepare
from server.use_cases.questions.requests import read_request
from tests.support.questions import COMPILER, GRANT, LOSSES

TWICE = "COALESCE({0}, {0})"
CASES = "CASE WHEN {0} > 3 THEN {0} ELSE {0} - 1 END"
WISH = {"accuracy": {"within": 1}}


def nested(times, form):
    """Return a text of so many LATERALs, each of which repeats the one before."""
    joins, inner = [], "e.age"
    for n in range(times):
        joins.append(f"CROSS JOIN LATERAL (SELECT {form.format(inner)} AS c) AS z{n}")
        inner = f"z{n}.c"
    laterals, where = " ".join(joins), f"WHERE {inner} > 3 GROUP BY 1"
    return f"SELECT e.ward, COUNT(*) AS n FROM encounters AS e {laterals} {where}"


def prepared(sql, looked_at):
    asked = read_request({"sql": sql, "epsilon": "1"})
    return prepare(COMPILER, GRANT, LOSSES, asked, looked_at=looked_at)


def test_what_is_repeated_counts_though_its_text_is_short():
    seconds = []
    for sql in (nested(10, TWICE), nested(10, TWICE), nested(0, TWICE)):
        prepared(sql, looked_at := LookedAt())
        seconds.append(comparing(looked_at))
    assert seconds[0] > 0.1
    assert seconds[1] == seconds[0]  # remembered or not
    assert seconds[2] < 0.005


def test_what_is_refused_while_it_is_bound_counts():
    looked_at = LookedAt()
    with pytest.raises(QueryError) as refused:
        prepared(nested(7, CASES), looked_at)
    assert refused.value.rule == "too_complex"
    assert comparing(looked_at) > 0.1


@pytest.mark.parametrize(("times", "tries"), [(4, True), (10, False)])
def test_coarser_questions_count_and_are_not_tried_of_what_takes_long(times, tries):
    asked = read_request({"sql": nested(times, TWICE), **WISH})
    looked_at = LookedAt()
    ways = Adviser(COMPILER).instead(GRANT, LOSSES, asked, looked_at)
    assert bool(ways) == bool(looked_at.cells) == tries
