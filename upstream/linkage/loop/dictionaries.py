"""What is known of linked patients, as dictionaries that models are trained with.

A model learns how much a dictionary is worth: that a word is some patient's name is one
feature of many. What such a model keeps of its dictionaries is as private as the notes.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from upstream.extraction.features.phrases import Dictionary, dictionary_of
from upstream.linkage.declared import FieldKind
from upstream.linkage.loop.facts import PatientFacts
from upstream.linkage.loop.matching.vocabulary import PARTICLES, TITLES
from upstream.linkage.loop.matching.words import words_of

_LEAST = 3  # letters of a name that is worth being looked up
_AS: Mapping[FieldKind, str] = {
    "name": "names",
    "full_name": "names",
    "place": "places",
}
"""Which dictionary values go to by the kind of their field, if by nothing else."""


def dictionaries_of(
    patients: Iterable[PatientFacts],
    named: Mapping[str, str] | None = None,
    least: int = 1,
) -> tuple[Dictionary, ...]:
    """Return dictionaries of names and places of patients, and of fields of one's own.

    Args:
        patients: What is known of each.
        named: Dictionaries of fields that have one of their own, as wards may.
        least: Patients that must have a term; 2 leaves most typing errors out.

    Returns:
        In order of their names; none that is empty.
    """
    return tuple(
        dictionary_of(name, terms)
        for name, terms in terms_of(patients, named, least).items()
        if terms
    )


def terms_of(
    patients: Iterable[PatientFacts],
    named: Mapping[str, str] | None = None,
    least: int = 1,
) -> dict[str, list[str]]:
    """Return the terms of each dictionary in order, as a list of terms has them.

    Args:
        patients: What is known of each.
        named: Dictionaries of fields that have one of their own, as wards may.
        least: Patients that must have a term.

    >>> from upstream.linkage.declared import FieldSpec
    >>> fields = {"ward": FieldSpec(kind="category"), "last": FieldSpec(kind="name")}
    >>> one = PatientFacts(fields, {"ward": ("ICU",), "last": ("Ng", "De La Cruz")})
    >>> terms_of([one], {"ward": "wards"})
    {'names': ['cruz', 'de la cruz'], 'wards': ['icu']}
    """
    counted: dict[str, Counter[str]] = {}
    for facts in patients:
        for name, terms in _told(facts, named or {}).items():
            counted.setdefault(name, Counter()).update(terms)
    return {
        name: sorted(term for term, count in counts.items() if count >= least)
        for name, counts in sorted(counted.items())
    }


def _told(facts: PatientFacts, named: Mapping[str, str]) -> dict[str, set[str]]:
    """Return the terms that one patient's facts add to each dictionary."""
    found: dict[str, set[str]] = {}
    for name, spec in facts.fields.items():
        dictionary = named.get(name, _AS.get(spec.kind, ""))
        if not dictionary:
            continue
        is_name = spec.kind in {"name", "full_name"}
        for value in facts.values.get(name, ()):
            terms = _names(value) if is_name else (" ".join(value.lower().split()),)
            found.setdefault(dictionary, set()).update(filter(None, terms))
    return found


def _names(value: str) -> Iterator[str]:
    """Yield a name of several words whole, and its parts, in lower case."""
    words = words_of(value.lower())
    if len(words) > 1 and "," not in words.raw:
        yield " ".join(words.raw)
    yield from _parts(words.raw)


def _parts(raw: Sequence[str]) -> Iterator[str]:
    for said in raw:
        is_small = said in PARTICLES or said in TITLES
        if len(said) >= _LEAST and said.isalpha() and not is_small:
            yield said
