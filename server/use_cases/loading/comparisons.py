"""Comparing a load's units with other populations: when, and what a refusal leaves.

A refusal tells who is in another population, so it is no free question (ADR 0016):
loads of few new units are not compared at all; each refusal is an entry that custodians
of all these populations are shown; and after one, the next comparison needs two
persons, whose approval it uses up, whatever it finds. An approval is of all that is
compared: the units, by their keyed ids, and what is public, row by row (ADR 0027).
Whether something is compared depends on the population's own loads alone.
A snapshot that is activated again is compared by the same rules, for what it publishes.

Files are read and compared before the transaction that records: here is decided alone.
"""

import hashlib
import hmac
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from sqlalchemy import Connection, select

from budget.ledger import Ledger, RecordedTransaction
from budget.storage.tables import chain
from privacy.errors import CuratorError
from privacy.wording import counted
from server.use_cases.approvals.changes import Action, Altered, Change, Subject
from server.use_cases.approvals.second_persons import (
    SecondPersonNeededError,
    check_second_person,
    is_single_custodian,
    require_second_person,
    visible_populations,
)
from server.use_cases.loading.shown_content import Shown
from server.use_cases.services.errors import CommandRefusedError
from server.use_cases.services.work_ends import REFUSED_OVERLAP

Done = TypeVar("Done")

LEAST_UNITS = 50
"""New units that a load needs to be compared with other populations, if it has any."""

REFUSED = REFUSED_OVERLAP

_TWO = "two persons must agree, unless the installation has a single custodian"
_OVERRIDE = f"or pass --override-overlap --reason TEXT; {_TWO}"
_RECORDED = (
    "The refusal is recorded for the custodians of both, and the next comparison needs "
    "two persons"
)
_COUNTED_TOO = "a population that never came to be"
"""Whose refusals count for each new population, whatever it is called (ADR 0016)."""
UNITS_SHARED = (
    "some of these units are in {named} too, where a second cap would be spent on the "
    "same people (or a public table, list or hierarchy names them): load the dataset "
    f"under that population, {_OVERRIDE}. {_RECORDED}"
)
"""What whoever loads is told; ``named`` is the population, or that it is another."""
PEOPLE_PUBLISHED = (
    "a public table, list or hierarchy of the snapshot names people of {named}: load "
    f"the data again without it, {_OVERRIDE}. {_RECORDED}"
)
"""What whoever activates is told, as above."""


class OverlapRefusedError(CuratorError):
    """Other populations have some of these units: record it, then say so.

    Attributes:
        population: Whose load it is.
        others: The populations that have them.
        said: What whoever loads is told, once the entry is written.
        comparison: The comparison that two persons agreed to; the entry uses it up.
    """

    code = "refused"

    def __init__(
        self,
        population: str,
        others: list[str],
        said: CommandRefusedError | SecondPersonNeededError,
        comparison: Change | None,
    ) -> None:
        self.population = population
        self.others = others
        self.said = said
        self.comparison = comparison
        super().__init__("units are in another population")


@dataclass(frozen=True, slots=True)
class Compared:
    """What a load or an activation was compared with, and what was found.

    Attributes:
        population: Whose it is.
        dataset: What it is of.
        is_new: Whether the population is about to be created.
        new_units: How many units of a load the population never had.
        shown: What becomes public.
        before: What the active snapshot shows; None where there is none.
        sharing: Other populations that have new units.
        named: Other populations whose units something public names.
        binds_to: What an approval is of beside what is shown: the units, by a digest,
            or the snapshot.
        said: What a refusal says, with ``named`` left open.
        reason: Why an overlap is to pass; None: it is not.
        key: What nobody knows, of ``overlap_key``.
    """

    population: str
    dataset: str
    is_new: bool
    new_units: int
    shown: Shown
    before: Shown | None
    sharing: tuple[str, ...]
    named: tuple[str, ...]
    binds_to: Mapping[str, str]
    said: str
    reason: str | None
    key: bytes = field(repr=False)

    @property
    def publishes(self) -> bool:
        """Whether something public differs from the active snapshot's."""
        return self.shown != self.before

    def comparison(self, others: list[str]) -> Change:
        """Return what two persons agree to before these very contents are compared.

        It says nothing of what is found.
        """
        return self._change("overlap.compare", others, ())

    def override(self, sharing: list[str]) -> Change:
        """Return what two persons agree to where populations share units."""
        units = f"populations that have units of {self.dataset} too"
        public = f"populations whose units something public of {self.dataset} names"
        found = {units: self.sharing, public: self.named if self.publishes else ()}
        told = (
            Altered(what, None, {"populations": list(names)})
            for what, names in found.items()
        )
        return self._change("overlap.override", sharing, tuple(told))

    def unseen(self, others: list[str]) -> Change:
        """Return what two persons agree to where new units are not compared."""
        words = f"fewer than {LEAST_UNITS}, compared with no other population"
        told = Altered(f"new units of {self.dataset}", None, words)
        return self._change("overlap.override", others, (told,))

    def _change(
        self, action: Action, others: list[str], told: tuple[Altered, ...]
    ) -> Change:
        """Return a change: these very units and public rows, these populations.

        Its digest is shown to who may not know the populations, and all else of it may
        be guessed: so it holds a keyed hash too, which tells nobody anything.
        """
        found: dict[str, object] = {  # but for the names, shown to the host alone
            "populations": others,
            "shown": self.shown.digest(),
            **self.binds_to,
        }
        public = self.shown.altered(self.dataset, self.before)
        known = None if self.is_new else self.population
        what = f"patients of {self.population} in other populations"
        subject = Subject("population", self.population)

        def change(found: dict[str, object]) -> Change:
            altered = (Altered(what, None, found, subject), *told, *public)
            return Change(action, known, altered, self.reason)

        text = change(found).text().encode()
        keyed = hmac.new(self.key, text, hashlib.sha256).hexdigest()
        return change({**found, "keyed": keyed})


@dataclass(frozen=True, slots=True)
class Comparison:
    """What follows from a comparison, inside the transaction that records it.

    Attributes:
        entry: The transaction.
        actor: Who loads, or activates.
        others: All other populations.
        load: What was found.
    """

    entry: RecordedTransaction
    actor: str
    others: list[str]
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
        load = self.load
        if not self.others:
            return []
        named = load.named if load.publishes else ()
        if are_too_few(load.new_units):
            self._require_unseen()
            if load.publishes:  # the units alone are too few
                self._decided(sorted(named))
            return self.others
        if not load.new_units and not load.publishes:
            return []
        return self._decided(sorted({*load.sharing, *named}))

    def _require_unseen(self) -> None:
        """Let few new units pass unseen, if two persons agreed to it."""
        if self.load.reason is None:
            message = (
                f"{counted(self.load.new_units, 'unit')} of the load "
                f"{'is' if self.load.new_units == 1 else 'are'} new to population "
                f"{self.load.population!r}, fewer than {LEAST_UNITS}: they are not "
                "compared with other populations, since the answer would tell of "
                "single people. Load them with more of their population, under the "
                f"population whose people they are, {_OVERRIDE}"
            )
            raise CommandRefusedError(message)
        self._use_up(self.load.unseen(self.others))

    def _decided(self, sharing: list[str]) -> list[str]:
        allowed, comparison = self._is_agreed(sharing), None
        if not allowed and self._was_refused():
            comparison = self._agreed_comparison()
        if not sharing:
            return []
        if allowed:
            self._use_up(self.load.override(sharing))
            return sharing
        said = self._said(sharing)
        raise OverlapRefusedError(self.load.population, sharing, said, comparison)

    def _was_refused(self) -> bool:
        """Whether a load of this population was, or of any that was never made."""
        names = refused_populations(self.entry.connection)
        if self.load.is_new:
            return bool(names.difference(self.others))
        return self.load.population in names

    def _is_agreed(self, sharing: list[str]) -> bool:
        if self.load.reason is None:
            return False
        wanted = self.load.override(sharing)
        try:
            check_second_person(self.entry.connection, self.actor, wanted)
        except SecondPersonNeededError:
            return False
        return True

    def _use_up(self, change: Change) -> None:
        require_second_person(self.entry, self.actor, change)

    def _agreed_comparison(self) -> Change:
        """Require two persons for what may become another refusal.

        Returns:
            What they agreed to. A refusal undoes all of this transaction, so its own
            entry uses the approval up once more.
        """
        if is_single_custodian(self.entry.connection):
            whose = _COUNTED_TOO if self.load.is_new else "this population"
            message = (
                f"an earlier load of {whose} was refused since its units are in "
                "another one, and the next comparison is no free question: pass "
                "--override-overlap --reason TEXT, and say what you changed"
            )
            raise CommandRefusedError(message)
        comparison = self.load.comparison(self.others)
        self._use_up(comparison)
        return comparison

    def _said(
        self, sharing: list[str]
    ) -> CommandRefusedError | SecondPersonNeededError:
        if self.load.reason is not None:
            return SecondPersonNeededError(self.load.override(sharing))
        held = visible_populations(self.entry.connection, self.actor, sharing)
        named = f"population {held[0]!r}" if held else "another population"
        return CommandRefusedError(self.load.said.format(named=named))


def require_reason(reason: str | None, *, override_overlap: bool) -> None:
    """Refuse to override without a reason, before anything is read.

    Raises:
        CommandRefusedError: An override is asked for, and not why.
    """
    if override_overlap and not reason:
        message = (
            "an overlap is let pass with a reason on record: add --reason TEXT to "
            '--override-overlap (over HTTP, "reason" beside "override_overlap")'
        )
        raise CommandRefusedError(message)


def overlap_key(secret: bytes) -> bytes:
    """Return the key of what approvals of overlaps bind to, of the master secret.

    Apart from those of ``upstream.ingestion.secrets``, by its label.
    """
    return hmac.new(secret, b"curator/overlap-approval/v1", hashlib.sha256).digest()


def are_too_few(new_units: int) -> bool:
    """Whether so many new units are compared with no other population."""
    return 0 < new_units < LEAST_UNITS


def recording_refusal(
    ledger: Ledger,
    actor: str,
    facts: Mapping[str, object],
    work: Callable[[], Done],
) -> Done:
    """Do what may find an overlap; write a refusal's entry before anybody hears of it.

    Returns:
        What ``work`` does.

    Raises:
        CommandRefusedError: It was refused, and that is recorded.
        SecondPersonNeededError: As before, and somebody else may let it pass; or the
            approval of the comparison was used up meanwhile, and nothing is told.
        LedgerUnavailableError: It may have been refused; that is not told.
    """
    try:
        return work()
    except OverlapRefusedError as found:
        refused = found
    # from here on no error has the refusal for its context
    _record(ledger, actor, facts, refused)
    raise refused.said


def _record(
    ledger: Ledger,
    actor: str,
    facts: Mapping[str, object],
    refused: OverlapRefusedError,
) -> None:
    """Write the entry of a refusal; it uses up the comparison that was agreed to."""
    told = {
        **facts,
        "population": refused.population,
        "populations": [refused.population, *refused.others],
    }
    with ledger.recorded(REFUSED, actor, told) as entry:
        if refused.comparison is not None:
            require_second_person(entry, actor, refused.comparison)


def refused_populations(connection: Connection) -> set[str]:
    """Return the populations of which a load was refused for an overlap."""
    bodies = connection.execute(
        select(chain.c.body).where(
            chain.c.kind == "admin",
            chain.c.body.startswith(f'{{"action":"{REFUSED}"', autoescape=True),
        )
    ).scalars()
    return {json.loads(body)["facts"]["population"] for body in bodies}
