"""Where the values stand that keys and measures are of."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from query_lang.binding.environment import Environment
from query_lang.plans.expressions import Expression, FieldRef
from query_lang.plans.nodes import Item


@dataclass(frozen=True, slots=True)
class Slots:
    """One slot for each value; those of columns are there already."""

    environment: Environment
    _found: dict[Expression, int] = field(default_factory=dict)

    def of(self, value: Expression) -> int:
        """Return the slot of a value."""
        if isinstance(value, FieldRef):
            return self._found.setdefault(value, value.slot)
        if value not in self._found:
            self._found[value] = self.environment.new_slot()
        return self._found[value]

    def computed(self) -> Iterator[Item]:
        """Yield what is computed below the measures, each for its slot."""
        for value, slot in self._found.items():
            if not isinstance(value, FieldRef):
                yield slot, value
