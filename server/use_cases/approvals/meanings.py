"""What a proposed change does to the promise, and what it leaves as it is."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, select

from budget.ledger import Scope
from privacy.losses import Loss
from privacy.measures import Measure
from server.persistence import tables
from server.use_cases.approvals.changes import Altered
from server.use_cases.losses.caps import blocks_in, caps_in
from server.use_cases.losses.measures import measure_in
from server.use_cases.losses.odds import (
    but_for,
    odds_epsilon,
    odds_factor,
    promise_in_words,
)


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a change does to what is promised, and what stays; in sentences."""

    does: list[str]
    leaves: list[str]


@dataclass(frozen=True, slots=True)
class _Promise:
    """The population of a change: its unit, its cap, and what was spent."""

    population: str
    unit: str
    cap: Loss
    spent: Loss
    measure: Measure

    def factor(self, cap: Loss) -> str:
        """Return by how much a cap lets odds change, at least by what is spent."""
        return odds_factor(odds_epsilon(self.measure, max(cap, self.spent)))


def meaning_of(
    connection: Connection, action: str, population: str | None, altered: list[Altered]
) -> Meaning:
    """Return what a change means, by what it alters as it is shown.

    Args:
        connection: To the database.
        action: Which change.
        population: Whose; None where it is about to be created.
        altered: Its facts.
    """
    held = None if population is None else _promise(connection, population)
    does = [line for one in altered for line in _of_fact(one, held)]
    does += [_ACTIONS[action]] if action in _ACTIONS else []
    leaves = []
    if held is not None and action != "population.cap":
        factor = held.factor(held.cap)
        leaves.append(
            f"The cap of {held.population} stays {held.cap}, of which {held.spent} was "
            f"spent: the odds about one {held.unit} change by a factor of at most "
            f"{factor}, by all answers together{but_for(held.measure)}."
        )
    if action in {"dataset.load", "snapshot.activate"} and held is not None:
        leaves.append("Answers and releases that were paid stay what they are.")
    return Meaning(list(dict.fromkeys(does)), leaves)


def _promise(connection: Connection, population: str) -> _Promise | None:
    table = tables.population
    row = connection.execute(
        select(table.c.unit, table.c.declaration).where(table.c.name == population)
    ).one_or_none()
    if row is None:
        return None
    declaration = json.loads(row.declaration)
    held = caps_in(connection, population, blocks_in(declaration))
    measure = measure_in(declaration)
    return _Promise(population, row.unit, held.cap, held.spent, measure)


def _of_fact(altered: Altered, held: _Promise | None) -> Iterator[str]:
    """Yield what one altered fact does to the promise."""
    subject, new = altered.subject, altered.new
    if subject is None:  # of a snapshot that is activated, a declaration of another
        yield from _of_declaration(altered.what, altered)
        return
    if subject.kind == "population" and isinstance(new, dict):
        measure = measure_in(new)
        cap = new.get(f"{measure.word}_cap")
        if cap is not None:
            unit, cap = str(new.get("unit", "patient")), Loss.parse(str(cap))
            yield promise_in_words(unit, cap, Loss(0), measure)
    is_cap = subject.kind == "limit" and Scope.read(subject.name).is_promised
    if is_cap and held:
        old, wanted = Loss.parse(str(altered.old)), Loss.parse(str(new))
        before, after = (held.factor(one) for one in (old, wanted))
        yield (
            f"The odds about one {held.unit} change by a factor of at most {after} "
            f"instead of {before}, by all answers together{but_for(held.measure)}; "
            f"{held.spent} was spent."
        )
        yield promise_in_words(held.unit, wanted, held.spent, held.measure)
    if subject.kind == "limit" and not is_cap:
        yield (
            "An allotment rations the cap among projects and people. It bounds "
            "nobody's knowledge: the promise to patients stays that of the cap."
        )
    if subject.kind == "declaration":
        yield from _of_declaration(subject.part, altered)
    if subject.kind == "public_rows":
        yield (
            f"Everybody with a key may read table {subject.part} as it is: no noise, "
            "and nothing of the promise covers its rows."
        )


def _of_declaration(place: str, altered: Altered) -> Iterator[str]:
    """Yield what a changed declaration does, by the property that its place ends in.

    A table that comes whole has no property: its lines say what it declares.
    """
    old, new = altered.old, altered.new
    match place.rpartition(": ")[2] if ": " in place else "":
        case "max_rows_per_unit" if isinstance(old, int) and isinstance(new, int):
            yield _MORE_ROWS if new > old else _FEWER_ROWS
        case "domain":
            yield _DOMAIN
        case "levels" | "codes":
            yield _HIERARCHY
        case "public":
            yield _PUBLIC if _is_public(new) else _NOT_PUBLIC
        case "not_unit_ids":
            yield _NO_IDS
        case "listed" if new:
            yield _LISTED
        case _:
            pass


def _is_public(declared: object) -> bool:
    """Whether a table, or what it says of itself, is declared public."""
    if isinstance(declared, Mapping):
        return bool(declared.get("public"))
    return bool(declared)


_MORE_ROWS: Final = (
    "More rows of one patient count, at more noise for each count of rows; what is "
    "promised to a patient stays the same."
)
_FEWER_ROWS: Final = (
    "Fewer rows of one patient count: the others are left out of every answer from the "
    "new snapshot."
)
_DOMAIN: Final = (
    "A domain decides which values answers tell apart and how much noise sums have. A "
    "number or a date outside it becomes its nearest end; another value becomes "
    "'other' where that is declared, else missing. It must come from its source, and "
    "never from the data."
)
_HIERARCHY: Final = (
    "A hierarchy decides which codes answers tell apart, and which they join. It must "
    "come from its source, and never from the data."
)
_PUBLIC: Final = (
    "Its rows become readable by everybody with a key, without noise: nothing of the "
    "promise covers them, and it cannot be taken back."
)
_NOT_PUBLIC: Final = (
    "Its rows are no longer readable as they are; what was read cannot be called back."
)
_NO_IDS: Final = (
    "Its values may be those of patients' ids, and are readable by everybody with a "
    "key: they are declared to be something else."
)
_LISTED: Final = (
    "Its rows are shown with the schema, and are the lists of its columns' values, "
    "those of later loads too: nothing of the promise covers them."
)
_ACTIONS: Final = {
    "overlap.override": "Whoever is in several populations is protected by their caps "
    "added up, not by each: two caps of 1 are one of 2 to these people.",
    "overlap.compare": "Comparing tells whether the populations share people. Nothing "
    "is loaded or published by it.",
    "release.publish": "Everybody with a key may read and ask it free of charge, for "
    "good: what was read cannot be called back. It is charged to the cap once, when it "
    "is made.",
    "anonymized.grant": "Records leave, and nothing of the promise covers them.",
}
