"""A text that a parser child refuses is refused by the server: whatever it raises."""

import errno

import pytest

from engines.processes import json_children
from engines.processes.json_children import JsonChild
from privacy.errors import QueryError, UnknownColumnError
from server.children.parser_child import STARTED
from server.children.parser_process import (
    _REFUSALS,
    ParserPool,
    ParserUnavailableError,
)
from tests.support.parsers import LastingPool


def test_every_refusal_of_a_text_has_its_own_class_again():
    assert set(_REFUSALS.values()) == set(QueryError.__subclasses__())


def test_a_column_that_a_table_of_the_text_lacks_is_unknown():
    """It is found where VALUES are written into the text, in the child."""
    sql = (
        "SELECT n.j, COUNT(*) FROM (VALUES (1), (2)) AS n(i) "
        "JOIN visits AS v ON v.age = n.i GROUP BY n.j"
    )
    pool = LastingPool()
    try:
        with pytest.raises(UnknownColumnError) as refused:
            pool.parse(sql)
    finally:
        pool.close()
    assert refused.value.rule == "unknown_column"


def test_a_reply_that_was_not_waited_for_is_nobody_elses(monkeypatch):
    """Out of files, each text was answered by the tree of the one before it."""
    pool = ParserPool()

    def refuse(_pipe, _seconds):
        raise OSError(errno.EMFILE, "Too many open files")

    try:
        pool.check()  # it has started
        with monkeypatch.context() as patch:
            patch.setattr(json_children, "_piece", refuse)
            with pytest.raises(ParserUnavailableError):
                pool.parse("SELECT COUNT(*) AS first FROM visits")
        trees = [pool.parse(f"SELECT COUNT(*) AS n{n} FROM visits") for n in range(3)]
    finally:
        pool.close()
    names = [tree.select.items[0].alias for tree in trees]
    assert names == ["n0", "n1", "n2"]


def test_a_child_that_was_not_waited_for_is_ended(monkeypatch):
    """So it is whoever asks it: the child that reads manifests is asked alike."""
    child = JsonChild("server.children.parser_child")
    try:
        assert child.line(30) == STARTED
        with monkeypatch.context() as patch:
            patch.setattr(json_children, "_piece", lambda *_: 1 / 0)
            with pytest.raises(ZeroDivisionError):
                child.ask(("SELECT 1", False), 5)
        assert child.has_ended()
        assert child.ask(("SELECT 1", False), 5) is None
    finally:
        child.kill()
