"""What the ledger tells of changes: limits, members, approvals, for statements."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlalchemy import Connection, Table, select

from budget.ledger import Scope
from budget.reading import statements as books
from budget.reading.statements import EntryLine
from budget.storage.records import PROMISED
from privacy.losses import Loss
from server.persistence import tables
from server.use_cases.approvals.changes import Altered, limit_name
from server.use_cases.approvals.second_persons import (
    ProposalRow,
    decision_reasons,
    in_words,
    named_populations,
    population_made,
    state_of,
)
from server.use_cases.approvals.stored_changes import read_altered
from server.use_cases.custody.allowed_overlaps import populations_in_overlap
from server.use_cases.loading.comparisons import REFUSED
from server.use_cases.oversight.markdown import (
    bullets,
    code_block,
    moment,
    plain,
    table,
)
from server.use_cases.services.work_ends import RELEASE_ENDS

_LONG = 160
"""From so many characters on an altered fact is a block of its own."""

_UNTOLD = RELEASE_ENDS | {"proposal.create"}


@dataclass(frozen=True, slots=True)
class Belongings:
    """What belongs to a population, by name; what is made of it, by id."""

    population: str
    datasets: frozenset[str]
    projects: frozenset[str]
    snapshots: frozenset[str]
    releases: frozenset[str]
    announcements: frozenset[str]

    def has_scope(self, scope: str) -> bool:
        """Whether a limit is the population's, a project's, or a member's of one."""
        kind, _, name = scope.partition(":")
        if kind in PROMISED:
            return name.partition("/")[0] == self.population
        return name.partition("/")[0] in self.projects


def belongings_of(connection: Connection, population: str) -> Belongings:
    """Return what belongs to a population."""
    datasets = frozenset(_of_population(connection, tables.dataset, population))
    snapshots = connection.execute(
        select(tables.snapshot.c.id).where(tables.snapshot.c.dataset.in_(datasets))
    ).scalars()
    releases, announcements = (
        frozenset(
            connection.execute(
                select(of.c.id).where(of.c.population == population)
            ).scalars()
        )
        for of in (tables.publication, tables.announcement)
    )
    return Belongings(
        population,
        datasets,
        frozenset(_of_population(connection, tables.project, population)),
        frozenset(snapshots),
        releases,
        announcements,
    )


def changes_of(connection: Connection, population: str) -> list[EntryLine]:
    """Return the changes that touch a population, its datasets or its projects.

    What was only proposed changed nothing; what the work on a release ended with is
    told with the release, at its public time. Of an entry that sets or charges others
    too, as reconciliations do, nothing but the population's own is told.
    """
    own = belongings_of(connection, population)
    entries = (
        _narrowed(entry, own)
        for entry in books.read_entries(connection, "admin", "reconcile")
        if entry.body.get("action") not in _UNTOLD
    )
    return [
        entry
        for entry in entries
        if entry.body["limits"]
        or entry.body["charged"]
        or any(_touches(row, own) for row in _changed_rows(entry))
        or population in _refused_overlap(entry)
        or population in populations_in_overlap(entry)
    ]


def _refused_overlap(entry: EntryLine) -> list[object]:
    """Return the populations between which an entry refused an overlap."""
    if entry.body.get("action") != REFUSED:
        return []
    named = _mapping(entry.body.get("facts")).get("populations")
    return list(named) if isinstance(named, list) else []


def _narrowed(entry: EntryLine, own: Belongings) -> EntryLine:
    """Return an entry without others' limits and charges."""
    kept = {
        name: {
            scope: nano
            for scope, nano in _mapping(entry.body.get(name)).items()
            if own.has_scope(scope)
        }
        for name in ("limits", "charged")
    }
    return replace(entry, body={**entry.body, **kept})


def _of_population(connection: Connection, of: Table, population: str) -> Iterable[str]:
    return connection.execute(
        select(of.c.name).where(of.c.population == population)
    ).scalars()


def _changed_rows(entry: EntryLine) -> list[Mapping[str, object]]:
    return [
        {
            "table": change["table"],
            **_mapping(change.get("insert")),
            **_mapping(change.get("key")),
            **_mapping(change.get("delete")),
        }
        for change in _rows_of(entry)
    ]


def _touches(row: Mapping[str, object], own: Belongings) -> bool:
    named = {
        "population": row.get("name") == own.population,
        "dataset": row.get("name") in own.datasets,
        "project": row.get("name") in own.projects,
        "snapshot": row.get("id") in own.snapshots,
        "publication": row.get("id") in own.releases,
        "announcement": row.get("id") in own.announcements,
    }
    return (
        named.get(str(row["table"]), False)
        or row.get("population") == own.population
        or row.get("dataset") in own.datasets
        or row.get("project") in own.projects
    )


@dataclass(frozen=True, slots=True)
class LimitSet:
    """One setting of a cap or an allotment; None where there was none before."""

    entry: EntryLine
    scope: str
    old: int | None
    new: int

    def words(self) -> str:
        """Return what was set, from what, to what."""
        held = "none" if self.old is None else str(Loss(self.old))
        return f"{limit_name(self.scope)}: {held} -> {Loss(self.new)}"


def limits_set(entries: Iterable[EntryLine]) -> list[LimitSet]:
    """Return each setting of a limit by some entries, oldest first, with its old value.

    The entries must be all that set these limits.
    """
    held: dict[str, int] = {}
    found = []
    for entry in entries:
        for scope, nano in _mapping(entry.body.get("limits")).items():
            found.append(LimitSet(entry, scope, held.get(scope), _nano(nano)))
            held[scope] = _nano(nano)
    return found


def allotment_history(entries: Iterable[EntryLine], project: str) -> str:
    """Return a table of a project's allotments and its members': who, when, why."""
    own = [
        one
        for one in limits_set(entries)
        if one.scope == f"project:{project}"
        or one.scope.startswith(f"principal:{project}/")
    ]
    rows = [
        (moment(one.entry.time), actor_of(one.entry), one.words(), reason_of(one.entry))
        for one in own
    ]
    return table(("time", "by", "what", "reason"), rows)


def membership(entries: Iterable[EntryLine], project: str) -> str:
    """Return a table of who and which datasets came into a project, and went."""
    rows = [
        (moment(entry.time), actor_of(entry), f"{kind} {told[kind]} {went}")
        for entry in entries
        for change in _rows_of(entry, "project_principal", "project_dataset")
        for went, told in (
            ("came in", _mapping(change.get("insert"))),
            ("was taken out", _mapping(change.get("delete"))),
        )
        for kind in ("principal", "dataset")
        if told.get("project") == project and kind in told
    ]
    return table(("time", "by", "who or what"), rows)


def _rows_of(entry: EntryLine, *names: str) -> list[Mapping[str, object]]:
    changes = entry.body.get("changes")
    if not isinstance(changes, list):
        return []
    return [change for change in changes if not names or change["table"] in names]


def change_table(changes: Sequence[EntryLine], population: str) -> str:
    """Return a table of a population's changes: when, who, why, the limits they set."""
    header = ("change", "time", "by", "action", "reason", "limits")
    words: dict[int, list[str]] = {}
    for one in limits_set(changes):
        words.setdefault(one.entry.seq, []).append(one.words())
    return table(
        header,
        [
            (
                str(number),  # of these changes: the ledger's would count others'
                moment(entry.time),
                actor_of(entry),
                _action_of(entry, population),
                reason_of(entry),
                "; ".join([*words.get(entry.seq, []), *_charged(entry)]),
            )
            for number, entry in enumerate(changes, 1)
        ],
    )


def actor_of(entry: EntryLine) -> str:
    """Return who made a change."""
    return str(entry.body.get("actor", ""))


def _action_of(entry: EntryLine, population: str) -> str:
    action = str(entry.body.get("action", entry.kind))
    if action == REFUSED:
        return f"{action}: {_refusal_told(entry, population)}"
    shared = populations_in_overlap(entry)
    return f"{action}, with units of two populations" if shared else action


def _refusal_told(entry: EntryLine, population: str) -> str:
    """Say which side of a refused overlap a population was; the other has no name."""
    facts = _mapping(entry.body.get("facts"))
    is_own = facts.get("population") == population
    whose, others = ("this", "another") if is_own else ("another", "this")
    people = f"people of {others} one"
    if "snapshot" in facts:
        return (
            f"a snapshot of {whose} population was not activated again, since "
            f"something public of it named {people}"
        )
    return f"a load of {whose} population was refused, since it held or named {people}"


def reason_of(entry: EntryLine) -> str:
    """Return the reason that was given for a change; empty if none was."""
    return str(_mapping(entry.body.get("facts")).get("reason") or "")


def _charged(entry: EntryLine) -> list[str]:
    return [
        f"{scope} charged {Loss(_nano(nano))}"
        for scope, nano in _mapping(entry.body.get("charged")).items()
    ]


def reconciled(changes: Iterable[EntryLine], population: str) -> Loss:
    """Return what reconciliations charged a population beside its questions.

    Each charges all blocks of one population alike: nobody lost more than that.
    """
    return Loss(sum(_most_charged(entry, population) for entry in changes))


def _most_charged(entry: EntryLine, population: str) -> int:
    charged = (
        _nano(nano)
        for scope, nano in _mapping(entry.body.get("charged")).items()
        if Scope.read(scope).is_promised
        and Scope.read(scope).name.partition("/")[0] == population
    )
    return max(charged, default=0)


def approvals(connection: Connection, population: str) -> str:
    """Return the changes that were put to a second person: what, who, why."""
    rows = connection.execute(
        select(tables.proposal).order_by(tables.proposal.c.created)
    ).all()
    own = [row for row in rows if population in {row.population, population_made(row)}]
    if not own:
        return "No change of this population was put to a second person."
    reasons = decision_reasons(connection, own)
    parts = (_approval(connection, row, reasons.get(row.id)) for row in own)
    return "\n\n".join(part for each in parts for part in each)


def _approval(
    connection: Connection, row: ProposalRow, because: str | None
) -> list[str]:
    change = json.loads(row.change)
    state = state_of(connection, row)
    facts = [
        ("proposed by", f"{row.proposed_by}, {moment(row.created)}"),
        ("reason", str(change["reason"] or "not given")),
        ("state", state),
    ]
    if row.decided_by is not None:
        decided = "rejected by" if row.state == "rejected" else "approved by"
        facts.append((decided, f"{row.decided_by}, {moment(str(row.decided))}"))
    if because is not None:
        facts.append(("rejected because", because))
    return [
        f"### {plain(f'{row.action}, {row.id}')}",
        *_listed([_shown(row, one) for one in read_altered(str(row.change))]),
        table(("fact", ""), facts),
    ]


def _listed(words: Sequence[str]) -> list[str]:
    """Return altered facts as a list; whole declarations as blocks after it."""
    short = [one for one in words if len(one) <= _LONG]
    blocks = [code_block(one, "text") for one in words if len(one) > _LONG]
    return [*([bullets(short)] if short else []), *blocks]


def _shown(row: ProposalRow, altered: Altered) -> str:
    """Return one altered fact in words, other populations' names left out."""
    what, named = altered.what, named_populations(altered)
    if named is None:
        return in_words(altered) if _may_show(row, altered) else what
    if row.action == "overlap.override":
        is_empty = altered.new == {"populations": []}
        return f"{what}: {'none' if is_empty else 'refused -> accepted'}"
    is_compared = row.action == "overlap.compare"
    told = f"{what}: compared again, after a refusal"
    return told if is_compared else in_words(altered)


def _may_show(row: ProposalRow, altered: Altered) -> bool:
    """Whether a fact is no count and digest of what was never published."""
    subject = altered.subject
    is_of_rows = subject is not None and subject.kind == "public_rows"
    return not is_of_rows or row.state == "used"


def _mapping(value: object) -> dict[str, object]:
    return value if isinstance(value, dict) else {}


def _nano(value: object) -> int:
    return value if isinstance(value, int) else 0
