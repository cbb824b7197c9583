"""Domains that a draft may propose: rungs of public ladders and published vocabularies.

Nothing here gives back a minimum, a maximum or a value of the data (PRIVACY 2): numbers
get a rung of the ladder 1-2-5 beyond what was seen, dates whole calendar decades beyond
it, ages 0 to 120, and codes the published list that nearly all of them are of.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import MAXYEAR, MINYEAR, date

from privacy.schema import HierarchyDomain
from query_lang.hierarchies import BUILT_IN

_AGE = re.compile(
    r"(?:^|_)(?:age|alter|wiek|yas|edad|idade|eta|leeftijd|alder|vek)(?:$|_)"
)
_OTHER_AGE = re.compile(
    r"(?:^|_)(?:days?|weeks?|wks?|months?|mths?|hours?|hrs?|minutes?|gest[a-z]*|"
    r"tagen?|wochen?|monaten?|dag|dager|dagar|dage|dagen|uker?|uger?|veckor|weken|"
    r"maneder|manader|maanden|jours|semaines|mois|dias|semanas|meses|dni|tygodni|"
    r"tygodnie|miesiace|miesiecy|gun|hafta|giorni|settimane|mesi)(?:$|_)"
)
_NUMBERED = re.compile(r"(?:^|_)(?:nr|nbr|no|number)$")
OLDEST = 120
"""Years that an age may have."""
MOST_COUNTED = 100
"""The greatest number that may count visits or doses of one person."""
_IDENTIFIER = re.compile(r"(?:^|_)(?:id|nr|nbr|no|number|key)$")
PUBLISHED = {
    "icd10": "WHO ICD-10",
    "icd10cm": "ICD-10-CM of CMS and NCHS",
    "icd9cm": "ICD-9-CM of CMS and NCHS",
}
"""What the built-in code systems are, as a source may name them."""

SYSTEMS = tuple(HierarchyDomain(name) for name in BUILT_IN)


@dataclass(frozen=True, slots=True)
class Proposal:
    """A domain as YAML, and the public ladder or list that it is taken from."""

    domain: str
    ladder: str


def is_age(name: str) -> bool:
    """Return whether a column's name says that it holds ages in years.

    >>> is_age("age_years"), is_age("stage"), is_age("age_at_dose_days")
    (True, False, False)
    """
    return _AGE.search(name) is not None and _OTHER_AGE.search(name) is None


def may_count(name: str) -> bool:
    """Return whether numbers of such a name may count: doses or visits of a person.

    >>> may_count("dose_no"), may_count("visit_id"), may_count("patient_no")
    (True, False, False)
    """
    return _NUMBERED.search(name) is not None and not names_people(name)


def is_identifier(name: str) -> bool:
    """Return whether a column's name says that its numbers only name things."""
    return _IDENTIFIER.search(name) is not None


_PEOPLE = re.compile(
    r"(?:^|_)(?:patients?|pat|pid|persons?|people|subjects?|members?|insured|mrn|ssn|"
    r"pesel|ahv|svnr|kvnr|bsn|tckn|tc_kimlik|pacjent|paciente|hasta(?=_?(?:id|no)))"
    r"(?:_?(?:id|nr|nbr|no|num|number|key|code))?$"
)


def names_people(name: str) -> bool:
    """Return whether a column's name says that it holds ids of people, most likely."""
    return _PEOPLE.search(name) is not None


_THINGS = re.compile(
    r"(?:^|_)(?:npi|lanr|bsnr|upin)(?:_|$)|"
    r"(?:^|_)(?:ids?|ik|ein|ndc|pzn|ean|gtin|codes?|num|nummer|numero|claims?|"
    r"accounts?|acct|polic[ey]|orders?|accession|serial|barcode|phone|telefon|tel|fax|"
    r"mobile)(?:_?[0-9]+)?$"
)


def names_things(name: str) -> bool:
    """Return whether a column's name says that its numbers name people or things.

    >>> [names_things(n) for n in ("npi", "claim_2", "account_nr", "order_time")]
    [True, True, True, False]
    """
    found = is_identifier(name) or names_people(name)
    return found or _THINGS.search(name) is not None


def age_proposal() -> Proposal:
    """Propose ages."""
    ladder = f"ages in completed years, 0 to {OLDEST}"
    return Proposal(f"{{min: 0, max: {OLDEST}}}", ladder)


def number_proposal(least: int, greatest: int) -> Proposal:
    """Propose a rung of the ladder 1-2-5 beyond two whole numbers.

    >>> number_proposal(3, 20).domain
    '{min: 0, max: 50}'
    """
    lower = 0 if least >= 0 else -rung_above(-least)
    upper = rung_above(max(greatest, 0))
    return Proposal(f"{{min: {lower}, max: {upper}}}", "ladder 1-2-5")


def rung_above(size: int) -> int:
    """Return the least rung of the ladder 1-2-5 above ``size``: never the number."""
    power = int("1" + "0" * (len(str(size)) - 1))
    return next(step * power for step in (1, 2, 5, 10) if step * power > size)


_DECADES = "calendar decades"


def date_proposal(first: date, last: date) -> Proposal:
    """Propose the calendar decades around two days; neither day is an end of them.

    >>> date_proposal(date(1990, 1, 1), date(2019, 5, 2)).domain
    '{min: 1980-01-01, max: 2019-12-31}'
    """
    lower, upper = _decades(first, last)
    return Proposal(f"{{min: {lower}, max: {upper}}}", _DECADES)


def _decades(first: date, last: date) -> tuple[date, date]:
    start, end = first.year // 10 * 10, last.year // 10 * 10 + 9
    if first == date(max(start, MINYEAR), 1, 1):
        start -= 10
    if last == date(min(end, MAXYEAR), 12, 31):
        end += 10
    return date(max(start, MINYEAR), 1, 1), date(min(end, MAXYEAR), 12, 31)


def moment_proposal(first: date, last: date) -> Proposal:
    """Propose the calendar decades around two moments, to their last second.

    >>> moment_proposal(date(2019, 1, 7), date(2024, 5, 2)).domain
    '{min: "2010-01-01 00:00:00", max: "2029-12-31 23:59:59"}'
    """
    lower, upper = _decades(first, last)
    ends = f'{{min: "{lower} 00:00:00", max: "{upper} 23:59:59"}}'
    return Proposal(ends, _DECADES)


def code_proposal(shares: Mapping[str, float], least: float) -> Proposal | None:
    """Propose the code system that nearly all texts are codes of, if there is one.

    Args:
        shares: Of each built-in code system, the part of the texts, from 0 to 1.
        least: The part that is nearly all.
    """
    best = max(shares, key=lambda name: shares[name])
    if shares[best] < least:
        return None
    return Proposal(f"{{hierarchy: {best}}}", PUBLISHED[best])
