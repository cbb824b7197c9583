"""The passes of a linkage: declared, or chosen by the fields' kinds."""

from dataclasses import dataclass
from itertools import combinations

from upstream.linkage.blocking.keys import BlockingError, Key, read_key
from upstream.linkage.declared import FieldKind, LinkageSpec

_ALONE: dict[FieldKind, tuple[str, ...]] = {
    "id": ("",),
    "email": ("",),
    "phone": ("last7",),
    "date": ("",),
    "address": ("",),
    "full_name": ("",),
    "name": ("sound",),
    "place": ("",),
    "code": ("",),
}
"""Parts of a kind that are a pass of their own: large blocks are left out of it."""

_TOGETHER: dict[FieldKind, str] = {
    "date": "year",
    "name": "sound",
    "code": "",
    "place": "sound",
    "full_name": "first4",
    "address": "first5",
}
"""The part of a kind by which it makes passes of two, the surest kinds first."""

_MOST = 24  # passes that are chosen


@dataclass(frozen=True, slots=True)
class Pass:
    """A rule that brings records together: those that agree on all its keys."""

    keys: tuple[Key, ...]

    def __str__(self) -> str:
        """Write its keys as they are declared."""
        return ", ".join(map(str, self.keys))

    @property
    def fields(self) -> frozenset[str]:
        """Return the fields on which records of a block agree."""
        return frozenset(key.field for key in self.keys)


def passes_of(spec: LinkageSpec) -> tuple[Pass, ...]:
    """Return the passes.

    Raises:
        BlockingError: A declared key is none, or nothing can be blocked by.
    """
    if spec.blocking is not None:
        found = [
            Pass(tuple(read_key(key, spec) for key in keys)) for keys in spec.blocking
        ]
        if not all(each.keys for each in found) or not found:
            message = "blocking: a pass without keys would compare all pairs"
            raise BlockingError(message)
        return tuple(dict.fromkeys(found))
    return _chosen(spec)


def _chosen(spec: LinkageSpec) -> tuple[Pass, ...]:
    """Return passes by the fields' kinds, the most selective first."""
    alone = [
        Pass((Key(name, part),))
        for kind, parts in _ALONE.items()
        for name, field in spec.fields.items()
        if field.kind == kind
        for part in parts
    ]
    keys = [
        Key(name, part)
        for kind, part in _TOGETHER.items()
        for name, field in spec.fields.items()
        if field.kind == kind
    ]
    together = [Pass(pair) for pair in combinations(keys, 2)]
    found = (*alone, *together)[:_MOST]
    if not found:
        found = tuple(Pass((Key(name, ""),)) for name in spec.fields)
    return found
