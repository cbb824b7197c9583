"""The caps of blocks: each for itself, all of a charge's or none; on both databases."""

import pytest

from budget.chain.anchor import AnchorRecord
from budget.chain.entries import EMPTY
from budget.ledger import Charged, Refused, Scope
from budget.reading.listing import Seen
from budget.reading.statements import read_charges
from privacy.errors import AnchorMismatchError
from privacy.losses import Loss

NORTH, SOUTH = (Scope.block("study_site", name) for name in ("north", "south/east"))
WHOLE = Scope.population("study_site")
PROJECT = Scope.project("study")


@pytest.fixture
def divided(ledger):
    """A ledger with two blocks, of caps of 1."""
    with ledger.recorded("divide", "local:test") as change:
        for block in (NORTH, SOUTH):
            change.set_limit(block, Loss.parse("1"))
    return ledger


def charged(stored, ledger, epsilon, *blocks):
    request = stored.request(
        epsilon, scopes=(*blocks, PROJECT), population="study_site"
    )
    return ledger.charge(request)


def spent(ledger, *scopes):
    return [str(ledger.spent(scope)) for scope in scopes]


def test_a_charge_debits_the_blocks_it_names_and_no_other(stored, divided):
    assert isinstance(charged(stored, divided, "0.75", NORTH), Charged)
    assert spent(divided, NORTH, SOUTH, PROJECT) == ["0.75", "0", "0.75"]


def test_a_block_that_is_spent_leaves_the_others_as_they_are(stored, divided):
    charged(stored, divided, "1", NORTH)
    assert isinstance(charged(stored, divided, "0.001", NORTH), Refused)
    assert isinstance(charged(stored, divided, "1", SOUTH), Charged)


def test_a_charge_of_two_blocks_debits_both_or_neither(stored, divided):
    charged(stored, divided, "0.75", NORTH)
    refused = charged(stored, divided, "0.5", SOUTH, NORTH)
    assert isinstance(refused, Refused)
    assert refused.remaining[NORTH] == Loss.parse("0.25")
    assert spent(divided, NORTH, SOUTH, PROJECT) == ["0.75", "0", "0.75"]
    assert isinstance(charged(stored, divided, "0.25", SOUTH, NORTH), Charged)
    assert spent(divided, NORTH, SOUTH, PROJECT) == ["1", "0.25", "1"]


def test_a_block_that_nobody_declared_is_charged_nothing(stored, divided):
    strange = Scope.block("study_site", "west")
    assert isinstance(charged(stored, divided, "0.1", strange), Refused)


def test_a_population_that_is_divided_cannot_be_charged_as_a_whole(stored, divided):
    assert isinstance(charged(stored, divided, "0.1", WHOLE), Refused)


def test_many_blocks_are_charged_at_once(stored, ledger):
    blocks = [Scope.block("years", str(2000 + n)) for n in range(64)]
    with ledger.recorded("divide", "local:test") as change:
        for block in blocks:
            change.set_limit(block, Loss.parse("1"))
    assert isinstance(charged(stored, ledger, "0.5", *blocks), Charged)
    assert {*spent(ledger, *blocks)} == {"0.5"}
    assert stored.open().verify([]).ok


def test_the_anchor_holds_a_total_for_each_block(stored, divided):
    charged(stored, divided, "0.5", NORTH)
    totals = stored.anchor.read().totals
    assert totals["study_site/north"] == Loss.parse("0.5").nano_epsilon
    assert totals["study_site/south/east"] == 0
    assert "study_site" not in totals
    assert divided.verify([]).ok


def test_a_restored_ledger_charges_all_blocks_the_most_that_its_anchor_saw(
    stored, divided
):
    """Who was loaded since the backup may come again in another block."""
    charged(stored, divided, "0.25", NORTH, SOUTH)
    stored.back_up()
    charged(stored, divided, "0.5", SOUTH)
    stored.restore()
    again = stored.ledger()
    with pytest.raises(AnchorMismatchError):
        again.check()
    stored.ledger().reconcile("disk died", "local:test", lambda _: None)
    again = stored.open()
    assert spent(again, NORTH, SOUTH) == ["0.75", "0.75"]
    assert again.verify([]).ok


def test_a_block_that_the_backup_never_knew_is_charged_and_stays_closed(stored, ledger):
    stored.back_up()
    with ledger.recorded("divide", "local:test") as change:
        change.set_limit(NORTH, Loss.parse("1"))
    charged(stored, ledger, "0.5", NORTH)
    stored.restore()
    stored.ledger().reconcile("disk died", "local:test", lambda _: None)
    again = stored.open()
    assert spent(again, NORTH) == ["0.5"]
    assert again.remaining([NORTH]) == {NORTH: Loss(0)}


def test_a_lost_anchor_closes_every_block(stored, divided):
    stored.anchor.path.unlink()
    stored.anchor.create(AnchorRecord("another", EMPTY, {}))
    stored.ledger().reconcile("lost", "local:test", lambda _: None)
    again = stored.open()
    assert again.remaining([NORTH, SOUTH]) == {NORTH: Loss(0), SOUTH: Loss(0)}
    assert again.verify([]).ok


def test_lines_and_statements_tell_the_blocks_of_a_charge(stored, divided):
    charged(stored, divided, "0.5", NORTH, SOUTH)
    seen = Seen(frozenset({"study_site"}), frozenset())
    lines, _ = divided.lines(seen, lambda _: (), limit=5, cursor=None)
    assert lines[0]["blocks"] == ["north", "south/east"]
    with stored.databases.reader.connect() as connection:
        (line,) = read_charges(connection, population="study_site")
    assert line.blocks == ("north", "south/east")
