"""Functions and patterns of texts, by code points; letters and blanks are ASCII.

``made(name, info, arguments)`` returns the function of texts and what is known of its
results: what each listed value becomes, in the order of the list.
"""

import re
from dataclasses import replace
from itertools import product
from math import prod

from tests.semantics.meaning import domains
from tests.semantics.meaning.domains import Info, Range
from tests.semantics.meaning.scopes import NotAnswerableError

MOST_BYTES = 65_536
BUILT_IN = ("icd10", "icd10cm", "icd9cm")


def capital(text):
    return "".join(c.upper() if "a" <= c <= "z" else c for c in text)


def small(text):
    return "".join(c.lower() if "A" <= c <= "Z" else c for c in text)


def part(text, start, length=None):
    end = None if length is None else start - 1 + length
    return text[start - 1 : end]


FUNCTIONS = {
    "upper": capital,
    "lower": small,
    "left": lambda text, length: part(text, 1, length),
    "substring": part,
    "right": lambda text, length: text[max(0, len(text) - length) :],
    "trim": lambda text: text.strip(" "),
    "ltrim": lambda text: text.lstrip(" "),
    "rtrim": lambda text: text.rstrip(" "),
    "replace": lambda text, found, put: put.join(text.split(found)),
    "length": len,
    "strpos": lambda text, sought: text.find(sought) + 1,
}
TESTS = {
    "starts_with": lambda text, start: text[: len(start)] == start,
    "ends_with": lambda text, end: not end or text[-len(end) :] == end,
    "contains": lambda text, held: text.find(held) >= 0,
}
OF_NUMBERS = {"length", "strpos"}


def is_part_of_a_category(name, info, parameters):
    """Whether a part of a code lies within the three characters of its category."""
    if info.hierarchy not in BUILT_IN or name not in {"left", "substring"}:
        return False
    end = parameters[0] if name == "left" else sum(parameters[:2]) - 1
    return (name == "left" or len(parameters) > 1) and end <= 3


def applied(name, info, parameters, codes):
    """Return the function of one text, and what is known of its results.

    Args:
        codes: Of the dataset's own hierarchy, where the text is a code of one.
    """
    step = FUNCTIONS[name]
    listed = _listed(info, codes)
    domain = longest = None
    kind = "integer" if name in OF_NUMBERS else "text"
    half = (None, None)
    if listed is not None:
        values = dict.fromkeys(step(text, *parameters) for text in listed)
        domain = (tuple(sorted(values) if kind == "integer" else values),)
    elif kind == "integer":
        domain = None if info.longest is None else (Range(0, info.longest),)
        half = (0, None) if domain is None else half
    if kind == "text" and info.longest is not None:
        longest = _longest(name, info.longest, parameters)
        if longest > MOST_BYTES:
            message = "too long a text"
            raise NotAnswerableError(message)
    keeps = name in {"upper", "lower"} or (name, *parameters) == ("replace", ".", "")
    hierarchy = info.hierarchy if keeps and info.hierarchy in BUILT_IN else None
    made = Info(kind, info.nullable, domain, 0, hierarchy, half, longest)
    return (lambda text: None if text is None else step(text, *parameters)), made


def _listed(info, codes):
    if info.domain is not None:
        found = domains.listed(info)
    elif info.hierarchy is not None and info.hierarchy not in BUILT_IN:
        found = codes
    else:
        return None
    return found if len(found) <= domains.LONGEST_LIST else None


def _longest(name, most, parameters):
    if name in {"left", "right"}:
        return min(most, 4 * parameters[0])
    if name == "substring":
        return min(most, 4 * parameters[1]) if len(parameters) > 1 else most
    if name == "replace":
        found, put = (len(text.encode()) for text in parameters)
        return most + max(0, put - found) * (most // found)
    return most


def joined(infos, codes_of, *, skips_null):
    """Return what is known of texts one after the other."""
    if skips_null:
        infos = [_or_empty(info) for info in infos]
    lists = [_listed(info, codes_of(info)) for info in infos]
    domain = longest = None
    if None not in lists and prod(map(len, lists)) <= domains.LONGEST_LIST:
        domain = (tuple(dict.fromkeys(map("".join, product(*lists)))),)
    if all(info.longest is not None for info in infos):
        longest = sum(info.longest for info in infos)
        if longest > MOST_BYTES:
            message = "too long a text"
            raise NotAnswerableError(message)
    nullable = any(info.nullable for info in infos)
    return Info("text", nullable, domain, longest=longest)


def _or_empty(info):
    if not info.nullable:
        return info
    domain = None if info.domain is None else (*info.domain, ("",))
    return replace(info, nullable=False, domain=domain, hierarchy=None)


# -- patterns ------------------------------------------------------------------


def like(text, pattern, *, folds=False):
    """Whether all of a text matches ``%``, ``_`` and a backslash before either."""
    if folds:
        text, pattern = small(text), small(pattern)
    expression, signs = "", iter(pattern)
    for sign in signs:
        if sign == "\\":
            expression += re.escape(next(signs))
        else:
            expression += {"%": ".*", "_": "."}.get(sign) or re.escape(sign)
    return re.fullmatch(expression, text, re.DOTALL) is not None


def matches(text, expression, flags=""):
    """Whether a part of a text matches: ``$`` is its end, ``.`` any character."""
    found = re.ASCII | re.DOTALL
    if "i" in flags:
        found |= re.IGNORECASE
    expression = re.sub(r"(?<!\\)\$", r"\\Z", expression)
    return re.search(expression, text, found) is not None
