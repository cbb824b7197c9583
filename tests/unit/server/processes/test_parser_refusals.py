"""A text that a parser child refuses is refused by the server: whatever it raises."""

import pytest

from privacy.errors import QueryError, UnknownColumnError
from server.children.parser_process import _REFUSALS
from tests.support.parsers import LastingPool


def test_every_refusal_of_a_text_has_its_own_class_again():
    assert set(_REFUSALS.values()) == set(QueryError.__subclasses__())


def test_a_column_that_a_table_of_the_text_lacks_is_unknown():
    """It is found where VALUES are written into the text, in the child."""
    sql = (
        "SELECT n.j, COUNT(*) FROM (VALUES (1), (2)) AS n(i) "
        "JOIN visits AS v ON v.age = n.i GROUP BY n.j"
    )
    pool = LastingPool()
    try:
        with pytest.raises(UnknownColumnError) as refused:
            pool.parse(sql)
    finally:
        pool.close()
    assert refused.value.rule == "unknown_column"
