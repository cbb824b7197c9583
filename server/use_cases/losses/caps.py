"""The caps of a population: one, or one for each of its blocks.

What is promised to a patient is the cap of the patient's own block, which is the
population's cap (docs/proofs/blocks.md). So a population whose blocks differ is told by
the most that was spent of any, and the least that is left of any.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, select

from budget.chain.writing import Account, read_accounts
from budget.ledger import Ledger, Scope
from privacy.losses import Loss
from server.persistence import tables


@dataclass(frozen=True, slots=True)
class BlockCap:
    """The cap of one block, and what was spent of it."""

    name: str
    cap: Loss
    spent: Loss

    @property
    def remaining(self) -> Loss:
        """What is left of the cap."""
        return self.cap.minus_floor_zero(self.spent)


@dataclass(frozen=True, slots=True)
class PopulationCaps:
    """The cap of a population, what was spent of it, and of each block's.

    Attributes:
        cap: The most that may be spent about any one patient.
        spent: The most that was spent about any one.
        remaining: What may still be spent about all of them at once.
        blocks: In declared order; empty where the population has none.
    """

    cap: Loss
    spent: Loss
    remaining: Loss
    blocks: tuple[BlockCap, ...] = ()


def blocks_in(declaration: Mapping[str, object]) -> tuple[str, ...]:
    """Return the blocks of a population's stored declaration; empty without any."""
    told = declaration.get("blocks")
    values = told.get("values") if isinstance(told, dict) else None
    return tuple(map(str, values)) if isinstance(values, list) else ()


def blocks_of(connection: Connection, population: str) -> tuple[str, ...]:
    """Return the blocks of a population; empty where it has none, or is not there."""
    text = connection.execute(
        select(tables.population.c.declaration).where(
            tables.population.c.name == population
        )
    ).scalar_one_or_none()
    return () if text is None else blocks_in(json.loads(text))


def cap_scopes(population: str, blocks: Sequence[str]) -> tuple[Scope, ...]:
    """Return what is debited where these blocks are touched.

    Args:
        population: Whose they are.
        blocks: That are touched; empty where the population has none.
    """
    if not blocks:
        return (Scope.population(population),)
    return tuple(Scope.block(population, block) for block in blocks)


def least_of(left: Iterable[Loss | None]) -> Loss | None:
    """Return what may be charged to all of some limits; None where one has none."""
    known = list(left)
    limited = [loss for loss in known if loss is not None]
    return min(limited) if len(limited) == len(known) else None


def caps_in(
    connection: Connection, population: str, blocks: Sequence[str]
) -> PopulationCaps:
    """Return the caps of a population, as one transaction sees them.

    Args:
        connection: To the ledger.
        population: Its name.
        blocks: All of its blocks; empty where it has none.
    """
    scopes = cap_scopes(population, blocks)
    return _told(list(read_accounts(connection, scopes).values()), blocks)


def caps_of(
    ledger: Ledger, population: str, declaration: Mapping[str, object]
) -> PopulationCaps:
    """Return the caps of a population, of now.

    Args:
        ledger: Of the installation.
        population: Its name.
        declaration: As it is stored.
    """
    blocks = blocks_in(declaration)
    accounts = [
        Account(
            None if (limit := ledger.limit(scope)) is None else limit.nano_epsilon,
            ledger.spent(scope).nano_epsilon,
        )
        for scope in cap_scopes(population, blocks)
    ]
    return _told(accounts, blocks)


def _told(accounts: Sequence[Account], blocks: Sequence[str]) -> PopulationCaps:
    caps = [Loss(held.limit or 0) for held in accounts]
    spent = [Loss(held.spent or 0) for held in accounts]
    each = zip(caps, spent, strict=True)
    return PopulationCaps(
        cap=max(caps),
        spent=max(spent),
        remaining=min(cap.minus_floor_zero(used) for cap, used in each),
        blocks=tuple(map(BlockCap, blocks, caps, spent)),
    )
