"""Whether what a proposed change alters is still what it was when it was proposed.

Nobody should approve of "cap 0 -> 5" while the cap is 6: the change cannot be made, and
if the cap came back to 0 it would be made in other circumstances than those approved.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sqlalchemy import Connection, Row, select

from budget.ledger import Scope
from budget.writing import read_accounts
from privacy.losses import Loss
from server.persistence import tables
from server.use_cases.changes import Altered, shown_value
from server.use_cases.declarations import Declared, declared_in

_NEW_POPULATION = re.compile(r"population (\w+)|patients of (\w+) in other populations")
_MEMBER = re.compile(r"allotment of (.+) in (\w+)")
_FACT = re.compile(r"(expires|purpose|protocol) of (\w+)")
_LIMIT = re.compile(r"(cap|allotment) of (\w+)")
_RELEASE = re.compile(r"public release ([^:]+)(: snapshot)?")
_THERE = "there already"

Found = list[tuple[str, str, str]]
"""What differs: its name, what it is now, what it was."""


@dataclass(frozen=True, slots=True)
class Proposed:
    """A proposed change, as it is stored."""

    action: str
    population: str | None
    altered: tuple[Altered, ...]

    @classmethod
    def of(cls, row: Row[tuple[object, ...]]) -> "Proposed":
        """Return the change of a proposal."""
        change = json.loads(str(row.change))
        altered = (Altered(o["what"], o["old"], o["new"]) for o in change["altered"])
        population = None if row.population is None else str(row.population)
        return cls(str(row.action), population, tuple(altered))


def stale_words(connection: Connection, proposed: Proposed) -> list[str]:
    """Return, in words, what is no longer as the proposer saw it; empty if all is.

    It reads nothing of other populations than the proposal's own: whether one that is
    to be created is there by now is all that is asked of one that has none.
    """
    look = _LOOKS.get(proposed.action)
    if look is None:
        return []
    return [
        f"{what} is {now} now, not {old}"
        for what, now, old in look(connection, proposed)
    ]


def created_name(what: str) -> str | None:
    """Return the population that a changed fact is about to create, if it is."""
    place = _NEW_POPULATION.fullmatch(what)
    return None if place is None else place[1] or place[2]


def _creation(connection: Connection, proposed: Proposed) -> Found:
    if proposed.population is not None:
        return []  # an overlap's patients are compared when the load is repeated
    named = {created_name(one.what): one for one in proposed.altered}
    rows = connection.execute(
        select(tables.population.c.name).where(tables.population.c.name.in_(named))
    ).scalars()
    return [(f"population {name}", _THERE, "none") for name in rows]


def _limits(connection: Connection, proposed: Proposed) -> Found:
    found = []
    for one in proposed.altered:
        now = _limit_or_fact(connection, one.what)
        if now != one.old:
            found.append((one.what, shown_value(now), shown_value(one.old)))
    return found


def _limit_or_fact(connection: Connection, what: str) -> object:
    """Return a cap, an allotment or a fact of a project, as changes write it."""
    if fact := _FACT.fullmatch(what):
        column = tables.project.c[fact[1]]
        wanted = select(column).where(tables.project.c.name == fact[2])
        return connection.execute(wanted).scalar_one_or_none()
    scope = _scope(what)
    limit = None if scope is None else read_accounts(connection, [scope])[scope].limit
    return None if limit is None else str(Loss(limit))


def _scope(what: str) -> Scope | None:
    if member := _MEMBER.fullmatch(what):
        return Scope.principal(member[2], member[1])
    if limit := _LIMIT.fullmatch(what):
        kind = Scope.population if limit[1] == "cap" else Scope.project
        return kind(limit[2])
    return None


def _activation(connection: Connection, proposed: Proposed) -> Found:
    """Look at the pointer alone: declarations are compared with what it names."""
    pointer = proposed.altered[0]
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
    name = proposed.altered[0].what.partition(".")[0]
    known = tables.dataset
    dataset = connection.execute(
        select(known).where(
            known.c.name == name, known.c.population == proposed.population
        )
    ).one_or_none()
    if dataset is None:
        return []  # it is new, as it was
    active, earlier = _declared_facts(connection, dataset)
    found = []
    for one in proposed.altered:
        place = one.what.removeprefix(f"{name}.")
        known_as = [active[place]] if place in active else earlier.get(place, [None])
        if one.old not in known_as:
            now = shown_value(known_as[-1])
            found.append((one.what, now, shown_value(one.old)))
    return found


def _declared_facts(
    connection: Connection, dataset: Row[tuple[object, ...]]
) -> tuple[Mapping[str, object], Mapping[str, list[object]]]:
    """Return what the active snapshot declares, and all that was ever declared."""
    rows = connection.execute(
        select(tables.snapshot)
        .where(tables.snapshot.c.dataset == dataset.name)
        .order_by(tables.snapshot.c.created)
    ).all()
    active: Mapping[str, object] = {}
    earlier: dict[str, list[object]] = {}
    for row in rows:
        facts = _flat(declared_in(row))
        if row.id == dataset.active_snapshot:
            active = facts
        for place, value in facts.items():
            earlier.setdefault(place, []).append(value)
    return active, earlier


def _flat(declared: Declared) -> dict[str, object]:
    told = {
        place: value
        for facts in declared.facts().values()
        for place, value in facts.items()
    }
    specs = declared.table_specs()
    return {**told, **{f"{name}: public": spec for name, spec in specs.items()}}


def _publication(connection: Connection, proposed: Proposed) -> Found:
    found = []
    for one in proposed.altered:
        place = _RELEASE.fullmatch(one.what)
        if place and place[2]:
            active = _active_beside(connection, one.new)
            if active != one.new:
                found.append((one.what, shown_value(active), shown_value(one.new)))
        elif place and _is_taken(connection, place[1], proposed.population):
            found.append((one.what, _THERE, "none"))
    return found


def _is_taken(connection: Connection, name: str, population: str | None) -> bool:
    release = tables.publication
    taken = select(release.c.id).where(
        release.c.name == name,
        release.c.population == population,
        release.c.state != "failed",
    )
    return connection.execute(taken).first() is not None


_LOOKS: dict[str, Callable[[Connection, Proposed], Found]] = {
    "population.create": _creation,
    "overlap.override": _creation,
    "population.cap": _limits,
    "project.change": _limits,
    "snapshot.activate": _activation,
    "dataset.load": _load,
    "release.publish": _publication,
}
