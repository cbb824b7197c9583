"""Numbers and codes within a text, which may be ids with something around them.

``1000007`` stands in ``pat_1000007.pdf``, ``1000007-01``, ``MRN0001000007``,
``100-00-07`` and, as a hexadecimal number, in ``0xF4247``; ``P0005978`` in
``patient-P0005978@site.org``. Runs of digits and of letters and digits are looked for,
and runs that one character parts, joined: whole, and without their first part, their
last part, or both. Dates and decimals are none. Where a dot or a comma parts a run, it
is read as another separator too: programs write ``031-2179`` as ``X031.2179``. That
finds ids alone that have a separator there, which decimals and codes hit by accident.
So do ranges hit numbers of six digits in two parts: ``700-123`` is ``700123``, but
months, seasons and ranges up to a round number are none.

Much of what is public holds such runs, so whether they are ids is decided by how many
are (``upstream.id_forms.coincidence``). ``upstream.id_forms.loose_ids`` has what counts
one by one.
"""

import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import duckdb

MOST_CHARACTERS = 2_000
"""Characters of a text that are looked at."""

LEAST_NUMBER, LEAST_CODE = 4, 5
"""Characters of an id among others: of a number, and of one with letters."""

LEAST_DOTTED = 6
"""Digits of a number that dots part and that may be an id with other separators."""

_LEAST_DIGITS = 3
_MOST_ID = 64  # characters of an id among others
_PLAIN = "[ -~]*"  # printable ASCII
_PART, _LETTER, _APART = r"[0-9\pL]", r"[\pL]", r"[^0-9\pL]"
_LETTERS, _PLAIN_LETTERS = r"\pL", "[:alpha:]"
_MAY_HOLD_LETTERS = "[^ -@[-`{-~]"  # a letter, or no ASCII
_WORDS = (
    rf"{_LETTER}{{{LEAST_CODE},}}",
    rf"{_LETTER}+(?:[-._@''+]{_LETTER}+)+",  # anna.smith@uni.org
)
_IN_ONE_PART = (
    f"[0-9]{{{LEAST_NUMBER},}}",
    f"{_LETTER}+[0-9]+",
    f"[0-9]+{_LETTER}",  # 12345678K
)
_GLUED = tuple(  # FileP0005978
    rf"{_LETTER}({_LETTER}{{{letters}}}[0-9]+(?:-[0-9]+)*)" for letters in (1, 2, 3)
)
_IN_PARTS = (
    _IN_ONE_PART[0],
    f"[0-9]+(?:{_APART}[0-9]+)+",  # 100-00-07
    f"{_PART}{{{LEAST_CODE},}}",
    f"{_PART}+(?:[-_]{_PART}+)+",  # patient-AB-12-CD-34
    rf"[0-9]+(?:[^0-9\pL ][0-9]+)*-?{_LETTER}",  # 12345678-K
    rf"{_LETTER}+(?:[^0-9\pL ]?[0-9]+)+",  # x_P-0005978-01
    "[0-9a-f]{8}(?:-?[0-9a-f]{4}){3}-?[0-9a-f]{12}",  # a UUID
)
_DOTTED = tuple(
    rf"{first}{_PART}*(?:[-_]{_PART}+)*[.,]{_PART}+(?:[-_.,]{_PART}+)*"
    for first in (_PART, "[0-9]")  # X031.2179 begins at its digits too
)
_HEXADECIMAL = "0x[0-9a-f]{4,16}|[0-9a-f]{5,16}"
_DAY, _MONTH, _YEAR = (
    "(?:0?[1-9]|[12][0-9]|3[01])",
    "(?:0?[1-9]|1[0-2])",
    "(?:19|20)[0-9]{2}",
)
_TIMES = (
    f"(^|[^0-9])(?:{_YEAR}[-./]{_MONTH}[-./]{_DAY}|{_DAY}[-./]{_MONTH}[-./]{_YEAR}"
    f"|{_MONTH}[-./]{_DAY}[-./]{_YEAR}|[0-2]?[0-9](?::[0-5][0-9]){{1,2}})(?:\\b|_)"
)
_COMPACT_DATE = f"^{_YEAR}((0[1-9]|1[0-2])(0[1-9]|[12][0-9]|3[01]))?$"  # or a year
_DECIMAL = "[0-9]+[.,][0-9]+"
_LEAST_OF_TWO = 7  # digits of two numbers that may be one: 10-14 is a range
_BETWEEN_TWO = "[-/_:|~*+]"
_SIX_DIGITS = (
    f"[1-9][0-9]{{2}}{_BETWEEN_TWO}[0-9]{{3}}|[1-9][0-9]{_BETWEEN_TWO}[0-9]{{4}}"
    f"|[1-9][0-9]{{3}}{_BETWEEN_TWO}[0-9]{{2}}"
)
_OF_A_YEAR = "(?:19|20)[0-9]{2}[^0-9][0-9]{2}|[0-9]{2}[^0-9](?:19|20)[0-9]{2}"
_ROUND = "[0459]$"  # 100-199, 50-1000
_RUNS, _TEXTS = "temp.embedded_runs", "temp.embedded_texts"
_LETTERED = "lettered_texts"
_SINGLE = f"SELECT run AS id FROM {_RUNS} WHERE NOT regexp_matches(run, '{_APART}')"  # noqa: S608 - our own query
_JOINED = (
    "SELECT CASE WHEN regexp_full_match(id, '[0-9]+') THEN ltrim(id, '0') ELSE id END "  # noqa: S608 - as above
    "FROM (SELECT array_to_string(parts, '') AS id, len(parts) AS number FROM ("
    "SELECT unnest([parts, parts[2:], parts[:-2], parts[2:-2]]) AS parts FROM ("
    f"SELECT regexp_extract_all(run, '{_PART}+') AS parts FROM {_RUNS} "
    f"WHERE regexp_matches(run, '{_APART}') "
    f"AND NOT regexp_full_match(run, '{_DECIMAL}')) WHERE len(parts) > 1)) "
    f"WHERE number > 2 OR (number = 2 AND (length(id) >= {_LEAST_OF_TWO} "
    "OR NOT regexp_full_match(id, '[0-9]+')))"
)
_SIX = (
    "SELECT array_to_string(parts, '') AS id FROM ("  # noqa: S608 - as above
    f"SELECT run, regexp_extract_all(run, '[0-9]+') AS parts FROM {_RUNS} "
    f"WHERE regexp_full_match(run, '{_SIX_DIGITS}') "
    f"AND NOT regexp_full_match(run, '{_OF_A_YEAR}')) "
    f"WHERE CAST(parts[2] AS INTEGER) <= CAST(parts[1] AS INTEGER) "
    f"OR NOT regexp_matches(run, '{_ROUND}')"
)
_NOTHING = "SELECT '' AS form, '' AS digits, false AS alone, false AS apart WHERE false"
_NUMBERS = (
    "SELECT CAST(TRY_CAST('0x' || ltrim(run, '0x') AS UBIGINT) AS VARCHAR) FROM ("  # noqa: S608 - as above
    f"SELECT unnest(regexp_extract_all(x, '{_HEXADECIMAL}')) AS run FROM {_TEXTS}) "
    "WHERE regexp_matches(run, '[a-fx]')"
)


class CharacterMap(dict[int, str]):
    """What ``str.translate`` reads: each character's text, found out once."""

    def __init__(self, found_out: Callable[[str], str]) -> None:
        super().__init__()
        self._found_out = found_out

    def __missing__(self, code: int) -> str:
        """Find it out and keep it."""
        return self.setdefault(code, self._found_out(chr(code)))


def plain_text(text: str | None) -> str:
    r"""Return a text in small letters and ASCII digits, its blanks as spaces.

    >>> plain_text("Pat\u00a0\uff11\uff12\u200b3")
    'pat 123'
    """
    return compared_text((text or "")[:MOST_CHARACTERS], _CHARACTERS)


def compared_text(text: str, characters: CharacterMap) -> str:
    """Return a text in small letters, its characters as a map has them."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    return unicodedata.normalize("NFKC", plain).translate(characters)


def _character(character: str) -> str:
    digit = unicodedata.digit(character, None)
    if digit is not None:
        return str(digit)
    kind = unicodedata.category(character)
    if kind == "Cf":
        return ""
    return " " if kind[0] in "ZC" else character


_CHARACTERS = CharacterMap(_character)


@contextmanager
def embedded_ids(connection: duckdb.DuckDBPyConnection, rows: str) -> Iterator[str]:
    """Lend the name of a table of the ids that texts may have within them.

    Columns ``form``, as ``upstream.id_forms.loose_ids`` has it; ``digits``, those of it
    as they are written; ``alone``, whether there are no others; and ``apart``, whether
    a dot was read as another separator, or six digits in two parts as one number: these
    are hit by accident more often. Each once. What a whole text is, is left out.

    Args:
        connection: It has ``FUNCTIONS``.
        rows: The query of the texts, column ``t``.
    """
    steps = {
        "embedded_runs": _runs(),
        "embedded_ids": _ids(),
        "embedded_within": _within(),
    }
    try:
        connection.execute(f"CREATE TEMP TABLE embedded_texts AS {_texts(rows)}")
        some, fitted = _fitted(connection, _TEXTS)
        if not some:
            steps = {"embedded_within": _NOTHING}
        for name, query in steps.items():
            connection.execute(f"CREATE TEMP TABLE {name} AS {fitted(query)}")
        yield "temp.embedded_within"
    finally:
        for name in ("embedded_texts", *steps):
            connection.execute(f"DROP TABLE IF EXISTS temp.{name}")


def _fitted(
    connection: duckdb.DuckDBPyConnection, name: str
) -> tuple[bool, Callable[[str], str]]:
    """Return whether there are texts, and what fits a query to them.

    Patterns with every alphabet's letters take DuckDB 15 ms each to make ready, more
    than reading a short list; where all texts are ASCII, its letters do.
    """
    row = connection.execute(
        f"SELECT count(*), bool_and(regexp_full_match(x, '{_PLAIN}')) FROM {name}"  # noqa: S608 - our own name
    ).fetchone()
    texts, is_plain = row or (0, None)
    letters = _PLAIN_LETTERS if is_plain else _LETTERS
    return bool(texts), lambda query: query.replace(_LETTERS, letters)


def _texts(rows: str) -> str:
    """Return the query of the texts ``x`` in small letters, without dates and times."""
    small = f"lower(left(t, {MOST_CHARACTERS}))"
    plain = f"CASE WHEN regexp_full_match(t, '{_PLAIN}') THEN {small}"
    return (
        f"SELECT regexp_replace(x, '{_TIMES}', '\\1  ', 'g') AS x FROM ("  # noqa: S608 - our own query
        f"SELECT DISTINCT {plain} ELSE plain_text(t) END AS x "
        f"FROM ({rows}) WHERE NOT regexp_full_match(t, '[0-9]*')) "
        "WHERE regexp_matches(x, '[0-9].*[0-9].*[0-9]')"
    )


def _runs() -> str:
    glued = [f"regexp_extract_all(x, '{run}', 1)" for run in _GLUED]
    one, more = (
        ", ".join([*(f"regexp_extract_all(x, '{run}')" for run in runs), *glued])
        for runs in (_IN_ONE_PART, _IN_PARTS)
    )
    return (
        "SELECT DISTINCT run FROM (SELECT x, unnest("  # noqa: S608 - our own query
        f"CASE WHEN regexp_full_match(x, '{_LETTER}[0-9]+') THEN [x[2:]] "
        f"WHEN regexp_full_match(x, '{_PART}+') THEN list_concat({one}) "
        f"ELSE list_concat({more}) END) AS run FROM temp.embedded_texts) "
        f"WHERE run <> x OR regexp_matches(run, '{_APART}')"
    )


def _ids() -> str:
    digits = "array_to_string(regexp_extract_all(id, '[0-9]+'), '')"
    return (
        f"SELECT id, {digits} AS digits, apart FROM (SELECT id, false AS apart FROM "  # noqa: S608 - our own query
        f"({_SINGLE} UNION ALL {_JOINED} UNION ALL {_NUMBERS}) "
        f"UNION ALL SELECT id, true FROM ({_dotted()} UNION ALL {_SIX}))"
    )


def _dotted() -> str:
    """Return the query of ids as they are where dots stand for other separators.

    The whole, and without its first part, its last part, or both.
    """
    runs = ", ".join(f"regexp_extract_all(x, '{run}')" for run in _DOTTED)
    parts = f"regexp_extract_all(run, '{_PART}+')"
    return (
        f"SELECT {parted_sql('dotted')} AS id FROM ("  # noqa: S608 - our own query
        "SELECT array_to_string(unnest([parts, parts[2:], parts[:-2], parts[2:-2]]), "
        f"'.') AS dotted FROM (SELECT DISTINCT {parts} AS parts FROM ("
        f"SELECT unnest(list_concat({runs})) AS run FROM {_TEXTS} "
        "WHERE contains(x, '.') OR contains(x, ',')))) WHERE contains(dotted, '.') AND "
        f"(length(dotted) > {LEAST_DOTTED} OR NOT regexp_full_match(dotted, '[0-9.]+'))"
    )


def parted_sql(dotted: str) -> str:
    """Return the DuckDB expression of a text whose dots stand for other separators.

    A separator is kept between digits alone, as ``upstream.id_forms.loose_ids`` does.
    """
    lettered = f"regexp_replace({dotted}, '({_LETTER})[.]', '\\1', 'g')"
    return (
        f"replace(regexp_replace({lettered}, '[.]({_LETTER})', '\\1', 'g'), '.', '-')"
    )


def _within() -> str:
    form = "regexp_replace(id, '(^|[^0-9])0+([0-9])', '\\1\\2', 'g')"
    least = f"CASE WHEN id = digits THEN {LEAST_NUMBER} ELSE {LEAST_CODE} END"
    return (
        f"SELECT DISTINCT CASE WHEN contains(id, '0') THEN {form} ELSE id END AS form, "  # noqa: S608 - our own query
        f"digits, id = digits AND NOT apart AS alone, apart FROM temp.embedded_ids "
        f"WHERE length(id) BETWEEN {least} AND {_MOST_ID} "
        f"AND length(digits) >= {_LEAST_DIGITS} "
        f"AND NOT {is_date_sql('id')}"
    )


def is_date_sql(text: str) -> str:
    """Return the DuckDB expression of whether digits are a year or a day."""
    return f"regexp_matches({text}, '{_COMPACT_DATE}')"


@contextmanager
def words_within(connection: duckdb.DuckDBPyConnection, rows: str) -> Iterator[str]:
    """Lend the query of the words that texts hold among others, column ``form``.

    Each once: words of letters alone, and letters that points, dashes or an at sign
    join, as in an e-mail address. What a whole text is, is left out.

    Args:
        connection: It has ``FUNCTIONS``.
        rows: The query of the texts, column ``t``.
    """
    small = f"lower(left(t, {MOST_CHARACTERS}))"
    plain = f"CASE WHEN regexp_full_match(t, '{_PLAIN}') THEN {small}"
    try:
        connection.execute(
            f"CREATE TEMP TABLE {_LETTERED} AS SELECT DISTINCT {plain} "  # noqa: S608 - our own query
            f"ELSE plain_text(t) END AS x FROM ({rows}) "
            f"WHERE regexp_matches(t, '{_MAY_HOLD_LETTERS}') "
            "AND NOT regexp_full_match(t, '[A-Za-z]+')"
        )
        some, fitted = _fitted(connection, f"temp.{_LETTERED}")
        yield fitted(_words()) if some else "SELECT '' AS form WHERE false"
    finally:
        connection.execute(f"DROP TABLE IF EXISTS temp.{_LETTERED}")


def _words() -> str:
    found = ", ".join(f"regexp_extract_all(x, '{run}')" for run in _WORDS)
    return (
        "SELECT DISTINCT form FROM (SELECT x, regexp_replace(unnest("  # noqa: S608 - our own query
        f"list_concat({found})), '{_APART}', '', 'g') AS form FROM temp.{_LETTERED}) "
        f"WHERE length(form) BETWEEN {LEAST_CODE} AND {_MOST_ID} "
        f"AND form <> regexp_replace(x, '{_APART}', '', 'g')"
    )
