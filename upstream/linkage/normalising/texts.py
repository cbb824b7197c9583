"""Letters folded: case, accents, signs, and what nobody sees."""

LONGEST = 200
"""Characters of a value that are read; the rest is cut off."""

_APOSTROPHES = "\u2019`\u00b4\u02bc"
_LETTERS = f"translate({{}}, 'øłđıħŧ{_APOSTROPHES}', 'oldiht{8 * chr(39)}')"
_LIGATURES = (("ß", "ss"), ("æ", "ae"), ("œ", "oe"), ("þ", "th"))
_UMLAUTS = (("ae", "a"), ("oe", "o"), ("ue", "u"))


def clean_sql(raw: str) -> str:
    """Return a raw value cut, in small letters, with single blanks, trimmed.

    Control characters and those without a width are dropped; every kind of blank is
    one. ``NA`` in capitals, as programs write it, is NULL.
    """
    cut = f"left({raw}, {LONGEST})"
    spaced = f"regexp_replace({cut}, '[\\s\\p{{Z}}]+', ' ', 'g')"
    seen = f"regexp_replace({spaced}, '\\p{{C}}+', '', 'g')"
    return f"CASE WHEN {raw} <> 'NA' THEN lower(trim(nfc_normalize({seen}))) END"


def folded_sql(text: str) -> str:
    """Return a clean text without accents: ``müller`` and ``mueller`` as ``muller``.

    ``ae``, ``oe`` and ``ue`` lose their ``e`` in all words alike, since nothing tells
    an umlaut that was written out from two vowels.
    """
    folded = f"strip_accents({_LETTERS.format(text)})"
    for old, new in (*_LIGATURES, *_UMLAUTS):
        folded = f"replace({folded}, '{old}', '{new}')"
    return folded


def words_sql(text: str) -> str:
    """Return the words of a clean text, folded, with one blank between them.

    Apostrophes are dropped, other signs part words: ``o'brien-smith`` is
    ``obrien smith``.
    """
    joined = f"replace({folded_sql(text)}, '''', '')"
    return f"trim(regexp_replace({joined}, '[^\\p{{L}}\\p{{N}}]+', ' ', 'g'))"


def squeezed_sql(words: str) -> str:
    """Return words without the blanks between them."""
    return f"replace({words}, ' ', '')"


def nothing_as_null_sql(text: str) -> str:
    """Return a text, NULL where it is empty."""
    return f"nullif({text}, '')"
