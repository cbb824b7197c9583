"""Who asked what, at which price: statements for patients' sake and for ethics boards.

Plain Markdown. Everything that a person wrote is escaped, so that no SQL, purpose or
reason can pass for a part of the statement.
"""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, Row, Table, select

from budget import statements as books
from budget.ledger import Scope
from budget.statements import ChargeLine, EntryLine
from privacy.losses import Loss
from server.persistence import tables
from server.use_cases.catalogue import existing
from server.use_cases.markdown import code_block, plain, table
from server.use_cases.odds import odds_factor, promise_in_words
from server.use_cases.second_persons import population_made
from server.use_cases.services import Services, now_text

ProjectRow = Row[tuple[object, ...]]
CHARGE_TIMES = (
    "Times are those of charges, when each question was asked. An answer that was "
    "stored before is given again for nothing and tells nothing new."
)


class StatementOffice:
    """Writes statements from the ledger; it changes nothing."""

    def __init__(self, services: Services) -> None:
        self._services = services

    def population(self, name: str) -> str:
        """Return the privacy statement of a population.

        Raises:
            CommandRefusedError: There is none of that name.
        """
        with self._services.databases.reader.connect() as connection:
            row = existing(connection, tables.population, name)
            charges = books.read_charges(connection, population=name)
            changes = _changes_of(connection, name)
            parts = [
                f"# Privacy statement: population {plain(name)}",
                _made_from(connection, self._services.ledger.hidden(connection)),
                "## What is promised",
                self._promise(row.unit, name),
                _notes(connection),
                "## Charges and releases",
                CHARGE_TIMES,
                *self._charges(charges),
                "## Changes, and who approved them",
                _change_table(changes),
                _approvals(connection, name),
            ]
        return "\n\n".join(part for part in parts if part) + "\n"

    def project(self, name: str) -> str:
        """Return the report of a project, as an ethics board reads it.

        Raises:
            CommandRefusedError: There is none of that name.
        """
        with self._services.databases.reader.connect() as connection:
            row = existing(connection, tables.project, name)
            charges = books.read_charges(connection, project=name)
            refusals = [
                entry
                for entry in books.read_entries(connection, "refused")
                if entry.body.get("project") == name
            ]
            parts = [
                f"# Report: project {plain(name)}",
                _made_from(connection, self._services.ledger.hidden(connection)),
                "## The project",
                self._project_facts(connection, row),
                "## Questions",
                CHARGE_TIMES,
                *self._charges(charges),
                "## Refusals",
                _refusal_table(refusals),
            ]
        return "\n\n".join(part for part in parts if part) + "\n"

    def _promise(self, unit: str, population: str) -> str:
        scope = Scope.population(population)
        cap = self._services.ledger.limit(scope) or Loss(0)
        spent = self._services.ledger.spent(scope)
        facts = [
            ("unit of protection", f"one {unit}: all rows of one, in every table"),
            ("measure", "epsilon, added over all answers (pure)"),
            ("cap", f"epsilon {cap}"),
            ("spent", f"epsilon {spent}, a factor of {odds_factor(spent)}"),
            ("remaining", f"epsilon {cap.minus_floor_zero(spent)}"),
        ]
        promise = promise_in_words(plain(unit), cap, spent)
        return f"{promise}\n\n{table(('fact', ''), facts)}"

    def _project_facts(
        self, connection: Connection, row: Row[tuple[object, ...]]
    ) -> str:
        name = str(row.name)
        scope = Scope.project(name)
        allotment = self._services.ledger.limit(scope) or Loss(0)
        spent = self._services.ledger.spent(scope)
        members = [
            self._member(name, member)
            for member in _names(
                connection, tables.project_principal, "principal", name
            )
        ]
        facts = [
            ("population", str(row.population)),
            ("purpose", str(row.purpose or "not given")),
            ("protocol", str(row.protocol or "not given")),
            ("created", f"{row.created} by {row.created_by}"),
            ("access ends", str(row.expires or "never")),
            (
                "datasets",
                ", ".join(_names(connection, tables.project_dataset, "dataset", name)),
            ),
            ("members", "; ".join(members)),
            ("allotment", f"epsilon {allotment}"),
            ("spent", f"epsilon {spent}"),
            ("remaining", f"epsilon {allotment.minus_floor_zero(spent)}"),
        ]
        return table(("fact", ""), facts)

    def _member(self, project: str, principal: str) -> str:
        scope = Scope.principal(project, principal)
        allotment = self._services.ledger.limit(scope)
        of = "" if allotment is None else f" of {allotment}"
        return f"{principal} (spent {self._services.ledger.spent(scope)}{of})"

    def _charges(self, charges: Sequence[ChargeLine]) -> list[str]:
        paid = [line for line in charges if not line.reused]
        total = sum((line.loss.nano_epsilon for line in paid), 0)
        summary = (
            f"{len(paid)} charges, epsilon {Loss(total)} in all; "
            f"{len(charges) - len(paid)} answers given again for nothing."
        )
        with self._services.databases.reader.connect() as connection:
            hidden = self._services.ledger.hidden(connection)
        shown = [part for line in charges for part in _charge(line, hidden)]
        return [summary, *shown]


def _charge(line: ChargeLine, hidden: Collection[str]) -> list[str]:
    price = "free" if line.reused else f"epsilon {line.loss}"
    facts = (
        line.time,
        line.principal,
        line.project,
        f"{line.dataset}, {line.snapshot}",
        price,
        _state(line, hidden),
    )
    header = ("time", "principal", "project", "dataset", "price", "state")
    asked = json.loads(line.request_json)
    return [
        f"### {plain(line.query_id)}",
        table(header, [facts]),
        code_block(str(asked["sql"])),
    ]


def _state(line: ChargeLine, hidden: Collection[str]) -> str:
    """Show a question as in flight until its reply has left (PRIVACY 6)."""
    if line.query_id in hidden or line.state not in {"answered", "failed"}:
        return "in flight"
    return line.state


def _made_from(connection: Connection, hidden: Collection[str]) -> str:
    last = books.head(connection, hidden)
    return (
        f"Made {plain(now_text())} from the ledger up to entry {last.seq}, whose hash "
        f"is `{last.hash}`: `curator ledger verify` checks it."
    )


def _notes(connection: Connection) -> str:
    facts = {
        row.name: row.value for row in connection.execute(select(tables.installation))
    }
    notes = []
    if facts.get("single_custodian") == "true":
        notes.append(
            "**Single custodian.** One person alone may raise the cap, create "
            "populations and change declarations here; nobody has to approve it."
        )
    if facts.get("anchor_on_same_device") == "true":
        notes.append(
            "**Anchor on the same device.** The ledger's anchor was put on the device "
            "of the data: a restored copy of the whole device could forget charges "
            "unseen."
        )
    return "\n\n".join(notes)


@dataclass(frozen=True, slots=True)
class _Belongings:
    """What belongs to a population, by name; snapshots and releases by id."""

    population: str
    datasets: frozenset[str]
    projects: frozenset[str]
    snapshots: frozenset[str]
    releases: frozenset[str]

    def has_scope(self, scope: str) -> bool:
        """Whether a limit is the population's, a project's, or a member's of one."""
        kind, _, name = scope.partition(":")
        if kind == "population":
            return name == self.population
        return name.partition("/")[0] in self.projects


def _belongings(connection: Connection, population: str) -> _Belongings:
    datasets = frozenset(_of_population(connection, tables.dataset, population))
    snapshots = connection.execute(
        select(tables.snapshot.c.id).where(tables.snapshot.c.dataset.in_(datasets))
    ).scalars()
    release = tables.publication
    releases = connection.execute(
        select(release.c.id).where(release.c.population == population)
    ).scalars()
    return _Belongings(
        population,
        datasets,
        frozenset(_of_population(connection, tables.project, population)),
        frozenset(snapshots),
        frozenset(releases),
    )


def _changes_of(connection: Connection, population: str) -> list[EntryLine]:
    """Return the changes that touch a population, its datasets or its projects."""
    own = _belongings(connection, population)
    return [
        entry
        for entry in books.read_entries(connection, "admin", "reconcile")
        if any(own.has_scope(scope) for scope in _mapping(entry.body.get("limits")))
        or any(own.has_scope(scope) for scope in _mapping(entry.body.get("charged")))
        or any(_touches(row, own) for row in _changed_rows(entry))
    ]


def _of_population(connection: Connection, of: Table, population: str) -> Iterable[str]:
    return connection.execute(
        select(of.c.name).where(of.c.population == population)
    ).scalars()


def _changed_rows(entry: EntryLine) -> list[Mapping[str, object]]:
    changes = entry.body.get("changes")
    if not isinstance(changes, list):
        return []
    return [
        {
            "table": change["table"],
            **_mapping(change.get("insert")),
            **_mapping(change.get("key")),
        }
        for change in changes
    ]


def _touches(row: Mapping[str, object], own: _Belongings) -> bool:
    named = {
        "population": row.get("name") == own.population,
        "dataset": row.get("name") in own.datasets,
        "project": row.get("name") in own.projects,
        "snapshot": row.get("id") in own.snapshots,
        "publication": row.get("id") in own.releases,
    }
    return (
        named.get(str(row["table"]), False)
        or row.get("population") == own.population
        or row.get("dataset") in own.datasets
        or row.get("project") in own.projects
    )


def _change_table(changes: Sequence[EntryLine]) -> str:
    header = ("entry", "time", "by", "action", "reason", "limits")
    return table(
        header,
        [
            (
                str(entry.seq),
                entry.time,
                str(entry.body.get("actor", "")),
                str(entry.body.get("action", entry.kind)),
                str(_mapping(entry.body.get("facts")).get("reason") or ""),
                _amounts(entry),
            )
            for entry in changes
        ],
    )


def _amounts(entry: EntryLine) -> str:
    limits = [
        f"{scope} {Loss(_nano(nano))}"
        for scope, nano in _mapping(entry.body.get("limits")).items()
    ]
    charged = [
        f"{scope} charged {Loss(_nano(nano))}"
        for scope, nano in _mapping(entry.body.get("charged")).items()
    ]
    return ", ".join(limits + charged)


def _approvals(connection: Connection, population: str) -> str:
    decided = connection.execute(
        select(tables.proposal)
        .where(tables.proposal.c.decided_by.is_not(None))
        .order_by(tables.proposal.c.created)
    ).all()
    rows = [
        row for row in decided if population in {row.population, population_made(row)}
    ]
    if not rows:
        return "No change of this population was put to a second person."
    header = ("change", "proposed by", "at", "state", "decided by", "at")
    return table(
        header,
        [
            (
                row.action,
                row.proposed_by,
                row.created,
                row.state,
                row.decided_by,
                str(row.decided),
            )
            for row in rows
        ],
    )


def _refusal_table(refusals: Sequence[EntryLine]) -> str:
    if not refusals:
        return "None."
    return table(
        ("time", "principal", "code", "dataset", "price"),
        [
            (
                entry.time,
                str(entry.body["principal"]),
                str(entry.body["code"]),
                str(entry.body.get("dataset", "")),
                f"epsilon {Loss(_nano(entry.body.get('nano_epsilon', 0)))}",
            )
            for entry in refusals
        ],
    )


def _names(connection: Connection, link: Table, column: str, project: str) -> list[str]:
    return list(
        connection.execute(
            select(link.c[column])
            .where(link.c.project == project)
            .order_by(link.c[column])
        ).scalars()
    )


def _mapping(value: object) -> dict[str, object]:
    return value if isinstance(value, dict) else {}


def _nano(value: object) -> int:
    return value if isinstance(value, int) else 0
