"""Trees of codes: of a code system, or of a hierarchy's file."""

from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import Literal

from upstream.anonymization.errors import HierarchyError
from upstream.anonymization.hierarchies.declared import code_hierarchy
from upstream.anonymization.hierarchies.files import read_hierarchy
from upstream.anonymization.hierarchies.hierarchy import Hierarchy
from upstream.errors import Problem
from upstream.trajectories.codes.icd9cm import icd9cm_tree
from upstream.trajectories.codes.tree import CodeTree, tree_of

System = Literal["icd9cm", "icd10", "icd10cm"]


def system_tree(system: System, codes: Iterable[str]) -> CodeTree:
    """Return the tree of a system over the codes of the data.

    Raises:
        HierarchyError: A text is no code of it.
    """
    known = sorted(set(codes))
    if system != "icd9cm":
        return hierarchy_tree(code_hierarchy(system, known))
    try:
        return icd9cm_tree(known)
    except ValueError as error:
        raise HierarchyError((Problem(system, None, None, str(error)),)) from error


def file_tree(path: Path, name: str, codes: Iterable[str]) -> CodeTree:
    """Return the tree of a hierarchy's file.

    Raises:
        HierarchyError: It is none, or lacks a code.
    """
    hierarchy = read_hierarchy(path, name)
    missing = set(codes) - set(hierarchy.labels[0])
    if missing:
        sentence = f"{len(missing)} codes of the data have no path: add them"
        raise HierarchyError((Problem(name, None, None, sentence),))
    return hierarchy_tree(hierarchy)


def hierarchy_tree(hierarchy: Hierarchy) -> CodeTree:
    """Return a hierarchy as a tree; a value that stays the same is one node.

    Raises:
        HierarchyError: A value stands for others in two places.
    """
    parents: dict[str, str] = {}
    for leaf in range(hierarchy.size):
        path = [
            str(labels[codes[leaf]])
            for labels, codes in zip(hierarchy.labels, hierarchy.codes, strict=True)
        ]
        for child, parent in pairwise(dict.fromkeys(path)):
            if parents.setdefault(child, parent) != parent:
                sentence = "a value stands below two others: give them other names"
                raise HierarchyError((Problem(hierarchy.name, None, None, sentence),))
    return tree_of(parents)
