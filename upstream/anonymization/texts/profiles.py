"""Profiles: what becomes of each kind of identifier.

Sources: J. Gardner, Privacy Preserving Medical Data Publishing, 2012, 2.1 (full,
partial and statistical de-identification); 45 CFR 164.514(b)(2) (Safe Harbor) and
(e)(2) (the limited data set, which partial de-identification is).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Literal

from upstream.anonymization.texts.kinds import INDIRECT, Kind


class Action(StrEnum):
    """What becomes of an identifier. What an action cannot be done to is tagged."""

    KEEP = "keep"
    TAG = "tag"  # [NAME]
    SURROGATE = "surrogate"  # somebody else's, of the same form
    SHIFT = "shift"  # a date, by days that are one patient's
    GENERALIZE = "generalize"  # as the anonymized table has the patient's value
    YEAR = "year"  # of a date
    TOP_CODE = "top_code"  # ages over 89 are one
    ZIP3 = "zip3"  # three digits, where enough people share them


Replacement = Literal["tag", "surrogate"]
ProfileName = Literal["full", "partial", "statistical", "safe_harbor"]

_WITHOUT_SURROGATE: Final = frozenset(
    {Kind.AGE, Kind.PROFESSION, Kind.SEX, Kind.BIOMETRIC, Kind.PHOTO}
)
_SAFE_HARBOR: Final = {
    Kind.DATE: Action.YEAR,
    Kind.BIRTH_DATE: Action.YEAR,
    Kind.AGE: Action.TOP_CODE,
    Kind.ZIP: Action.ZIP3,
    Kind.PROFESSION: Action.KEEP,
    Kind.SEX: Action.KEEP,
}


@dataclass(frozen=True, slots=True)
class Profile:
    """What becomes of each kind.

    Attributes:
        name: Its name.
        actions: Of each kind.
    """

    name: ProfileName
    actions: Mapping[Kind, Action]


def profile(name: ProfileName, replacement: Replacement = "tag") -> Profile:
    """Return a profile.

    Args:
        name: ``full``: nothing that identifies stays. ``partial``: what narrows people
            down stays (dates, ages, places, professions), names and numbers do not.
            ``statistical``: that is generalized as the patient's row in an anonymized
            table. ``safe_harbor``: years stay, ages up to 89, three digits of a ZIP
            code, sex and profession.
        replacement: What stands for what does not stay.

    >>> profile("partial").actions[Kind.AGE], profile("full").actions[Kind.AGE]
    (<Action.KEEP: 'keep'>, <Action.TAG: 'tag'>)
    """
    removed = {kind: _removed(kind, replacement) for kind in Kind}
    if name == "full":
        return Profile(name, removed)
    if name == "safe_harbor":
        return Profile(name, removed | _SAFE_HARBOR)
    indirect = Action.KEEP if name == "partial" else Action.GENERALIZE
    return Profile(name, removed | dict.fromkeys(INDIRECT, indirect))


def _removed(kind: Kind, replacement: Replacement) -> Action:
    if replacement == "tag" or kind in _WITHOUT_SURROGATE:
        return Action.TAG
    return Action.SHIFT if kind in {Kind.DATE, Kind.BIRTH_DATE} else Action.SURROGATE
