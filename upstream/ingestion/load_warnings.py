"""What in a load looks like a slip of the manifest, for the custodian alone."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

import duckdb

from privacy.schema import ColumnType
from privacy.wording import counted
from upstream.manifests.declarations import FOLDS, ColumnSpec, PopulationSpec, TableSpec
from upstream.manifests.file_specs import kind_of
from upstream.manifests.proposals import names_people
from upstream.staging.report import ColumnReport, TableReport

_TIMES = frozenset({ColumnType.DATE, ColumnType.TIMESTAMP})
_NUMBERS = frozenset({ColumnType.INTEGER, ColumnType.DECIMAL})
_MUCH_IN = 20  # more than one row, or value, in so many
_REPEATED_IN = 100  # more than one row in so many
_SHARED_IN = 10  # fewer than one unit in so many
_WORDS_IN = 20  # fewer than one unit in so many


def load_warnings(
    connection: duckdb.DuckDBPyConnection,
    tables: Sequence[TableSpec],
    reports: Sequence[TableReport],
) -> tuple[str, ...]:
    """Return a sentence for each thing that should be looked at.

    Args:
        connection: It holds the stored tables, as ``snapshot``.
        tables: What was declared.
        reports: What was done with each of them.
    """
    pairs = zip(tables, reports, strict=True)
    lost = chain.from_iterable(_lost(table, report) for table, report in pairs)
    private = [r for t, r in zip(tables, reports, strict=True) if not t.public]
    keyed = [table for table in tables if not table.public]
    people = chain.from_iterable(_other_people(connection, table) for table in keyed)
    return (*lost, *_strangers(connection, private), *people)


def _other_people(
    connection: duckdb.DuckDBPyConnection, table: TableSpec
) -> Iterator[str]:
    """Ask where ids of people have several units: is the unit a case or a stay?"""
    for column in table.columns:
        if column.name == table.unit_column or not names_people(column.name):
            continue
        name = f'"{column.name}"'
        row = connection.execute(
            f"SELECT count(DISTINCT unit_key), count(DISTINCT {name}) "  # noqa: S608 - declared identifiers
            f'FROM snapshot."{table.name}"'
        ).fetchone()
        units, people = row or (0, 0)
        if 1 < people < units:
            yield (
                f"{table.name}.{column.name} looks like ids of people, of whom there "
                f"are {people} for {counted(units, 'unit')}: is {table.unit_column} a "
                f"case or a stay, and {column.name} the unit?"
            )


def _lost(table: TableSpec, report: TableReport) -> Iterator[str]:
    """Tell where much of a table is left out or became NULL."""
    if report.dropped_null_unit * _MUCH_IN > report.rows_read:
        yield (
            f"{table.name}: {report.dropped_null_unit} of "
            f"{counted(report.rows_read, 'row')} have no unit id, and are no part of "
            "the snapshot: if an id stands in the first row of several alone, as in "
            "merged cells, fill it down before you export"
        )
    if report.dropped_over_bound * _MUCH_IN > report.rows_read:
        yield (
            f"{table.name}: {report.dropped_over_bound} of "
            f"{counted(report.rows_read, 'row')} went beyond max_rows_per_unit and "
            "became no part of the snapshot: is the bound what your protocol says?"
        )
    if not table.key and report.equal_rows * _REPEATED_IN > report.rows_read:
        yield (
            f"{table.name}: {report.equal_rows} of "
            f"{counted(report.rows_read, 'row')} equal another row of their unit in "
            "all declared columns, and count once more: if an export has them twice, "
            "declare key, by which rows of one unit are kept once"
        )
    is_sheet = any(kind_of(file) == "workbook" for file in table.files)
    for column in report.columns:
        if is_sheet and report.rows_kept and not column.values:
            yield (
                f"{table.name}.{column.name}: no value in any row: if formulas stand "
                "there, the sheet has no value saved with them; open the workbook in "
                "Excel or LibreOffice, save it, and load it again"
            )
        yield from _changed(f"{table.name}.{column.name}", column)
        if column.too_long:
            most = table.column(column.name).length_bytes
            yield (
                f"{table.name}.{column.name}: {column.too_long} of "
                f"{counted(column.values, 'text')} went beyond its max_length of "
                f"{counted(most, 'byte')} and became NULL: declare a greater "
                "max_length if questions need them"
            )
        if (column.to_null - column.too_long) * _MUCH_IN > column.values:
            unread = _is_null_if_unread(table.column(column.name))
            question = (
                "is its format or type right?"
                if unread
                else "they are not declared: is the list whole, or other: true wanted?"
            )
            yield (
                f"{table.name}.{column.name}: {column.to_null} of "
                f"{counted(column.values, 'value')} became NULL: {question}"
            )


def _changed(name: str, column: ColumnReport) -> Iterator[str]:
    """Tell where values of a column are stored as others, or could not be computed."""
    of = counted(column.values, "value")
    if column.alike_beyond:
        yield (
            f"{name}: {column.alike_beyond} of {of} lie beyond its domain, and all of "
            "these that lie beyond one end are one same value: if it stands for "
            "nothing, as 999, -1 or 9999-12-31 do, declare it in null_values"
        )
    elif column.clamped * _MUCH_IN > column.values:
        yield (
            f"{name}: {column.clamped} of {of} lie beyond its domain and became its "
            "ends: are its unit, its decimal mark and its bounds right?"
        )
    if column.rounded * _MUCH_IN > column.values:
        yield (
            f"{name}: {column.rounded} of {of} have more decimals than its scale and "
            "were rounded: declare a greater scale if questions need them"
        )
    if column.but_for_blanks:
        yield (
            f"{name}: {column.but_for_blanks} of {of} are declared but for blanks at "
            "their ends, and became NULL or other: declare trim: true"
        )
    if column.but_for_case:
        yield (
            f"{name}: {column.but_for_case} of {of} are declared but for capitals, and "
            "became NULL or other: declare what they mean in map"
        )
    if column.not_computed:
        yield (
            f"{name}: {counted(column.not_computed, 'row')} have values in all that "
            "its expression reads, and none of it: a CAST that fails, a division by 0, "
            "or a CASE without ELSE; is its expression right for each form of them?"
        )


def _is_null_if_unread(column: ColumnSpec) -> bool:
    """Whether NULL is what cannot be read, rather than what is in no list."""
    listed = column.domain is not None and column.domain.values is not None
    return column.type in _TIMES or (column.type in _NUMBERS and not listed)


def _strangers(
    connection: duckdb.DuckDBPyConnection, private: Sequence[TableReport]
) -> Iterator[str]:
    """Compare each table's units with those of the table that has most."""
    if not private:
        return
    largest = max(private, key=lambda report: report.units)
    for report in private:
        if report is largest or not report.units:
            continue
        row = connection.execute(
            "SELECT count(*) FROM ("  # noqa: S608 - declared identifiers
            f'SELECT DISTINCT unit_key FROM snapshot."{report.name}") SEMI JOIN '
            f'(SELECT DISTINCT unit_key FROM snapshot."{largest.name}") '
            "USING (unit_key)"
        ).fetchone()
        shared = row[0] if row else 0
        if shared * _SHARED_IN < report.units:
            yield (
                f"only {shared} of {counted(report.units, 'unit')} of {report.name} "
                f"can be found in {largest.name}: are the ids written alike?"
            )


def word_warnings(words: int, units: int, unit: str) -> tuple[str, ...]:
    """Return a sentence where few ids are words among many that have digits.

    Lines of totals ("Sum") at the end of an export look so.
    """
    if not 0 < words * _WORDS_IN < units:
        return ()
    said = (
        f"{words} of {counted(units, 'unit')} have ids without a digit, all others "
        f"have some: a line of totals counts as a {unit}; is it one? Then declare "
        "footer_rows, or leave it out of the file"
    )
    return (said,)


def alike_warnings(
    population: PopulationSpec, alike: Mapping[str, int]
) -> tuple[str, ...]:
    """Return a sentence where one patient may be two units by two spellings."""
    return (*_foldable(population, alike), *_written_apart(population, alike))


def _foldable(population: PopulationSpec, alike: Mapping[str, int]) -> Iterator[str]:
    if not alike["any"]:
        return
    folds = [fold for fold in FOLDS if alike[fold]] or list(FOLDS)
    counts = ", ".join(f"{fold} {alike[fold]}" for fold in FOLDS)
    yield (
        f"{alike['any']} units have ids that differ from another's in case, padding or "
        f"leading zeros alone ({counts}): each counts as a {population.unit} of its "
        "own, with rows and noise of its own. If they are the same people, declare "
        f"unit_fold: [{', '.join(folds)}] in the population before anything is asked"
    )


def _written_apart(
    population: PopulationSpec, alike: Mapping[str, int]
) -> Iterator[str]:
    if alike["other"]:
        yield (
            f"{alike['other']} units have ids that differ from another's in separators "
            "or in how a number is written alone (P-007 and P007, 1000007.0 and "
            f"1000007): each counts as a {population.unit} of its own, and unit_fold "
            "cannot join them. If they are the same people, write ids alike in the "
            "files"
        )
