"""What a column of codes cannot hold, and what a text is beside its codes.

A load keeps codes of the hierarchy alone, as the files write them: in capital or small
letters, with dots or without, those of a built-in system with further characters. So a
text that is no code equals none, nor does a code begin with what no listed one begins
with; and a category, ``I50``, equals none of the codes within it.
"""

from bisect import bisect_left
from collections.abc import Sequence
from functools import cache, cached_property
from typing import Final

from privacy.schema import HierarchyDomain
from query_lang.hierarchies.code_systems import BUILT_IN, code_system
from query_lang.hierarchies.levels import (
    OwnHierarchies,
    level_values,
    levels_of,
    longest_code,
    normal_code,
)

MOST_CODES: Final = 20_000
"""Of an own hierarchy, to be looked through: nothing is known of longer ones."""


class SoughtCodes:
    """Tells of texts what the codes of one hierarchy say of them.

    Args:
        domain: Of the column.
        own: The dataset's own hierarchies.

    Attributes:
        name: Of the hierarchy.
        is_own: Whether it is one of the dataset's.
        steps: Codes that are read before the first text is looked for.
    """

    def __init__(self, domain: HierarchyDomain, own: OwnHierarchies) -> None:
        self.name = domain.name
        self._domain, self._own = domain, own
        self.is_own = domain.name not in BUILT_IN
        self.steps = len(own[self.name].codes) if self.is_own else 0
        self._is_long = self.steps > MOST_CODES

    def lacks(self, text: str) -> bool:
        """Whether a text is surely no code: other letters than ASCII's may be alike."""
        if not text.isascii() or self._is_long:
            return False
        if not self.is_own:
            return code_system(self.name).category_of(text) is None
        found, wanted = self._begun(text)
        return len(text) > self._longest or found != wanted

    def lacks_beginning(self, text: str) -> bool:
        """Whether surely no code begins so."""
        if not text.isascii() or self._is_long:
            return False
        found, wanted = self._begun(text)
        if found.startswith(wanted):
            return False
        if self.is_own:
            return True
        known = code_system(self.name).categories
        return not any(wanted[:length] in known for length in (3, 4))

    def category(self, text: str) -> str | None:
        """Return the category that a text is, alone, in a built-in system."""
        if self.is_own:
            return None
        found = code_system(self.name).category_of(text)
        alone = found is not None and found.category == text.upper()
        return found.category if found is not None and alone else None

    def level(self, text: str) -> str | None:
        """Return the call that gives a level of which a text is a value: ``icd_block``.

        With ``{}`` where the column stands.
        """
        if self._is_long:
            return None
        for level in levels_of(self._domain, self._own):
            if text in level_values(self._domain, level, self._own):
                return (
                    f"level({{}}, '{level}')" if self.is_own else f"icd_{level}({{}})"
                )
        return None

    def _begun(self, text: str) -> tuple[str, str]:
        """Return the first listed code that does not come before a text, and that."""
        wanted = normal_code(text) if self.is_own else text.upper()
        place = bisect_left(self._codes, wanted)
        return (self._codes[place] if place < len(self._codes) else ""), wanted

    @cached_property
    def _longest(self) -> int:
        return longest_code(self._own[self.name])

    @cached_property
    def _codes(self) -> Sequence[str]:
        if not self.is_own:
            return _categories(self.name)
        return sorted(map(normal_code, self._own[self.name].codes))


@cache
def _categories(name: str) -> Sequence[str]:
    return sorted(code_system(name).categories)
