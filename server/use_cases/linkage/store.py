"""The tables of linkages."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final, cast

from sqlalchemy import Connection, Row, Select, delete, func, insert, select, update

from server.persistence.linkage_tables import (
    linkage,
    linkage_act,
    linkage_decision,
    linkage_doubt,
    linkage_run,
)
from server.use_cases.approvals.second_persons import are_independent
from server.use_cases.linkage.opinions import (
    Dependent,
    Opinion,
    Pair,
    Standing,
    last_verdicts,
)
from server.use_cases.linkage.replies import Verdict
from server.use_cases.services.documents import Document
from server.use_cases.services.errors import NoSuchThingError
from server.use_cases.services.services import now_text, random_id
from server.use_cases.services.text_cipher import TextCipher

LINKAGES: Final = linkage.name
"""The table of linkages; ledgers of before there were any have none."""


@dataclass(frozen=True, slots=True)
class LinkageRow:
    """A linkage.

    Attributes:
        id: Its id.
        population: Whose records are linked.
        name: Its name in the population.
        file: The file that declares it.
        opinions: How many clerks have to agree on a pair.
        job: Whose run counts.
        created: When it was first run.
        created_by: Who did.
    """

    id: str
    population: str
    name: str
    file: str
    opinions: int
    job: str
    created: str
    created_by: str


@dataclass(frozen=True, slots=True)
class DoubtRow:
    """A doubtful pair; ``body`` is closed."""

    number: int
    left: int
    right: int
    score: float
    weight: float
    reason: str
    body: bytes

    @property
    def pair(self) -> tuple[int, int]:
        """The records' numbers."""
        return self.left, self.right


def doubt_place(job: str, number: int) -> tuple[object, ...]:
    """Return what a doubt's body is bound to."""
    return "linkage_doubt", job, number


class LinkageStore:
    """Reads and writes linkages; whoever writes gives the transaction."""

    def find(self, connection: Connection, population: str, name: str) -> LinkageRow:
        """Return a population's linkage, by its name or its id.

        Raises:
            NoSuchThingError: There is none.
        """
        row = self.known(connection, population, name)
        if row is None:
            message = f"the population {population!r} has no linkage {name!r}"
            raise NoSuchThingError(message)
        return row

    def known(
        self, connection: Connection, population: str, name: str
    ) -> LinkageRow | None:
        """Return a population's linkage, by its name or its id; None: there is none."""
        row = connection.execute(
            select(linkage).where(
                linkage.c.population == population,
                (linkage.c.name == name) | (linkage.c.id == name),
            )
        ).first()
        return None if row is None else _row(row)

    def by_id(self, connection: Connection, wanted: str) -> LinkageRow | None:
        """Return a linkage by its id; None: there is none."""
        row = connection.execute(select(linkage).where(linkage.c.id == wanted)).first()
        return None if row is None else _row(row)

    def all(
        self, connection: Connection, populations: Iterable[str] | None = None
    ) -> list[LinkageRow]:
        """Return the linkages of some populations, or all, newest first."""
        wanted = select(linkage).order_by(linkage.c.created.desc(), linkage.c.id.desc())
        if populations is not None:
            wanted = wanted.where(linkage.c.population.in_(sorted(populations)))
        return [_row(row) for row in connection.execute(wanted)]

    def runs(self, connection: Connection, wanted: str) -> Sequence[Row[tuple[object]]]:
        """Return a linkage's runs, the newest first."""
        table = linkage_run
        return connection.execute(
            select(table)
            .where(table.c.linkage == wanted)
            .order_by(table.c.number.desc())
        ).all()

    def register_digest(self, connection: Connection, job: str) -> str:
        """Return the SHA-256 of a run's register."""
        table = linkage_run
        found = select(table.c.file_sha256).where(table.c.job == job)
        return str(connection.execute(found).scalar_one())

    def registers(self, connection: Connection) -> set[str]:
        """Return the jobs whose registers count."""
        return set(connection.execute(select(linkage.c.job)).scalars())

    def all_runs(self, connection: Connection) -> set[str]:
        """Return the jobs of all runs that count, or did."""
        return set(connection.execute(select(linkage_run.c.job)).scalars())

    def jobs_of_doubts(self, connection: Connection) -> set[str]:
        """Return the jobs that wrote doubts."""
        return set(connection.execute(select(linkage_doubt.c.job).distinct()).scalars())

    def jobs_of_acts(self, connection: Connection) -> set[str]:
        """Return the jobs that wrote acts."""
        return set(connection.execute(select(linkage_act.c.job).distinct()).scalars())

    def opinions(
        self, connection: Connection, wanted: str, *, upto: int | None = None
    ) -> list[Opinion]:
        """Return the opinions of a linkage that stand, in their order.

        Args:
            connection: Of the catalogue.
            wanted: The linkage's id.
            upto: Those up to this number; None: all.
        """
        query = _standing(wanted, upto).order_by(linkage_decision.c.number)
        return [_opinion(row) for row in connection.execute(query)]

    def count_opinions(self, connection: Connection, wanted: str, upto: int) -> int:
        """Return how many opinions of a linkage stand, up to a number."""
        counted = select(func.count()).select_from(_standing(wanted, upto).subquery())
        return int(connection.execute(counted).scalar_one())

    def standing(
        self, connection: Connection, row: LinkageRow, pair: Pair | None = None
    ) -> Standing:
        """Return what clerks say of a linkage's pairs now, or of one of them."""
        runs = self.runs(connection, row.id)
        applied = int(runs[0].decisions) if runs else 0
        table = linkage_decision
        query = _standing(row.id).order_by(table.c.number)
        if pair is not None:
            query = query.where(table.c.left == pair[0], table.c.right == pair[1])
        told = [(_opinion(one), one.number) for one in connection.execute(query)]
        fresh = frozenset(one.pair for one, number in told if number > applied)
        verdicts = last_verdicts(one for one, _ in told)
        clerks = {one.clerk for one, _ in told} if row.opinions > 1 else set()
        return Standing(
            verdicts, row.opinions, fresh, self.dependent(connection, clerks)
        )

    def dependent(self, connection: Connection, clerks: Iterable[str]) -> Dependent:
        """Return which clerks may be one person: the host and whom it gave a key."""
        return frozenset(
            frozenset(pair)
            for pair in combinations(sorted(clerks), 2)
            if not are_independent(connection, *pair)
        )

    def last_decision(self, connection: Connection, wanted: str) -> int:
        """Return the number of a linkage's last decision, 0 where it has none."""
        table = linkage_decision
        found = select(func.max(table.c.number)).where(table.c.linkage == wanted)
        return int(connection.execute(found).scalar_one() or 0)

    def history(
        self, connection: Connection, wanted: str, pair: tuple[int, int]
    ) -> Sequence[Row[tuple[object]]]:
        """Return all that was ever said of a pair, in order."""
        table = linkage_decision
        of_pair = table.c.left == pair[0], table.c.right == pair[1]
        return connection.execute(
            select(table)
            .where(table.c.linkage == wanted, *of_pair)
            .order_by(table.c.number)
        ).all()

    def decide(
        self, connection: Connection, wanted: str, opinion: Opinion
    ) -> tuple[str, str]:
        """Write what a clerk says; return the decision's id, and when it was made."""
        made, created = random_id("dec"), now_text()
        connection.execute(
            insert(linkage_decision).values(
                id=made,
                linkage=wanted,
                left=opinion.pair[0],
                right=opinion.pair[1],
                verdict=opinion.verdict,
                created=created,
                created_by=opinion.clerk,
            )
        )
        return made, created

    def decision(
        self, connection: Connection, wanted: str, decision: str
    ) -> Row[tuple[object]] | None:
        """Return a decision of a linkage by its id; None: it has no such one."""
        table = linkage_decision
        return connection.execute(
            select(table).where(table.c.linkage == wanted, table.c.id == decision)
        ).first()

    def decisions(
        self, connection: Connection, wanted: str, *, before: int | None, most: int
    ) -> Sequence[Row[tuple[object]]]:
        """Return a linkage's decisions before a number, the newest first."""
        table = linkage_decision
        query = select(table).where(table.c.linkage == wanted)
        if before is not None:
            query = query.where(table.c.number < before)
        return connection.execute(
            query.order_by(table.c.number.desc()).limit(most)
        ).all()

    def undo(self, connection: Connection, decision: str, actor: str) -> bool:
        """Take a decision back; whether it stood."""
        table = linkage_decision
        changed = connection.execute(
            update(table)
            .where(table.c.id == decision, table.c.undone.is_(None))
            .values(undone=now_text(), undone_by=actor)
        )
        return bool(changed.rowcount)

    def doubts(
        self, connection: Connection, job: str, *, after: int = 0, most: int
    ) -> list[DoubtRow]:
        """Return a run's doubtful pairs behind a number, the surest first."""
        table = linkage_doubt
        rows = connection.execute(
            select(table)
            .where(table.c.job == job, table.c.number > after)
            .order_by(table.c.number)
            .limit(most)
        )
        return [_doubt(row) for row in rows]

    def doubt(
        self, connection: Connection, job: str, pair: tuple[int, int]
    ) -> DoubtRow | None:
        """Return a run's doubtful pair; None: it has no such one."""
        table = linkage_doubt
        row = connection.execute(
            select(table).where(
                table.c.job == job, table.c.left == pair[0], table.c.right == pair[1]
            )
        ).first()
        return None if row is None else _doubt(row)

    def doubt_pairs(
        self, connection: Connection, job: str
    ) -> dict[tuple[int, int], str]:
        """Return why a run's pairs are doubtful, by their records, the surest first."""
        table = linkage_doubt
        rows = connection.execute(
            select(table.c.left, table.c.right, table.c.reason)
            .where(table.c.job == job)
            .order_by(table.c.number)
        )
        return {(row.left, row.right): str(row.reason) for row in rows}

    def acts(self, connection: Connection, wanted: str) -> list[Row[tuple[object]]]:
        """Return what runs changed for patients, the oldest first."""
        runs, acts = linkage_run, linkage_act
        return list(
            connection.execute(
                select(runs.c.number.label("run"), runs.c.snapshot, acts)
                .join(runs, runs.c.job == acts.c.job)
                .where(runs.c.linkage == wanted)
                .order_by(runs.c.number, acts.c.number)
            )
        )

    def drop(self, connection: Connection, wanted: str) -> None:
        """Delete a linkage but for its doubts and acts, which are deleted in slices."""
        for table in (linkage_decision, linkage_run):
            connection.execute(delete(table).where(table.c.linkage == wanted))
        connection.execute(delete(linkage).where(linkage.c.id == wanted))


def _standing(wanted: str, upto: int | None = None) -> Select[tuple[object]]:
    """Return the query of a linkage's decisions that stand, up to a number."""
    table = linkage_decision
    query = select(table).where(table.c.linkage == wanted, table.c.undone.is_(None))
    return query if upto is None else query.where(table.c.number <= upto)


def _opinion(row: Row[tuple[object]]) -> Opinion:
    return Opinion((row.left, row.right), row.created_by, cast("Verdict", row.verdict))


def opened_body(cipher: TextCipher, job: str, doubt: DoubtRow) -> Document:
    """Return what a doubt's records say, and why they agree.

    Raises:
        TextKeyError: It cannot be opened.
    """
    told = cipher.decrypt(doubt.body, *doubt_place(job, doubt.number))
    return cast("Document", json.loads(told))


def _row(row: Row[tuple[object]]) -> LinkageRow:
    return LinkageRow(**row._mapping)  # noqa: SLF001 - a public name, but for its dash


def _doubt(row: Row[tuple[object]]) -> DoubtRow:
    told = dict(row._mapping)  # noqa: SLF001 - as above
    told.pop("job")
    return DoubtRow(**told)
