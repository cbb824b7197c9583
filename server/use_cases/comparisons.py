"""Comparing a load's units with other populations: when, and what a refusal leaves.

A refusal tells who is in another population, so it is no free question (ADR 0016):
loads of few new units are not compared at all; each refusal is an entry that custodians
of all these populations are shown; and after one, the next comparison needs two
persons. Whether something is compared depends on the population's own loads alone.
"""

import hashlib
import json
from dataclasses import dataclass

from sqlalchemy import Connection, select

from budget.ledger import RecordedTransaction
from budget.tables import chain
from privacy.errors import CuratorError
from privacy.wording import counted
from server.use_cases.changes import Altered, Change
from server.use_cases.errors import CommandRefusedError
from server.use_cases.overlaps import Overlaps
from server.use_cases.second_persons import (
    SecondPersonNeededError,
    check_second_person,
    is_single_custodian,
    require_second_person,
    visible_populations,
)

LEAST_UNITS = 50
"""New units that a load needs to be compared with other populations, if it has any."""

REFUSED = "overlap.refused"
"""The action of the entry that a refusal leaves."""

_TWO = "two persons must agree, unless the installation has a single custodian"
_OVERRIDE = f"or pass --override-overlap --reason TEXT; {_TWO}"


class OverlapRefusedError(CuratorError):
    """Other populations have some of these units: record it, then say so.

    Attributes:
        population: Whose load it is.
        others: The populations that have them.
        said: What whoever loads is told, once the entry is written.
    """

    code = "refused"

    def __init__(
        self,
        population: str,
        others: list[str],
        said: CommandRefusedError | SecondPersonNeededError,
    ) -> None:
        self.population = population
        self.others = others
        self.said = said
        super().__init__("units are in another population")


@dataclass(frozen=True, slots=True)
class Compared:
    """What of a load is compared.

    Attributes:
        population: Whose load it is.
        is_new: Whether the population is about to be created.
        new_units: How many units of the load the population never had.
        digests: Their keyed hashes.
        publishes: Whether something public differs from the active snapshot's.
        named: Other populations whose units something public of the load names.
        override: Why an overlap is to pass; None: it is not.
    """

    population: str
    is_new: bool
    new_units: int
    digests: frozenset[bytes]
    publishes: bool
    named: tuple[str, ...]
    override: str | None

    def change(self, action: str, others: list[str]) -> Change:
        """Return what two persons agree to: these very units, these populations."""
        units = hashlib.sha256(b"".join(sorted(self.digests))).hexdigest()
        altered = Altered(
            f"patients of {self.population} in other populations",
            None,
            {"populations": others, "keyed_units": units},  # shown_change hides them
        )
        known = None if self.is_new else self.population
        if action == "overlap.compare":
            return Change("overlap.compare", known, (altered,), self.override)
        return Change("overlap.override", known, (altered,), self.override)


@dataclass(frozen=True, slots=True)
class Comparison:
    """The comparison of one load, inside the transaction that records it."""

    entry: RecordedTransaction
    actor: str
    overlaps: Overlaps
    load: Compared

    def allowed_overlap(self) -> list[str]:
        """Return the populations that share units, if the load may pass.

        Units that the population had before are not compared again, nor is what the
        dataset has published already: who came to another population since was compared
        with it then.

        Raises:
            OverlapRefusedError: They share some, and nobody allowed that.
            CommandRefusedError: Nothing was compared: there are too few units, or this
                would be another comparison after a refusal.
            SecondPersonNeededError: As before, and somebody else must approve.
        """
        connection, load = self.entry.connection, self.load
        others = self.overlaps.others(connection, load.population)
        if not others:
            return []
        if 0 < load.new_units < LEAST_UNITS:
            return self._uncompared(others)
        digest = self.overlaps.digest_of(connection, load.population)
        new = load.digests - self.overlaps.known(load.population, digest)
        if not new and not load.publishes:
            return []
        named = load.named if load.publishes else ()
        found = {*self.overlaps.sharing(connection, load.population, new), *named}
        return self._decided(sorted(found), others)

    def _uncompared(self, others: list[str]) -> list[str]:
        """Let a load of few new units pass unseen, if two persons agreed to it."""
        if self.load.override is None:
            message = (
                f"{counted(self.load.new_units, 'unit')} of the load "
                f"{'is' if self.load.new_units == 1 else 'are'} new to population "
                f"{self.load.population!r}, fewer than {LEAST_UNITS}: they are not "
                "compared with other populations, since the answer would tell of "
                "single people. Load them with more of their population, under the "
                f"population whose people they are, {_OVERRIDE}"
            )
            raise CommandRefusedError(message)
        self._agreed("overlap.override", others)
        return others

    def _decided(self, sharing: list[str], others: list[str]) -> list[str]:
        allowed = self._is_agreed(sharing)
        if not allowed and self._was_refused():
            self._agreed_comparison(others)
        if not sharing:
            return []
        if allowed:
            self._agreed("overlap.override", sharing)
            return sharing
        raise OverlapRefusedError(self.load.population, sharing, self._said(sharing))

    def _was_refused(self) -> bool:
        """Whether a load of this population was, or of any that was never made."""
        names = refused_populations(self.entry.connection)
        if self.load.is_new:
            made = self.overlaps.others(self.entry.connection, self.load.population)
            return bool(names.difference(made))
        return self.load.population in names

    def _is_agreed(self, sharing: list[str]) -> bool:
        if self.load.override is None:
            return False
        wanted = self.load.change("overlap.override", sharing)
        try:
            check_second_person(self.entry.connection, self.actor, wanted)
        except SecondPersonNeededError:
            return False
        return True

    def _agreed(self, action: str, others: list[str]) -> None:
        change = self.load.change(action, others)
        require_second_person(self.entry, self.actor, change)

    def _agreed_comparison(self, others: list[str]) -> None:
        """Require two persons for what may become another refusal."""
        if is_single_custodian(self.entry.connection):
            message = (
                "an earlier load of this population was refused since its units are in "
                "another one, and the next comparison is no free question: pass "
                "--override-overlap --reason TEXT, and say what you changed"
            )
            raise CommandRefusedError(message)
        self._agreed("overlap.compare", others)

    def _said(
        self, sharing: list[str]
    ) -> CommandRefusedError | SecondPersonNeededError:
        if self.load.override is not None:
            wanted = self.load.change("overlap.override", sharing)
            return SecondPersonNeededError(wanted)
        held = visible_populations(self.entry.connection, self.actor, sharing)
        named = f"population {held[0]!r}" if held else "another population"
        message = (
            f"some of these units are in {named} too, where a second cap would be "
            "spent on the same people (or a public table, list or hierarchy names "
            f"them): load the dataset under that population, {_OVERRIDE}. The refusal "
            "is recorded for the custodians of both, and the next comparison needs "
            "two persons"
        )
        return CommandRefusedError(message)


def refused_populations(connection: Connection) -> set[str]:
    """Return the populations of which a load was refused for an overlap."""
    bodies = connection.execute(
        select(chain.c.body).where(
            chain.c.kind == "admin",
            chain.c.body.startswith(f'{{"action":"{REFUSED}"', autoescape=True),
        )
    ).scalars()
    return {json.loads(body)["facts"]["population"] for body in bodies}
