"""Changes that need two persons, whole: what an approval binds to (PRIVACY 5)."""

import hashlib
from dataclasses import dataclass
from typing import Literal

from budget.chain.entries import canonical_json

Action = Literal[
    "population.create",
    "population.cap",
    "project.change",
    "dataset.load",
    "snapshot.activate",
    "overlap.override",
    "overlap.compare",
    "anonymized.grant",
    "release.publish",
]
"""What needs two persons; a population's range of losses cannot be changed at all."""


@dataclass(frozen=True, slots=True)
class Altered:
    """One fact that a change alters; None where there is no such value."""

    what: str
    old: object
    new: object


@dataclass(frozen=True, slots=True)
class Change:
    """A change that needs two persons, whole.

    ``population`` is None where it is about to be created.
    """

    action: Action
    population: str | None
    altered: tuple[Altered, ...]
    reason: str | None = None

    def text(self) -> str:
        """Return the one text of this change, which an approval binds to."""
        return canonical_json(
            {
                "action": self.action,
                "population": self.population,
                "altered": [
                    {"what": one.what, "old": one.old, "new": one.new}
                    for one in self.altered
                ],
                "reason": self.reason,
            }
        )

    def digest(self) -> str:
        """Return the sha256 of the text."""
        return hashlib.sha256(self.text().encode()).hexdigest()


def because(reason: str | None) -> dict[str, object]:
    """Return the fact of an entry that says why; none where no reason was given."""
    return {} if reason is None else {"reason": reason}


def limit_name(scope: str) -> str:
    """Return what changes and statements call the limit of a scope.

    >>> limit_name("principal:sepsis/ada")
    'allotment of ada in sepsis'
    """
    kind, _, name = scope.partition(":")
    project, _, member = name.partition("/")
    if member:
        return f"allotment of {member} in {project}"
    return f"{'cap' if kind == 'population' else 'allotment'} of {name}"


def shown_value(value: object) -> str:
    """Return a value of a change as people read it."""
    if value is None:
        return "none"
    return value if isinstance(value, str) else canonical_json(value)
