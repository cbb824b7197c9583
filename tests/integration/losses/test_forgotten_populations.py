"""A population that a restore forgot, and that is loaded again."""

import shutil

import pytest

from server.use_cases.oversight.auditing import AuditService
from server.use_cases.services.errors import CommandRefusedError
from tests.support.enrolment import PATIENTS, PURE, Enrolment, load
from tests.support.installations.harness import (
    Installation,
    ask,
    client,
    serve_in_thread,
)

pytestmark = pytest.mark.thorough

ALL = "SELECT COUNT(*) AS n FROM patients"
SAID = "measure: pure\n  " + PURE
PLAIN, DIVIDED = Enrolment(blocks="", cap=SAID), Enrolment(cap=SAID)
ELSEWHERE = {"north": "east", "south": "west"}
OTHERS = Enrolment(
    patients=tuple((unit, ELSEWHERE[site], sex) for unit, site, sex in PATIENTS),
    sites=("east", "west"),
    cap=SAID,
)


def spend(installation, name):
    """Ask for the whole cap; return the status."""
    key = installation.analyst(name, project=f"study{name}")
    with serve_in_thread(installation) as url, client(url, key) as http:
        return ask(http, ALL, epsilon="1").status_code


@pytest.fixture
def forgotten(tmp_path, request):
    """An installation whose backup does not know the population that was spent."""
    made = Installation(tmp_path / "installation")
    made.folder.mkdir()
    made.create()
    shutil.copytree(made.data, tmp_path / "backup")
    load(made, request.param)
    assert spend(made, "ada") == 200
    shutil.rmtree(made.data)
    shutil.copytree(tmp_path / "backup", made.data)
    with made.services() as services:
        done = AuditService(services, "local:test").reconcile("disk failed")
    (one,) = done["forgotten"]
    assert (one["spent"], "under this name alone" in one["now"]) == ("1", True)
    return made


@pytest.mark.parametrize(
    ("forgotten", "again"),
    [(PLAIN, PLAIN), (DIVIDED, DIVIDED)],
    indirect=["forgotten"],
    ids=["plain", "divided"],
)
def test_declared_as_it_was_it_is_spent(forgotten, again):
    load(forgotten, again)
    assert spend(forgotten, "bob") == 402


@pytest.mark.parametrize(
    ("forgotten", "again"),
    [(PLAIN, DIVIDED), (DIVIDED, PLAIN), (DIVIDED, OTHERS)],
    indirect=["forgotten"],
    ids=["plain to divided", "divided to plain", "divided otherwise"],
)
def test_declared_with_another_division_it_is_refused(forgotten, again):
    with pytest.raises(CommandRefusedError, match="declare it as it was then"):
        load(forgotten, again)


@pytest.mark.parametrize("forgotten", [PLAIN], indirect=True)
def test_what_it_counts_must_be_said(forgotten):
    """Nothing here knows whether epsilon or rho was spent of it."""
    with pytest.raises(CommandRefusedError, match="measure: pure or measure: zcdp"):
        load(forgotten, Enrolment(blocks=""))
