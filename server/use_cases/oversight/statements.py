"""Who asked what, at which price: statements for patients' sake and for ethics boards.

Plain Markdown. Everything that a person wrote is escaped, so that no SQL, purpose or
reason can pass for a part of the statement.
"""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from sqlalchemy import Connection, Row, Table, select

from budget.chain.entries import head_of
from budget.ledger import Scope
from budget.reading import statements as books
from budget.reading.statements import ChargeLine, EntryLine
from privacy.losses import Loss
from privacy.measures import Measure, MeasureName
from privacy.wording import counted
from server.persistence import tables
from server.use_cases.identity.catalogue import existing
from server.use_cases.losses.amounts import told
from server.use_cases.losses.caps import PopulationCaps, caps_of
from server.use_cases.losses.measures import measure_in, measure_of
from server.use_cases.losses.odds import odds_epsilon, odds_factor, promise_in_words
from server.use_cases.oversight.markdown import code_block, moment, plain, table
from server.use_cases.oversight.statement_changes import (
    allotment_history,
    approvals,
    change_table,
    changes_of,
    membership,
    reconciled,
)
from server.use_cases.oversight.statement_copies import copies_handed_out
from server.use_cases.oversight.statement_releases import (
    read_by,
    readable_in,
    release_table,
    releases_of,
)
from server.use_cases.releases.times import PublicationRow, unseen_jobs
from server.use_cases.services.services import Services, now_text

NO_TITLES: Final[Mapping[str, str]] = MappingProxyType({})
CHARGE_TIMES = (
    "Times are those of charges, when each question was asked. An answer that was "
    "stored before is given again for nothing and tells nothing new."
)
RELEASES_READ = (
    "Of its population. They were paid from the population's cap, not from the "
    "allotment, and are free to read and to ask."
)

_IN_BLOCKS: Final = (
    "The population is divided into blocks by {column}, a fact of each {unit} that "
    "never changes. The cap is that of each block: what is charged to others tells "
    "nothing of a {unit} who is not in them. What was spent is told for each block."
)

_IN_BLOCKS_ADDED: Final = (
    "Each charge was to every block that is named beside it, and to no other: so their "
    "sum was spent of no block, unless all charges were to it."
)

_MEASURES: Mapping[MeasureName, str] = {
    "pure": "epsilon, added over all answers (pure)",
    "zcdp": "rho, added over all answers (zero-concentrated differential privacy)",
}


class StatementService:
    """Writes statements from the ledger; it changes nothing.

    Args:
        services: Of the installation.
        on_host: Whether to name the ledger's last entry and its hash. Over HTTP they
            would tell when other populations' executions end.
    """

    def __init__(self, services: Services, *, on_host: bool = False) -> None:
        self._services = services
        self._on_host = on_host

    def population(self, name: str) -> str:
        """Return the privacy statement of a population.

        Raises:
            CommandRefusedError: There is none of that name.
        """
        with self._services.databases.reader.connect() as connection:
            row = existing(connection, tables.population, name)
            charges = books.read_charges(connection, population=name)
            changes = changes_of(connection, name)
            releases = releases_of(connection, name)
            measure = measure_in(json.loads(row.declaration))
            parts = [
                f"# Privacy statement: population {plain(name)}",
                self._made_from(connection),
                "## What is promised",
                self._promise(row, measure),
                _sum_of(charges, reconciled(changes, name), measure.word),
                _IN_BLOCKS_ADDED if any(line.blocks for line in charges) else "",
                _notes(connection),
                "## Releases",
                release_table(connection, [(row, read_by(row)) for row in releases]),
                *copies_handed_out(connection, name),
                "## Charges",
                CHARGE_TIMES,
                *self._charges(charges, measure.word, _titles(releases)),
                "## Changes",
                change_table(changes, name),
                "## What was put to a second person",
                approvals(connection, name),
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
            changes = list(books.read_entries(connection, "admin"))
            releases = releases_of(connection, str(row.population))
            members = _names(connection, tables.project_principal, "principal", name)
            measure = measure_of(connection, str(row.population))
            refusals = [
                entry
                for entry in books.read_entries(connection, "refused")
                if entry.body.get("project") == name
            ]
            parts = [
                f"# Report: project {plain(name)}",
                self._made_from(connection),
                "## The project",
                self._project_facts(connection, row, measure),
                "## Allotments",
                allotment_history(changes, name),
                "## Members and datasets",
                membership(changes, name),
                "## Releases that its members may read",
                RELEASES_READ,
                release_table(connection, readable_in(releases, name, members)),
                "## Questions",
                CHARGE_TIMES,
                *self._charges(charges, measure.word),
                "## Refusals",
                _refusal_table(refusals, measure.word),
            ]
        return "\n\n".join(part for part in parts if part) + "\n"

    def _made_from(self, connection: Connection) -> str:
        made = f"Made {moment(now_text())} from the ledger"
        if not self._on_host:
            return (
                f"{made}. `curator ledger report`, on the host, also names its last "
                "entry and that entry's hash, which `curator ledger verify` checks."
            )
        last = head_of(connection)
        return (
            f"{made} up to entry {last.seq}, whose hash is `{last.hash}`: `curator "
            "ledger verify` checks it."
        )

    def _promise(self, row: Row[tuple[object, ...]], measure: Measure) -> str:
        unit = str(row.unit)
        declaration = json.loads(str(row.declaration))
        held = caps_of(self._services.ledger, str(row.name), declaration)
        promise = promise_in_words(plain(unit), held.cap, held.spent, measure)
        facts = [
            ("unit of protection", f"one {unit}: all rows of one, in every table"),
            ("measure", _MEASURES[measure.name]),
        ]
        if held.blocks:
            column = plain(str(declaration["blocks"]["column"]))
            blocks = _IN_BLOCKS.format(unit=plain(unit), column=column)
            shown = [promise, blocks, table(("fact", ""), facts)]
            return "\n\n".join([*shown, _block_table(held, measure)])
        facts += [
            ("cap", told(measure, held.cap)),
            ("spent", _spent(held.spent, measure)),
            ("remaining", f"{measure.word} {held.remaining}"),
        ]
        return f"{promise}\n\n{table(('fact', ''), facts)}"

    def _project_facts(
        self, connection: Connection, row: Row[tuple[object, ...]], measure: Measure
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
            ("created", f"{moment(row.created)} by {row.created_by}"),
            ("access ends", str(row.expires or "never")),
            (
                "datasets",
                ", ".join(_names(connection, tables.project_dataset, "dataset", name)),
            ),
            ("members", "; ".join(members) or "none"),
            ("allotment", f"{measure.word} {allotment}"),
            ("spent", told(measure, spent)),
            ("remaining", f"{measure.word} {allotment.minus_floor_zero(spent)}"),
        ]
        return table(("fact", ""), facts)

    def _member(self, project: str, principal: str) -> str:
        scope = Scope.principal(project, principal)
        allotment = self._services.ledger.limit(scope)
        of = "" if allotment is None else f" of {allotment}"
        return f"{principal} (spent {self._services.ledger.spent(scope)}{of})"

    def _charges(
        self,
        charges: Sequence[ChargeLine],
        word: str,
        titles: Mapping[str, str] = NO_TITLES,
    ) -> list[str]:
        paid = [line for line in charges if not line.reused]
        summary = (
            f"{counted(len(paid), 'charge')}, {word} {_total(paid)} in all; "
            f"{counted(len(charges) - len(paid), 'answer')} given again for nothing."
        )
        with self._services.databases.reader.connect() as connection:
            hidden = self._services.ledger.hidden(connection) | unseen_jobs(connection)
        shown = [
            part
            for line in charges
            for part in _charge(line, word, hidden, titles.get(line.query_id))
        ]
        return [summary, *shown]


def _spent(spent: Loss, measure: Measure) -> str:
    factor = odds_factor(odds_epsilon(measure, spent))
    return f"{told(measure, spent)}, a factor of {factor}"


def _block_table(held: PopulationCaps, measure: Measure) -> str:
    """Return a line for each block: what is promised to its patients alone."""
    return table(
        ("block", "cap", "spent", "remaining"),
        [
            (
                block.name,
                told(measure, block.cap),
                _spent(block.spent, measure),
                f"{measure.word} {block.remaining}",
            )
            for block in held.blocks
        ],
    )


def _titles(releases: Iterable[PublicationRow]) -> dict[str, str]:
    """Return what the charge of each release is called, by its job's id."""
    return {row.job: f"release {row.name}, {row.id}" for row in releases}


def _sum_of(charges: Sequence[ChargeLine], reconciled: Loss, word: str) -> str:
    """Say what the spent loss is the sum of; releases belong to no project."""
    paid = [line for line in charges if not line.reused]
    released = [line for line in paid if not line.project]
    asked = [line for line in paid if line.project]
    parts = [
        f"{counted(len(asked), 'question')}, {word} {_total(asked)}",
        f"{counted(len(released), 'release')}, {word} {_total(released)}",
    ]
    if reconciled > Loss(0):
        parts.append(f"reconciliations of the ledger, {word} {reconciled}")
    what = "Charged" if any(line.blocks for line in charges) else "Spent"
    return f"{what} was: {'; '.join(parts)}."


def _total(lines: Iterable[ChargeLine]) -> Loss:
    return Loss(sum((line.loss.nano_epsilon for line in lines), 0))


def _charge(
    line: ChargeLine, word: str, hidden: Collection[str], title: str | None
) -> list[str]:
    price = "free" if line.reused else f"{word} {line.loss}"
    if line.blocks and not line.reused:
        price += f" of {', '.join(line.blocks)}"
    facts = (
        moment(line.time),
        line.principal,
        line.project,
        f"{line.dataset}, {line.snapshot}",
        price,
        _state(line, hidden),
    )
    header = ("time", "principal", "project", "dataset", "price", "state")
    asked = json.loads(line.request_json)
    return [
        f"### {plain(title or line.query_id)}",
        table(header, [facts]),
        code_block(str(asked["sql"])),
    ]


def _state(line: ChargeLine, hidden: Collection[str]) -> str:
    """Show a question as in flight until its reply has left (PRIVACY 6)."""
    if line.query_id in hidden or line.state not in {"answered", "failed"}:
        return "in flight"
    return line.state


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


def _refusal_table(refusals: Sequence[EntryLine], word: str) -> str:
    if not refusals:
        return "None."
    return table(
        ("time", "principal", "code", "dataset", "price"),
        [
            (
                moment(entry.time),
                str(entry.body["principal"]),
                str(entry.body["code"]),
                str(entry.body.get("dataset", "")),
                f"{word} {Loss(_nano(entry.body.get('nano_epsilon', 0)))}",
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


def _nano(value: object) -> int:
    return value if isinstance(value, int) else 0
