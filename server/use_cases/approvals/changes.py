"""Changes that need two persons, whole: what an approval binds to (PRIVACY 5)."""

import hashlib
from dataclasses import asdict, dataclass
from typing import Literal

from budget.chain.entries import canonical_json
from budget.ledger import Scope
from privacy.losses import Loss

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


Kind = Literal[
    "limit",
    "project_fact",
    "population",
    "declaration",
    "active_snapshot",
    "public_rows",
    "release",
    "release_snapshot",
    "copy",
    "copy_held",
]


@dataclass(frozen=True, slots=True)
class Subject:
    """What an altered fact is of, for programs: its words are for people alone.

    Attributes:
        kind: What it is.
        name: The scope of a limit, or the project, population, dataset, release or
            copy.
        part: A column of a project, the place of a declaration, a public table, what
            a second person reads of a copy, or who holds one.
    """

    kind: Kind
    name: str
    part: str = ""


@dataclass(frozen=True, slots=True)
class Altered:
    """One fact that a change alters; None where there is no such value.

    Two subjects never have the same words, so that an approval of the words is one of
    the subject. There is none where no program asks.
    """

    what: str
    old: object
    new: object
    subject: Subject | None = None

    @classmethod
    def limit(cls, scope: Scope, old: Loss, new: Loss) -> "Altered":
        """Return the change of a cap or an allotment."""
        text = str(scope)
        return cls(limit_name(text), str(old), str(new), Subject("limit", text))

    def document(self) -> dict[str, object]:
        """Return it as it is shown, and as approvals bind to it."""
        return {"new": self.new, "old": self.old, "what": self.what}


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
        return self._written([one.document() for one in self.altered])

    def stored(self) -> str:
        """Return the text with what each fact is of, for programs."""
        told = [
            {**one.document(), "subject": one.subject and asdict(one.subject)}
            for one in self.altered
        ]
        return self._written(told)

    def _written(self, altered: list[dict[str, object]]) -> str:
        return canonical_json(
            {
                "action": self.action,
                "population": self.population,
                "altered": altered,
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
    if kind == "block":
        return f"cap of block {member} of {project}"
    if member:
        return f"allotment of {member} in {project}"
    return f"{'cap' if kind == 'population' else 'allotment'} of {name}"


def shown_value(value: object) -> str:
    r"""Return a value of a change as people read it, within a line.

    >>> shown_value("sepsis"), shown_value("sepsis\ncap of people: 5 -> 1")
    ('sepsis', '"sepsis\\ncap of people: 5 -> 1"')
    """
    if value is None:
        return "none"
    if isinstance(value, str) and value.isprintable() and value:
        return value
    return canonical_json(value)
