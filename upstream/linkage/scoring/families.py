"""Which fields are a person's own, and which a whole family has."""

from collections.abc import Sequence

import numpy as np

from upstream.linkage.comparing.levels import Comparison
from upstream.linkage.declared import FieldKind, LinkageSpec
from upstream.linkage.scoring.samples import Sample

ALIKE = 0.03
"""How often two members of a family have one birth date, or one given name: about three
in a hundred births are twins', and as many children are believed to be namesakes."""
_PERSONAL: frozenset[FieldKind] = frozenset({"date", "id", "full_name"})
_AT_HOME: frozenset[FieldKind] = frozenset({"address", "phone", "place", "code"})
_SAME = 3  # fields of a home on which those agree who may live together
_ENOUGH = 2  # fields of a person's own that tell a family apart
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
