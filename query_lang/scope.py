"""Which columns a name can mean."""

from dataclasses import dataclass
from difflib import get_close_matches

from privacy.errors import SqlNotAllowedError, UnknownColumnError
from privacy.schema import Column, Dataset, Table
from query_lang import rules
from query_lang.predicates import ColumnRef
from query_lang.refusals import refuse, unknown_column
from query_lang.syntax import Name, TableName


@dataclass(frozen=True, slots=True)
class Scope:
    """The one private table in FROM, under the name that the query gives it."""

    table: Table
    unit_column: str
    name: str

    def is_unit_key(self, name: Name) -> bool:
        """Whether a name means the unit key."""
        self._check_qualifier(name)
        return name.name == self.unit_column

    def column(self, name: Name) -> ColumnRef:
        """Return the column that a name means.

        Raises:
            UnknownColumnError: It means none.
            SqlNotAllowedError: It means the unit key.
        """
        if self.is_unit_key(name):
            raise self.unit_key_refusal(name)
        column = self.table.column(name.name)
        if column is None:
            raise self._unknown(name)
        return ColumnRef(self.table.name, column)

    def has_column(self, name: Name) -> bool:
        """Whether the table has a column of that name, or it is qualified."""
        known = self.table.column(name.name) is not None
        return known or name.qualifier is not None or name.name == self.unit_column

    def unit_key_refusal(self, name: Name) -> SqlNotAllowedError:
        """Return the refusal of any use of the unit key but counting."""
        return refuse(
            rules.UNIT_KEY_OPAQUE,
            name.position,
            hint=f"count it: COUNT(DISTINCT {self.unit_column})",
        )

    def _check_qualifier(self, name: Name) -> None:
        if name.qualifier not in {None, self.name}:
            raise unknown_column(
                name.position,
                detail=f"no table in FROM is called {name.qualifier}",
                hint=f"write {self.name}.{name.name}, or {name.name} alone",
            )

    def _unknown(self, name: Name) -> UnknownColumnError:
        columns = [column.name for column in self.table.columns]
        near = get_close_matches(name.name, columns, n=1)
        meant = f"did you mean {near[0]}? " if near else ""
        return unknown_column(
            name.position,
            detail=f"{self.table.name} has no column {name.name}",
            hint=f"{meant}its columns: {', '.join(columns)}",
        )


def open_scope(source: TableName, dataset: Dataset) -> Scope:
    """Return the scope of a FROM clause.

    Raises:
        SqlNotAllowedError: The table is unknown, public or without a row bound.
    """
    table = dataset.tables.get(source.name)
    if table is None:
        raise _unknown_table(source, dataset)
    if table.unit_column is None:
        raise refuse(rules.PRIVATE_TABLE_NEEDED, source.position)
    return Scope(table, table.unit_column, source.alias or table.name)


def _unknown_table(source: TableName, dataset: Dataset) -> SqlNotAllowedError:
    names = list(dataset.tables)
    near = get_close_matches(source.name, names, n=1)
    meant = f"did you mean {near[0]}? " if near else ""
    return refuse(
        rules.UNKNOWN_TABLE,
        source.position,
        detail=f"no table is called {source.name}",
        hint=f"{meant}tables: {', '.join(names)}",
    )


def column_type_words(column: Column) -> str:
    """Return a column and its type in words."""
    return f"{column.name} ({column.type.value})"
