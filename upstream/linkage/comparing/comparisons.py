"""The comparisons of a linkage, by its fields' kinds."""

from collections.abc import Callable

from upstream.linkage.comparing.levels import Comparison
from upstream.linkage.comparing.names import full_name_comparison, name_comparison
from upstream.linkage.comparing.numbers import (
    amount_comparison,
    code_comparison,
    date_comparison,
    id_comparison,
    phone_comparison,
)
from upstream.linkage.comparing.texts import (
    address_comparison,
    category_comparison,
    email_comparison,
    place_comparison,
)
from upstream.linkage.declared import FieldKind, LinkageSpec

_ALONE: dict[FieldKind, Callable[[str], Comparison]] = {
    "full_name": full_name_comparison,
    "date": date_comparison,
    "phone": phone_comparison,
    "email": email_comparison,
    "id": id_comparison,
    "place": place_comparison,
    "code": code_comparison,
    "category": category_comparison,
    "number": amount_comparison,
}
_SWAPPABLE = {"name": name_comparison, "address": address_comparison}
_MOST_SWAPPED = 3  # fields of a kind between which swaps are looked for


def comparisons_of(spec: LinkageSpec) -> tuple[Comparison, ...]:
    """Return how each field is compared, in the order of the declaration."""
    return tuple(_of(spec, name, field.kind) for name, field in spec.fields.items())


def _of(spec: LinkageSpec, name: str, kind: FieldKind) -> Comparison:
    if kind not in _SWAPPABLE:
        return _ALONE[kind](name)
    same = [other for other, field in spec.fields.items() if field.kind == kind]
    near, place = same[:_MOST_SWAPPED], same.index(name)
    if place >= _MOST_SWAPPED:
        near = []
    return _SWAPPABLE[kind](name, near[:place], near[place + 1 :])
