"""Values that identify rows of private tables, among what everybody may read.

A table of diagnoses has no patient's id, yet ``encounter_id`` joins each row to one
patient. So the values of the columns of the load's private tables are compared with
what is public, as they are staged, before any bound leaves rows out: those that one
unit alone has are as good as its id. Which columns those are,
``upstream.public_check.row_values`` says; which values are no accident,
``upstream.public_check.row_evidence`` decides.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import duckdb

from upstream.errors import Problem
from upstream.id_forms.embedded_ids import LEAST_CODE, LEAST_NUMBER
from upstream.id_forms.moments import moments_sql, timed_forms_sql
from upstream.public_check.published_ids import HANDFUL, LOOKED_AT, Published, Texts
from upstream.public_check.row_evidence import (
    CODE,
    LEAST_TOGETHER,
    SHORT,
    Group,
    Uses,
    identifying,
)
from upstream.public_check.row_values import (
    ONE_UNIT,
    Found,
    PrivateColumn,
    first_found,
    form_sql,
    is_id_sql,
    uses_of,
    values_sql,
)

_LEAST_DIGITS = 3  # of a code
_LEAST_VALUES = 0.5  # for each unit; fewer are shared by too many
_TEXTS, _HITS = "row_id_texts", "row_id_hits"


@dataclass(slots=True)
class RowIds:
    """The search for what identifies rows of private tables.

    Attributes:
        connection: As of ``PublishedIds``.
        texts: What was added, by its number in the table of it.
    """

    connection: duckdb.DuckDBPyConnection
    texts: list[Texts] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Have the table, empty."""
        self.connection.execute(
            f"CREATE OR REPLACE TEMP TABLE {_TEXTS} (part INTEGER, within BOOLEAN, "
            "length INTEGER, cell UBIGINT, form VARCHAR)"
        )

    def add(self, published: Published, dataset: str = "") -> None:
        """Add what ``PublishedIds`` looks at, but what was declared to coincide.

        Args:
            published: Its texts.
            dataset: Which dataset has published it, if it is another one.
        """
        first = len(self.texts)
        of = f" of dataset {dataset}" if dataset else ""
        self.texts += [replace(texts, place=texts.place + of) for texts in published]
        exempt = [i for i, texts in enumerate(published) if texts.numbers_coincide]
        kept = f"part NOT IN ({', '.join(map(str, exempt))})" if exempt else "true"
        forms = timed_forms_sql(
            "written", "times", f"[{form_sql('written')}, {form_sql('form')}]"
        )
        times = moments_sql("written", since_1970=True)
        self._insert(
            f"SELECT part + {first} AS part, false AS within, written AS t, "  # noqa: S608 - our own names
            f"unnest({forms}) AS form FROM (SELECT *, {times} AS times "
            f"FROM temp.{LOOKED_AT} WHERE {kept})"
        )
        self._insert(
            f"SELECT part + {first} AS part, true AS within, form AS t, form "  # noqa: S608 - as above
            f"FROM temp.embedded WHERE {kept} AND (alone OR NOT filled)"
        )

    def _insert(self, rows: str) -> None:
        self.connection.execute(
            f"INSERT INTO temp.{_TEXTS} SELECT DISTINCT part, within, "  # noqa: S608 - our own names
            f"{_length('form', 't')}, hash(t), form FROM ({rows}) "
            f"WHERE {is_id_sql('form')}"
        )

    def found_in(self, columns: Sequence[PrivateColumn]) -> list[Found]:
        """Return which parts hold values that identify rows of which columns.

        A part is returned once, with the first of the columns.
        """
        some = self.connection.execute(f"SELECT 1 FROM temp.{_TEXTS} LIMIT 1")  # noqa: S608 - our own name
        if not some.fetchone():
            return []
        looked_at = filter(self._may_identify, columns)
        parts = ((column, self._parts_of(column)) for column in looked_at)
        return first_found(self.texts, parts)

    def _may_identify(self, column: PrivateColumn) -> bool:
        """Whether there are values enough for its units, by a cheap estimate."""
        found = self.connection.execute(
            "SELECT approx_count_distinct(t), approx_count_distinct(unit_key) "  # noqa: S608 - our own query
            f"FROM ({column.rows}) WHERE regexp_matches(t, '[0-9]')"
        ).fetchone()
        values, units = found or (0, 0)
        return bool(values > HANDFUL and values >= _LEAST_VALUES * units)

    def _parts_of(self, column: PrivateColumn) -> Iterator[int]:
        """Yield the parts that name more than a handful of units, alone or together."""
        self.connection.execute(
            f"CREATE OR REPLACE TEMP TABLE {_HITS} AS SELECT form, {ONE_UNIT} "  # noqa: S608 - our own names
            f"FROM ({values_sql(column.rows)}) "
            f"WHERE form IN (SELECT form FROM temp.{_TEXTS}) GROUP BY form"
        )
        try:
            if not self._are_many("true"):
                return
            uses, groups = uses_of(self.connection, column.rows), self._groups()
            for part in self._suspects():
                is_namesake = column.is_namesake(self.texts[part].column)
                chosen = identifying(groups[part], uses, namesakes=is_namesake)
                if chosen and self._are_many(_of([part], chosen)):
                    yield part
            yield from self._identifying_together(groups, uses)
        finally:
            self.connection.execute(f"DROP TABLE temp.{_HITS}")

    def _groups(self) -> dict[int, list[Group]]:
        """Return what each part holds, by kinds of values."""
        found = self.connection.execute(
            "SELECT part, within, length, count(DISTINCT cell), count(DISTINCT cell) "  # noqa: S608 - our own names
            f"FILTER (form IN (SELECT form FROM temp.{_HITS})) "
            f"FROM temp.{_TEXTS} GROUP BY part, within, length"
        )
        groups: dict[int, list[Group]] = {}
        for part, *kind in found.fetchall():
            groups.setdefault(part, []).append(Group(*kind))
        return groups

    def _suspects(self) -> list[int]:
        """Return the parts by which more than a handful of units are named."""
        found = self.connection.execute(
            f"SELECT part FROM temp.{_TEXTS} JOIN temp.{_HITS} USING (form) "  # noqa: S608 - our own names
            f"GROUP BY part HAVING count(DISTINCT unit) > {HANDFUL}"
        )
        return sorted(part for (part,) in found.fetchall())

    def _are_many(self, chosen: str) -> bool:
        """Whether more than a handful of units are named, by all parts together."""
        found = self.connection.execute(
            f"SELECT count(DISTINCT unit) > {HANDFUL} FROM temp.{_TEXTS} "  # noqa: S608 - our own names
            f"JOIN temp.{_HITS} USING (form) WHERE {chosen}"
        ).fetchone()
        return bool(found and found[0])

    def _identifying_together(
        self, groups: Mapping[int, Sequence[Group]], uses: Uses
    ) -> list[int]:
        """Return the parts whose few values each identify many units' rows together.

        A handful in each of twenty columns is a hundred people. Counted are parts that
        hold little else of a kind: many lists have a value of the column by accident.
        """
        parts: dict[tuple[bool, int], list[int]] = {}
        sums: dict[tuple[bool, int], Group] = {}
        for part, held in groups.items():
            for group in held:
                if group.found >= LEAST_TOGETHER * group.cells:
                    kind = group.within, group.length
                    parts.setdefault(kind, []).append(part)
                    sums[kind] = group + sums[kind] if kind in sums else group
        chosen = identifying(list(sums.values()), uses, namesakes=False)
        named = {group: parts[group.within, group.length] for group in chosen}
        where = " OR ".join(_of(several, [group]) for group, several in named.items())
        if not where or not self._are_many(where):
            return []
        return sorted({part for several in named.values() for part in several})


def _of(parts: Sequence[int], groups: Sequence[Group]) -> str:
    """Return the condition of some parts' values of some kinds."""
    kinds = " OR ".join(
        f"(within = {group.within} AND length = {group.length})" for group in groups
    )
    return f"(part IN ({', '.join(map(str, parts))}) AND ({kinds}))"


def _length(form: str, text: str) -> str:
    """Return the expression of a form's kind, as ``row_evidence`` has it."""
    digits = f"length(regexp_replace({text}, '[^0-9]', '', 'g'))"
    characters = f"length(regexp_replace({text}, '[^0-9A-Za-z]', '', 'g'))"
    is_code = f"{digits} >= {_LEAST_DIGITS} AND {characters} >= {LEAST_CODE}"
    return (
        f"CASE WHEN NOT regexp_full_match({form}, '[0-9]+') "
        f"THEN CASE WHEN {is_code} THEN {CODE} ELSE {SHORT} END "
        f"WHEN length({form}) > {LEAST_NUMBER} THEN length({form}) ELSE {SHORT} END"
    )


def refusal(found: Found, unit: str) -> Problem:
    """Return the refusal of something public whose values identify private rows.

    Args:
        found: Which, and the private column.
        unit: What the units are called.
    """
    column = found.column
    name, files = f"{column.table}.{column.name}", ", ".join(column.files)
    holds = "hold" if found.texts.are_many else "holds"
    advice = (
        f"Join the {unit}'s id in: write its file anew with the "
        f"column {column.unit_column} that {files} has for each {column.name}; "
        f"then declare the table's unit_column: {column.unit_column} and "
        "max_rows_per_unit in place of public: true"
    )
    if not (found.texts.column or found.texts.are_names):
        advice = "Leave it out, so that only its column's type is declared"
    sentence = (
        f"{found.texts.place} {holds} values of {name}, more than {HANDFUL} of them, "
        f"each of one {unit} alone, and cannot be public: whoever reads it reads about "
        f"single {unit}s. {advice}. Where the values coincide by "
        "accident alone, declare the column, and two persons may agree on "
        "not_unit_ids: true, with its source"
    )
    return Problem("manifest", None, None, sentence)
