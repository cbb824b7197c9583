"""What only the custodian can say of a column: marks, words beside numbers, points.

A column of ``x`` and nothing says yes, and perhaps no; a word among numbers says why
there is none, or is a result. A draft asks, and until it is answered nothing is loaded.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import duckdb

from privacy.schema import ColumnType
from upstream.drafting.columns.column_guesses import (
    LIMITED,
    WRITTEN_NO_DAYS,
    Guess,
    guess_of,
    has_other_decimals,
)
from upstream.drafting.rows import LEAST_UNITS, row_of, units_sql
from upstream.drafting.sources.draft_sources import texts_of
from upstream.drafting.yaml_words import in_yaml
from upstream.files.csv_structure import CsvFile
from upstream.files.reading_sql import quoted, quoted_name
from upstream.files.usual_forms import NULL_WORDS, YES_MARKS, truth_words

_DAYS = frozenset({ColumnType.DATE, ColumnType.TIMESTAMP})
_NUMBERS = frozenset({ColumnType.INTEGER, ColumnType.DECIMAL})
_MOST_WORDS = 6  # beside numbers, that may stand for nothing
_TOTAL = '"all its values"'  # as no file names a column
_LONGEST_WORD = 40  # characters
_FLAG = (
    "says yes, or nothing: does an empty cell mean no (false), or that nobody knows "
    "(~)? Write the one for TODO"
)
_WORDS = (
    "{kind} beside words: take TODO away from the words that mean that there is no "
    "value; if others are values, map says which number they are, or write type: text"
)
_LIMITS = (
    "results that say less or more than a number: map gives each as a number; take "
    "TODO away, or say which number, or ~"
)
_POINTS = (
    "other columns have a decimal comma, so points between thousands; if they are "
    "decimal points, write type: decimal with its scale, without thousands"
)
_COMMAS = (
    "other columns have a decimal point, so commas between thousands; if they are "
    'decimal commas, write type: decimal with its scale and decimal: ","'
)

_APART = (
    "{mark} between thousands, as other files have it; in {file} each may be a decimal "
    "mark: if it is, take the file out and declare it as a table of its own; else take "
    "TODO away"
)


def flag_guesses(
    connection: duckdb.DuckDBPyConnection, texts: str, names: Sequence[str]
) -> dict[str, Guess]:
    """Return which columns have one mark for yes, and else nothing.

    Args:
        connection: Where they are looked at.
        texts: The relation of the rows, each value as the file writes it.
        names: The columns.
    """
    if not names:
        return {}
    listed = ", ".join(map(quoted, ("", *NULL_WORDS)))
    wanted = ", ".join(
        f"min({name}) FILTER ({name} NOT IN ({listed})), "
        f"max({name}) FILTER ({name} NOT IN ({listed})), "
        f"list(DISTINCT coalesce({name}, '')) "
        f"FILTER (coalesce({name}, '') IN ({listed}))"
        for name in map(quoted_name, names)
    )
    row = connection.execute(f"SELECT {wanted} FROM {texts}").fetchone() or ()  # noqa: S608 - quoted names
    found = {}
    for name, least, most, empty in zip(
        names, *(row[n::3] for n in range(3)), strict=True
    ):
        if least == most and least in YES_MARKS and empty:
            flag = least, tuple(sorted({"", *empty}))
            found[name] = Guess(
                ColumnType.BOOLEAN, quoted_name(name), flag=flag, question=_FLAG
            )
    return found


def text_guesses(
    connection: duckdb.DuckDBPyConnection,
    rows: str,
    names: Sequence[str],
    *,
    has_cells: bool,
    unit: str | None = None,
) -> dict[str, Guess]:
    """Return what columns of texts seem to hold; most that hold texts are left out.

    Args:
        connection: Where they are looked at.
        rows: The relation of the rows.
        names: The columns.
        has_cells: As of ``guess_of``.
        unit: The column that says whose a row is, if one does.
    """
    found = {}
    for name in names:
        beside = _Beside(connection, rows, name, unit)
        guess = None if beside.may_be_truths else beside.guess(has_cells=has_cells)
        guess = guess or guess_of(connection, rows, name, has_cells=has_cells)
        if guess is not None:
            found[name] = guess
    return found


class _Beside:
    """The few words, and limits such as ``<5``, beside the numbers of a column."""

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        rows: str,
        name: str,
        unit: str | None,
    ) -> None:
        self.connection, self.rows, self.name = connection, rows, name
        self.units = units_sql(unit)
        column = quoted_name(name)
        few = self._few(f"NOT regexp_matches({column}, '[0-9]')")
        self.words = (*few, *self._no_days())
        self.limits = self._few(f"regexp_full_match({column}, {quoted(LIMITED)})")

    def _few(self, condition: str) -> tuple[str, ...]:
        """Return the values that meet a condition, if they are few and of several."""
        column = quoted_name(self.name)
        found = self.connection.execute(
            f"SELECT {column}, count(*), {self.units}, any_value({_TOTAL}) FROM "  # noqa: S608 - quoted names
            f"(SELECT *, count(*) OVER () AS {_TOTAL} FROM {self.rows} "
            f"WHERE {column} <> '') "
            f"WHERE {condition} GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT {_MOST_WORDS + 1}"
        ).fetchall()
        is_few = 0 < len(found) <= _MOST_WORDS and all(
            units >= LEAST_UNITS and len(word) <= _LONGEST_WORD
            for word, _, units, _ in found
        )
        if not is_few or sum(count for _, count, *_ in found) * 2 > found[0][3]:
            return ()
        return tuple(str(word) for word, *_ in found)

    def _no_days(self) -> tuple[str, ...]:
        """Return the words for no day that a column has, however many."""
        column, words = quoted_name(self.name), ", ".join(map(quoted, WRITTEN_NO_DAYS))
        met = f"list(DISTINCT {column}) FILTER ({column} IN ({words}))"
        (found,) = row_of(self.connection, self.rows, [met])
        return tuple(sorted(map(str, found))) if isinstance(found, list) else ()

    @property
    def may_be_truths(self) -> bool:
        """Whether the words are letters such as T and F, and all others 0 and 1."""
        if truth_words({*self.words, "0", "1"}) is None:
            return False
        listed = ", ".join(map(quoted, ("", "0", "1", *self.words)))
        every = f"bool_and({quoted_name(self.name)} IN ({listed}))"
        (found,) = row_of(self.connection, self.rows, [every])
        return found is True

    def guess(self, *, has_cells: bool) -> Guess | None:
        """Return the guess of the column's other values, and what these ask."""
        listed = ", ".join(map(quoted, (*self.words, *self.limits)))
        if not listed:
            return None
        column = quoted_name(self.name)
        others = f"(SELECT * FROM {self.rows} WHERE {column} NOT IN ({listed}))"  # noqa: S608 - quoted names
        guess = guess_of(self.connection, others, self.name, has_cells=has_cells)
        if guess is None:
            return None
        if guess.kind is ColumnType.TEXT and guess.question and self.words:
            return replace(guess, question=f"{guess.question}; some are words")
        is_read = guess.kind in (_NUMBERS if self.limits else _NUMBERS | _DAYS)
        return self._asked(guess) if is_read else None

    def _asked(self, guess: Guess) -> Guess:
        kind = "days" if guess.kind in _DAYS else "numbers"
        told = [_WORDS.format(kind=kind)] if self.words else []
        told += [_LIMITS] if self.limits else []
        told += [guess.question] if guess.question else []
        question = "; ".join(told)
        return replace(guess, words=self.words, limits=self.limits, question=question)


def with_shared_marks(guesses: Mapping[str, Guess]) -> dict[str, Guess]:
    """Return guesses in which an open mark is no decimal mark if the table has another.

    ``4.567`` beside ``1,5`` is four thousand, most likely; it is asked all the same.
    """
    known = {
        guess.decimal or "."
        for guess in guesses.values()
        if guess.kind is ColumnType.DECIMAL and not guess.is_open
    }
    if len(known) != 1:
        return dict(guesses)
    (mark,) = known
    return {
        name: _of_thousands(name, guess)
        if guess.is_open and (guess.decimal or ".") != mark
        else guess
        for name, guess in guesses.items()
    }


def with_marks_of_files(
    connection: duckdb.DuckDBPyConnection,
    guesses: Mapping[str, Guess],
    copies: Sequence[CsvFile],
) -> dict[str, Guess]:
    """Return guesses in which thousands are asked about where one file has decimals.

    ``1.250`` beside ``1.234,50`` is a thousand in one file; in another, 1.25, perhaps.

    Args:
        connection: Where they are looked at.
        guesses: What the columns of all files together seem to hold.
        copies: Of the files.
    """
    found = dict(guesses)
    for name, guess in guesses.items():
        mark = guess.thousands
        if mark not in {".", ","} or guess.is_open or len(copies) == 1:
            continue
        for copy in copies:
            if name in copy.header and has_other_decimals(
                connection, texts_of(copy), name, mark
            ):
                named = "points" if mark == "." else "commas"
                told = [_APART.format(mark=named, file=in_yaml(copy.name))]
                told += [guess.question] if guess.question else []
                found[name] = replace(guess, is_open=True, question="; ".join(told))
    return found


def _of_thousands(name: str, guess: Guess) -> Guess:
    between = guess.decimal or "."
    value = f"CAST({quoted_name(name)} AS VARCHAR)"
    parted = f"CAST(round(TRY_CAST({value} AS DOUBLE) * 1000) AS BIGINT)"
    whole = f"TRY_CAST(replace({value}, {quoted(between)}, '') AS BIGINT)"
    is_parted = f"contains({value}, '.') AND {quoted(between)} = '.'"
    return replace(
        guess,
        kind=ColumnType.INTEGER,
        value=f"CASE WHEN {is_parted} THEN {parted} ELSE {whole} END",
        decimal=None,
        thousands=between,
        scale=None,
        question=_POINTS if between == "." else _COMMAS,
    )
