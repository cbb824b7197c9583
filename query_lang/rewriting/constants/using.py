"""USING beside tables of literals, as ON: whose column its name means is written out.

``diagnoses LEFT JOIN codes USING (code)``: ``code`` alone is the diagnosis's, whether
it meets a row of codes or none.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from query_lang.rewriting.constants.rows import Constants
from query_lang.rewriting.constants.scopes import BEFORE_JOIN
from query_lang.rewriting.constants.written import with_columns
from query_lang.rewriting.trees import all_of, called, conjuncts, mapped
from query_lang.syntax import rules
from query_lang.syntax.idioms import WrittenJoin
from query_lang.syntax.nodes import (
    Comparison,
    DerivedTable,
    Expression,
    Join,
    Name,
    Select,
    TableName,
)
from query_lang.syntax.refusals import refuse

Tables = Mapping[int, Constants]
"""Of FROM which are literals, by their places; what stands behind FROM itself is -1."""

_WRITE_ON = "write ON d.code = v.code, and each column with its table"


def without_using(select: Select, tables: Tables) -> Select:
    """Return a SELECT whose USING ties private tables alone.

    Raises:
        SqlNotAllowedError: Rule ``constant_rows``: whose column it ties is not known.
    """
    natural = [join for join in select.joins if join.is_natural]
    if natural:
        detail = "NATURAL JOIN stands beside declared tables and derived ones alone"
        at = natural[0].position
        raise refuse(rules.CONSTANT_ROWS, at, detail=detail, hint=_WRITE_ON)
    found = _Merged(select, tables)
    joins = tuple(found.join(place) for place in range(len(select.joins)))
    if not found.meant:
        return select
    values: dict[str, Expression] = {
        name: Name(name, table, select.position) for name, table in found.meant.items()
    }
    alone = (*select.alone, *found.alone)
    return with_columns(replace(select, joins=joins, alone=alone), None, values)


def with_plain_names(select: Select) -> Select:
    """Return a SELECT without what marks names of tables before a join."""

    def plain(node: object) -> object:
        if isinstance(node, Name) and node.qualifier == BEFORE_JOIN:
            return replace(node, qualifier=None)
        return node

    return mapped(select, plain)


@dataclass(slots=True)
class _Merged:
    """What names of USING mean, join by join.

    Attributes:
        select: Whose FROM is read.
        tables: Its tables of literals.
        meant: Whose column each name alone is.
        alone: Names that are columns of literals, and may be of no other table.
    """

    select: Select
    tables: Tables
    meant: dict[str, str] = field(default_factory=dict)
    alone: list[Name] = field(default_factory=list)

    def join(self, place: int) -> Join:
        """Return a join, its USING as ON where a table of literals is tied by it."""
        join = self.select.joins[place]
        owners = [self._owner(name, place) for name in join.using]
        known = {called(source) for source in self._literals()}
        is_own = place in self.tables
        if not join.using or not (is_own or known & {*owners}):
            return join
        is_right = isinstance(join, WrittenJoin) and join.word == "RIGHT"
        name = called(join.source)
        if not name or (BEFORE_JOIN in owners and (is_right or not is_own)):
            detail = "USING beside rows in the text ties two tables that have names"
            raise refuse(
                rules.CONSTANT_ROWS, join.position, detail=detail, hint=_WRITE_ON
            )
        for column, owner in zip(join.using, owners, strict=True):
            self.meant[column] = name if is_right else owner
        said = [
            Comparison(
                "=",
                Name(column, name, join.position),
                Name(column, owner, join.position),
                join.position,
            )
            for column, owner in zip(join.using, owners, strict=True)
        ]
        return replace(join, using=(), condition=_all(said, join.condition))

    def _owner(self, column: str, place: int) -> str:
        """Return whose column a name is on the left of a join."""
        if column in self.meant:
            return self.meant[column]
        if place == 0:
            return called(self.select.source) or BEFORE_JOIN
        for before, table in self.tables.items():
            if before < place and column in table.columns:
                at = self.select.joins[place].position
                self.alone.append(Name(column, None, at))
                return called(self._source(before)) or BEFORE_JOIN
        return BEFORE_JOIN

    def _source(self, place: int) -> TableName | DerivedTable:
        select = self.select
        return select.source if place < 0 else select.joins[place].source

    def _literals(self) -> Sequence[TableName | DerivedTable]:
        return [self._source(place) for place in self.tables]


def _all(said: Sequence[Expression], condition: Expression | None) -> Expression | None:
    return all_of([*said, *conjuncts(condition)])
