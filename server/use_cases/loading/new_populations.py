"""What a manifest says of a population that is not there yet."""

import json
from collections.abc import Iterable, Sequence
from typing import Final

from budget.ledger import RecordedTransaction, Scope, spent_of_population
from privacy.losses import Loss
from server.persistence import tables
from server.use_cases.approvals.changes import Altered, Subject
from server.use_cases.custody.people import make_custodian
from server.use_cases.identity.access import custodians_of
from server.use_cases.loading.fitting import stored_words
from server.use_cases.losses.caps import cap_scopes, caps_in
from server.use_cases.services.errors import CommandRefusedError
from server.use_cases.services.services import now_text
from upstream.manifests.declarations import PopulationSpec

_DEFAULTS: Final = {
    "epsilon": (Loss.parse("0.001"), Loss.parse("5")),
    "rho": (Loss.parse("0.000001"), Loss.parse("0.5")),
}
"""The least and the most that one query may spend where a manifest does not say."""


def require_cap(declared: PopulationSpec) -> Loss:
    """Return the cap of a population that may be created.

    Raises:
        CommandRefusedError: It has none.
    """
    if declared.cap is None:
        message = (
            f"the population {declared.id!r} is new: give its {declared.word}_cap in "
            "the manifest, the most that all answers together may ever spend"
        )
        raise CommandRefusedError(message)
    return declared.cap


def creation(declared: PopulationSpec) -> Altered:
    """Return the creation of a population, whole."""
    minimum, maximum = _range(declared)
    facts = json.loads(stored_words(declared))
    facts[f"{declared.word}_per_query"] = {"min": str(minimum), "max": str(maximum)}
    subject = Subject("population", declared.id)
    return Altered(f"population {declared.id}", None, facts, subject)


def insert_population(
    change: RecordedTransaction,
    declared: PopulationSpec,
    overlap_digest: str,
    creators: Iterable[str | None],
) -> None:
    """Create a population; those of its creators that are custodians become its own."""
    minimum, maximum = _range(declared)
    change.insert(
        tables.population,
        {
            "name": declared.id,
            "unit": declared.unit,
            "unit_type": declared.unit_type,
            "epsilon_min_nano": minimum.nano_epsilon,
            "epsilon_max_nano": maximum.nano_epsilon,
            "declaration": stored_words(declared),
            "overlap_digest": overlap_digest,
            "created": now_text(),
        },
    )
    cap = require_cap(declared)
    scopes = cap_scopes(declared.id, _blocks(declared))
    _refuse_divided_otherwise(change, declared, scopes)
    for scope in scopes:
        change.set_limit(scope, cap)
    custodians = custodians_of(change.connection, None)
    for creator in creators:
        if creator in custodians:
            make_custodian(change, declared.id, creator)


def _refuse_divided_otherwise(
    change: RecordedTransaction, declared: PopulationSpec, scopes: Sequence[Scope]
) -> None:
    """Refuse what would let nobody bear what was spent, or in another measure.

    After a restore that forgot a population its caps still hold what was charged; they
    are found by name, that of the population or those of its blocks.

    Raises:
        CommandRefusedError: What was spent was charged to other ones, or the manifest
            does not say what it counts: nothing here knows what was counted.
    """
    name = declared.id
    spent = spent_of_population(change.connection, name)
    charged = {scope for scope, loss in spent.items() if loss > Loss(0)}
    if not charged:
        return
    if declared.measure is None:
        message = (
            f"a population named {name!r} was charged before a restore forgot it: say "
            "in the manifest what it counted then, measure: pure or measure: zcdp"
        )
        raise CommandRefusedError(message)
    if set(scopes) == set(spent):
        return
    blocks = sorted(scope.block_name for scope in spent if scope.kind == "block")
    was = f"divided into the blocks {', '.join(blocks)}" if blocks else "without blocks"
    message = (
        f"a population named {name!r} was charged before a restore forgot it, {was}: "
        "declare it as it was then, so that its patients bear what was spent"
    )
    raise CommandRefusedError(message)


def insert_blocks(
    change: RecordedTransaction, declared: PopulationSpec, known: Sequence[str]
) -> None:
    """Give the blocks that a population gains the cap that the others have.

    Args:
        change: The entry of the load that brings them.
        declared: The population, as two persons agreed.
        known: Its blocks so far.
    """
    cap = caps_in(change.connection, declared.id, known).cap
    for block in _blocks(declared)[len(known) :]:
        change.set_limit(Scope.block(declared.id, block), cap)


def _blocks(declared: PopulationSpec) -> tuple[str, ...]:
    told = declared.blocks
    return () if told is None else tuple(map(str, told.values))


def _range(declared: PopulationSpec) -> tuple[Loss, Loss]:
    limits = declared.per_query
    if limits is None:
        return _DEFAULTS[declared.word]
    return limits.min, limits.max
