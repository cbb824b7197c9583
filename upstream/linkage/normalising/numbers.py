"""Phone numbers, ids, codes and numbers."""

from upstream.linkage.normalising.texts import squeezed_sql, words_sql

PHONE_DIGITS = 7
"""Digits from which on a phone number is one."""


def phone_sql(text: str) -> str:
    """Return the digits of a phone number without zeros in front, nor an extension.

    The zero of ``+44 (0)20`` is dropped; a country code stays, since what is behind it
    is compared from the end.
    """
    number = f"regexp_replace({text}, '(ext|x|#|durchwahl).*$', '')"
    local = f"replace({number}, '(0)', '')"
    digits = f"ltrim(regexp_replace({local}, '[^0-9]', '', 'g'), '0')"
    return f"CASE WHEN length({digits}) >= {PHONE_DIGITS} THEN {digits} END"


def id_sql(text: str) -> str:
    """Return the letters and digits of an id without zeros in front.

    An id of one digit over and over stands for none.
    """
    signs = f"ltrim({code_sql(text)}, '0')"
    same = f"ltrim({signs}, left({signs}, 1))"
    return f"CASE WHEN {same} <> '' OR length({signs}) < 3 THEN {signs} END"


def code_sql(text: str) -> str:
    """Return the letters and digits of a code, such as a postcode with blanks."""
    return squeezed_sql(words_sql(text))


def email_sql(text: str) -> str:
    """Return an e-mail address; what has no ``@`` inside is none."""
    address = f"replace(replace({text}, 'mailto:', ''), ' ', '')"
    return f"CASE WHEN {address} LIKE '_%@_%' THEN {address} END"


def amount_sql(text: str) -> str:
    """Return a finite number as DuckDB writes it; a comma is a decimal point."""
    number = f"TRY_CAST(replace({text}, ',', '.') AS DOUBLE)"
    return f"CASE WHEN isfinite({number}) THEN CAST({number} + 0.0 AS VARCHAR) END"
