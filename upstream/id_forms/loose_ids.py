"""The forms of an id: what is left of it, however somebody wrote it.

``P-007``, ``p 7`` and ``P0007`` have the form ``p7``; ``1000007.0``,
``1.000007E+06`` and ``1,000,007`` have the form ``1000007``. Two texts are compared by
whether they share a form. For refusals and warnings alone: which rows are one unit's is
decided by ``upstream.staging.canonical``.

What everybody may read is taken more narrowly than an id: ``0-4`` is an age group and
``2024-01-05`` a day, not the numbers 4 and 20240105, while an id ``01-0042`` may be
``010042`` elsewhere. Of a long text the first ``MOST_WORDS`` words are looked at too.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from typing import Literal

from upstream.id_forms.embedded_ids import CharacterMap, compared_text, plain_text
from upstream.id_forms.moments import moment_text, moments_text

MOST_WORDS = 100
"""Words of a text that are looked at."""

_MOST_CHARACTERS = 2_000  # of a text that are looked at, more than an id has
_LEAST_JOINED_DIGITS = 7  # of parts that are one number, however they are cut
_LEAST_WORD = 5  # characters of an id among others, as in Patient/1000007
_LEAST_BEGINNING = 8  # characters of an id with something behind it
_MOST_DIGITS = 20  # of a number in scientific notation
_WORDS = "[ -/:-~]*"  # printable ASCII without digits
_DECIMAL = "-?[0-9]+[.](?:[0-9]?[1-9]|[0-9]{3,}[1-9])"  # neither 7.0 nor 1.007
_BETWEEN = "\n"  # no form holds a control character

_MARKS = {"\u066b": ".", "\u066c": ",", "\u2212": "-"}  # Arabic marks, the minus sign
_QUOTES = frozenset("'\"`\u00b4\u2032\u2033")
_ENDS = re.compile(r"\A[\W_]+|[\W_]+\Z")
_JOINT = re.compile(r"[\W_]+")
_DIGIT = re.compile("[0-9]")
_CLUSTER = re.compile(r"[0-9]+(?:[\W_]+[0-9]+)+")
_ZEROS = re.compile(r"(\A|[^0-9.,])0+(?=[0-9])")
_SCIENTIFIC = re.compile(r"([0-9]+)(?:([.,])([0-9]*))?e([+-]?)([0-9]{1,2})")
_THOUSANDS, _LAKHS = "[0-9]{1,3}(?:[.,][0-9]{3})+", "[0-9]{1,2}(?:,[0-9]{2})+,[0-9]{3}"
_WHOLE = re.compile(rf"([0-9]+|{_THOUSANDS}|{_LAKHS})[.,]0+")
_DAY, _MONTH, _YEAR = (
    "(?:0?[1-9]|[12][0-9]|3[01])",
    "(?:0?[1-9]|1[0-2])",
    "[12][0-9]{3}",
)
_DATE = re.compile(
    rf"{_YEAR}([-./]){_MONTH}\1{_DAY}|{_DAY}([-./]){_MONTH}\2{_YEAR}"
    rf"|{_MONTH}([-./]){_DAY}\3{_YEAR}"
)
_BETWEEN_WORDS = re.compile(r"[\s/|:;,#=()\[\]<>&?]+")


def id_forms(uid: str) -> list[str]:
    """Return the forms of a unit id; the first is the one that keeps its parts apart.

    >>> id_forms("P 007"), id_forms("S01-0042"), id_forms("1000007.0")
    (['p7'], ['s1-42', 's10042'], ['1000007.0', '1000007', '10000070'])
    """
    core = _core(uid)
    return _distinct([_kept(core), *_numbers(core), _JOINT.sub("", core)])


def text_forms(text: str) -> list[str]:
    """Return the forms of the ids that a text may be meant as.

    >>> text_forms("1-000-007"), text_forms("Patient/1000007"), text_forms("10-14")
    (['1-0-7', '1000007'], ['patient1000007', '1000007'], ['10-14'])
    """
    core = _core(text)
    found = [*_meant(core), *_beginnings(core)]
    words = _BETWEEN_WORDS.split(text[:_MOST_CHARACTERS])[:MOST_WORDS]
    for word in words if len(words) > 1 else ():
        found += _word_forms(_core(word))
    return _distinct(found)


def certain_forms(text: str) -> list[str]:
    """Return those forms of a text that count one by one.

    Numbers among other words and numbers in parts are left out: telephone numbers and
    registers hit ids by accident. ``upstream.id_forms.embedded_ids`` has them.

    >>> certain_forms("1,000,007"), certain_forms("PMID: 1000007")
    (['1,000,007', '1000007'], ['pmid1000007'])
    """
    found = text_forms(text)
    if not any(map(str.isdecimal, found[1:])):
        return found
    core = _core(text)
    grouped = _CLUSTER.sub(_thousands, core)
    numbers = {*_distinct([_kept(core), *_numbers(core), _kept(grouped)])}
    return [form for form in found if form in numbers or not form.isdecimal()]


def _thousands(cluster: re.Match[str]) -> str:
    is_grouped = set(_JOINT.findall(cluster[0])) <= {".", ","}
    return _joined(cluster[0], lettered=False) if is_grouped else cluster[0]


def _word_forms(core: str) -> Iterator[str]:
    """Yield the forms of a part of a text, if it is as long as most ids are."""
    if len(core) >= _LEAST_WORD and _DIGIT.search(core):
        yield from _meant(core)


def _meant(core: str) -> Iterator[str]:
    lettered = any(map(str.isalpha, core))
    yield _kept(core)
    yield from _numbers(core)
    joined = _CLUSTER.sub(lambda m: _joined(m[0], lettered=lettered), core)
    if joined != core:
        yield _kept(joined)


def _beginnings(core: str) -> Iterator[str]:
    """Yield what a code in parts is without its last part, and its last letter.

    ``TCGA-A1-A0SB_v2`` and ``TCGA-A1-A0SBa`` begin with an id; so many letters and
    digits in one order are no accident.
    """
    if joints := list(_JOINT.finditer(core)):
        shorter = [core[: joints[-1].start()]]
        if core[-1].isalpha():
            shorter.append(_ENDS.sub("", core[:-1]))
        for form in map(_kept, shorter):
            is_mixed = _DIGIT.search(form) and any(map(str.isalpha, form))
            if is_mixed and len(form) >= _LEAST_BEGINNING:
                yield form


def _core(text: str) -> str:
    """Return a text in small letters and ASCII digits, without blanks and quotes."""
    return _ENDS.sub("", compared_text(text[:_MOST_CHARACTERS], _CHARACTERS))


def _character(character: str) -> str:
    digit = unicodedata.digit(character, None)
    if digit is not None:
        return str(digit)
    kind = unicodedata.category(character)
    if kind == "Pd":
        return "-"
    if kind[0] in "ZC" or kind in ("Pi", "Pf") or character in _QUOTES:
        return ""
    return _MARKS.get(character, character)


_CHARACTERS = CharacterMap(_character)


def _kept(core: str) -> str:
    """Return a core with those joints alone that stand between digits."""
    return _JOINT.sub(_kept_joint, core)


def _kept_joint(joint: re.Match[str]) -> str:
    text = joint.string
    if text[joint.start() - 1].isdigit() and text[joint.end()].isdigit():
        return joint[0] if joint[0] in (".", ",") else "-"
    return ""


def _joined(cluster: str, *, lettered: bool) -> str:
    """Return digits in parts as one number, where that is what is meant."""
    parts, joints = _JOINT.split(cluster), _JOINT.findall(cluster)
    if _DATE.fullmatch(cluster):
        return cluster
    is_decimal = len(joints) == 1 and joints[0] in (".", ",")
    is_grouped = len(parts[0]) <= 3 and all(len(part) == 3 for part in parts[1:])  # noqa: PLR2004 - thousands
    if is_grouped:
        one_number = len(joints) > 1 or (is_decimal and not lettered)
    else:
        long = sum(map(len, parts)) >= _LEAST_JOINED_DIGITS
        one_number = (long and not is_decimal) or bool(re.fullmatch(_LAKHS, cluster))
    return "".join(parts) if one_number else cluster


def _numbers(core: str) -> Iterator[str]:
    """Yield the whole number that a core is, if it is written with a fraction."""
    if found := _SCIENTIFIC.fullmatch(core):
        whole, point, fraction, sign, exponent = found.groups(default="")
        if point or sign:  # 2E02 is a code
            yield _expanded(whole, fraction, int(sign + exponent))
    elif found := _WHOLE.fullmatch(core):
        yield _JOINT.sub("", found[1])


def _expanded(whole: str, fraction: str, exponent: int) -> str:
    """Return a number in scientific notation in full; empty where it is no id."""
    point = len(whole) + exponent
    digits = whole + fraction
    if not 0 < point <= _MOST_DIGITS or digits[point:].strip("0"):
        return ""
    return digits[:point].ljust(point, "0")


def _distinct(found: list[str]) -> list[str]:
    without_zeros = [_ZEROS.sub(r"\1", form) if "0" in form else form for form in found]
    return [form for form in dict.fromkeys(without_zeros) if form]


def _as_text(forms: Callable[[str], list[str]]) -> Callable[[str | None], str]:
    return lambda text: "" if text is None else _BETWEEN.join(forms(text))


FUNCTIONS: Mapping[str, Callable[[str | None], str]] = {
    "id_forms": _as_text(id_forms),
    "text_forms": _as_text(text_forms),
    "certain_forms": _as_text(certain_forms),
    "plain_text": plain_text,
    "moments": moments_text,
    "moment": moment_text,
}
"""What ``forms_sql`` calls, of texts: the forms in one text, split by line feeds.

And what ``upstream.id_forms.embedded_ids`` and ``upstream.id_forms.moments`` call.
"""


def forms_sql(
    text: str, function: Literal["id_forms", "text_forms", "certain_forms"]
) -> str:
    """Return the DuckDB expression of a text's list of forms, the same as Python's.

    SQL finds the one form of ASCII letters and digits, of ASCII without digits, and of
    most decimals that are no id. A text that has none has the empty text.
    """
    text = f"left({text}, {_MOST_CHARACTERS})"
    plain = f"regexp_replace(lower({text}), '(^|[^0-9])0+([0-9])', '\\1\\2', 'g')"
    words = f"regexp_replace(lower({text}), '[^a-z]', '', 'g')"
    decimal = f"regexp_replace({text}, '^-?0*([0-9])', '\\1')"
    decimals = f"WHEN regexp_full_match({text}, '{_DECIMAL}') THEN [{decimal}] "
    if function == "id_forms":
        decimals = ""
    return (
        f"CASE WHEN regexp_full_match({text}, '[0-9A-Za-z]+') THEN [{plain}] "
        f"WHEN regexp_full_match({text}, '{_WORDS}') THEN [{words}] "
        f"{decimals}"
        f"ELSE string_split({function}({text}), chr(10)) END"
    )


def number_sql(text: str) -> str:
    """Return the DuckDB expression of a text's digits, in one number without zeros."""
    return f"ltrim(regexp_replace({text}, '[^0-9]', '', 'g'), '0')"
