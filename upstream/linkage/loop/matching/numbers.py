"""Known phones, ids and e-mail addresses in a text, whatever their separators."""

import re
from collections.abc import Iterable, Iterator

from upstream.linkage.loop.matching.dates import Found
from upstream.linkage.loop.matching.keys import Gaps, Keys
from upstream.linkage.loop.matching.words import Words, folded

SURE, LOCAL, WRITTEN = 0.98, 0.8, 1.0
"""Scores of a whole number, of a phone without its area, and of an e-mail address."""
_ID_GAPS, _PHONE_GAPS = Gaps(" -./", 1), Gaps("()-./+", 2)
_LEAST_ID, _LEAST_CODE, _LEAST_PHONE = 5, 5, 7
_LOCAL, _FULL = 7, (9, 10, 11, 12)  # digits of phones without and with an area
_SAFE = 7  # digits that are no part of a longer number by chance
_AROUND = re.compile(r"\w@\w")
_PREFIX = 3  # letters of a system before a number
_COUNTRY = 3  # digits


def id_keys(values: Iterable[str], least: int = _LEAST_ID) -> set[str]:
    """Return ids as they are looked for: with their letters, and their digits alone.

    >>> sorted(id_keys(["MR-0568104"]))
    ['568104', 'mr0568104']
    """
    keys = set()
    for value in values:
        whole = folded(value)
        digits = whole.lstrip("abcdefghijklmnopqrstuvwxyz").lstrip("0")
        for key in (whole, digits):
            if len(key) >= least and any(map(str.isdecimal, key)):
                keys.add(key)
    return keys


def ids_in(words: Words, keys: Iterable[str]) -> Iterator[Found]:
    """Yield where ids stand, from left to right; none over another."""
    known = Keys(keys, _ID_GAPS)
    at = 0
    while at < len(words):
        found = _id_at(words, at, known)
        if found is None:
            at += 1
        else:
            yield _with_prefix(words, at), found, SURE
            at = found


def _id_at(words: Words, at: int, known: Keys) -> int | None:
    said = words.folded[at]
    if not said:
        return None
    is_number = said.isdecimal()
    found = known.longest(words, at)
    if found is None and is_number and said.startswith("0"):
        begin = said.lstrip("0")
        found = known.longest(words, at, begin) if begin else None
    if found is None or _is_inside(words, at, *found):
        return None
    return found[1]


def _is_inside(words: Words, at: int, key: str, behind: int) -> bool:
    """Whether a short number is a part of a longer one."""
    if _is_glued(words, behind) and words.raw[behind].isalnum():
        return True
    if len(key) >= _SAFE:
        return False
    before = at > 1 and words.raw[at - 1] in "-/.," and not words.gap(at)
    after = behind + 1 < len(words) and words.raw[behind] in "-/.,"
    return (before and words.raw[at - 2].isdecimal() and not words.gap(at - 1)) or (
        after
        and not words.gap(behind)
        and not words.gap(behind + 1)
        and words.raw[behind + 1].isdecimal()
    )


def _is_glued(words: Words, at: int) -> bool:
    return 0 < at < len(words) and not words.gap(at)


def _with_prefix(words: Words, at: int) -> int:
    """Return where an id begins, with the letters of its system before it."""
    place = at - 1 if _is_glued(words, at) else at
    if place < at and words.raw[place] == "-" and _is_glued(words, place):
        place -= 1
    letters = words.raw[place]
    is_loud = letters.isupper() or not words.is_cased
    is_prefix = place < at and letters.isalpha() and is_loud
    is_short = len(letters) < _PREFIX or (len(letters) == _PREFIX and place < at - 1)
    return place if is_prefix and is_short else at


def phone_keys(values: Iterable[str]) -> set[str]:
    """Return phones as they are looked for: digits, without what dials a country.

    >>> sorted(phone_keys(["+1 (663) 555-2073"]), key=len)
    ['5552073', '635552073', '6635552073', '16635552073']
    """
    keys = set()
    for value in values:
        digits = "".join(each for each in folded(value) if each.isdecimal())
        if len(digits) < _LEAST_PHONE:
            continue
        keys.add(digits)
        keys |= {digits[-length:] for length in _FULL if length <= len(digits)}
        if len(digits) >= max(_FULL) - 2:
            keys.add(digits[-_LOCAL:])
    return keys


def phones_in(words: Words, keys: Iterable[str]) -> Iterator[Found]:
    """Yield where phones stand, from left to right; none over another."""
    known = Keys(keys, _PHONE_GAPS)
    at = 0
    while at < len(words):
        found = known.longest(words, at) if words.raw[at].isdecimal() else None
        if found is None or (
            len(found[0]) <= _LOCAL and _is_inside(words, at, "", found[1])
        ):
            at += 1
            continue
        key, behind = found
        yield _with_country(words, at), behind, SURE if len(key) > _LOCAL else LOCAL
        at = behind


def _with_country(words: Words, at: int) -> int:
    """Return where a phone begins, with its bracket and ``+1`` before it."""
    first = at
    if first and words.raw[first - 1] == "(" and not words.gap(first):
        first -= 1
    if first > 1 and words.gap(first) <= 1 and words.raw[first - 2] == "+":
        country = words.raw[first - 1]
        if country.isdecimal() and len(country) <= _COUNTRY:
            return first - 2
    return first


def emails_in(text: str, known: Iterable[str]) -> Iterator[tuple[int, int, float]]:
    """Yield the offsets of e-mail addresses, and their scores."""
    wanted = {value.strip().lower() for value in known if _AROUND.search(value)}
    at = text.find("@") if wanted else -1
    while at >= 0:
        for each in wanted:
            start = at - each.index("@")
            end = start + len(each)
            if (
                start >= 0
                and text[start:end].lower() == each
                and _is_free(text, start, end)
            ):
                yield start, end, WRITTEN
        at = text.find("@", at + 1)


def _is_free(text: str, start: int, end: int) -> bool:
    """Whether nothing goes on before or behind an address."""
    before, behind = text[max(start - 1, 0) : start], text[end : end + 1]
    return not (before.isalnum() or before in set("._+-")) and not (
        behind.isalnum() or behind in {"_", "-"}
    )
