"""Public vocabularies that a list of a draft may be taken from, and words for nothing.

A draft proposes a whole vocabulary, never the values that the data have of it: which
of them occur is not told (PRIVACY 2).
"""

from collections.abc import Collection
from dataclasses import dataclass

from upstream.manifests.proposals import Proposal


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """A list that anybody may know.

    Attributes:
        values: All of it, in its usual order.
        ladder: What it is, as a source may name it.
        words: What a column's name says that holds it; none: any column may.
    """

    values: tuple[str, ...]
    ladder: str
    words: tuple[str, ...] = ()


_SEX = (
    *("sex", "gender", "geschlecht", "sexe", "sesso", "sexo", "plec", "cinsiyet"),
    *("pohlavi", "geslacht", "genre", "kon", "koen", "kjonn"),
)
_SEX_CODES = ("0", "1", "2", "9")
_BLOOD = ("blood", "blut", "abo", "ab0", "sang", "krwi", "kan_grubu", "krev")
VOCABULARIES = (
    Vocabulary(("F", "M"), "sex, F and M", _SEX),
    Vocabulary(("F", "M", "U"), "sex, F, M and unknown", _SEX),
    Vocabulary(("F", "M", "O", "U"), "administrative sex, F, M, O, U", _SEX),
    Vocabulary(("f", "m"), "sex, f and m", _SEX),
    Vocabulary(("female", "male"), "sex, female and male", _SEX),
    Vocabulary(
        ("male", "female", "other", "unknown"), "administrative gender of HL7", _SEX
    ),
    Vocabulary(("Female", "Male"), "sex, Female and Male", _SEX),
    Vocabulary(("Female", "Male", "Unknown"), "sex, with Unknown", _SEX),
    Vocabulary(
        ("Male", "Female", "Other", "Unknown"), "administrative gender of HL7", _SEX
    ),
    Vocabulary(("FEMALE", "MALE", "UNKNOWN"), "sex, in capitals", _SEX),
    Vocabulary(("f", "m", "u"), "sex, f, m and unknown", _SEX),
    Vocabulary(("männlich", "weiblich"), "Geschlecht, männlich und weiblich", _SEX),
    Vocabulary(
        ("männlich", "weiblich", "divers", "unbekannt"),
        "Geschlecht, auch divers und unbekannt",
        _SEX,
    ),
    Vocabulary(
        ("Männlich", "Weiblich", "Divers", "Unbekannt"),
        "Geschlecht, auch Divers und Unbekannt",
        _SEX,
    ),
    Vocabulary(("W", "M"), "Geschlecht, W und M", _SEX),
    Vocabulary(("w", "m"), "Geschlecht, w und m", _SEX),
    Vocabulary(("W", "M", "D"), "Geschlecht, W, M und D", _SEX),
    Vocabulary(("w", "m", "d"), "Geschlecht, w, m und d", _SEX),
    Vocabulary(("W", "M", "D", "X"), "Geschlecht, W, M, D und X", _SEX),
    Vocabulary(("H", "F"), "sexe, H et F", _SEX),
    Vocabulary(("K", "M"), "sex, K and M (plec, køn)", _SEX),
    Vocabulary(("E", "K"), "cinsiyet, E ve K", _SEX),
    Vocabulary(("H", "M"), "sexo, H y M", _SEX),
    Vocabulary(("M", "V"), "geslacht, M en V", _SEX),
    Vocabulary(("M", "Z", "Ž"), "pohlavi, M a Z", _SEX),
    Vocabulary(_SEX_CODES, "ISO/IEC 5218", _SEX),
    Vocabulary(("A", "B", "AB", "0"), "blood groups", _BLOOD),
    Vocabulary(("A", "B", "AB", "O"), "blood groups", _BLOOD),
    Vocabulary(
        ("A+", "A-", "B+", "B-", "AB+", "AB-", "0+", "0-"),
        "blood groups with rhesus factor",
        _BLOOD,
    ),
    Vocabulary(
        ("A+", "A-", "B+", "B-", "AB+", "AB-", "O+", "O-"),
        "blood groups with rhesus factor",
        _BLOOD,
    ),
    Vocabulary(("1", "2", "3", "4", "5", "6"), "ASA classes, 1 to 6", ("asa",)),
    Vocabulary(("I", "II", "III", "IV", "V", "VI"), "ASA classes", ("asa",)),
    Vocabulary(("I", "II", "III", "IV"), "NYHA classes", ("nyha",)),
    Vocabulary(
        ("1", "2", "3", "4", "5"),
        "triage, five levels (ESI, MTS)",
        ("triage", "esi", "mts"),
    ),
    Vocabulary(("Y", "N", "U"), "yes, no and unknown"),
    Vocabulary(("J", "N", "U"), "ja, nein und unbekannt"),
)

FAR_AWAY = ("9999-12-31", "9999-01-01", "2999-12-31")
"""Days that stand for no end yet."""


def sex_proposal(name: str, values: Collection[str]) -> Proposal | None:
    """Propose the numbers of ISO/IEC 5218 for a column of whole numbers."""
    is_meant = not set(_SEX).isdisjoint(name.split("_"))
    if not is_meant or not values or not set(values) <= set(_SEX_CODES):
        return None
    listed = ", ".join(_SEX_CODES)
    meant = "if 1 is male, 2 female, 0 not known, 9 not applicable"
    return Proposal(f"{{values: [{listed}]}}", f"ISO/IEC 5218, {meant}")


def vocabulary_proposal(name: str, values: Collection[str]) -> Proposal | None:
    """Propose the least vocabulary that holds all values of a column of such a name."""
    for one in VOCABULARIES:
        named = any(word in name for word in one.words)
        is_meant = named or (not one.words and len(values) > 1)
        if is_meant and values and set(values) <= set(one.values):
            listed = ", ".join(f'"{value}"' for value in one.values)
            more = "" if "other" in one.values else ", other: true"  # a value itself
            return Proposal(f"{{values: [{listed}]{more}}}", one.ladder)
    return None
