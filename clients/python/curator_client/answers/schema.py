"""A dataset's page: tables, columns, public domains, hierarchies, row bounds."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from curator_client.tables.display import html_table, paragraph, text_table
from curator_client.tables.listing import Listing

_MOST_VALUES = 6  # of a domain, in words
_TITLES = ("column", "type", "NULL", "constant", "domain")
_COLUMN_TITLES = ("table", "column", "type", "nullable", "domain")
_UNSHOWN = "the server shows a hierarchy's name, levels and size, not its codes"


@dataclass(frozen=True, repr=False)
class Domain:
    """The public domain of one column: the values that an answer may speak of.

    Attributes:
        table: The column's table.
        column: Its name.
        type: Its type, with a decimal's scale.
        nullable: Whether a group key of it has a cell for NULL.
        document: The domain as the server wrote it, or None.
    """

    table: str
    column: str
    type: str
    nullable: bool
    document: dict[str, Any] | None

    @property
    def values(self) -> list[Any] | None:
        """The listed values, ``other`` last where it is declared; None for a range."""
        if self.document is None or "values" not in self.document:
            return None
        other = ["other"] if self.document.get("other") else []
        return [*self.document["values"], *other]

    @property
    def bounds(self) -> tuple[Any, Any] | None:
        """The least and the greatest value; None where it is no range."""
        if self.document is None or "min" not in self.document:
            return None
        return self.document["min"], self.document["max"]

    @property
    def hierarchy(self) -> str | None:
        """The name of its hierarchy; None where it has none."""
        name = None if self.document is None else self.document.get("hierarchy")
        return None if name is None else str(name)

    def words(self, most: int | None = _MOST_VALUES) -> str:
        """Return the domain in words, with at most so many of its values."""
        if self.document is None:
            return "none: filter only"
        if self.bounds is not None:
            return f"{self.bounds[0]} to {self.bounds[1]}"
        if self.values is None:
            return f"hierarchy {self.hierarchy}"
        shown = [str(value) for value in self.values[:most]]
        more = len(self.values) - len(shown)
        return ", ".join(shown) + (f" and {more} more" if more else "")

    def __repr__(self) -> str:
        """Return one line for lists in terminals."""
        null = ", or NULL" if self.nullable else ""
        return f"{self.table}.{self.column} ({self.type}): {self.words(None)}{null}"


class Domains(list[Domain]):
    """The domains of a column, a table each; shown as a table."""

    def _listing(self) -> Listing:
        rows = [
            [one.table, one.column, one.type, _yes(one.nullable), one.words(None)]
            for one in self
        ]
        return Listing(list(_COLUMN_TITLES), rows)

    def __repr__(self) -> str:
        """Return a table for terminals."""
        return repr(self._listing())

    def _repr_html_(self) -> str:
        return self._listing()._repr_html_()


@dataclass(frozen=True, repr=False)
class Dataset:
    """What may be known of a dataset without paying.

    Attributes:
        document: The server's page of it.
    """

    document: dict[str, Any]

    def __getitem__(self, member: str) -> Any:
        """Return a member of the server's page."""
        return self.document[member]

    @property
    def name(self) -> str:
        """Its name."""
        return str(self.document["name"])

    @property
    def tables(self) -> list[dict[str, Any]]:
        """Its tables, as the server wrote them."""
        return list(self.document["tables"])

    @property
    def hierarchies(self) -> list[dict[str, Any]]:
        """Its hierarchies of codes: name, levels, number of codes."""
        return list(self.document.get("hierarchies", []))

    @property
    def hide_below(self) -> int | None:
        """The custodian's display rule for small counts; None where there is none."""
        threshold = (self.document.get("display") or {}).get("hide_below")
        return threshold if isinstance(threshold, int) else None

    def columns(self, table: str | None = None) -> Listing:
        """List the columns of a table, or of all.

        Raises:
            LookupError: There is no such table.
        """
        names = [str(t["name"]) for t in self.tables]
        if table is not None and table not in names:
            raise LookupError(unknown("table", table, names))
        rows = [
            [d.table, d.column, d.type, _yes(d.nullable), d.words()]
            for d in self._every_domain()
            if table in (None, d.table)
        ]
        return Listing(list(_COLUMN_TITLES), rows)

    def rows(self, table: str) -> Listing:
        """Return the rows of a public table that its custodian has listed.

        Raises:
            LookupError: There is no such table, or its rows are not shown.
        """
        listed = {str(t["name"]): t for t in self.tables if t.get("listed")}
        if table not in listed:
            raise LookupError(unknown("listed table", table, list(listed)))
        found = listed[table]
        names = [str(column["name"]) for column in found["columns"]]
        return Listing(names, [list(row) for row in found.get("rows", [])])

    def domains(self, column: str) -> Domains:
        """Return the domains of a column, a table each; ``"visits.ward"`` names one.

        Raises:
            LookupError: There is no such column.
        """
        table, _, name = column.rpartition(".")
        every = list(self._every_domain())
        found = Domains(d for d in every if d.column == name and table in ("", d.table))
        if not found:
            known = sorted({d.column for d in every})
            raise LookupError(unknown("column", column, known))
        return found

    def search(self, text: str) -> Listing:
        """Find a part of a word, in any case, wherever the page shows one."""
        needle = text.casefold()
        found = [
            [kind, place, word]
            for kind, place, word in self._words()
            if needle in word.casefold()
        ]
        return Listing(["what", "where", "found"], found, self._search_note())

    def _search_note(self) -> str:
        return _UNSHOWN if self.hierarchies else ""

    def _words(self) -> Iterator[tuple[str, str, str]]:
        """Yield every word of the page: what it is, where it stands."""
        for table in self.tables:
            yield "table", self.name, str(table["name"])
        for domain in self._every_domain():
            place = f"{domain.table}.{domain.column}"
            yield "column", place, domain.column
            for value in domain.values or []:
                yield "value", place, str(value)
            if domain.hierarchy is not None:
                yield "hierarchy", place, domain.hierarchy
        for hierarchy in self.hierarchies:
            yield from _hierarchy_words(hierarchy)

    def _every_domain(self) -> Iterator[Domain]:
        for table in self.tables:
            for column in table["columns"]:
                yield _domain(str(table["name"]), column)

    def _table_lines(self) -> Iterator[tuple[str, list[list[str]]]]:
        """Yield each table's heading with the cells of its columns."""
        for table in self.tables:
            cells = [list(_TITLES)]
            for column in table["columns"]:
                domain = _domain(str(table["name"]), column)
                null = "yes" if domain.nullable else ""
                fixed = "yes" if column.get("constant_in_unit") else ""
                words = domain.words()
                cells.append([domain.column, domain.type, null, fixed, words])
            yield _heading(table), cells

    def _summary(self) -> list[str]:
        word = "rho" if "rho_per_query" in self.document else "epsilon"
        losses = self.document[f"{word}_per_query"]
        state = f"as of {self.document['snapshot_date']}"
        lines = [
            f"{self.name}: of population {self.document['population']}, {state}",
            f"{word} of one query: {losses['min']} to {losses['max']}",
        ]
        if self.hide_below is not None:
            below = self.hide_below
            rule = f'pass counts below {below} on as "below {below}"'
            lines.append(f"display rule: {rule}")
        lines += [
            f"hierarchy {h['name']}: {' > '.join(h['levels'])} ({h['codes']} codes)"
            for h in self.hierarchies
        ]
        return lines

    def __repr__(self) -> str:
        """Return the page for terminals."""
        parts = ["\n".join(self._summary())]
        for heading, cells in self._table_lines():
            parts.append(f"{heading}\n{text_table(cells, ['left'] * len(_TITLES))}")
        return "\n\n".join(parts)

    def _repr_html_(self) -> str:
        tables = "".join(
            f"{paragraph(heading)}{html_table(cells, ['left'] * len(_TITLES))}"
            for heading, cells in self._table_lines()
        )
        return "".join(paragraph(line) for line in self._summary()) + tables


def _domain(table: str, column: dict[str, Any]) -> Domain:
    kind = str(column["type"])
    if kind == "decimal":
        kind = f"decimal({column['scale']})"
    return Domain(
        table, str(column["name"]), kind, bool(column["nullable"]), column["domain"]
    )


def _yes(fact: bool) -> str:  # noqa: FBT001 - it is the word for one
    return "yes" if fact else "no"


def _heading(table: dict[str, Any]) -> str:
    key = f"; key {', '.join(table['key'])}" if table.get("key") else ""
    if table.get("public"):
        shown = f"; {len(table['rows'])} rows, shown" if table.get("rows") else ""
        return f"{table['name']}: public{key}{shown}"
    unit, rows = table["unit_column"], table["max_rows_per_unit"]
    plural = "row" if rows == 1 else "rows"
    return f"{table['name']}: at most {rows} {plural} for each {unit}{key}"


def _hierarchy_words(hierarchy: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    name = str(hierarchy["name"])
    yield "hierarchy", name, name
    for level in hierarchy["levels"]:
        yield "level", name, str(level)
    for block in hierarchy.get("blocks", []):
        yield "block", name, str(block)


def unknown(kind: str, name: str, known: list[str]) -> str:
    """Say that a name is not among those that are known, and which is near."""
    near = difflib.get_close_matches(name.rpartition(".")[2], known, n=3)
    meant = f"; did you mean {' or '.join(near)}?" if near else ""
    named = ", ".join(known) or "none"
    return f"there is no {kind} {name!r}{meant or '.'} Known: {named}"
