"""Whose rows a drafted table has: its unit, and what speaks against public."""

from collections.abc import Iterator, Sequence

from privacy.schema import MOST_LISTED_ROWS, ColumnType
from upstream.drafting.columns.column_names import Drafted
from upstream.drafting.tables.draft_joins import JoinColumn
from upstream.drafting.tables.table_drafts import TableDraft
from upstream.drafting.yaml_words import in_yaml
from upstream.files.reading_sql import quoted_name
from upstream.manifests.proposals import is_identifier, names_people, names_things
from upstream.manifests.rules.manifest_rules import TODO
from upstream.public_check.published_ids import HANDFUL

_WIDE = """\
  # {count} columns are named by ids of people, and left out here: names of columns are
  # public, and so is who has which column. Turn the file into long form: one row for
  # each person and what is told of them, the id in a column of the unit.
"""

_TIMES = frozenset({ColumnType.DATE, ColumnType.TIMESTAMP})
_LEAST_PEOPLE = 10
"""Unit ids for each row of a list of things: of people, most have a row."""

_JOINED = """\
  # Never public: {column} joins its rows to those of single people in {file}.
  # Write {own} anew with the column {unit} that {file} has for each
  # {other}, and declare that column below.
"""

_THINGS = """\
  # Or is it a list of things, whose numbers from 1 are ids by coincidence alone? Only
  # if no row is about a person and anyone may read it, and two persons agree: write
  # public: true and key: [{column}] instead of these lines, and of that column
  # not_unit_ids: true with its source. Else name the column of the unit.
"""


def privacy_lines(draft: TableDraft) -> list[str]:
    """Return whose rows a table has, or the question whether it is public."""
    unit = next((c.name for c in draft.columns if c.source == draft.unit), None)
    seems = None if unit or draft.asks_unit else _seems_private(draft)
    things = _counted_things(draft) if seems and draft.joined is None else None
    wide = _WIDE.format(count=len(draft.people)).splitlines() if draft.people else []
    if unit is None and seems is None and not draft.asks_unit and not wide:
        only = "true only for what anyone may read, such as a code list"
        return [
            f"  public: {TODO} # no column of the unit: {only}",
            *_listed(draft),
            *_public_key(draft),
        ]
    return [
        *wide,
        *_other_people(draft),
        *(_joined_lines(*draft.joined) if draft.joined else ()),
        f"  unit_column: {unit or (f'{TODO} # {seems}' if seems else TODO)}",
        f"  max_rows_per_unit: {TODO} # a rung of 1-2-5, from the protocol",
        *_key(draft),
        f"  source: {TODO} which public fact bounds the rows of one unit",
        *(_THINGS.format(column=things).splitlines() if things else ()),
    ]


def _listed(draft: TableDraft) -> Iterator[str]:
    """Propose that a small public table is shown with the schema."""
    (rows,) = draft.one("count(*)")
    if int(str(rows)) <= MOST_LISTED_ROWS:
        yield (
            "  listed: true # its rows are shown with the schema, so that questions "
            "group by its names and divide by its numbers"
        )


def _other_people(draft: TableDraft) -> Iterator[str]:
    """Ask where ids of people have several units: is the unit a case or a stay?"""
    if draft.unit is None:
        return
    unit = quoted_name(draft.unit)
    for column in draft.columns:
        if column.source == draft.unit or not names_people(column.name):
            continue
        name = quoted_name(column.source)
        (several,) = draft.one(
            f"count(DISTINCT {unit}) > count(DISTINCT {name}) AND "
            f"count(DISTINCT {name}) > 1"
        )
        if several:
            yield (
                f"  # {column.name} looks like ids of people, who have several "
                f"{in_yaml(draft.unit)} each: is it the unit?"
            )


def _key(draft: TableDraft) -> Iterator[str]:
    """Yield a table's primary key, or the proposal of what is unique and named so.

    A public table's is declared, since questions join it by its whole key; a private
    one's merges rows.
    """
    declared = [c.name for c in draft.columns if c.source in draft.source.key]
    if declared and len(declared) == len(draft.source.key):
        is_public = draft.unit is None and not draft.asks_unit
        listed = ", ".join(declared)
        yield (
            f"  key: [{listed}] # its primary key, by which questions join it"
            if is_public
            else f"  # key: [{listed}], its primary key, if rows that share it are one "
            "row, to be kept once"
        )
        return
    if draft.unit is None:
        return
    known = {draft.unit, *draft.identities}
    named = (c for c in draft.columns if is_identifier(c.name))
    unique = _unique(draft, [c for c in named if c.source not in known])
    if unique:
        yield (
            f"  # key: [{unique[0]}], if rows that share it are one row, "
            "to be kept once: no two that were looked at do"
        )


def _public_key(draft: TableDraft) -> Iterator[str]:
    """Yield what questions may join a public table by, if anything tells its rows."""
    declared = [*_key(draft)]
    unique = [] if declared else _unique(draft, draft.columns)
    named = (n for n in unique if is_identifier(n) or names_things(n))
    yield from declared
    if unique:
        yield (
            f"  key: [{next(named, unique[0])}] # by which questions join it: no two "
            "rows that were looked at share it, and each load verifies it"
        )


def _unique(draft: TableDraft, columns: Sequence[Drafted]) -> list[str]:
    """Return the columns of which no two rows that were looked at have one value."""
    wanted = (
        f"count(*) > 1 AND count(DISTINCT {quoted_name(c.source)}) = count(*)"
        for c in columns
    )
    pairs = zip(columns, draft.one(*wanted), strict=True)
    return [c.name for c, is_unique in pairs if is_unique]


def _seems_private(draft: TableDraft) -> str | None:
    """Return why a file without the unit seems to have rows of single people."""
    if draft.joined is not None:
        return f"{in_yaml(draft.joined[1].unit or '')}, once it is in the file"
    people = _names_people(draft)
    return people and f"{people} looks like ids of people: not public"


def _names_people(draft: TableDraft) -> str | None:
    """Return the column by which a file without the unit seems keyed by people."""
    for column in draft.columns:
        texts = draft.forms(column.source, "text_forms")
        found = draft.connection.execute(
            f"SELECT count(DISTINCT t) FROM ({texts}) "  # noqa: S608 - as above
            "SEMI JOIN temp.unit_ids USING (form)"
        ).fetchone()
        if (found and found[0] > HANDFUL) or names_people(column.name):
            return column.name
    return None


def _counted_things(draft: TableDraft) -> str | None:
    """Return the column that numbers rows as a list of regions does, and not people.

    A few of the units' ids, in order from 0 or 1, one a row, in a table without days or
    times and without a name of people's ids: whom a table is about is not left to that,
    but asked. A load compares them in any case.
    """
    if any(column.kind in _TIMES for column in draft.columns):
        return None
    name = _names_people(draft)
    if name is None or any(names_people(column.name) for column in draft.columns):
        return None
    column = next(c.source for c in draft.columns if c.name == name)
    text = f"CAST({quoted_name(column)} AS VARCHAR)"
    number = f"TRY_CAST({text} AS BIGINT)"
    (units,) = draft.connection.execute(
        "SELECT count(DISTINCT form) FROM temp.unit_ids"
    ).fetchall()[0]
    rows, *found = draft.one(
        "count(*)",
        f"bool_and(regexp_full_match({text}, '[0-9]{{1,4}}'))",
        f"count(DISTINCT {number}) = count(*)",
        f"max({number}) - min({number}) + 1 = count(*) AND min({number}) IN (0, 1)",
    )
    is_short = int(str(rows)) <= MOST_LISTED_ROWS
    is_part = int(str(rows)) * _LEAST_PEOPLE <= units
    return name if is_short and is_part and all(found) else None


def _joined_lines(column: JoinColumn, other: JoinColumn) -> list[str]:
    said = {"own": column.file, "file": other.file, "unit": in_yaml(other.unit or "")}
    names = {"column": in_yaml(column.name), "other": in_yaml(other.name)}
    return _JOINED.format(**said, **names).splitlines()
