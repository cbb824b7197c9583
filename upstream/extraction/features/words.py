"""What a token's own letters say: HIDE's regular expressions and affixes.

Source: Gardner 2012 (HIDE), tables 4.1 and 4.3 and section 4.4.2. The printed list has
slips, which are read as meant: ALPHA is a run of letters, the two rules named
ALPHANUMERIC have names of their own, NUMBERS_LETTERS takes several letters, HASQUOTE
is an apostrophe, ISPUNCT has its bracket, REALNUMBER its beginning.
"""

import re
from functools import lru_cache

_PATTERNS = {
    "ALPHA": "[Aa]+",
    "INITCAPS": "A.*",
    "UPPER-LOWER": "Aa.*",
    "ALLCAPS": "A+",
    "MIXEDCAPS": "Aa+A[Aa]*",
    "SINGLECHAR": "[Aa]",
    "SINGLEDIGIT": "0",
    "DOUBLEDIGIT": "00",
    "TRIPLEDIGIT": "000",
    "QUADDIGIT": "0000",
    "NUMBER": "[0,]+",
    "HASDIGIT": ".*0.*",
    "DIGIT_LETTER": ".*0.*[Aa].*",
    "LETTER_DIGIT": ".*[Aa].*0.*",
    "NUMBERS_LETTERS": "0+[Aa]+",
    "LETTERS_NUMBERS": "[Aa]+0+",
    "HASDASH": ".*-.*",
    "HASQUOTE": ".*'.*",
    "HASSLASH": ".*/.*",
    "ISPUNCT": r"[~!@#$%^&*()\-=_+\[\]{}|;':\",./<>?]+",
    "REALNUMBER": r"[-+]?[0,]+(?:\.0*)?%?",
    "STARTMINUS": "-.*",
    "STARTPLUS": r"\+.*",
    "ENDPERCENT": ".*%",
}
_RULES = tuple((name, re.compile(form)) for name, form in _PATTERNS.items())
_ROMAN = re.compile("[IVXLCDM]+")
_RUN = re.compile(r"(.)\1{2,}")
_CACHED = 50_000  # words; more of them than this are other words each time
LONGEST_AFFIX = 3
LONGEST_WORD = 100
"""Characters of a token that are looked at; what is longer is no word."""


@lru_cache(maxsize=_CACHED)
def skeleton(word: str) -> str:
    """Return a word with each letter and digit as the kind that it is.

    Letters of all scripts are read as HIDE reads A to Z.

    >>> skeleton("Nº-Col25é")
    'Aº-Aaa00a'
    """
    return "".join(map(_kind, word))


def _kind(character: str) -> str:
    if character.isdigit():
        return "0"
    if character.isupper():
        return "A"
    return "a" if character.isalpha() and character not in "ºª" else character


@lru_cache(maxsize=_CACHED)
def shape(word: str) -> str:
    """Return a word's skeleton with runs of three and more cut to two and a plus.

    Runs of digits keep their length up to twelve: it tells identifiers apart.

    >>> shape("Hospital"), shape("28013")
    ('Aaa+', '0x5')
    """
    kinds = skeleton(word[:LONGEST_WORD])
    if kinds.strip("0"):
        return _RUN.sub(r"\1\1+", kinds)
    return f"0x{min(len(kinds), 12)}"


@lru_cache(maxsize=_CACHED)
def pattern_attributes(word: str) -> tuple[str, ...]:
    """Return which of HIDE's regular expressions a word has.

    >>> pattern_attributes("HISTORY")
    ('ALPHA', 'INITCAPS', 'ALLCAPS')
    """
    kinds = skeleton(word[:LONGEST_WORD])
    found = [name for name, rule in _RULES if rule.fullmatch(kinds)]
    return (*found, "ROMAN") if _ROMAN.fullmatch(word) else tuple(found)


def affix_attributes(word: str) -> tuple[str, ...]:
    """Return the prefixes and suffixes of one to three characters.

    >>> affix_attributes("56")
    ('PRE1=5', 'PRE2=56', 'SUF1=6', 'SUF2=56')
    """
    lengths = range(1, min(LONGEST_AFFIX, len(word)) + 1)
    return (
        *(f"PRE{length}={word[:length]}" for length in lengths),
        *(f"SUF{length}={word[-length:]}" for length in lengths),
    )
