"""Whether what a proposed change alters is still what it was when it was proposed.

Nobody should approve of "cap 0 -> 5" while the cap is 6: the change cannot be made, and
if the cap came back to 0 it would be made in other circumstances than those approved.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, Row, func, select

from budget.chain.writing import read_accounts
from budget.ledger import Scope
from budget.reading.statements import EntryLine, read_entries
from budget.storage.tables import chain
from privacy.losses import Loss
from server.persistence import tables
from server.persistence.release_names import is_name_taken
from server.use_cases.approvals.changes import Altered, Kind, Subject, shown_value
from server.use_cases.approvals.declarations import (
    Declared,
    ever_declared,
    population_facts,
    stored_population,
)
from server.use_cases.approvals.stored_changes import read_altered

_THERE = "there already"
_PUBLIC = ": public"
COPY_GRANTED: Final = "anonymized.grant"
"""The action of an entry: somebody gets an anonymized copy."""
COPY_DELETED: Final = "anonymized.delete"

Found = list[tuple[str, str, str]]
"""What differs: its name, what it is now, what it was."""


@dataclass(frozen=True, slots=True)
class Proposed:
    """A proposed change, as it is stored."""

    id: str
    action: str
    population: str | None
    altered: tuple[Altered, ...]

    @classmethod
    def of(cls, row: Row[tuple[object, ...]]) -> "Proposed":
        """Return the change of a proposal."""
        population = None if row.population is None else str(row.population)
        altered = read_altered(str(row.change))
        return cls(str(row.id), str(row.action), population, tuple(altered))

    def of_kind(self, *kinds: Kind) -> Iterator[tuple[Altered, Subject]]:
        """Yield the altered facts of some kinds, each with what it is of."""
        for one in self.altered:
            if one.subject is not None and one.subject.kind in kinds:
                yield one, one.subject


def stale_words(connection: Connection, proposed: Proposed) -> list[str]:
    """Return, in words, what is no longer as the proposer saw it; empty if all is.

    It reads nothing of other populations than the proposal's own: whether one that is
    to be created is there by now is all that is asked of one that has none.
    """
    look = _LOOKS.get(proposed.action)
    if look is None:
        return []
    found = look(connection, proposed)
    differing = {what for what, _, _ in found}
    return [f"{what} is {now} now, not {old}" for what, now, old in found] + [
        f"{what} was set since, and is again what it was"
        for what in set_since(connection, proposed)
        if what not in differing
    ]


def set_since(connection: Connection, proposed: Proposed) -> list[str]:
    """Return the limits and facts that were set since they were proposed otherwise.

    Whoever sets a cap to 0 stops what was agreed before, also where it was 0 then.
    """
    watched = {of: one.what for one, of in proposed.of_kind("limit", "project_fact")}
    if not watched:
        return []
    later = _since(connection, proposed, "admin", "reconcile")
    return sorted(
        {watched[of] for entry in later for of in _set_by(entry) & watched.keys()}
    )


def _since(
    connection: Connection, proposed: Proposed, *kinds: str, naming: str | None = None
) -> Iterable[EntryLine]:
    """Return the entries behind the one that proposes a change; none while it is."""
    made = connection.execute(
        select(func.min(chain.c.seq)).where(
            chain.c.kind == "admin",
            chain.c.body.contains('"proposal.create"'),
            chain.c.body.contains(proposed.id),  # nobody knew this id before
        )
    ).scalar_one()
    if made is None:
        return []
    return read_entries(connection, *kinds, after=made, naming=naming)


def _set_by(entry: EntryLine) -> set[Subject]:
    """Return the limits and facts of projects that an entry sets."""
    limits = entry.body.get("limits")
    changes = entry.body.get("changes")
    scopes = limits if isinstance(limits, dict) else ()
    found = {Subject("limit", scope) for scope in scopes}
    for change in changes if isinstance(changes, list) else ():
        if change["table"] == tables.project.name and "update" in change:
            name = change["key"]["name"]
            columns = change["update"]
            found |= {Subject("project_fact", name, column) for column in columns}
    return found


def created_name(altered: Altered) -> str | None:
    """Return the population that a changed fact is about to create, if it is."""
    subject = altered.subject
    return subject.name if subject and subject.kind == "population" else None


def _creation(connection: Connection, proposed: Proposed) -> Found:
    if proposed.population is not None:
        return []  # an overlap's patients are compared when the load is repeated
    named = {of.name for _, of in proposed.of_kind("population")}
    rows = connection.execute(
        select(tables.population.c.name).where(tables.population.c.name.in_(named))
    ).scalars()
    return [(f"population {name}", _THERE, "none") for name in rows]


def _limits(connection: Connection, proposed: Proposed) -> Found:
    found = []
    for one, subject in proposed.of_kind("limit", "project_fact"):
        now = _limit_or_fact(connection, subject)
        if now != one.old:
            found.append((one.what, shown_value(now), shown_value(one.old)))
    return found


def _limit_or_fact(connection: Connection, subject: Subject) -> object:
    """Return a cap, an allotment or a fact of a project, as changes write it."""
    if subject.kind == "project_fact":
        column = tables.project.c[subject.part]
        wanted = select(column).where(tables.project.c.name == subject.name)
        return connection.execute(wanted).scalar_one_or_none()
    kind, _, name = subject.name.partition(":")
    scope = Scope(kind, name)
    limit = read_accounts(connection, [scope])[scope].limit
    return None if limit is None else str(Loss(limit))


def _activation(connection: Connection, proposed: Proposed) -> Found:
    """Look at the pointer alone: declarations are compared with what it names."""
    pointer, _ = next(proposed.of_kind("active_snapshot"))
    active = _active_beside(connection, pointer.new)
    if active == pointer.old:
        return []
    return [(pointer.what, shown_value(active), shown_value(pointer.old))]


def _active_beside(connection: Connection, snapshot: object) -> str | None:
    """Return the active snapshot of the dataset that a snapshot is of."""
    active: str | None = connection.execute(
        select(tables.dataset.c.active_snapshot)
        .join(tables.snapshot, tables.snapshot.c.dataset == tables.dataset.c.name)
        .where(tables.snapshot.c.id == snapshot)
    ).scalar_one_or_none()
    return active


def _load(connection: Connection, proposed: Proposed) -> Found:
    if proposed.population is None:
        return _creation(connection, proposed)
    declared = list(proposed.of_kind("declaration"))
    name = declared[0][1].name
    known = tables.dataset
    dataset = connection.execute(
        select(known).where(
            known.c.name == name, known.c.population == proposed.population
        )
    ).one_or_none()
    if dataset is None:
        return []  # it is new, as it was
    today = _declared(connection, dataset)
    found = []
    stored = stored_population(connection, proposed.population) or {}
    population = population_facts(stored)
    for one, subject in declared:
        place = subject.part
        known_as = [*today.known_as(place), *_told(population, place)]
        if one.old not in known_as:
            now = shown_value(known_as[-1])
            found.append((one.what, now, shown_value(one.old)))
    return found


def _told(facts: Mapping[str, object], place: str) -> list[object]:
    return [facts[place]] if place in facts else []


@dataclass(frozen=True, slots=True)
class _DeclaredNow:
    """What the active snapshot declares by place, and all that was ever declared."""

    active: Mapping[str, object]
    earlier: Mapping[str, list[object]]
    specs: Mapping[str, object]  # tables of the active snapshot, whole

    def known_as(self, place: str) -> list[object]:
        """Return the old values that a load may alter here, as changes write them.

        What becomes public is altered whole, from the active table or from none.
        """
        told = self.earlier.get(place, [None])
        found = [self.active[place]] if place in self.active else [*told]
        table = place.removesuffix(_PUBLIC)
        return [*found, self.specs.get(table)] if table != place else found


def _declared(connection: Connection, dataset: Row[tuple[object, ...]]) -> _DeclaredNow:
    every = ever_declared(connection, dataset)
    active = every[str(dataset.active_snapshot)]
    earlier: dict[str, list[object]] = {}
    for declared in every.values():
        for place, value in _flat(declared).items():
            earlier.setdefault(place, []).append(value)
    return _DeclaredNow(_flat(active), earlier, active.table_specs())


def _flat(declared: Declared) -> dict[str, object]:
    return {
        place: value
        for facts in declared.facts().values()
        for place, value in facts.items()
    }


def _publication(connection: Connection, proposed: Proposed) -> Found:
    found = []
    for one, subject in proposed.of_kind("release", "release_snapshot"):
        if subject.kind == "release_snapshot":
            active = _active_beside(connection, one.new)
            if active != one.new:
                found.append((one.what, shown_value(active), shown_value(one.new)))
        elif is_name_taken(connection, subject.name, proposed.population):
            found.append((one.what, _THERE, "none"))
    return found


def _hand_out(connection: Connection, proposed: Proposed) -> Found:
    """Look whether a copy is still there, and who else holds one of its people's."""
    own = {subject.name for _, subject in proposed.of_kind("copy")}
    known = {(of.name, of.part) for _, of in proposed.of_kind("copy_held")}
    found = []
    later = _since(connection, proposed, "admin", naming='"anonymized.')
    for entry in later:
        action, facts = entry.body.get("action"), entry.body.get("facts")
        if action not in (COPY_GRANTED, COPY_DELETED) or not isinstance(facts, dict):
            continue
        copy, named = facts["copy"], f"{facts['name']} ({facts['copy']})"
        if action == COPY_DELETED and copy in own:
            found.append((f"anonymized copy {named}", "deleted", "there"))
        holder = copy, facts.get("recipient")
        is_other = facts["population"] == proposed.population and copy not in own
        if action == COPY_GRANTED and is_other and holder not in known:
            what = f"the holder of {named}, a copy of the same people,"
            found.append((what, str(holder[1]), "nobody"))
    return found


_LOOKS: dict[str, Callable[[Connection, Proposed], Found]] = {
    "population.create": _creation,
    "overlap.override": _creation,
    "overlap.compare": _creation,
    "population.cap": _limits,
    "project.change": _limits,
    "snapshot.activate": _activation,
    "dataset.load": _load,
    "release.publish": _publication,
    COPY_GRANTED: _hand_out,
}
