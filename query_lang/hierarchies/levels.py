"""Levels of a hierarchy: their names, values, and the value of a code."""

from collections.abc import Callable, Iterator, Mapping

from privacy.schema import Hierarchy, HierarchyDomain
from query_lang.hierarchies.code_systems import BUILT_IN, code_system

LEVELS = ("chapter", "block", "category")
"""The levels of the built-in code systems, widest first."""

OwnHierarchies = Mapping[str, Hierarchy]


def levels_of(domain: HierarchyDomain, own: OwnHierarchies) -> tuple[str, ...]:
    """Return the names of the levels, widest first (own ones as their file has them).

    Raises:
        KeyError: The hierarchy is neither built in nor one of ``own``.
    """
    return LEVELS if domain.name in BUILT_IN else own[domain.name].levels


def level_values(
    domain: HierarchyDomain, level: str, own: OwnHierarchies
) -> tuple[str, ...]:
    """Return the values of a level in published order, an own one's as they appear.

    Raises:
        KeyError: The hierarchy is neither built in nor one of ``own``.
        ValueError: It has no such level.
    """
    index = levels_of(domain, own).index(level)
    if domain.name in BUILT_IN:
        categories = code_system(domain.name).categories.values()
        return tuple(dict.fromkeys(getattr(c, level) for c in categories))
    rows = own[domain.name].codes.values()
    return tuple(dict.fromkeys(v for row in rows if (v := row[index]) is not None))


def level_of(
    domain: HierarchyDomain, level: str, code: str, own: OwnHierarchies
) -> str | None:
    """Return the value of a code on a level, or None for what is no code.

    Codes of the built-ins are read in capital or small letters: a category of the list,
    a dot or none, and up to four further letters or digits. Own codes are read without
    dots, in capital or small letters; a text of more than twice the bytes of the
    longest one is none.

    Raises:
        KeyError: The hierarchy is neither built in nor one of ``own``.
        ValueError: It has no such level.
    """
    index = levels_of(domain, own).index(level)
    if domain.name in BUILT_IN:
        found = code_system(domain.name).category_of(code)
        return None if found is None else str(getattr(found, level))
    if len(code.encode("utf-8", "surrogatepass")) > longest_code(own[domain.name]):
        return None
    codes = own[domain.name].codes.items()
    rows = [row for known, row in codes if normal_code(known) == normal_code(code)]
    return rows[0][index] if rows else None


def code_of_level(
    domain: HierarchyDomain, level: str, own: OwnHierarchies
) -> dict[str, str]:
    """Return for each value of a level one code that lies in it, the first listed.

    Raises:
        KeyError: The hierarchy is neither built in nor one of ``own``.
        ValueError: It has no such level.
    """
    found: dict[str, str] = {}
    for code, value in _listed(domain, level, own):
        if value is not None:
            found.setdefault(value, code)
    return found


def level_follows(
    domain: HierarchyDomain, wanted: str, known: str, own: OwnHierarchies
) -> bool:
    """Whether the value on one level says what it is on another, for every code.

    Raises:
        KeyError: The hierarchy is neither built in nor one of ``own``.
        ValueError: It has no such level.
    """
    seen: dict[str | None, str | None] = {}
    pairs = zip(_listed(domain, known, own), _listed(domain, wanted, own), strict=True)
    return all(seen.setdefault(fine, wide) == wide for (_, fine), (_, wide) in pairs)


def _listed(
    domain: HierarchyDomain, level: str, own: OwnHierarchies
) -> list[tuple[str, str | None]]:
    """Return every listed code with its value on a level."""
    index = levels_of(domain, own).index(level)
    if domain.name in BUILT_IN:
        known = code_system(domain.name).categories.items()
        return [(code, str(getattr(found, level))) for code, found in known]
    return [(code, row[index]) for code, row in own[domain.name].codes.items()]


def listed_codes(
    domain: HierarchyDomain, own: OwnHierarchies
) -> Iterator[tuple[str, tuple[str | None, ...]]]:
    """Yield each listed code, as ``listed_as`` has it, and its values on all levels.

    Raises:
        KeyError: The hierarchy is neither built in nor one of ``own``.
    """
    if domain.name in BUILT_IN:
        for code, found in code_system(domain.name).categories.items():
            yield code, (found.chapter, found.block, found.category)
        return
    for code, row in own[domain.name].codes.items():
        yield normal_code(code), tuple(row)


def listed_as(
    domain: HierarchyDomain, own: OwnHierarchies
) -> Callable[[str], str | None]:
    """Return what says as which listed code a text is read: None for what is no code.

    Of a built-in system that is its category.

    Raises:
        KeyError: The hierarchy is neither built in nor one of ``own``.
    """
    if domain.name in BUILT_IN:
        return lambda code: _category_name(domain, code)
    most = longest_code(own[domain.name])
    known = {*map(normal_code, own[domain.name].codes)}

    def listed(code: str) -> str | None:
        found = normal_code(code)
        return found if _utf8(code) <= most and found in known else None

    return listed


def _category_name(domain: HierarchyDomain, code: str) -> str | None:
    found = code_system(domain.name).category_of(code)
    return None if found is None else found.category


def code_count(domain: HierarchyDomain, own: OwnHierarchies) -> int:
    """Return how many codes are listed: categories of a built-in, or own codes.

    Raises:
        KeyError: The hierarchy is neither built in nor one of ``own``.
    """
    if domain.name in BUILT_IN:
        return len(code_system(domain.name).categories)
    return len(own[domain.name].codes)


def is_code(domain: HierarchyDomain, code: str, own: OwnHierarchies) -> bool:
    """Return whether a text is a code of the hierarchy.

    Raises:
        KeyError: The hierarchy is neither built in nor one of ``own``.
    """
    if domain.name in BUILT_IN:
        return code_system(domain.name).category_of(code) is not None
    return code in own[domain.name].codes


def longest_code(hierarchy: Hierarchy) -> int:
    """Return the most bytes that a text may have to be read as one of the codes.

    Twice the longest one listed: dots may stand between all its characters, but not
    thousands of them, since each that is left out takes time.

    >>> longest_code(Hierarchy("own", ("part",), {"C1.2": ("a",), "C2": ("b",)}))
    8
    """
    return 2 * max(map(_utf8, hierarchy.codes), default=0)


def _utf8(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def normal_code(code: str) -> str:
    """Return an own code as it is compared: in capital letters, without dots.

    >>> normal_code("y.1")
    'Y1'
    """
    letters = (c.upper() if len(c.upper()) == 1 else c for c in code)
    return "".join(letters).replace(".", "")
