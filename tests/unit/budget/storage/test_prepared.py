"""Prepared statements do what SQLAlchemy's own would, on both databases."""

import pytest
from sqlalchemy import (
    Boolean,
    Column,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    bindparam,
    insert,
    select,
    update,
)
from sqlalchemy.exc import DBAPIError, IntegrityError, OperationalError

from budget.storage.databases import Databases
from budget.storage.postgresql import DatabaseLostError
from budget.storage.prepared import Prepared, Statement, together

thing = Table(
    "thing",
    MetaData(),
    Column("name", Text, primary_key=True),
    Column("size", Integer),
    Column("flag", Boolean),
    Column("body", LargeBinary),
)
ADD = Prepared(insert(thing))
GROW = Prepared(
    update(thing)
    .where(thing.c.name == bindparam("of"), thing.c.size <= bindparam("most"))
    .values(size=thing.c.size + bindparam("by"))
)
NAMED = Prepared(
    select(thing.c.name, thing.c.size, thing.c.body)
    .where(
        (thing.c.name == "a") | (thing.c.name == "b"),
        thing.c.size >= bindparam("least"),
    )
    .order_by(thing.c.size.desc())
    .limit(2)
)


@pytest.fixture(params=["sqlite", "postgresql"])
def databases(request, tmp_path):
    if request.param == "sqlite":
        url = f"sqlite:///{tmp_path / 'x.sqlite3'}"
    else:
        url = request.getfixturevalue("cluster").database()
    databases = Databases(url)
    with databases.writer.begin() as connection:
        thing.metadata.create_all(connection)
    yield databases
    databases.close()


def row(name, size):
    return {"name": name, "size": size, "flag": True, "body": b"\x00" + name.encode()}


def test_rows_are_written_changed_and_read(databases):
    with databases.writer.begin() as connection:
        for name, size in (("a", 1), ("b", 2), ("c", 3)):
            assert ADD.run(connection, row(name, size)) == 1
        assert GROW.run(connection, {"of": "b", "most": 2, "by": 5}) == 1
        assert GROW.run(connection, {"of": "b", "most": 2, "by": 5}) == 0
    with databases.reader.connect() as connection:
        found = NAMED.rows(connection, {"least": 1})
        assert [(name, size, bytes(body)) for name, size, body in found] == [
            ("b", 7, b"\x00b"),
            ("a", 1, b"\x00a"),
        ]
        assert NAMED.rows(connection, {"least": 8}) == []


def test_a_reader_sees_one_state_from_its_first_prepared_statement_on(databases):
    with databases.reader.connect() as connection:
        assert NAMED.rows(connection, {"least": 0}) == []
        with databases.writer.begin() as other:
            ADD.run(other, row("a", 1))
        assert NAMED.rows(connection, {"least": 0}) == []
    with databases.reader.connect() as connection:
        assert len(NAMED.rows(connection, {"least": 0})) == 1


def test_what_is_written_goes_back_with_its_transaction(databases):
    with databases.writer.connect() as connection:
        ADD.run(connection, row("a", 1))
        assert len(NAMED.rows(connection, {"least": 0})) == 1
    with databases.reader.connect() as connection:
        assert NAMED.rows(connection, {"least": 0}) == []


def test_statements_go_together_in_order_and_each_sees_the_last(databases):
    growing = {"of": "a", "most": 1, "by": 5}
    with databases.writer.begin() as connection:
        outcomes = together(
            connection,
            [
                Statement(ADD, row("a", 1)),
                Statement(GROW, growing),
                Statement(GROW, growing),  # has grown beyond
                Statement(NAMED, {"least": 0}),
            ],
        )
    assert [outcome.changed for outcome in outcomes[:3]] == [1, 1, 0]
    assert [found[:2] for found in outcomes[3].rows] == [("a", 6)]
    assert outcomes[0].rows == []
    assert names(databases) == ["a"]


def test_after_a_statement_that_fails_none_of_those_with_it_is_run(databases):
    steps = [
        Statement(ADD, row("a", 1)),
        Statement(ADD, row("a", 1)),
        Statement(ADD, row("b", 1)),
    ]
    with databases.writer.connect() as connection:
        with pytest.raises(IntegrityError):
            together(connection, steps)
        connection.rollback()
        assert NAMED.rows(connection, {"least": 0}) == []
    assert names(databases) == []


def test_a_connection_that_is_lost_amid_several_says_so(databases, cluster):
    if not databases.is_shared:
        pytest.skip("there is no server to lose")
    with databases.writer.connect() as connection:
        NAMED.rows(connection, {"least": 0})
        pid = connection.connection.driver_connection.info.backend_pid
        with cluster.admin() as admin:
            admin.execute("SELECT pg_terminate_backend(%s, 10000)", [pid])
        with pytest.raises(DatabaseLostError):
            together(
                connection, [Statement(ADD, row("a", 1)), Statement(ADD, row("b", 1))]
            )
    assert names(databases) == []


def test_a_full_disk_amid_several_leaves_none_of_them(tmp_path):
    databases = Databases(f"sqlite:///{tmp_path / 'x.sqlite3'}")
    with databases.writer.begin() as connection:
        thing.metadata.create_all(connection)
    large = {"body": bytes(80_000)}
    with databases.writer.connect() as connection:
        (pages,) = connection.exec_driver_sql("PRAGMA page_count").one()
        connection.exec_driver_sql(f"PRAGMA max_page_count = {pages + 30}")
        steps = [
            Statement(ADD, {**row("a", 1), **large}),
            Statement(ADD, {**row("b", 1), **large}),  # does not fit
            Statement(ADD, row("c", 1)),  # would fit, outside of the transaction
        ]
        with pytest.raises(OperationalError, match="full"):
            together(connection, steps)
        connection.exec_driver_sql("PRAGMA max_page_count = 100000")
    assert names(databases) == []
    databases.close()


def test_a_lone_statement_is_a_transaction_of_its_own(databases):
    assert ADD.alone(databases.work, row("a", 1)).changed == 1
    assert names(databases) == ["a"]
    with pytest.raises(IntegrityError):
        ADD.alone(databases.work, row("a", 1))
    assert ADD.alone(databases.work, row("b", 2)).changed == 1
    with databases.work.connect() as connection:  # begins again after a lone one
        ADD.run(connection, row("c", 3))
    assert names(databases) == ["b", "a"]


def test_a_reader_writes_nothing_alone_either(databases):
    with pytest.raises(DBAPIError):
        ADD.alone(databases.reader, row("a", 1))
    assert names(databases) == []


def test_a_lone_statement_on_a_lost_connection_says_so(databases, cluster):
    if not databases.is_shared:
        pytest.skip("there is no server to lose")
    with databases.work.connect() as connection:
        pid = connection.connection.driver_connection.info.backend_pid
    with cluster.admin() as admin:
        admin.execute("SELECT pg_terminate_backend(%s, 10000)", [pid])
    with pytest.raises(DatabaseLostError):
        NAMED.alone(databases.work, {"least": 0})
    assert NAMED.alone(databases.work, {"least": 0}).rows == []


def names(databases):
    found = NAMED.alone(databases.reader, {"least": 0}).rows
    return [name for name, _, _ in found]


def test_errors_are_sqlalchemys(databases):
    with databases.writer.connect() as connection:
        ADD.run(connection, row("a", 1))
        with pytest.raises(IntegrityError):
            ADD.run(connection, row("a", 1))
    with pytest.raises(DBAPIError), databases.reader.connect() as connection:
        ADD.run(connection, row("a", 1))


def test_a_parameter_that_is_missing_is_no_null(databases):
    with databases.writer.begin() as connection, pytest.raises(Exception):  # noqa: B017, PT011
        ADD.run(connection, {"name": "a"})


def test_a_connection_that_is_lost_says_so(databases, cluster):
    if not databases.is_shared:
        pytest.skip("there is no server to lose")
    with databases.writer.connect() as connection:
        NAMED.rows(connection, {"least": 0})
        pid = connection.connection.driver_connection.info.backend_pid
        with cluster.admin() as admin:
            admin.execute("SELECT pg_terminate_backend(%s, 10000)", [pid])
        with pytest.raises(DatabaseLostError):
            NAMED.rows(connection, {"least": 0})
    with databases.writer.begin() as connection:
        assert NAMED.rows(connection, {"least": 0}) == []


def test_a_statement_whose_words_change_is_refused(databases):
    listed = Prepared(select(thing.c.name).where(thing.c.name.in_(["a", "b"])))
    with (
        databases.reader.connect() as connection,
        pytest.raises(ValueError, match="IN"),
    ):
        listed.rows(connection)


def test_a_full_disk_undoes_the_whole_transaction(tmp_path):
    databases = Databases(f"sqlite:///{tmp_path / 'x.sqlite3'}")
    with databases.writer.begin() as connection:
        thing.metadata.create_all(connection)
        ADD.run(connection, row("a", 1))
    with databases.writer.connect() as connection:
        (pages,) = connection.exec_driver_sql("PRAGMA page_count").one()
        connection.exec_driver_sql(f"PRAGMA max_page_count = {pages + 30}")
        assert GROW.run(connection, {"of": "a", "most": 9, "by": 1}) == 1
        ADD.run(connection, {**row("c", 1), "body": bytes(80_000)})
        with pytest.raises(OperationalError, match="full"):  # though it has room alone
            ADD.run(connection, {**row("b", 1), "body": bytes(80_000)})
        connection.exec_driver_sql("PRAGMA max_page_count = 100000")
    with databases.reader.connect() as connection:
        assert [found[:2] for found in NAMED.rows(connection, {"least": 0})] == [
            ("a", 1)
        ]
    databases.close()
