"""Every block of the quickstart runs, in order, in one shell."""

import shutil

import pytest

from tests.support.installations.pages import blocks, run_page

PAGE = "quickstart.md"

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(shutil.which("curl") is None, reason="the page uses curl"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("quickstart")


@pytest.fixture(scope="module")
def session(folder):
    return run_page(PAGE, folder)


def test_nobody_else_can_read_the_key(folder, session):
    (key,) = folder.rglob("key.json")
    assert key.stat().st_mode & 0o777 == 0o600


def test_the_page_has_all_kinds_of_blocks():
    assert len(blocks(PAGE, "sh")) >= 8
    assert blocks(PAGE, "python")


def test_the_curl_line_is_answered(session):
    assert '"rows": [["F", ' in session


def test_the_client_prints_plan_answer_and_remaining(session):
    assert "affordable" in session
    assert "north" in session
    assert "(paid epsilon " in session


def test_the_ledger_is_whole_at_the_end(session):
    assert "ok: true" in session
    assert "epsilon_cap: 5" in session
