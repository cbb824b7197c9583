"""Edits of the database that ``ledger verify`` must find, drawn at random.

Whoever edits may write to the database but not to the anchor; they may know how rows
are derived and hashed, and make everything that they can reach fit.
"""

import contextlib
import hashlib
import shutil
import sqlite3

from budget.chain.anchor import AnchorFile
from budget.chain.entries import FIRST_HASH, entry_hash
from budget.checking.replay import replay
from budget.ledger import Ledger
from budget.storage.databases import Databases
from budget.storage.tables import LEASE_COLUMNS, server_process
from budget.storage.tables import metadata as budget_metadata
from server.persistence.schema import RECORDED_TABLES
from server.persistence.tables import metadata as catalogue_metadata

LEASES = {("charge", name) for name in LEASE_COLUMNS}
TABLES = {
    table.name: table
    for metadata in (budget_metadata, catalogue_metadata)
    for table in metadata.sorted_tables
    if table is not server_process
}


class Forger:
    """Edits one copy of a ledger at random; each method says what it did."""

    def __init__(self, connection, dice):
        self._connection = connection
        self._dice = dice
        connection.execute("PRAGMA ignore_check_constraints = ON")
        connection.execute("PRAGMA foreign_keys = OFF")

    def edit(self):
        """Make one edit; return a sentence about it."""
        kinds = [self.flip] * 8 + [
            self.delete,
            self.swap,
            self.copy_row,
            self.truncate,
            self.truncate_all_that_follows,
            self.rewrite_history,
        ]
        before = self._content()
        while True:
            with contextlib.suppress(sqlite3.IntegrityError, _NothingToEditError):
                with self._connection:
                    sentence = self._dice.choice(kinds)()
                if self._content() != before:  # equal rows may have changed places
                    return sentence

    def _content(self):
        """Return every table's rows, leases apart, whatever their order."""
        return {
            name: sorted(
                repr(row)
                for row in self._connection.execute(
                    f'SELECT {", ".join(self._columns(name))} FROM "{name}"'
                )
            )
            for name in TABLES
        }

    def _columns(self, table):
        names = [column.name for column in TABLES[table].columns]
        return [f'"{name}"' for name in names if (table, name) not in LEASES]

    def _any_table(self):
        filled = [name for name in TABLES if self._rowids(name)]
        return self._dice.choice(filled)

    def _rowids(self, table):
        return [
            row[0] for row in self._connection.execute(f'SELECT rowid FROM "{table}"')
        ]

    def _any_column(self, table):
        names = [column.name for column in TABLES[table].columns]
        return self._dice.choice([n for n in names if (table, n) not in LEASES])

    def _value(self, table, column, rowid):
        query = f'SELECT "{column}" FROM "{table}" WHERE rowid = ?'
        return self._connection.execute(query, (rowid,)).fetchone()[0]

    def _set(self, table, column, rowid, value):
        query = f'UPDATE "{table}" SET "{column}" = ? WHERE rowid = ?'
        self._connection.execute(query, (value, rowid))

    def flip(self):
        """Change one field a little."""
        table = self._any_table()
        column, rowid = self._any_column(table), self._dice.choice(self._rowids(table))
        before = self._value(table, column, rowid)
        self._set(table, column, rowid, self._other(before))
        moved = self._rowids(table)
        if rowid in moved and self._value(table, column, rowid) == before:
            raise _NothingToEditError
        return f"{table}.{column} of row {rowid} was {before!r}"

    def _other(self, value):
        if value is None:
            return self._dice.choice(["x", "", 0])
        if isinstance(value, int):
            return self._dice.choice([value + 1, value - 1, value ^ 1, value + 0.5])
        place = self._dice.randrange(len(value) + 1)
        cut = value[:place]
        if isinstance(value, bytes):
            bit = bytes([value[place - 1] ^ 1 << self._dice.randrange(8)])
            return self._dice.choice(
                [cut[:-1] + bit + value[place:], None, "x", value[:-1]]
            )
        return self._dice.choice([cut + "x" + value[place:], cut, None, value.encode()])

    def delete(self):
        """Delete one row."""
        table = self._any_table()
        rowid = self._dice.choice(self._rowids(table))
        self._connection.execute(f'DELETE FROM "{table}" WHERE rowid = ?', (rowid,))
        return f"row {rowid} of {table} was deleted"

    def swap(self):
        """Exchange one field of two rows."""
        table = self._any_table()
        column, rowids = self._any_column(table), self._rowids(table)
        if len(rowids) < 2:
            raise _NothingToEditError
        one, two = self._dice.sample(rowids, 2)
        values = self._value(table, column, one), self._value(table, column, two)
        if values[0] == values[1]:
            raise _NothingToEditError
        if any(column == c.name for c in TABLES[table].primary_key):
            self._set(table, column, one, "9" * 9)  # out of the way of uniqueness
            one = one if one in self._rowids(table) else 999_999_999
        self._set(table, column, two, values[0])
        two = two if two in self._rowids(table) else values[0]
        self._set(table, column, one, values[1])
        return f"{table}.{column} of rows {one} and {two} were exchanged"

    def copy_row(self):
        """Insert a changed copy of a row: a forged key, grant, charge or entry."""
        table = self._any_table()
        row = list(
            self._connection.execute(
                f'SELECT * FROM "{table}" WHERE rowid = ?',
                (self._dice.choice(self._rowids(table)),),
            ).fetchone()
        )
        names = [column.name for column in TABLES[table].columns]
        for place, column in enumerate(TABLES[table].columns):
            if column.primary_key or column.unique or column.name == "principal":
                row[place] = 10_000 if isinstance(row[place], int) else f"{row[place]}x"
        marks = ", ".join("?" for _ in names)
        listed = ", ".join(f'"{name}"' for name in names)
        self._connection.execute(
            f'INSERT INTO "{table}" ({listed}) VALUES ({marks})', row
        )
        return f"a row was forged in {table}"

    def truncate(self):
        """Cut the chain's tail off, and nothing else."""
        last = self._last()
        cut = self._dice.randint(1, last - 1)
        self._connection.execute("DELETE FROM chain WHERE seq > ?", (cut,))
        return f"the chain was cut after {cut} of {last}"

    def truncate_all_that_follows(self):
        """Cut the tail off with everything derived from it: an older, whole ledger."""
        last = self._last()
        cut = self._dice.randint(2, last - 1)
        self._connection.execute("DELETE FROM chain WHERE seq > ?", (cut,))
        self._connection.execute("PRAGMA user_version = 1")  # ask for derivation
        return f"the ledger went back to {cut} of {last}"

    def rewrite_history(self):
        """Change an old entry, hash all that follow again, and derive every row."""
        last = self._last()
        seq = self._dice.randint(2, last)
        self._connection.execute(
            "UPDATE chain SET time = '2020-01-01T00:00:00+00:00' WHERE seq = ?", (seq,)
        )
        previous = FIRST_HASH
        rows = self._connection.execute(
            "SELECT seq, kind, time, body FROM chain ORDER BY seq"
        ).fetchall()
        for number, kind, time, body in rows:
            previous = entry_hash(previous, number, kind, time, body)
            self._connection.execute(
                "UPDATE chain SET hash = ? WHERE seq = ?", (previous, number)
            )
        self._connection.execute("PRAGMA user_version = 1")
        return f"history was rewritten from entry {seq} of {last}"

    def _last(self):
        return self._connection.execute("SELECT max(seq) FROM chain").fetchone()[0]


class _NothingToEditError(Exception):
    """This draw changes nothing; draw again."""


def derive_all(databases):
    """Make every row what the entries make it, as a forger who knows the code can."""
    with databases.writer.begin() as connection:
        expected = replay(connection)
        assert expected.problems == []
        connection.exec_driver_sql("PRAGMA defer_foreign_keys = ON")
        _replace_charges(connection, expected)
        for name, amounts in (
            ("budget_limit", expected.limits),
            ("budget_counter", expected.counters),
        ):
            connection.execute(TABLES[name].delete())
            rows = [{"scope": s, "nano_epsilon": n} for s, n in amounts.items()]
            if rows:
                connection.execute(TABLES[name].insert(), rows)
        for table in reversed(RECORDED_TABLES):
            connection.execute(table.delete())
        for table in RECORDED_TABLES:
            rows = expected.rows.get(table.name, [])
            if rows:
                connection.execute(table.insert(), rows)


def _replace_charges(connection, expected):
    charge, answer = TABLES["charge"], TABLES["answer"]
    bodies = {
        hashlib.sha256(row.body).hexdigest(): row.body
        for row in connection.execute(answer.select())
    }
    connection.execute(answer.delete())
    connection.execute(charge.delete())
    for row in expected.charges.values():
        connection.execute(charge.insert().values(**row, attempts=1))
    for query_id, (digest, spliced_from) in expected.answers.items():
        row = {"query_id": query_id, "body": bodies[digest]}
        connection.execute(answer.insert().values(**row, spliced_from=spliced_from))


def copy_database(installation, target):
    """Copy a closed database as one file."""
    source = installation.data / "curator.sqlite"
    with (
        contextlib.closing(sqlite3.connect(source)) as one,
        contextlib.closing(sqlite3.connect(target)) as two,
    ):
        one.backup(two)


def run_tampers(installation, folder, dice, count):
    """Edit ``count`` copies; return the sentences of those that verify missed."""
    whole = folder / "whole.sqlite"
    copy_database(installation, whole)
    assert _problems(whole, installation.anchor) == ()  # else every edit is 'found'
    missed = []
    for number in range(count):
        copy = folder / f"copy-{number}.sqlite"
        shutil.copy(whole, copy)
        sentence = _edit(copy, dice)
        if not _problems(copy, installation.anchor):
            missed.append(sentence)
        for path in folder.glob(f"{copy.name}*"):
            path.unlink()
    return missed


def _edit(copy, dice):
    with contextlib.closing(sqlite3.connect(copy)) as connection:
        sentence = Forger(connection, dice).edit()
        wants = connection.execute("PRAGMA user_version").fetchone()[0]
    if wants:
        databases = Databases(f"sqlite:///{copy}")
        derive_all(databases)
        databases.close()
    return sentence


def _problems(path, anchor):
    databases = Databases(f"sqlite:///{path}")
    try:
        return Ledger(databases, AnchorFile(anchor)).verify(RECORDED_TABLES).problems
    finally:
        databases.close()
