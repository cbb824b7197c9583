"""Migrations carry a filled ledger: nothing is lost, and verify stays green."""

import contextlib
import itertools
import sqlite3
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import inspect

from budget.chain.anchor import AnchorFile, AnchorRecord
from budget.chain.entries import head_of, ledger_id_of
from budget.chain.writing import cap_totals
from budget.ledger import ChargeRequest, Ledger, Scope
from budget.storage.databases import Databases
from privacy.losses import Loss
from server.persistence.schema import (
    HEAD,
    RECORDED_TABLES,
    all_metadata,
    current_revision,
    migration_config,
    upgrade,
)

pytestmark = pytest.mark.thorough

SCRIPTS = ScriptDirectory.from_config(migration_config())
REVISIONS = [script.revision for script in SCRIPTS.walk_revisions()]
SCOPES = (Scope.population("people"), Scope.project("study"))
LEDGERS = Path(__file__).parents[1] / "golden" / "ledgers"
"""A ledger filled by the code of each earlier revision, as SQL."""


@pytest.fixture(params=["sqlite", "postgresql"])
def databases(request, tmp_path):
    """An empty database of each kind in turn."""
    url = f"sqlite:///{tmp_path / 'curator.sqlite'}"
    if request.param == "postgresql":
        url = request.getfixturevalue("empty_database")
    databases = Databases(url)
    yield databases
    databases.close()


def request(number):
    return ChargeRequest(
        query_id=f"q{number}",
        principal="ada",
        project="study",
        population="people",
        dataset="clinic",
        snapshot="s1",
        scopes=SCOPES,
        loss=Loss.parse("0.5"),
        question="how many",
        private_history=False,
        idempotency_key=f"k{number}",
        fingerprint="f",
        request_json="{}",
    )


def fill(ledger):
    """Charge, answer, fail, reuse and refuse."""
    with ledger.recorded("setup", "local:test") as change:
        for scope in SCOPES:
            change.set_limit(scope, Loss.parse("2"))
    numbers = itertools.count()
    for end in (b"first", b"second", None):
        made = ledger.charge(request(next(numbers)))
        if end is None:
            ledger.fail(made.charge.query_id)
        else:
            ledger.store_answer(made.charge, end)
    ledger.store_free(request(next(numbers)), "q0", b"again")
    ledger.store_free(request(next(numbers)), "q0", b"<first>", [b"<", (0, 5), b">"])
    ledger.charge(request(next(numbers)))  # left running
    assert not hasattr(ledger.charge(request(next(numbers))), "charge")  # refused


CASES = [("sqlite", revision) for revision in REVISIONS]
CASES.append(("postgresql", HEAD))  # no older code wrote to PostgreSQL


@pytest.mark.parametrize(("databases", "revision"), CASES, indirect=["databases"])
def test_a_ledger_filled_at_any_revision_is_whole_at_the_newest(
    tmp_path, databases, revision
):
    if revision == HEAD:
        with databases.writer.begin() as connection:
            upgrade(connection)
        anchor = AnchorFile(tmp_path / "anchor")
        fill(Ledger.initialise(databases, anchor, actor="local:test"))
    else:
        anchor = restored(revision, databases, tmp_path)
    before = Ledger(databases, anchor).export()
    with databases.writer.begin() as connection:
        upgrade(connection)
        assert current_revision(connection) == HEAD
    after = Ledger(databases, anchor)
    after.open(RECORDED_TABLES)
    assert after.verify(RECORDED_TABLES).problems == ()
    assert after.export() == before
    assert after.spent(SCOPES[0]) == Loss.parse("2")
    assert after.query("q1").body == b"second"
    assert after.query("q3").body == b"again"
    if revision == HEAD:
        assert after.query("q4").body == b"<first>"
    assert len(after.take_up()[0]) == 1


def restored(revision, databases, folder):
    """Bring back what the code of an earlier revision wrote, with its anchor."""
    script = (LEDGERS / f"{revision}.sql").read_text("utf-8")
    with contextlib.closing(sqlite3.connect(folder / "curator.sqlite")) as connection:
        connection.executescript(script)
    with databases.reader.connect() as connection:
        record = AnchorRecord(
            ledger_id_of(connection), head_of(connection), cap_totals(connection)
        )
    anchor = AnchorFile(folder / "anchor")
    anchor.create(record)
    return anchor


def test_the_migrations_make_what_the_code_declares(databases):
    with databases.writer.begin() as connection:
        upgrade(connection)
    with databases.reader.connect() as connection:
        context = MigrationContext.configure(connection)
        assert compare_metadata(context, all_metadata()) == []
        made = checks_of(connection)
    with databases.writer.begin() as connection:
        for metadata in all_metadata():
            metadata.drop_all(connection)
            metadata.create_all(connection)
        assert checks_of(connection) == made


@pytest.mark.parametrize("databases", ["postgresql"], indirect=True)
def test_text_is_compared_by_code_point_whatever_the_databases_collation(databases):
    with databases.writer.begin() as connection:
        upgrade(connection)
        collations = connection.exec_driver_sql(
            "SELECT DISTINCT collation_name FROM information_schema.columns "
            "WHERE table_schema = 'public' AND data_type = 'text'"
        ).scalars()
        assert set(collations) == {"C"}


def checks_of(connection):
    """Return what compare_metadata does not compare: the CHECK constraints."""
    inspector = inspect(connection)
    return {
        name: sorted(c["sqltext"] for c in inspector.get_check_constraints(name))
        for name in inspector.get_table_names()
        if name != "alembic_version"
    }
