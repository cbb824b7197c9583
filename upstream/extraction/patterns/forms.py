"""The forms: dates, ages, numbers, addresses and names, in English and Spanish.

They are no model: they know how identifiers are commonly written, and serve two ends,
as attributes of the tokens in a match (``features.phrases``), and as a layer of rules
of its own (``models.rules``), which finds spans without having been trained.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from upstream.extraction.text.tokens import Tokens

DIGITS = "0"
"""Stands for all tokens that are numbers."""
_MONTHS = (
    "january february march april may june july august september october november "
    "december jan feb mar apr jun jul aug sep sept oct nov dec enero febrero marzo "
    "abril mayo junio julio agosto setiembre septiembre octubre noviembre "
    "diciembre"
)
_SMALL_NUMBERS = (
    "one two three four five six seven eight nine ten eleven twelve un una uno dos "
    "tres cuatro cinco seis siete ocho nueve diez once doce"
)
_MONTH, _SMALL = (
    f"(?:{words.replace(' ', '|')})" for words in (_MONTHS, _SMALL_NUMBERS)
)
_YEAR = r"(?:19|20)\d\d"
_DAY = r"(?:[12]\d|3[01]|0?[1-9])(?:st|nd|rd|th|º)?"
_TIME = (
    "(?:years?|yrs?|months?|mos?|weeks?|wks?|days?|hours?|años?|mes(?:es)?|semanas?"
    "|días?|horas?)"
)
_GAP, _NO_GAP = r"[ \t]{1,5}", r"[ \t]{0,5}"
_SPACE, _NO_SPACE = r"[\s-]{1,5}", r"[\s-]{0,5}"
_LINK = r"(?:\s{1,3}(?:de|del|la|las|los|el|y|i|of|the|and|van|von|da|di)){0,2}"
_CAPS = r"[A-ZÁÉÍÓÚÑÜ][\w'\u2019-]{0,40}\.?"
_WORD = r"[A-Z][\w']{0,40}"
_NAME = rf"{_CAPS}(?:{_LINK}{_GAP}{_CAPS}){{0,4}}"
_MAX_DAY, _MAX_MONTH = 31, 12


class Match(NamedTuple):
    """A match of a form: its name, and the offsets of its first character and end."""

    form: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Start:
    """Where a form's matches may begin.

    A pattern is tried where such a token stands, and not at every character: that is
    ten times as fast.

    Attributes:
        words: Tokens in lower case, with blanks between them; ``DIGITS`` stands for
            all numbers.
        before: What of a match may stand before the token, as an expression.
        most_before: How many characters that is at most.
        is_anywhere: Whether a text with such a token, or any text where there are no
            ``words``, may have a match that begins elsewhere.
    """

    words: str = DIGITS
    before: str | None = None
    most_before: int = 4
    is_anywhere: bool = False


_DIGITS_FIRST = Start()


@dataclass(frozen=True, slots=True)
class Form:
    """One form.

    Attributes:
        name: Its name, in lower case.
        pattern: Its regular expression; a group ``it`` tells what of it is meant. Its
            repetitions are bounded: time grows with a text's length alone.
        start: Where a match may begin.
        before: What of a match may stand before the token that it begins with.
        check: What a match must pass besides; None: nothing.
        any_case: Whether it is looked for in the text in lower case; patterns that
            ignore case cost three times as much.
    """

    name: str
    pattern: re.Pattern[str]
    start: Start
    before: re.Pattern[str] | None
    check: Callable[[str], bool] | None = None
    any_case: bool = True

    def matches(self, text: str, places: Iterable[int]) -> Iterator[Match]:
        """Yield its matches, from left to right; none over another.

        Args:
            text: The text, in lower case for a form of any case.
            places: Where the tokens begin that a match may begin with, in order.
        """
        group = "it" if "it" in self.pattern.groupindex else 0
        for found in self._found(text, places):
            start, end = found.span(group)
            kept = text[start:end].rstrip(" \t\n.,;:")
            if kept and (self.check is None or self.check(kept)):
                yield Match(self.name, start, start + len(kept))

    def _found(self, text: str, places: Iterable[int]) -> Iterator[re.Match[str]]:
        if self.start.is_anywhere:
            yield from self.pattern.finditer(text)
            return
        behind = 0
        for place in places:
            for start in self._starts(text, place, behind):
                found = self.pattern.match(text, start)
                if found is not None:
                    yield found
                    behind = found.end()
                    break

    def _starts(self, text: str, place: int, behind: int) -> Iterator[int]:
        """Yield where a match may begin that has a token at a place."""
        if self.before is not None:
            first = max(behind, place - self.start.most_before)
            before = self.before.search(text, first, place) if first < place else None
            if before is not None:
                yield before.start()
        if place >= behind:
            yield place


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
    start: Start = _DIGITS_FIRST,
    any_case: bool = True,
) -> Form:
    before = None if start.before is None else re.compile(rf"(?:{start.before})\Z")
    return Form(name, re.compile(pattern), start, before, check, any_case)


FORMS = (
    _form(
        "numeric_date",
        rf"(?<![\d/.-])(?:{_YEAR}([-/.])\d\d?\1\d\d?|\d\d?\s?([-/.])\s?\d\d?\s?\2\s?"
        r"(?:\d{4}|\d\d))(?![\d/-])",
        _is_date,
    ),
    _form(
        "written_date",
        rf"\b(?:{_DAY}{_SPACE}(?:(?:de|of){_SPACE})?)?{_MONTH}\b\.?(?:{_SPACE}(?:(?:del?|of)"
        rf"{_SPACE})?(?:año{_SPACE})?{_YEAR}\b|{_SPACE}{_DAY}\b(?:{_NO_SPACE},?{_SPACE}"
        rf"{_YEAR}\b)?|[-/]\d\d\b)?",
        _has_digits(1),
        start=Start(f"{DIGITS} {_MONTHS}"),
    ),
    _form("year", rf"(?<![\d.,/-]){_YEAR}(?![\d/-]|[.,]\d)"),
    _form(
        "age",
        rf"\b(?:\d{{1,3}}|{_SMALL})(?:{_NO_SPACE}(?:(?:{_TIME}\b)(?:{_SPACE}(?:of{_SPACE}age"
        rf"|old|de{_SPACE}edad))?|y/?o\b))|(?<=aged )\d{{1,3}}\b",
        start=Start(f"{DIGITS} {_SMALL_NUMBERS}"),
    ),
    _form(
        "email",
        r"[\w.+-]{1,100}@[\w-]{1,100}(?:\.[\w-]{1,100}){1,10}",
        start=Start("@", before=r"[\w.+-]+", most_before=100),
    ),
    _form(
        "url",
        r"\b(?:https?://|www\.)[^\s<>\"]{1,2000}",
        start=Start("http https www"),
    ),
    _form(
        "phone",
        r"(?<![\w.,/-])(?:\+?\d{1,3}[\s.-]?)?(?:\(\d{2,4}\)[\s.-]?)?\d{2,4}(?:[\s.-]"
        r"\d{2,4}){1,4}(?:\s?(?:x|ext\.?)\s?\d{1,5})?(?![\w-]|[.,/]\d)",
        _has_digits(9),
        start=Start(before=r"[+(]"),
    ),
    _form("social_security", r"(?<![\d-])\d{3}-\d\d-\d{4}(?![\d-])"),
    _form(
        "record_number",
        r"\b(?:mrn|medical record(?: number| no\.?)?|record (?:number|no\.?)|nhc"
        r"|account(?: number| no\.?)?|acct|patient id|case(?: number| no\.?)?)"
        r"[\s:#.]{0,8}(?P<it>(?:[a-z]{0,4}-?)?\d[\w-]{2,60})",
        start=Start("mrn medical record nhc account acct patient case"),
    ),
    _form(
        "long_number",
        r"(?<![\w.,-])[a-z]{0,3}-?\d{5,60}(?:-\d{1,60}){0,9}(?![\w-]|[.,]\d)",
        start=Start(before=r"[a-z]{1,3}-?|-"),
    ),
    _form("postal_code", r"(?<![\w.,-])\d{5}(?:-\d{4})?(?![\w-]|[.,]\d)"),
    _form(
        "address",
        rf"\b\d{{1,5}}{_GAP}(?:[NSEW]\.?{_GAP})?{_WORD}(?:{_GAP}{_WORD}){{0,3}}{_GAP}"
        r"(?:Street|St|Avenue|Ave|Road|Rd|Boulevard|Blvd|Lane|Ln|Drive|Dr|Court|Ct|Place"
        r"|Pl|Way|Terrace|Circle|Parkway)\b\.?",
        any_case=False,
    ),
    _form(
        "via",
        rf"(?:\b(?:[Cc]alle|[Aa]v(?:eni)?da\.?|[Pp]laza|[Pp]aseo|[Cc]arretera|[Cc]trat?\."
        rf"|[Uu]rb\.)|\b[Cc]/\.?){_NO_GAP}(?:(?:de|del|la|las|los|el){_GAP}){{0,2}}{_NAME}"
        r"(?:[ \t]{0,5},?[ \t]{0,5}(?:n[ºo°]?\.?[ \t]{0,5})?\d{1,4})?",
        start=Start("calle avda avenida plaza paseo carretera ctra ctrat urb c"),
        any_case=False,
    ),
    _form(
        "titled_name",
        rf"\b(?:Dr|Dra|DR|Mr|Mrs|Ms|Miss|Prof|Sr|Sra|Doctor|Doctora|D|Dña)\b\.?{_NO_GAP}"
        rf"(?P<it>{_NAME})",
        start=Start("dr dra mr mrs ms miss prof sr sra doctor doctora d dña"),
        any_case=False,
    ),
    _form(
        "hospital",
        rf"\b(?:(?:{_CAPS}{_GAP}){{1,4}}(?:Hospital|Medical Center|Clinic|Infirmary)"
        rf"|(?:Hospital|Clínica|Complejo Hospitalario){_LINK}{_GAP}{_NAME})",
        start=Start(
            "hospital medical clinic infirmary clínica complejo", is_anywhere=True
        ),
        any_case=False,
    ),
    _form(
        "capitals",
        rf"\b{_CAPS}(?:{_LINK}{_GAP}{_CAPS})+",
        start=Start("", is_anywhere=True),
        any_case=False,
    ),
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


_BY_WORD: dict[str, list[Form]] = {}
for _each in FORMS:
    for _word in _each.start.words.split():
        _BY_WORD.setdefault(_word, []).append(_each)


def matches(tokens: Tokens, forms: Iterable[Form] = FORMS) -> Iterator[Match]:
    """Yield the matches of forms in a text, form by form.

    >>> from upstream.extraction.text.tokens import tokenize
    >>> tokens = tokenize("seen 6/22/01 by Dr. Ann Lee")
    >>> [tokens.text[m.start:m.end] for m in matches(tokens) if m.form != "capitals"]
    ['6/22/01', 'Ann Lee']
    """
    text, places = tokens.text, _places(tokens)
    lower = lowered(text)
    for form in forms:
        here = places.get(form.name, ())
        if here or not form.start.words:
            yield from form.matches(lower if form.any_case else text, here)


def _places(tokens: Tokens) -> dict[str, list[int]]:
    """Return where tokens begin that a match of each form may begin with."""
    places: dict[str, list[int]] = {}
    words = (DIGITS if w.isdecimal() else w.lower() for w in tokens.words)
    told = zip(map(_BY_WORD.get, words), tokens.starts.tolist(), strict=True)
    for forms, start in told:
        if forms:
            for form in forms:
                places.setdefault(form.name, []).append(start)
    return places
