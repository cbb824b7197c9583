"""What the columns of a table seem to keep to, which only the custodian can say."""

from collections.abc import Iterator, Sequence

from upstream.drafting.columns.column_names import Drafted
from upstream.drafting.tables.table_drafts import TableDraft
from upstream.drafting.tables.table_questions import after_today
from upstream.drafting.yaml_words import in_yaml
from upstream.files.reading_sql import quoted_name
from upstream.manifests.file_specs import kind_of

_CONSTANT = (
    "one value in all rows of a unit, as far as was looked; where that is so by its "
    "nature, write constant_in_unit: true: "
)
_NO_VALUE = (
    "no value in any row: if formulas stand there, the sheet has no value saved with "
    "them; open the workbook in Excel or LibreOffice, save it, and export it again: "
)
_LATER = (
    "some days lie after today; planned, valid until then, or slips? If one such day "
    "stands for nothing, name it in null_values: "
)
_NO_UNIT = (
    "many rows have no {unit}, and a load leaves them out: if it stands in the first "
    "row of several alone, as in merged cells, fill it down before you export"
)
_FULL = (
    "never empty, as far as was looked; where the form requires a value, say so with "
    "nullable: "
)


def questions_of(draft: TableDraft, columns: Sequence[Drafted]) -> Iterator[str]:
    """Yield what only the custodian can say of the columns."""
    if draft.unit is not None and _lacks_units(draft):
        yield _NO_UNIT.format(unit=in_yaml(draft.unit))
    if later := list(after_today(draft.connection, draft.rows, _whole(draft, columns))):
        yield _LATER + ", ".join(later)
    is_sheet = kind_of(draft.file.name) == "workbook"
    for said, found in (
        (_NO_VALUE, _empty(draft, columns) if is_sheet else []),
        (_CONSTANT, _once_a_unit(draft, columns)),
        (_FULL, _never_empty(draft, columns)),
    ):
        if found:
            yield said + ", ".join(column.name for column in found)


def _whole(draft: TableDraft, columns: Sequence[Drafted]) -> list[Drafted]:
    """Return the columns whose years do not wait for a century."""
    guesses = draft.guesses
    return [
        c for c in columns if c.source not in guesses or not guesses[c.source].is_short
    ]


def _lacks_units(draft: TableDraft) -> bool:
    """Whether one row in twenty or more has no unit id."""
    name = quoted_name(draft.unit or "")
    empty = f"count(*) FILTER (coalesce(CAST({name} AS VARCHAR), '') = '')"
    (lacks,) = draft.one(f"{empty} * 20 > count(*)")
    return bool(lacks)


def _once_a_unit(draft: TableDraft, columns: Sequence[Drafted]) -> list[Drafted]:
    """Return columns of which no unit was seen to have two values."""
    if draft.unit is None or not columns:
        return []
    each = ", ".join(
        f"coalesce(min({quoted_name(c.source)}) = max({quoted_name(c.source)}), "
        f"true) AND count({quoted_name(c.source)}) IN (0, count(*)) AS c{i}"
        for i, c in enumerate(columns)
    )
    unit = quoted_name(draft.unit)
    rows = f"SELECT count(*) AS n, {each} FROM {draft.rows} GROUP BY {unit}"  # noqa: S608 - quoted names
    wanted = ", ".join(f"bool_and(c{i})" for i in range(len(columns)))
    many, *same = draft.connection.execute(
        f"SELECT max(n), {wanted} FROM ({rows})"  # noqa: S608 - as above
    ).fetchone() or (0,)
    pairs = zip(columns, same, strict=False)
    same_in_all = [c for c, is_same in pairs if is_same and (many or 0) > 1]
    return [c for c in same_in_all if c not in _empty(draft, same_in_all)]


def _empty(draft: TableDraft, columns: Sequence[Drafted]) -> list[Drafted]:
    """Return the columns without a value: of them nothing can be told."""
    counts = draft.one(*(f"count({quoted_name(c.source)})" for c in columns))
    return [c for c, count in zip(columns, counts, strict=True) if not count]


def _never_empty(draft: TableDraft, columns: Sequence[Drafted]) -> list[Drafted]:
    wanted = (
        f"count(*) > 0 AND count({quoted_name(c.source)}) = count(*)" for c in columns
    )
    pairs = zip(columns, draft.one(*wanted), strict=True)
    return [c for c, is_full in pairs if is_full]
