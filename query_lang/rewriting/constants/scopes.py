"""Whose column a name in brackets is, where columns are written out in its stead."""

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import fields
from typing import Final

from query_lang.rewriting.trees import called, parts
from query_lang.syntax import rules
from query_lang.syntax.idioms import FirstRowJoin
from query_lang.syntax.nodes import (
    DerivedTable,
    Expression,
    Name,
    Position,
    Select,
    TableName,
)
from query_lang.syntax.refusals import refuse

BEFORE_JOIN: Final = "*"
"""In front of a name that is a column of some private table before a join."""


def check_written(
    query: Select, name: str, read: AbstractSet[str], values: Mapping[str, Expression]
) -> None:
    """Refuse a SELECT in brackets where what is written in would be of its own tables.

    Args:
        query: The SELECT, at any depth of which a column may be read.
        name: What FROM around it calls the table whose columns are written out.
        read: Those columns.
        values: What they are written out as, or a part of these.

    Raises:
        SqlNotAllowedError: Rule ``ambiguous_name``.
    """
    found = {n.name: n for n in _names(query) if n.qualifier == name and n.name in read}
    if not found:
        return
    own = tables_of(query)
    check_own(query, {name}, own)
    for column in found.keys() & values.keys():
        for each in _names(values[column]):
            if each.qualifier in {None, BEFORE_JOIN} or each.qualifier in own:
                raise _unclear(found[column], each)


def check_own(query: Select, names: AbstractSet[str], own: AbstractSet[str]) -> None:
    """Refuse a SELECT in brackets that calls a table as FROM around it does.

    Args:
        query: The SELECT.
        names: Of tables around it.
        own: Of its tables.

    Raises:
        SqlNotAllowedError: Rule ``ambiguous_name``: it reads columns by such a name.
    """
    for each in _names(query):
        if each.qualifier in names and each.qualifier in own:
            detail = f"{each.qualifier} is a table in brackets and one around them"
            hint = "call one of the two otherwise"
            raise refuse(rules.AMBIGUOUS_NAME, each.position, detail=detail, hint=hint)


def check_names(select: Select) -> None:
    """Refuse two tables of one FROM that have the same name.

    Raises:
        SqlNotAllowedError: Rule ``ambiguous_name``.
    """
    known: set[str] = set()
    for source in (select.source, *(join.source for join in select.joins)):
        name = called(source)
        if name and name in known:
            detail = f"two items of FROM are called {name}"
            hint = f"give one an alias: {name} AS {name}_b"
            raise refuse(
                rules.AMBIGUOUS_NAME, source.position, detail=detail, hint=hint
            )
        known.add(name)


def check_alone(select: Select, columns: AbstractSet[str]) -> None:
    """Refuse names alone in the brackets of a SELECT that are columns of its literals.

    What is around the SELECT may have a column of that name, too.

    Raises:
        SqlNotAllowedError: Rule ``ambiguous_name``.
    """
    inner = [part for part in parts(select) if isinstance(part, Select)][1:]
    for query in inner:
        for each in _names(query):
            if each.qualifier is None and each.name in columns:
                raise refuse(rules.AMBIGUOUS_NAME, each.position)


def check_sources(select: Select, name: str, read: AbstractSet[str]) -> None:
    """Refuse tables of FROM that read columns of one that leaves it.

    Raises:
        SqlNotAllowedError: Rule ``ambiguous_name``.
    """
    for source in (select.source, *(join.source for join in select.joins)):
        for each in _names(source):
            if each.qualifier == name and each.name in read:
                detail = f"{name} is read in another table of FROM"
                hint = "compare with it in ON or WHERE"
                raise refuse(
                    rules.AMBIGUOUS_NAME, each.position, detail=detail, hint=hint
                )


def tables_of(query: Select) -> frozenset[str]:
    """Return what a SELECT calls its tables, at any depth."""
    return frozenset(
        called(part)
        for part in parts(query)
        if isinstance(part, TableName | DerivedTable)
    )


def in_brackets(tree: object) -> frozenset[Position]:
    """Return the places of SELECTs that may read columns of one around them."""
    return frozenset(
        inner.position
        for select in parts(tree)
        if isinstance(select, Select)
        for inner in parts(_beside_plain_tables(select))
        if isinstance(inner, Select)
    )


def _beside_plain_tables(select: Select) -> object:
    """Return the fields of a SELECT but its tables that read no others."""
    ties = tuple(
        join if isinstance(join, FirstRowJoin) else join.condition
        for join in select.joins
    )
    names = [field.name for field in fields(select)]
    said = [getattr(select, name) for name in names if name not in {"source", "joins"}]
    return (ties, tuple(said))


def _names(tree: object) -> Iterator[Name]:
    return (part for part in parts(tree) if isinstance(part, Name))


def _unclear(read: Name, owner: Name) -> Exception:
    named = owner.name if owner.qualifier is None else f"{owner.qualifier}.{owner.name}"
    detail = (
        f"{read.qualifier}.{read.name} is computed of {named}, which may be a column "
        "of a table in these brackets"
    )
    hint = "put the table in front of it, and call no table in brackets like that one"
    return refuse(rules.AMBIGUOUS_NAME, read.position, detail=detail, hint=hint)
