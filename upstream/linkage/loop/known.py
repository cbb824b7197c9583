"""Known values in a text: the spans that no model has to find."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace

from upstream.extraction.models.union import fill
from upstream.extraction.text.spans import Span
from upstream.linkage.loop.facts import PatientFacts
from upstream.linkage.loop.matching.addresses import (
    KnownAddresses,
    are_joined,
    places_in,
)
from upstream.linkage.loop.matching.dates import Day, Found, dates_in, days_of
from upstream.linkage.loop.matching.meant_names import names_in
from upstream.linkage.loop.matching.names import KnownNames
from upstream.linkage.loop.matching.numbers import (
    emails_in,
    id_keys,
    ids_in,
    phone_keys,
    phones_in,
)
from upstream.linkage.loop.matching.vocabulary import COMMON
from upstream.linkage.loop.matching.words import Words, words_of

KNOWN = "known"
"""The source of a span whose words are known of the patient."""
Types = Mapping[str, str]
Matcher = Callable[[Words, PatientFacts, Types, Collection[str]], Iterator[Span]]


def known_spans(
    text: str,
    facts: PatientFacts,
    types: Types,
    common: Collection[str] = COMMON,
) -> tuple[Span, ...]:
    """Return where the values that are known of a patient stand in a text.

    Names are found without case and accents, with initials, with one letter wrong from
    five letters on where another known name or a title stands beside them; dates in any
    usual form; numbers whatever separates their digits; addresses in part. Categories
    and numbers (a sex, a weight) are not looked for: they are everybody's.

    Args:
        text: Of a document that is linked to the patient.
        facts: What is known of the patient.
        types: The span type of each field; a field that is not here is not looked for.
        common: Names that are also words, without case and accents: they need a
            capital, and another known name or a title beside them.

    Returns:
        Spans in order, none over another. Time grows with the text's length alone.

    >>> from upstream.linkage.declared import FieldSpec
    >>> facts = PatientFacts({"name": FieldSpec(kind="name")}, {"name": ("Núñez",)})
    >>> (span,) = known_spans("Seen NUNEZ's son", facts, {"name": "NAME"})
    >>> span.start, span.end
    (5, 10)
    """
    words = words_of(text)
    found = [span for match in _MATCHERS for span in match(words, facts, types, common)]
    return fill((), _whole_addresses(text, found, facts, types))


def _span(words: Words, found: Found, label: str) -> Span:
    first, behind, score = found
    return Span(words.starts[first], words.ends[behind - 1], label, score, KNOWN)


def _names(
    words: Words,
    facts: PatientFacts,
    types: Types,
    common: Collection[str],
) -> Iterator[Span]:
    values: dict[str, list[str]] = {}
    for kind in ("name", "full_name"):
        for label, said in facts.of_kind(kind, types).items():
            values.setdefault(label, []).extend(value for value, _ in said)
    for found, label in names_in(words, KnownNames(values), common):
        yield _span(words, found, label)


def _dates(
    words: Words,
    facts: PatientFacts,
    types: Types,
    _common: Collection[str],
) -> Iterator[Span]:
    for label, said in facts.of_kind("date", types).items():
        days: set[Day] = set()
        for value, spec in said:
            days |= days_of(value, spec.order)
        for found in dates_in(words, days):
            yield _span(words, found, label)


def _numbers(
    words: Words,
    facts: PatientFacts,
    types: Types,
    _common: Collection[str],
) -> Iterator[Span]:
    for kind in ("id", "code"):
        for label, said in facts.of_kind(kind, types).items():
            for found in ids_in(words, id_keys(value for value, _ in said)):
                yield _span(words, found, label)
    for label, said in facts.of_kind("phone", types).items():
        for found in phones_in(words, phone_keys(value for value, _ in said)):
            yield _span(words, found, label)
    for label, said in facts.of_kind("email", types).items():
        for start, end, score in emails_in(words.text, (value for value, _ in said)):
            yield Span(start, end, label, score, KNOWN)


def _places(
    words: Words,
    facts: PatientFacts,
    types: Types,
    common: Collection[str],
) -> Iterator[Span]:
    for label, said in facts.of_kind("address", types).items():
        for found in KnownAddresses(value for value, _ in said).found(words):
            yield _span(words, found, label)
    for label, said in facts.of_kind("place", types).items():
        for found in places_in(words, (value for value, _ in said), common):
            yield _span(words, found, label)


_MATCHERS: tuple[Matcher, ...] = (_names, _dates, _numbers, _places)


def _whole_addresses(
    text: str, spans: Iterable[Span], facts: PatientFacts, types: Types
) -> Iterator[Span]:
    """Yield spans, those that are parts of one address as one."""
    labels = {
        types[name]
        for name, spec in facts.fields.items()
        if spec.kind in {"address", "place"} and name in types
    }
    last: Span | None = None
    for span in sorted(span for span in spans if span.label in labels):
        if last and last.label == span.label and _are_one(text, last, span):
            score, end = max(last.score, span.score), max(last.end, span.end)
            last = replace(last, end=end, score=score)
            continue
        if last:
            yield last
        last = span
    if last:
        yield last
    yield from (span for span in spans if span.label not in labels)


def _are_one(text: str, one: Span, other: Span) -> bool:
    return other.start <= one.end or are_joined(text, one.end, other.start)
