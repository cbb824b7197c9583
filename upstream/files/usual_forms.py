"""Forms in which files write days, numbers, truths and nothing, besides our own."""

from collections.abc import Collection

# The 25 code points with the Unicode property White_Space (PropList.txt).
WHITE_SPACE = (
    "\t\n\x0b\x0c\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007"
    "\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
)

DAYS = (
    "%Y-%m-%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y", "%Y/%m/%d",
    "%d-%b-%Y", "%d %b %Y", "%d%b%Y", "%d. %B %Y", "%d %B %Y", "%B %d, %Y",
)  # fmt: skip
SHORT_DAYS = ("%d.%m.%y", "%d/%m/%y", "%m/%d/%y", "%d-%m-%y", "%d-%b-%y", "%y-%m-%d")
"""Days whose century is open."""

COMPACT_DAYS = ("%Y%m%d", "%Y%m%d%H%M%S")
"""Days, and moments, in digits alone."""

CLOCKS = ("%H:%M", "%H:%M:%S", "%H:%M:%S.%f")
MOMENTS = (
    "%Y-%m-%dT%H:%M:%S",
    *(f"{day} {clock}" for day in DAYS[:7] for clock in CLOCKS),
)
IN_UTC = tuple(
    f"%Y-%m-%d{between}%H:%M:%S{parts}{zone}"
    for between in "T "
    for parts in ("", ".%f")
    for zone in ("Z", "+00:00", "+00")
)
"""Formats of times with a zone: with offset 0 alone."""

ZONED = tuple(
    f"%Y-%m-%d{between}{clock}{gap}%z"
    for between in "T "
    for clock in CLOCKS
    for gap in ("", " ")
)
"""Formats of times with an offset to UTC."""

AM_PM = tuple(
    f"{day} {clock}{gap}%p"
    for day in ("%m/%d/%Y", "%d/%m/%Y", "%Y-%m-%d")
    for clock in ("%I:%M", "%I:%M:%S")
    for gap in (" ", "")
)
"""Formats of times with 12 hours."""

COUNTED = {"unix_seconds": 1, "unix_milliseconds": 1000}
"""Formats of counts since 1970, and how many of them are a second."""

COUNTED_FROM, COUNTED_TO = 946_684_800, 2_147_483_648
"""The seconds of the years 2000 to 2038, of which such counts are, most likely."""

MARKS = (
    (",", None), (",", "."), (",", " "), (".", ","), (".", "'"), (".", " "), (",", "'"),
)  # fmt: skip
"""Decimal marks, and what parts thousands; a point alone is what others read."""

TRUTHS = (
    (("true",), ("false",)),
    (("ja",), ("nein",)),
    (("Ja",), ("Nein",)),
    (("JA",), ("NEIN",)),
    (("J",), ("N",)),
    (("yes",), ("no",)),
    (("Yes",), ("No",)),
    (("YES",), ("NO",)),
    (("Y",), ("N",)),
    (("oui",), ("non",)),
    (("Oui",), ("Non",)),
    (("OUI",), ("NON",)),
    (("O",), ("N",)),
    (("tak",), ("nie",)),
    (("Tak",), ("Nie",)),
    (("TAK",), ("NIE",)),
    (("T",), ("N",)),
    (("evet",), ("hayır",)),  # noqa: RUF001 - Turkish
    (("Evet",), ("Hayır",)),  # noqa: RUF001 - Turkish
    (("E",), ("H",)),
    (("sí",), ("no",)),
    (("Sí",), ("No",)),
    (("si",), ("no",)),
    (("SI",), ("NO",)),
    (("sì",), ("no",)),
    (("S",), ("N",)),
    (("sim",), ("não",)),
    (("ja",), ("nee",)),
    (("ano",), ("ne",)),
    (("igen",), ("nem",)),
    (("да",), ("нет",)),
    (("True",), ("False",)),
    (("TRUE",), ("FALSE",)),
    (("ja", "J"), ("nein", "N")),
    (("yes", "Y"), ("no", "N")),
    (("T",), ("F",)),
    (("T", "1"), ("F", "0")),
    (("Y", "1"), ("N", "0")),
    (("J", "1"), ("N", "0")),
)
"""Words for true and false, of which a column may have one pair."""

LETTERS = frozenset({("O", "N"), ("T", "N"), ("T", "F"), ("E", "H"), ("S", "N")})
"""Of them, letters that in other languages stand for other things than yes and no."""

YES_MARKS = frozenset(
    {
        "x", "X", "1", "+", "*", "✓", "✔", "☑", "v", "V", "y", "Y", "yes", "Yes", "YES",
        "j", "J", "ja", "Ja", "JA", "o", "O", "oui", "Oui", "OUI", "tak", "Tak", "TAK",
        "T", "evet", "Evet", "EVET", "E", "si", "Si", "SI", "sí", "Sí", "sì", "S",
        "true", "True", "TRUE", "wahr", "WAHR", "vrai", "VRAI",
    }
)  # fmt: skip
"""Marks that forms have for yes, beside nothing for no."""

NULL_WORDS = (
    "NULL", "null", "n/a", "N/A", "NA", "#N/A", "#NV", "k.A.", "k. A.", "-", "--",
    "---", ".", "?", "none", "None", "nan", "NaN", "missing", "fehlt",
    "keine Angabe", "(null)", "\\N", "#VALUE!", "#DIV/0!", "#REF!", "#WERT!",
    "n.a.", "N.A.", "brak danych", "b.d.", "non renseigné", "Non renseigné",
    "sin datos", "s/d",
)  # fmt: skip
"""What files write for nothing."""


def truth_words(
    values: Collection[str],
) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """Return the words for true and false that all values are of."""
    met = set(values)
    if met <= {"0", "1"} or (len(met) == 1 and len(next(iter(met))) == 1):
        return None  # numbers, and one letter alone, may be anything
    return next((pair for pair in TRUTHS if met <= {*pair[0], *pair[1]}), None)
