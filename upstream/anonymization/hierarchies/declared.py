"""Hierarchies of codes that the project has: ICD-9-CM, ICD-10, a manifest's own."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from privacy.schema import Hierarchy as DeclaredHierarchy
from privacy.schema import HierarchyDomain
from query_lang.hierarchies import level_of, levels_of
from upstream.anonymization.errors import HierarchyError
from upstream.anonymization.hierarchies.hierarchy import TOP, Hierarchy, hierarchy_of
from upstream.errors import Problem

_NONE: Mapping[str, DeclaredHierarchy] = MappingProxyType({})


def code_hierarchy(
    name: str, codes: Iterable[str], own: Mapping[str, DeclaredHierarchy] = _NONE
) -> Hierarchy:
    """Return a hierarchy of codes by the levels of a code system, with a top.

    A level on which a code has no value takes the code's value below. The levels of an
    own hierarchy are taken from the one with most values to the one with fewest.

    Args:
        name: ``icd10``, ``icd10cm``, ``icd9cm``, or one of ``own``.
        codes: The leaves; repeats count once.
        own: The manifest's own hierarchies.

    Raises:
        HierarchyError: Nothing is called so, a code is none of the system's, or levels
            do not nest.

    >>> code_hierarchy("icd10", ["E11.9", "I10"]).height
    4
    """
    leaves = sorted(set(codes))
    domain = HierarchyDomain(name)
    try:
        names = levels_of(domain, own)
    except KeyError as error:
        sentence = f"no hierarchy is called {name!r}: declare it, or name another"
        raise HierarchyError((Problem(name, None, None, sentence),)) from error
    found = {
        level: [level_of(domain, level, code, own) for code in leaves]
        for level in names
    }
    unknown = sum(not any(row) for row in zip(*found.values(), strict=True))
    if unknown:
        sentence = f"{unknown} of the codes are none of this system: mend them first"
        raise HierarchyError((Problem(name, None, None, sentence),))
    # Of levels with as many values, what is named later is narrower, as elsewhere.
    order = {level: (-len(set(found[level])), -names.index(level)) for level in names}
    upward = sorted(names, key=order.__getitem__)
    paths = []
    for place, code in enumerate(leaves):
        path = [code]
        for level in upward:
            path.append(found[level][place] or path[-1])
        paths.append([*path, TOP])
    return hierarchy_of(name, paths)
