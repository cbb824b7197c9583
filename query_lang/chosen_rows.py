"""Whether noise decides which rows are shown: a public fact of the text."""

from query_lang.compiled import (
    AverageShown,
    KeyShown,
    NoisyAnd,
    NoisyComparison,
    NoisyCondition,
    NoisyIn,
    NoisyIsNull,
    NoisyNot,
    NoisyOr,
    NumberShown,
    Presentation,
    QuantileShown,
    QueryWarning,
)

_MEASURED = (NumberShown, AverageShown, QuantileShown)

_DETAIL = (
    "noisy values decide which rows are shown, and those that noise raised come "
    "first: half-widths and intervals are of each cell before that choice, so of "
    "the rows shown more than one in twenty may lie outside; without HAVING and LIMIT "
    "all cells come back for the same epsilon"
)


def chosen_warnings(presentation: Presentation) -> tuple[QueryWarning, ...]:
    """Return the warning ``rows_chosen``, where noisy values choose rows."""
    if not is_chosen_by_noise(presentation):
        return ()
    return (QueryWarning("rows_chosen", _DETAIL),)


def is_chosen_by_noise(presentation: Presentation) -> bool:
    """Whether HAVING, or ORDER BY with LIMIT, reads what is noisy."""
    if presentation.having is not None and _is_noisy(presentation.having):
        return True
    ordered = any(not isinstance(term.value, KeyShown) for term in presentation.order)
    return presentation.limit is not None and ordered


def _is_noisy(condition: NoisyCondition) -> bool:
    match condition:
        case NoisyAnd(items) | NoisyOr(items):
            return any(_is_noisy(item) for item in items)
        case NoisyNot(item):
            return _is_noisy(item)
        case NoisyComparison(left=left, right=right):
            read: tuple[object, ...] = (left, right)
        case NoisyIn(value=value) | NoisyIsNull(value=value):
            read = (value,)
        case _:  # of keys or literals alone
            read = ()
    return any(isinstance(each, _MEASURED) for each in read)
