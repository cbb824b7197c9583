"""The caps of blocks, and what the anchor holds of them, move with the ledger."""

import pytest

from server.use_cases.custody.populations import PopulationService
from server.use_cases.services.errors import CommandRefusedError
from tests.crash.instruments.books import problems
from tests.crash.moving.moves import move, on_postgresql
from tests.support.enrolment import PATIENTS, Enrolment, divided, load
from tests.support.installations.harness import ask, client, serve_in_thread

pytestmark = pytest.mark.thorough
NORTH = "SELECT COUNT(*) AS n FROM visits WHERE site = 'north'"


def test_a_moved_ledger_keeps_what_each_block_has_spent(tmp_path, empty_database):
    old = divided(tmp_path)
    key = old.analyst()
    with serve_in_thread(old) as url, client(url, key) as http:
        assert ask(http, NORTH, epsilon="0.75").status_code == 200
    done = move(old, empty_database)
    assert done.returncode == 0, done.stderr
    new = on_postgresql(old, empty_database)
    with new.services() as services:
        shown = PopulationService(services, "local:test").population("people")
    assert [one["remaining"] for one in shown["blocks"]] == ["0.25", "1"]
    assert problems(new) == []
    with serve_in_thread(new) as url, client(url, key) as http:
        assert ask(http, NORTH, epsilon="0.5").status_code == 402
        assert ask(http, NORTH, epsilon="0.25").status_code == 200
    moved = (("p1", "north", "F"), *PATIENTS[1:])
    with pytest.raises(CommandRefusedError, match="another block"):
        load(new, Enrolment(moved))
