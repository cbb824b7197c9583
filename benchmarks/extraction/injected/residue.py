"""What reports of mtsamples.com still hold that looks like an identifier.

Their names are placeholders such as ``Dr. X``, but not all; dates and ages are left as
they were written. A placeholder is filled with a made-up name, whatever else looks like
an identifier is marked where it stands, and what could be one of several things is
blanked out, so that nobody is judged by spans that are missing from the gold standard.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from server.demo.notes.lists import Lists
from server.demo.notes.writing import Segment, Slots

BLANK = "***"
_HOLDER = r"(?:XYZ|Xyz|ABCD?|Abcd?|[Xx]{3,})"
_CAP = r"[A-Z][\w'-]*"
_INITIAL = (
    "[A-Z]\\. (?!(?:The|She|He|They|Dr|Mr|Ms|Mrs|His|Her|I|We|At|On|In|This|It|If|A|An"
    "|All|Both|After|Of|As|No|Again|There|Please|But|Also|Then|Patient)\\b)[A-Z][a-z]+"
)
_MONTH = (
    "(?:January|February|March|April|May|June|July|August|September|October|November"
    "|December|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)"
)
_FIRST = "|".join(sorted({*Lists().women, *Lists().men} - {"Will", "Grant", "Chase"}))
_STATES = (
    "Texas|California|Florida|New York|Ohio|Michigan|Tennessee|Georgia|Washington"
    "|Arizona|Colorado|Nevada|Oregon|Illinois|Indiana|Kansas|Kentucky|Louisiana|Alabama"
    "|Maryland|Massachusetts|Minnesota|Missouri|Mississippi|Nebraska|New Jersey"
    "|New Mexico|North Carolina|Oklahoma|Pennsylvania|South Carolina|Utah|Wisconsin"
)
_TOWNS = (
    "Houston|Boston|Dallas|Chicago|Los Angeles|Atlanta|San Diego|San Antonio|Austin"
    "|Phoenix|Seattle|Denver|Miami|Philadelphia|San Francisco|Las Vegas|Mexico|Iraq"
    "|Vietnam|Canada|India|Korea|Germany|Italy|China|Japan|Puerto Rico"
)


@dataclass(frozen=True, slots=True)
class Residue:
    """Something that looks like an identifier.

    Attributes:
        pattern: Finds it; its group ``it`` is meant.
        label: What it is marked as; None: it is blanked out.
        slot: What it is filled with; None: it stays as it is written.
    """

    pattern: re.Pattern[str]
    label: str | None = None
    slot: str | None = None


def _found(pattern: str, label: str | None = None, slot: str | None = None) -> Residue:
    return Residue(re.compile(pattern), label, slot)


RESIDUES = (
    _found(r"(?P<it>Sample Patient|Sample Name)", "PATIENT", "patient_spoken"),
    _found(r"(?P<it>Sample Doctor|General Practitioner)", "DOCTOR", "doctor_full"),
    _found(r"(?P<it>Sample Address)", "LOCATION", "address"),
    _found(r"(?P<it>Month DD, YYYY|MM/DD/YYYY|Month DD)", "DATE", "onset"),
    _found(rf"\bDRS?\.\s+(?P<it>{_CAP})", "DOCTOR", "doctor"),
    _found(
        rf"\b(?:Drs?|Doctor)\b\.?[ ]+(?P<it>{_INITIAL}|{_CAP}(?: [A-Z]\b(?!\.))?)",
        "DOCTOR",
        "doctor",
    ),
    _found(
        rf"\b(?:Mr|Mrs|Ms|Miss|MR|MRS|MS)\b\.?[ ]+(?P<it>{_CAP}(?: {_HOLDER})?)",
        "PATIENT",
        "last",
    ),
    _found(
        rf"(?P<it>{_CAP}(?: [A-Z]\.)? {_CAP})"
        r"(?=(?:, ?| )(?:M\.?D\b|R\.?N\b|D\.?O\b|Ph\.?D))",
        "DOCTOR",
        "doctor_full",
    ),
    _found(
        rf"(?P<it>\b(?:{_HOLDER}|X|St\. {_CAP}|{_CAP})(?: {_CAP}){{0,2}} (?:Hospital"
        r"|Medical Center))\b",
        "HOSPITAL",
        "hospital",
    ),
    _found(
        rf"(?P<it>{_HOLDER} (?:[Cc]linic|Practice|Surgery Center))",
        "HOSPITAL",
        "hospital",
    ),
    _found(
        rf"\b(?:at|to|from) (?:the |The )?(?P<it>{_HOLDER})\b", "HOSPITAL", "hospital"
    ),
    _found(r"(?P<it>\bMayo Clinic|University of [A-Z]\w+)\b", "HOSPITAL"),
    _found(
        rf"(?P<it>\b{_MONTH}\.? \d{{1,2}}(?:st|nd|rd|th)?(?:,? (?:of )?(?:19|20)\d\d)?"
        rf"|\b\d{{1,2}}(?:st|nd|rd|th)? (?:of )?{_MONTH}(?: (?:19|20)\d\d)?"
        rf"|\b{_MONTH},? (?:of )?(?:19|20)\d\d)\b",
        "DATE",
    ),
    _found(
        r"(?<![\d/.-])(?P<it>\d{1,2}([/-])\d{1,2}\2(?:\d{4}|\d\d)|\d{4}-\d\d-\d\d)"
        r"(?![\d/-])",
        "DATE",
    ),
    _found(r"(?<![\d/.-])(?P<it>(?:0?[1-9]|1[0-2])/(?:19|20)\d\d)(?![\d/-])", "DATE"),
    _found(
        r"(?<![\d/.,-])(?P<it>(?:19[3-9]\d|20[01]\d))(?![\d/-]|[.,]\d| ?(?:mg|ml|mL|cc"
        r"|cm|mm|units?|grams?|gm|g|kcal|cal|ounces|mcg|hours|meters|hrs|ft)\b)",
        "DATE",
    ),
    _found(
        r"\b(?P<it>\d{1,3})(?=[- ](?:1/2[- ])?(?:years?|yrs?|months?|weeks?|days?)[- ]"
        r"olds?\b|[ -]?y\.?/?o\b|[- ]years? of age|-year,? old|[- ]years?-old"
        r"|[- ]year[- ](?:\w+[- ])?(?:male|female|man|woman|boy|girl))",
        "AGE",
    ),
    _found(r"\b(?:[Aa]ged?|AGE):? (?P<it>\d{1,2})\b", "AGE"),
    _found(r"(?<![\d-])(?P<it>(?:\(?\d{3}\)?[-. ])?\d{3}-\d{4})(?![\d-])", "PHONE"),
    _found(rf"(?P<it>\b(?:{_FIRST}) {_CAP})(?= (?:[a-z]|is|was)|[.,])", None),
    _found(
        r"\b[Ss]erial (?:[Nn]umbers?|[Nn]o\.?|#)(?: of)?:? ?"
        r"(?P<it>\w*\d(?:[\w.-]*\w)?)",
        "ID",
    ),
    _found(rf"\b(?!Complex)(?P<it>(?:{_CAP} ){{1,2}}Regional)\b", "HOSPITAL"),
    _found(rf"\b(?P<it>{_CAP}(?: {_CAP})?, (?:{_STATES}))\b", "LOCATION"),
    _found(
        r"\b(?:lives?|lived|living|home|moved|born|raised) (?:alone |here )?"
        rf"(?:in|to|from|near) (?!{_HOLDER})(?P<it>{_CAP}(?: {_CAP})?)",
        "LOCATION",
    ),
    _found(rf"(?P<it>\b(?:{_STATES}|{_TOWNS})\b)", "LOCATION"),
    _found(rf"(?P<it>\b{_HOLDER}\b|\bX\b(?= (?:who|is|was|has|had)))", None),
)
"""The surest first: of two that overlap, the first is kept."""


def replaced(text: str, slots: Slots) -> Iterator[Segment]:
    """Yield the segments of a report whose residues are filled, marked or blanked."""
    reached = 0
    for start, end, residue in sorted(_places(text), key=lambda place: place[:2]):
        yield Segment(text[reached:start])
        if residue.slot is not None:
            yield Segment(slots[residue.slot]().text, residue.label)
        elif residue.label is not None:
            yield Segment(text[start:end], residue.label)
        else:
            yield Segment(BLANK)
        reached = end
    yield Segment(text[reached:])


def _places(text: str) -> list[tuple[int, int, Residue]]:
    taken = bytearray(len(text))
    found = []
    for residue in RESIDUES:
        for match in residue.pattern.finditer(text):
            start, end = match.span("it")
            if not any(taken[start:end]):
                taken[start:end] = b"\1" * (end - start)
                found.append((start, end, residue))
    return found
