"""Three-valued logic over atoms of any kind."""

from itertools import product

import duckdb
import pytest

from query_lang.syntax.logic import All, AnyOf, Logic, Logical, Negation, atoms

TRUTHS = (True, False, None)


def _as_sql(condition: Logical[bool | None]) -> str:
    match condition:
        case Negation(item):
            return f"(NOT {_as_sql(item)})"
        case All(items):
            return "(" + " AND ".join(map(_as_sql, items)) + ")"
        case AnyOf(items):
            return "(" + " OR ".join(map(_as_sql, items)) + ")"
        case _:
            return {True: "TRUE", False: "FALSE", None: "CAST(NULL AS BOOLEAN)"}[
                condition
            ]


def _negate(truth: bool | None) -> bool | None:
    return None if truth is None else not truth


def _both(left: bool | None, right: bool | None) -> bool | None:
    if False in (left, right):
        return False
    return None if None in (left, right) else True


LOGIC = Logic[bool | None, bool | None](lambda atom: atom, _negate, _both)


@pytest.mark.parametrize(("first", "second", "third"), [*product(TRUTHS, repeat=3)])
def test_conditions_are_what_sql_makes_of_them(
    first: bool | None, second: bool | None, third: bool | None
) -> None:
    written: list[Logical[bool | None]] = [
        first,
        Negation(first),
        All((first, second, third)),
        AnyOf((first, second, third)),
        Negation(AnyOf((All((first, second)), Negation(third)))),
        All((AnyOf((first,)), Negation(All((second, AnyOf((third, first))))))),
    ]
    with duckdb.connect() as connection:
        for condition in written:
            found = connection.execute(f"SELECT {_as_sql(condition)}").fetchall()
            assert found == [(LOGIC.evaluate(condition),)], _as_sql(condition)


def test_atoms_come_in_the_order_in_which_they_are_written() -> None:
    condition: Logical[str] = All(("a", Negation(AnyOf(("b", "a"))), "c"))
    assert list(atoms(condition)) == ["a", "b", "a", "c"]
