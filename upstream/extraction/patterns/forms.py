"""The forms: dates, ages, numbers, addresses and names, in English and Spanish.

They are no model: they know how identifiers are commonly written, and serve two ends,
as attributes of the tokens in a match (``features.phrases``), and as a layer of rules
of its own (``models.rules``), which finds spans without having been trained.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

_MONTH = (
    "(?:january|february|march|april|may|june|july|august|september|october|november"
    "|december|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|enero|febrero|marzo|abril"
    "|mayo|junio|julio|agosto|sep?tiembre|octubre|noviembre|diciembre)"
)
_YEAR = r"(?:19|20)\d\d"
_DAY = r"(?:[12]\d|3[01]|0?[1-9])(?:st|nd|rd|th|º)?"
_SMALL = (
    "(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|un|una|uno|dos"
    "|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|once|doce)"
)
_TIME = (
    "(?:years?|yrs?|months?|mos?|weeks?|wks?|days?|hours?|años?|mes(?:es)?|semanas?"
    "|días?|horas?)"
)
_LINK = r"(?:\s+(?:de|del|la|las|los|el|y|i|of|the|and|van|von|da|di)){0,2}"
_CAPS = r"[A-ZÁÉÍÓÚÑÜ][\w'\u2019-]*\.?"
_NAME = rf"{_CAPS}(?:{_LINK}[ \t]+{_CAPS}){{0,4}}"
_MAX_DAY, _MAX_MONTH = 31, 12


class Match(NamedTuple):
    """A match of a form: its name, and the offsets of its first character and end."""

    form: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Form:
    """One form.

    Attributes:
        name: Its name, in lower case.
        pattern: Its regular expression; a group ``it`` tells what of it is meant.
        check: What a match must pass besides; None: nothing.
        any_case: Whether it is looked for in the text in lower case; patterns that
            ignore case cost three times as much.
    """

    name: str
    pattern: re.Pattern[str]
    check: Callable[[str], bool] | None = None
    any_case: bool = True

    def matches(self, text: str, lower: str) -> Iterator[Match]:
        """Yield its matches, from left to right.

        Args:
            text: The text.
            lower: The same, character by character, in lower case.
        """
        group = "it" if "it" in self.pattern.groupindex else 0
        for found in self.pattern.finditer(lower if self.any_case else text):
            start, end = found.span(group)
            said = text[start:end]
            kept = said.rstrip(" \t\n.,;:")
            if kept and (self.check is None or self.check(kept)):
                yield Match(self.name, start, start + len(kept))


def _is_date(said: str) -> bool:
    parts = [int(part) for part in re.findall(r"\d+", said)]
    if len(str(parts[0])) == len("2009"):
        parts.reverse()
    first, second = parts[:2]
    return 0 < min(first, second) <= _MAX_MONTH and 0 < max(first, second) <= _MAX_DAY


def _has_digits(least: int) -> Callable[[str], bool]:
    def check(said: str) -> bool:
        return sum(map(str.isdigit, said)) >= least

    return check


def _form(
    name: str,
    pattern: str,
    check: Callable[[str], bool] | None = None,
    *,
    any_case: bool = True,
) -> Form:
    return Form(name, re.compile(pattern), check, any_case)


FORMS = (
    _form(
        "numeric_date",
        rf"(?<![\d/.-])(?:{_YEAR}([-/.])\d\d?\1\d\d?|\d\d?\s?([-/.])\s?\d\d?\s?\2\s?"
        r"(?:\d{4}|\d\d))(?![\d/-])",
        _is_date,
    ),
    _form(
        "written_date",
        rf"\b(?=[\djfmasonde])(?:{_DAY}[\s-]+(?:de\s+|of\s+)?)?{_MONTH}\b\.?(?:[\s-]+(?:del?\s+|of\s+)?"
        rf"(?:año\s+)?{_YEAR}\b|\s+{_DAY}\b(?:\s*,?\s+{_YEAR}\b)?|[-/]\d\d\b)?",
        _has_digits(1),
    ),
    _form("year", rf"(?<![\d.,/-]){_YEAR}(?![\d/-]|[.,]\d)"),
    _form(
        "age",
        rf"\b(?=[\doftsenducq])(?:\d{{1,3}}|{_SMALL})(?:[\s-]*(?:(?:{_TIME}\b)(?:[\s-]+(?:of[\s-]+age|old"
        r"|de\s+edad))?|y/?o\b))|(?<=aged )\d{1,3}\b",
    ),
    _form("email", r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"),
    _form("url", r"\b(?:https?://|www\.)[^\s<>\"]+"),
    _form(
        "phone",
        r"(?<![\w.,/-])(?:\+?\d{1,3}[\s.-]?)?(?:\(\d{2,4}\)[\s.-]?)?\d{2,4}(?:[\s.-]"
        r"\d{2,4}){1,4}(?:\s?(?:x|ext\.?)\s?\d{1,5})?(?![\w-]|[.,/]\d)",
        _has_digits(9),
    ),
    _form("social_security", r"(?<![\d-])\d{3}-\d\d-\d{4}(?![\d-])"),
    _form(
        "record_number",
        r"\b(?:mrn|medical record(?: number| no\.?)?|record (?:number|no\.?)|nhc"
        r"|account(?: number| no\.?)?|acct|patient id|case(?: number| no\.?)?)[\s:#.]*"
        r"(?P<it>(?:[a-z]{0,4}-?)?\d[\w-]{2,})",
    ),
    _form("long_number", r"(?<![\w.,-])[a-z]{0,3}-?\d{5,}(?:-\d+)*(?![\w-]|[.,]\d)"),
    _form("postal_code", r"(?<![\w.,-])\d{5}(?:-\d{4})?(?![\w-]|[.,]\d)"),
    _form(
        "address",
        r"\b\d{1,5}[ \t]+(?:[NSEW]\.?[ \t]+)?[A-Z][\w']*(?:[ \t]+[A-Z][\w']*){0,3}"
        r"[ \t]+(?:Street|St|Avenue|Ave|Road|Rd|Boulevard|Blvd|Lane|Ln|Drive|Dr|Court"
        r"|Ct|Place|Pl|Way|Terrace|Circle|Parkway)\b\.?",
        any_case=False,
    ),
    _form(
        "via",
        rf"(?:\b(?:[Cc]alle|[Aa]v(?:eni)?da\.?|[Pp]laza|[Pp]aseo|[Cc]arretera|[Cc]trat?\."
        rf"|[Uu]rb\.)|\b[Cc]/\.?)[ \t]*(?:(?:de|del|la|las|los|el)[ \t]+){{0,2}}{_NAME}"
        r"(?:[ \t]*,?[ \t]*(?:n[ºo°]?\.?[ \t]*)?\d{1,4})?",
        any_case=False,
    ),
    _form(
        "titled_name",
        rf"\b(?:Dr|Dra|DR|Mr|Mrs|Ms|Miss|Prof|Sr|Sra|Doctor|Doctora|D|Dña)\b\.?[ \t]*"
        rf"(?P<it>{_NAME})",
        any_case=False,
    ),
    _form(
        "hospital",
        rf"\b(?:(?:{_CAPS}[ \t]+){{1,4}}(?:Hospital|Medical Center|Clinic|Infirmary)"
        rf"|(?:Hospital|Clínica|Complejo Hospitalario){_LINK}[ \t]+{_NAME})",
        any_case=False,
    ),
    _form("capitals", rf"\b{_CAPS}(?:{_LINK}[ \t]+{_CAPS})+", any_case=False),
)
"""All forms, the surest first."""


def lowered(text: str) -> str:
    """Return a text in lower case, each character where it was.

    >>> lowered("Éva İ.")
    'éva İ.'
    """
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    kept = ((character.lower(), character) for character in text)
    return "".join(low if len(low) == 1 else character for low, character in kept)


def matches(text: str) -> Iterator[Match]:
    """Yield the matches of all forms, form by form.

    >>> [text[m.start:m.end] for text in ["seen 6/22/01 by Dr. Ann Lee"]
    ...  for m in matches(text) if m.form != "capitals"]
    ['6/22/01', 'Ann Lee']
    """
    lower = lowered(text)
    for form in FORMS:
        yield from form.matches(text, lower)
