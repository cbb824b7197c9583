"""Whether noise decides which rows are shown: a public fact of the text."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from query_lang.plans.compiled import (
    CompiledQuery,
    NoisyComparison,
    NoisyCondition,
    Presentation,
    QueryWarning,
    WindowShown,
    is_noisy,
    windows_in,
)
from query_lang.showing.noisy_conditions import shown_in
from query_lang.showing.presentation import chosen_cells

_DETAIL = (
    "noisy values decide which rows are shown, and those that noise raised come "
    "first: half-widths and intervals of the answer are wider than those of a plan, so "
    "that over many answers few rows shown are wrong; where rows are seldom shown, "
    "most of those that are may be wrong; without HAVING and LIMIT all "
    "cells come back for the same epsilon"
)


def chosen_warnings(presentation: Presentation) -> tuple[QueryWarning, ...]:
    """Return the warning ``rows_chosen``, where noisy values choose rows."""
    if not is_chosen_by_noise(presentation):
        return ()
    return (QueryWarning("rows_chosen", _DETAIL),)


def shown_confidence(
    compiled: CompiledQuery,
    noisy_vectors: Sequence[Sequence[int]],
    confidence: Fraction,
) -> Fraction:
    """Return the confidence at which half-widths of the rows that are shown are made.

    Of rows that noise chose, the expected share that lies outside is then at most
    1 - ``confidence``; of all rows, each lies inside with ``confidence``.

    Args:
        compiled: The query.
        noisy_vectors: One a measure, on its grid.
        confidence: That is to hold of what is shown.

    Source: Benjamini and Yekutieli 2005; docs/proofs/presentation.md.
    """
    if not is_chosen_by_noise(compiled.presentation):
        return confidence
    least = _least_shown(compiled, noisy_vectors)
    part = Fraction(max(1, least), compiled.row_count)
    return 1 - (1 - confidence) * part


def _least_shown(
    compiled: CompiledQuery, noisy_vectors: Sequence[Sequence[int]]
) -> int:
    """Return the fewest rows that are shown whatever the noise of one of them was.

    What chooses each row by its own noise, or by a place in an order, shows as many. Of
    other windows, one row's noise may choose others.
    """
    presentation = compiled.presentation
    if presentation.sets:  # rows share noise
        return 1
    kept = presentation.kept
    if kept is not None and _reads_others(kept):
        first = _first_places(kept)
        if first is None:
            return 1
        presentation = replace(presentation, kept=first)
        compiled = replace(compiled, presentation=presentation)
    return len(chosen_cells(compiled, noisy_vectors))


def _reads_others(condition: NoisyCondition) -> bool:
    """Whether noise of other rows decides about a row."""
    return any(
        is_noisy(window) for s in shown_in(condition) for window in windows_in(s)
    )


def _first_places(condition: NoisyCondition) -> NoisyCondition | None:
    """Return ``RANK <= k`` as ROW_NUMBER <= k, which no more rows fulfil; else None."""
    match condition:
        case NoisyComparison(operator, WindowShown(name) as window, int()):
            in_front = name in {"rank", "dense_rank"} and operator in {"<", "<="}
            if in_front or name == "row_number":
                return replace(condition, left=replace(window, name="row_number"))
        case _:
            pass
    return None


def is_chosen_by_noise(presentation: Presentation) -> bool:
    """Whether HAVING, QUALIFY, or ORDER BY with LIMIT, reads what is noisy."""
    for condition in (presentation.having, presentation.kept):
        if condition is not None and _is_noisy(condition):
            return True
    ordered = any(is_noisy(term.value) for term in presentation.order)
    return presentation.limit is not None and ordered


def _is_noisy(condition: NoisyCondition) -> bool:
    return any(is_noisy(shown) for shown in shown_in(condition))
