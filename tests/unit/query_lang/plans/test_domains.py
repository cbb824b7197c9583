from dataclasses import replace
from datetime import date
from decimal import Decimal

import pytest

from privacy.errors import NoPublicDomainError, SqlNotAllowedError, TooManyGroupsError
from privacy.schema import ColumnType, RangeDomain, ValuesDomain
from query_lang.plans.domains import (
    cell_count,
    cells,
    check_cells,
    check_key,
    combined,
    key_values,
    stored_value,
)
from query_lang.plans.expressions import Facts
from query_lang.plans.nodes import Key
from query_lang.syntax.nodes import Position

T = ColumnType


def key(kind, domain=None, *, nullable=False, scale=0):
    return Facts(kind, scale, nullable, domain=domain)


def keys_of(*facts):
    return [Key(0, "k", f, key_values(f)) for f in facts]


DAYS = RangeDomain(date(2024, 2, 28), date(2024, 3, 1))
COUNTABLE = [
    (key(T.TEXT, ValuesDomain(("b", "a"))), ("b", "a")),
    (key(T.TEXT, ValuesDomain(("a",), other=True)), ("a", "other")),
    (
        key(T.TEXT, ValuesDomain(("a",), other=True), nullable=True),
        ("a", "other", None),
    ),
    (key(T.INTEGER, RangeDomain(-1, 1)), (-1, 0, 1)),
    (key(T.INTEGER, ValuesDomain((5, 3)), nullable=True), (5, 3, None)),
    (key(T.DATE, DAYS), (date(2024, 2, 28), date(2024, 2, 29), date(2024, 3, 1))),
    (key(T.BOOLEAN), (False, True)),
    (key(T.BOOLEAN, nullable=True), (False, True, None)),
    (key(T.BOOLEAN, ValuesDomain((True, False))), (True, False)),
    (key(T.DECIMAL, ValuesDomain((Decimal("1.5"),)), scale=1), (Decimal("1.5"),)),
]


@pytest.mark.parametrize(("column", "values"), COUNTABLE)
def test_cells_come_in_declared_order_with_other_and_null_last(column, values):
    assert cells(keys_of(column)) == tuple((value,) for value in values)
    assert cell_count(column) == len(values)


def test_the_first_key_is_the_slowest():
    keys = (key(T.BOOLEAN), key(T.INTEGER, RangeDomain(1, 2)))
    assert cells(keys_of(*keys)) == ((False, 1), (False, 2), (True, 1), (True, 2))


def test_without_keys_there_is_one_cell():
    assert cells(()) == ((),)


@pytest.mark.parametrize(
    "column",
    [
        key(T.TEXT),
        key(T.INTEGER),
        key(T.DATE),
        key(T.TEXT, RangeDomain("a", "b")),
        key(T.DECIMAL, RangeDomain(Decimal(0), Decimal(1)), scale=1),
        key(T.DECIMAL, RangeDomain(0, 1)),
        key(T.TIMESTAMP, DAYS),
    ],
)
def test_keys_whose_values_are_not_listed_are_refused(column):
    with pytest.raises(NoPublicDomainError):
        check_key(column, "k", Position(1, 1))


def test_a_key_without_any_cell_is_refused():
    for domain in (ValuesDomain(()), RangeDomain(2, 1)):
        with pytest.raises(SqlNotAllowedError) as refused:
            check_key(key(T.INTEGER, domain), "k", Position(1, 1))
        assert refused.value.rule == "no_cells"


def test_ten_thousand_cells_are_the_most():
    check_cells(keys_to(5_000, 2), 1, Position(1, 1))
    for ends, bins in (((5_001, 2), 1), ((5_000, 2), 2)):
        with pytest.raises(TooManyGroupsError):
            check_cells(keys_to(*ends), bins, Position(1, 1))


def keys_to(*ends):
    return keys_of(*(key(T.INTEGER, RangeDomain(1, end)) for end in ends))


def test_a_key_of_which_where_leaves_few_values_is_told_how_to_have_them_alone():
    wide, other = keys_of(
        key(T.TEXT, ValuesDomain(("it's", *map(str, range(200))))),
        key(T.INTEGER, RangeDomain(1, 51)),
    )
    for left, said in (
        (("it's", "1"), "CASE WHEN k IN ('it''s', '1') THEN k END"),
        (tuple(map(str, range(50))), "'10', '11', ...) THEN k END"),
        (None, None),
        (tuple(map(str, range(199))), None),  # as many cells as an answer may not have
    ):
        with pytest.raises(TooManyGroupsError) as refused:
            check_cells((replace(wide, left=left), other), 1, Position(1, 1))
        assert ("CASE WHEN" in refused.value.hint) is (said is not None)
        assert (said or "WHERE says") in refused.value.hint


def test_a_huge_domain_is_refused_before_it_is_enumerated():
    wide = key(T.INTEGER, RangeDomain(-(2**63), 2**63 - 1))
    with pytest.raises(TooManyGroupsError):
        check_key(wide, "k", Position(1, 1))


def test_stored_values_hold_decimals_as_scaled_integers():
    assert stored_value(Decimal("-1.5"), key(T.DECIMAL, scale=2)) == -150
    assert stored_value("a", key(T.TEXT)) == "a"
    assert stored_value(None, key(T.DECIMAL, scale=2)) is None


def test_a_value_from_several_places_has_the_first_ones_values_then_new_ones():
    one = key(T.TEXT, ValuesDomain(("b", "a")))
    other = key(T.TEXT, ValuesDomain(("c", "a"), other=True))
    counted = []
    found = combined([one, other], counted.append)
    assert found == ValuesDomain(("b", "a", "c", "other"))
    assert counted == [5]


def test_too_many_values_to_list_leave_their_interval():
    one = key(T.INTEGER, RangeDomain(0, 20_000))
    other = key(T.INTEGER, ValuesDomain((-5,)))
    counted = []
    assert combined([one, other], counted.append) == RangeDomain(-5, 20_000)
    assert counted == []


def test_one_part_without_a_domain_leaves_none():
    parts = [key(T.TEXT, ValuesDomain(("a",))), key(T.TEXT)]
    counted = []
    assert combined(parts, counted.append) is None
    assert counted == []
