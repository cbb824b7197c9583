"""A parser child that hangs is an incident; no clock refuses a text."""

import contextlib
import os
import signal

import pytest

from query_lang.reading.parse import parse_query
from server.children.parser_process import ParserPool, ParserUnavailableError

SQL = "SELECT COUNT(*) FROM t WHERE a > 1"


def test_a_child_that_hangs_refuses_no_text_and_another_takes_its_place():
    with contextlib.closing(ParserPool(timeout_seconds=30)) as pool:
        assert pool.parse(SQL) == parse_query(SQL)
        hung = pool._warm._process.pid
        os.kill(hung, signal.SIGSTOP)
        pool._timeout_seconds = 0.2

        with pytest.raises(ParserUnavailableError):
            pool.parse(SQL)

        pool._timeout_seconds = 30
        assert pool.parse(SQL) == parse_query(SQL)
        assert pool._warm._process.pid != hung
