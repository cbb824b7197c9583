"""Finding any edit, deletion, reordering or truncation."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, Table
from sqlalchemy.exc import SQLAlchemyError

from budget.chain.anchor import AnchorFile, AnchorRecord
from budget.checking.replay import Expected, TableRow, replay, table_rows
from budget.storage.databases import Databases
from budget.storage.tables import LEASE_COLUMNS, answer, charge, counter, limit
from privacy.errors import AnchorMismatchError


@dataclass(frozen=True, slots=True)
class Verification:
    """What ``curator ledger verify`` found; ``ok`` means no problem."""

    entries: int
    problems: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether the ledger is whole."""
        return not self.problems


def verify(
    databases: Databases, anchor: AnchorFile, recorded: Sequence[Table]
) -> Verification:
    """Compare the chain, its anchor, and everything that is derived from it.

    The anchor is read first, then the ledger in one transaction, so that writers may
    go on meanwhile.
    """
    record, problems = _read_anchor(anchor)
    try:
        with databases.reader.begin() as connection:
            expected = replay(connection, totals_at=record.head.seq if record else 0)
            problems += expected.problems
            if record is not None:
                problems += _anchor_problems(expected, record)
            problems += _derived_problems(connection, expected)
            for table in recorded:
                problems += _table_problems(connection, expected, table)
    except SQLAlchemyError as error:
        return Verification(
            0, (*problems, f"the database cannot be read ({type(error).__name__})")
        )
    return Verification(expected.entries, tuple(problems))


def _read_anchor(anchor: AnchorFile) -> tuple[AnchorRecord | None, list[str]]:
    try:
        return anchor.read(), []
    except AnchorMismatchError as error:
        return None, [str(error)]
    except OSError:
        return None, ["the anchor cannot be opened"]


def _anchor_problems(expected: Expected, record: AnchorRecord) -> list[str]:
    if expected.ledger_id != record.ledger_id:
        return ["the anchor is of another ledger"]
    if expected.heads.get(record.head.seq) != record.head.hash:
        return [
            f"the anchor saw entry {record.head.seq}, which is missing or different"
        ]
    if expected.totals.get(record.head.seq) != dict(record.totals):
        return ["the anchor's totals are not what the entries make them"]
    return []


def require_derived(connection: Connection, recorded: Sequence[Table] = ()) -> None:
    """Refuse to serve where the chain or what is derived from it was edited.

    Raises:
        AnchorMismatchError: Some entry, counter, limit, charge, answer or recorded
            row differs.
    """
    expected = replay(connection)
    problems = expected.problems + _derived_problems(connection, expected)
    for table in recorded:
        problems += _table_problems(connection, expected, table)
    if problems:
        message = f"the ledger was edited: {problems[0]}; see 'curator ledger verify'"
        raise AnchorMismatchError(message)


def _derived_problems(connection: Connection, expected: Expected) -> list[str]:
    amounts = [
        *_amount_problems(connection, limit, expected.limits),
        *_amount_problems(connection, counter, expected.counters),
    ]
    return [
        *amounts,
        *_charge_problems(connection, expected),
        *_answer_problems(connection, expected),
    ]


def _amount_problems(
    connection: Connection, table: Table, expected: dict[str, int]
) -> list[str]:
    found = {row["scope"]: row["nano_epsilon"] for row in table_rows(connection, table)}
    return [
        f"{table.name} of {scope!r} is not what the entries make it"
        for scope in sorted(found.keys() | expected.keys(), key=str)
        if found.get(scope) != expected.get(str(scope))
    ]


def _charge_problems(connection: Connection, expected: Expected) -> list[str]:
    found = {
        row["query_id"]: {k: v for k, v in row.items() if k not in LEASE_COLUMNS}
        for row in table_rows(connection, charge)
    }
    return [
        f"the row of charge {query_id!r} is not what the entries make it"
        for query_id in sorted(found.keys() | expected.charges.keys(), key=str)
        if found.get(query_id) != expected.charges.get(str(query_id))
    ]


def _answer_problems(connection: Connection, expected: Expected) -> list[str]:
    found = {
        row["query_id"]: (
            hashlib.sha256(_bytes(row["body"])).hexdigest(),
            row["spliced_from"],
        )
        for row in table_rows(connection, answer)
    }
    return [
        f"the stored answer of {query_id!r} is not the one that was sent"
        for query_id in sorted(found.keys() | expected.answers.keys(), key=str)
        if found.get(query_id) != expected.answers.get(str(query_id))
    ]


def _bytes(body: object) -> bytes:
    return body if isinstance(body, bytes) else repr(body).encode()


def _table_problems(
    connection: Connection, expected: Expected, table: Table
) -> list[str]:
    found = _keyed(table, table_rows(connection, table))
    # Entries older than a column say nothing of it: it is NULL in their rows.
    blank: TableRow = dict.fromkeys(column.name for column in table.c)
    wanted = _keyed(table, [blank | row for row in expected.rows.get(table.name, [])])
    return [
        f"the row {key} of {table.name} is not what the entries make it"
        for key in sorted(found.keys() | wanted.keys())
        if found.get(key) != wanted.get(key)
    ]


def _keyed(table: Table, rows: Sequence[TableRow]) -> dict[str, TableRow]:
    names = [column.name for column in table.primary_key]
    return {repr([row[name] for name in names]): row for row in rows}
