"""Addresses and places."""

from upstream.linkage.normalising.texts import squeezed_sql, words_sql

_SHORT = {
    "street": "st|str|strasse|stret",
    "road": "rd",
    "avenue": "av|ave",
    "drive": "dr|drv",
    "place": "pl|plc",
    "court": "ct|crt",
    "crescent": "cr|cres",
    "lane": "ln",
}


def address_sql(text: str) -> str:
    """Return an address as letters and digits, what ends it written out.

    ``12 High St.`` is ``12highstreet``.
    """
    words = words_sql(text)
    for long, short in _SHORT.items():
        words = f"regexp_replace({words}, ' ({short})$', ' {long}')"
    return squeezed_sql(words)


def place_sql(text: str) -> str:
    """Return the name of a place as letters and digits."""
    return squeezed_sql(words_sql(text))
