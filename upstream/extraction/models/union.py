"""The union of what several models found: whatever one of them found is kept.

Source: DAST (Liu et al. 2017), module 1.3. Where finders disagree about a type, the
riskier one wins: direct identifiers before indirect ones before health terms.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from enum import IntEnum

from upstream.extraction.text.covered import Covered
from upstream.extraction.text.spans import Span


class Risk(IntEnum):
    """What a type tells of a person, the riskiest first."""

    DIRECT = 0  # names, numbers: an identifier by itself (EID)
    INDIRECT = 1  # dates, ages, places: with others (QID)
    HEALTH = 2  # symptoms, diagnoses, treatments (HMD)


def union(
    found: Iterable[Iterable[Span]], risks: Mapping[str, Risk] | None = None
) -> tuple[Span, ...]:
    """Return the union of spans, in order, none over another.

    Spans of one type that overlap become one that covers them, as sure as the surest;
    of those of several types the riskier keeps its characters, then the surer, then
    the longer, and the other what is left of it beside them.

    Args:
        found: The spans of each finder.
        risks: The risk of types; a type that is not here is a direct identifier.

    >>> (span,) = union([[Span(0, 5, "NAME", 0.9)], [Span(3, 8, "NAME", 0.6)]])
    >>> span.start, span.end, span.score
    (0, 8, 0.9)
    """
    told = risks or {}
    merged = _merged(span for spans in found for span in spans)
    ranked = sorted(
        merged,
        key=lambda span: (
            told.get(span.label, Risk.DIRECT),
            -span.score,
            span.start - span.end,
            span,
        ),
    )
    kept: list[Span] = []
    covered = Covered()
    for span in ranked:
        for start, end in list(covered.beside(span.start, span.end)):
            kept.append(replace(span, start=start, end=end))
        covered.add(span.start, span.end)
    return tuple(sorted(kept))


def fill(spans: Iterable[Span], others: Iterable[Span]) -> tuple[Span, ...]:
    """Return spans, and those of others that lie over none of them, in order.

    Of others that lie over each other the surest is taken, then the longest.

    >>> fill([Span(0, 5, "NAME")], [Span(4, 9, "DATE"), Span(7, 9, "DATE")])[1].start
    7
    """
    kept = list(spans)
    ranked = sorted(others, key=lambda span: (-span.score, span.start - span.end, span))
    covered = Covered((span.start, span.end) for span in kept)
    for span in ranked:
        if not covered.meets(span.start, span.end):
            kept.append(span)
            covered.add(span.start, span.end)
    return tuple(sorted(kept))


def _merged(spans: Iterable[Span]) -> list[Span]:
    merged: list[Span] = []
    for span in sorted(spans, key=lambda span: (span.label, span)):
        last = merged[-1] if merged else None
        if last and last.label == span.label and last.covers(span):
            merged[-1] = _joined(last, span)
        else:
            merged.append(span)
    return merged


def _joined(one: Span, other: Span) -> Span:
    surer = max(one, other, key=lambda span: span.score)
    sources = sorted({*one.source.split("+"), *other.source.split("+")})
    return replace(
        surer,
        start=min(one.start, other.start),
        end=max(one.end, other.end),
        source="+".join(sources),
    )
