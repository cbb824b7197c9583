from datetime import date
from decimal import Decimal

import pytest

from privacy.errors import NoPublicDomainError, SqlNotAllowedError, TooManyGroupsError
from privacy.schema import Column, ColumnType, RangeDomain, ValuesDomain
from query_lang.domains import cell_count, cells, check_keys, stored_cell
from query_lang.predicates import ColumnRef
from query_lang.syntax import Position

T = ColumnType


def key(kind, domain=None, *, nullable=False, scale=0):
    return ColumnRef("t", Column("k", kind, scale, nullable, domain=domain))


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
    assert cells((column,)) == tuple((value,) for value in values)
    assert cell_count(column.column) == len(values)


def test_the_first_key_is_the_slowest():
    keys = (key(T.BOOLEAN), key(T.INTEGER, RangeDomain(1, 2)))
    assert cells(keys) == ((False, 1), (False, 2), (True, 1), (True, 2))


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
        check_keys((column,), (Position(1, 1),))


def test_a_key_without_any_cell_is_refused():
    for domain in (ValuesDomain(()), RangeDomain(2, 1)):
        with pytest.raises(SqlNotAllowedError) as refused:
            check_keys((key(T.INTEGER, domain),), (Position(1, 1),))
        assert refused.value.rule == "no_cells"


@pytest.mark.parametrize("nullable", [False, True])
def test_ten_thousand_cells_are_the_most(nullable):
    keys = (key(T.INTEGER, RangeDomain(1, 5_000), nullable=nullable), key(T.BOOLEAN))
    positions = (Position(1, 1), Position(1, 5))
    if not nullable:
        check_keys(keys, positions)
        assert len(cells(keys)) == 10_000
        return
    with pytest.raises(TooManyGroupsError, match="10,002"):
        check_keys(keys, positions)


def test_a_huge_domain_is_refused_before_it_is_enumerated():
    wide = key(T.INTEGER, RangeDomain(-(2**63), 2**63 - 1))
    with pytest.raises(TooManyGroupsError):
        check_keys((wide, wide), (Position(1, 1), Position(1, 2)))


def test_stored_cells_hold_decimals_as_scaled_integers():
    keys = (key(T.DECIMAL, scale=2), key(T.TEXT))
    assert stored_cell((Decimal("-1.5"), "a"), keys) == (-150, "a")
    assert stored_cell((None, None), keys) == (None, None)
