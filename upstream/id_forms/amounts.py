"""Numbers with decimals however they are written, as one plain number.

``1,234.56``, ``1.234,56``, ``1'234.56 CHF``, ``1 234,56``, ``$1234.56``,
``(1234.56)`` and ``1.23456E+03`` are ``1234.56``; so is its negative. The last point or
comma is taken for the decimal one. A letter alone in front makes a code (``E11.9``).
"""

MOST_DECIMALS = 18  # of a column

_PLAIN = "[ -~]*"  # printable ASCII
_PLACES = f"[0-9]{{1,{MOST_DECIMALS}}}"
_GROUPED = (
    f"[0-9]{{1,3}}(?:,[0-9]{{2,3}})+[.]{_PLACES}"
    f"|[0-9]{{1,3}}(?:[.][0-9]{{2,3}})+,{_PLACES}"
    f"|[0-9]{{1,3}}(?:[ _''’][0-9]{{2,3}})+[.,]{_PLACES}"  # noqa: RUF001 - as written
)
_SCIENTIFIC = "[0-9](?:[.,][0-9]{1,17})?e[-+]?[0-9]{1,2}"
_NUMBER = f"{_SCIENTIFIC}|{_GROUPED}|[0-9]{{0,19}}[.,]{_PLACES}"
_SIGN = "[-+−]? ?"  # noqa: RUF001 - the minus sign
_BEFORE = rf"[(<>=~≤≥ ]*{_SIGN}(?:[a-z]{{2,4}}[.]?)?[$]? ?\p{{Sc}}? ?{_SIGN}"
_AFTER = r" ?(?:\p{Sc}|[%‰]|[\pL°/·^*. ]+|,-)?[)]?"
_AMOUNT = f"^{_BEFORE}((?:{_NUMBER}){_AFTER})$"
_SHORT = "^(.*[0-9]) ?[^0-9)]{0,20}[)]?$"
"""A number with its unit. Twenty letters of any alphabet take six times as long to
compile within the other pattern, which is compiled anew for each query."""
_MOST_CHARACTERS = 64


def amount_sql(text: str) -> str:
    """Return the DuckDB expression of a text's number, its parts split by a point.

    Without a sign; of a text that is no number with decimals, nothing.
    """
    plain = (
        f"CASE WHEN length({text}) > {_MOST_CHARACTERS} THEN '' "
        f"WHEN regexp_full_match({text}, '{_PLAIN}') THEN lower(trim({text})) "
        f"ELSE trim(plain_text({text})) END"
    )
    number = f"regexp_extract(regexp_extract({plain}, '{_AMOUNT}', 1), '{_SHORT}', 1)"
    scientific = (
        f"CAST(TRY_CAST(replace(n, ',', '.') AS DECIMAL(38, {MOST_DECIMALS})) "
        "AS VARCHAR)"
    )
    pointed = "regexp_replace(n, '[.,]([0-9]+)$', 'p\\1')"
    written = f"replace(regexp_replace({pointed}, '[^0-9p]', '', 'g'), 'p', '.')"
    # A list of one names the number, so that its long patterns are compiled once.
    return (
        f"list_transform([CASE WHEN regexp_matches({text}, '[0-9]') THEN {number} "
        "ELSE '' END], lambda n: CASE WHEN contains(n, 'e') "
        f"THEN coalesce({scientific}, '') ELSE {written} END)[1]"
    )
