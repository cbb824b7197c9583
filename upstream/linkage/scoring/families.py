"""Which fields are a person's own, and which a whole family has."""

from collections.abc import Iterator, Sequence

import numpy as np

from upstream.linkage.comparing.levels import Comparison
from upstream.linkage.declared import FieldKind, LinkageSpec
from upstream.linkage.scoring.samples import Sample

_PERSONAL: frozenset[FieldKind] = frozenset({"date", "id", "full_name"})
_AT_HOME: frozenset[FieldKind] = frozenset({"address", "phone", "place", "code"})
_SAME = 3  # fields of a home on which those agree who may live together
_ENOUGH = 2  # fields of a person's own that tell a family apart
_SHARE = 0.04  # of who live together with one name: from then on there are families
_LEAST = 3  # such pairs in a sample
_FAMILY_NAME = 1.2  # times as often as the others it agrees where addresses do


def personal_fields(
    spec: LinkageSpec,
    comparisons: Sequence[Comparison],
    samples: Sequence[Sample],
) -> set[str]:
    """Return the fields on which members of a family agree by accident alone.

    Dates (of birth), ids and whole names are; of several names all but the one that
    agrees most often among those who agree on an address or a phone number, if one does
    clearly: it is the family's. A single such field does not tell a family from a
    patient whose value was mistaken once, so then there are none.
    """
    found = {name for name, field in spec.fields.items() if field.kind in _PERSONAL}
    names = {
        each.field: place
        for place, each in enumerate(comparisons)
        if spec.fields[each.field].kind == "name"
    }
    if len(names) > 1:
        found |= names.keys() - _of_families(spec, names, samples)
    return found if len(found) >= _ENOUGH else set()


def _of_families(
    spec: LinkageSpec,
    names: dict[str, int],
    samples: Sequence[Sample],
) -> set[str]:
    """Return the name that families share, if the data show one."""
    agreeing = dict.fromkeys(names, 0.0)
    kinds = [field.kind for field in spec.fields.values()]
    home = [place for place, kind in enumerate(kinds) if kind in _AT_HOME]
    own = [place for place, kind in enumerate(kinds) if kind in _PERSONAL]
    for sample in samples:
        if sample.silent[[*names.values(), *own]].any():
            continue
        at_home = (sample.codes[:, home] == 1).sum(axis=1) >= min(_SAME, len(home))
        for name, place in names.items():
            same = at_home & (sample.codes[:, place] == 1)
            agreeing[name] += float(np.sum(sample.drawn[same]))
    first, *others = sorted(agreeing, key=lambda name: (-agreeing[name], name))
    if agreeing[first] > _FAMILY_NAME * agreeing[others[0]]:
        return {first}
    return set()


def guarded_fields(
    spec: LinkageSpec,
    comparisons: Sequence[Comparison],
    samples: Sequence[Sample],
) -> tuple[str, ...]:
    """Return in which fields two records of one patient never differ wholly.

    A date (of birth), and the name that tells the members of a family apart, if the
    data show families: pairs of one home and one family name that differ in both. Where
    these are, who differs in one alone may be a twin, or a child named as its parent.
    Where there are none, as in files of made-up slips, one that differs is a slip.
    """
    found: dict[str, float] = {}
    for date, name in _own_pairs(spec, comparisons):
        share = _families_share(spec, comparisons, samples, (date, name))
        if share >= _SHARE:
            for place in date, name:
                field = comparisons[place].field
                found[field] = max(share, found.get(field, 0.0))
    dates = [field for field in found if spec.fields[field].kind == "date"]
    names = sorted(found.keys() - dates, key=lambda field: (-found[field], field))
    return (*dates, *names[:1])


def _own_pairs(
    spec: LinkageSpec, comparisons: Sequence[Comparison]
) -> Iterator[tuple[int, int]]:
    """Yield the places of each date with those of each name."""
    kinds = [spec.fields[each.field].kind for each in comparisons]
    for date in (place for place, kind in enumerate(kinds) if kind == "date"):
        for name, kind in enumerate(kinds):
            if kind in {"name", "full_name"}:
                yield date, name


def _families_share(
    spec: LinkageSpec,
    comparisons: Sequence[Comparison],
    samples: Sequence[Sample],
    own: tuple[int, int],
) -> float:
    """Return which part of the pairs of one home and other names differs in both."""
    kinds = [spec.fields[each.field].kind for each in comparisons]
    home = [place for place, kind in enumerate(kinds) if kind in _AT_HOME]
    others = [
        place for place, kind in enumerate(kinds) if kind == "name" and place not in own
    ]
    both, either = 0.0, 0.0
    for sample in samples:
        if sample.whole not in home:
            continue
        codes = sample.codes
        same = (codes[:, home] == 1).sum(axis=1)
        chosen = same == (codes[:, home] > 0).sum(axis=1)
        chosen &= same >= min(_SAME, len(home))
        for place in others:
            chosen &= (codes[:, place] > 0) & (
                codes[:, place] <= comparisons[place].near
            )
        known, differ = chosen.copy(), chosen.copy()
        for place in own:
            level = codes[:, place]
            last = len(comparisons[place].levels)
            known &= (level == last) | (
                (level > 0) & (level <= comparisons[place].near)
            )
            differ &= level == last
        both += float(sample.drawn[differ].sum())
        either += float(sample.drawn[known].sum())
    return both / either if both >= _LEAST else 0.0
