"""What only the custodian can say of a column: marks, words beside numbers, points.

A column of ``x`` and nothing says yes, and perhaps no; a word among numbers says why
there is none, or is a result. A draft asks, and until it is answered nothing is loaded.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import duckdb

from privacy.schema import ColumnType
from upstream.drafting.column_guesses import Guess, guess_of
from upstream.files.reading_sql import quoted, quoted_name
from upstream.files.usual_forms import NULL_WORDS, YES_MARKS

_DAYS = frozenset({ColumnType.DATE, ColumnType.TIMESTAMP})
_READ = _DAYS | {ColumnType.INTEGER, ColumnType.DECIMAL}
_MOST_WORDS = 6  # beside numbers, that may stand for nothing
_LEAST_ROWS = 2  # that have such a word: what one row alone has is not shown
_LONGEST_WORD = 40  # characters
_FLAG = (
    "says yes, or nothing: does an empty cell mean no (false), or that nobody knows "
    "(~)? Write the one for TODO"
)
_WORDS = (
    "{kind} beside words: take TODO away from the words that mean that there is no "
    "value; if others are values, map says which number they are, or write type: text"
)
_POINTS = (
    "other columns have a decimal comma, so points between thousands; if they are "
    "decimal points, write type: decimal with its scale, without thousands"
)
_COMMAS = (
    "other columns have a decimal point, so commas between thousands; if they are "
    'decimal commas, write type: decimal with its scale and decimal: ","'
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
) -> dict[str, Guess]:
    """Return what columns of texts seem to hold; most that hold texts are left out.

    Args:
        connection: Where they are looked at.
        rows: The relation of the rows.
        names: The columns.
        has_cells: As of ``guess_of``.
    """
    found = {}
    for name in names:
        words = _words_beside_numbers(connection, rows, name)
        guess = _but_for_words(connection, rows, name, words, has_cells=has_cells)
        guess = guess or guess_of(connection, rows, name, has_cells=has_cells)
        if guess is not None:
            found[name] = guess
    return found


def _words_beside_numbers(
    connection: duckdb.DuckDBPyConnection, rows: str, name: str
) -> tuple[str, ...]:
    """Return the few words of a column of which half or more have digits."""
    column = quoted_name(name)
    is_word = f"NOT regexp_matches({column}, '[0-9]') AND {column} <> ''"
    found = connection.execute(
        f"SELECT {column}, count(*) FROM {rows} WHERE {is_word} GROUP BY 1 "  # noqa: S608 - quoted names
        f"ORDER BY 2 DESC, 1 LIMIT {_MOST_WORDS + 1}"
    ).fetchall()
    words = tuple(str(word) for word, count in found if count >= _LEAST_ROWS)
    most = sum(count for _, count in found)
    (total,) = connection.execute(f"SELECT count({column}) FROM {rows}").fetchone() or (  # noqa: S608 - as above
        0,
    )
    is_few = len(words) == len(found) <= _MOST_WORDS and most * 2 <= total
    return words if is_few and all(len(w) <= _LONGEST_WORD for w in words) else ()


def _but_for_words(
    connection: duckdb.DuckDBPyConnection,
    rows: str,
    name: str,
    words: Sequence[str],
    *,
    has_cells: bool,
) -> Guess | None:
    """Return the guess of a column of numbers or days, but for some words."""
    if not words:
        return None
    listed = ", ".join(map(quoted, words))
    others = f"(SELECT * FROM {rows} WHERE {quoted_name(name)} NOT IN ({listed}))"  # noqa: S608 - quoted names
    guess = guess_of(connection, others, name, has_cells=has_cells)
    if guess is not None and guess.kind is ColumnType.TEXT and guess.question:
        return replace(guess, question=f"{guess.question}; some are words")
    if guess is None or guess.kind not in _READ:
        return None
    asked = _WORDS.format(kind="days" if guess.kind in _DAYS else "numbers")
    told = "; ".join(one for one in (asked, guess.question) if one)
    return replace(guess, words=tuple(words), question=told)


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
