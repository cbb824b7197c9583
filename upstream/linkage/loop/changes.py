"""What one extraction or one linking has that the one before had not."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping

from upstream.extraction.text.spans import Span

Spans = Mapping[str, Iterable[Span]]
"""By document."""
Values = Mapping[str, Mapping[str, Iterable[str]]]
"""As they were written, by document and field."""
Patients = Mapping[str, Hashable]
"""The patient's key, by record."""


def new_spans(before: Spans, now: Spans) -> int:
    """Return how many spans have offsets and a type that were not found before.

    >>> old, new = Span(0, 3, "NAME", 0.5), Span(0, 3, "NAME", 0.9, "known")
    >>> new_spans({"a": [old]}, {"a": [new, Span(4, 9, "NAME")]})
    1
    """
    return sum(
        len(_places(spans) - _places(before.get(document, ())))
        for document, spans in now.items()
    )


def _places(spans: Iterable[Span]) -> set[tuple[int, int, str]]:
    return {(span.start, span.end, span.label) for span in spans}


def new_values(before: Values, now: Values) -> int:
    """Return how many values of a document's fields linking was not given before."""
    return sum(
        len(set(said) - set(before.get(document, {}).get(name, ())))
        for document, fields in now.items()
        for name, said in fields.items()
    )


def changed_patients(before: Patients, now: Patients) -> int:
    """Return how many patients have other records than any patient before.

    Keys do not matter, only which records are together.

    >>> changed_patients({"a": 1, "b": 2}, {"a": 7, "b": 8})
    0
    >>> changed_patients({"a": 1, "b": 2, "c": 3}, {"a": 1, "b": 1, "c": 3})
    1
    """
    return len(_groups(now) - _groups(before))


def _groups(patients: Patients) -> set[frozenset[str]]:
    found: dict[Hashable, set[str]] = defaultdict(set)
    for record, patient in patients.items():
        found[patient].add(record)
    return set(map(frozenset, found.values()))


def linked_documents(patients: Patients, documents: Iterable[str]) -> set[str]:
    """Return the documents whose patient has another record.

    Args:
        patients: By record; a document is a record by its own name.
        documents: The names of documents.
    """
    sizes: dict[Hashable, int] = defaultdict(int)
    for patient in patients.values():
        sizes[patient] += 1
    return {
        each for each in documents if each in patients and sizes[patients[each]] > 1
    }
