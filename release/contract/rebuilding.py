"""How published models are rebuilt from what was written, of whatever kind they are."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final, TypeVar, cast

from release.contract.models import PublicFacts, Table

DomainT = TypeVar("DomainT")
ModelT = TypeVar("ModelT")

PICKED: Final = "picked"
"""The kind of what ``auto`` publishes: another kind's model, and why it was picked."""

Rebuild = Callable[[DomainT, Mapping[str, object], Mapping[str, Table]], ModelT]
"""Domain, facts and tables to the model that wrote them."""

Rebuilds = Mapping[str, Rebuild[DomainT, ModelT]]
"""By kind, as it stands in the manifest."""

RebuildPicked = Callable[
    [Rebuilds[DomainT, ModelT], DomainT, Mapping[str, object], Mapping[str, Table]],
    ModelT,
]


def rebuilds(
    plain: Rebuilds[DomainT, ModelT], picked: RebuildPicked[DomainT, ModelT]
) -> Rebuilds[DomainT, ModelT]:
    """Return how each kind is rebuilt, what ``auto`` publishes included.

    Args:
        plain: Every kind that can be picked.
        picked: Rebuilds what was picked of those.
    """
    return {**plain, PICKED: partial(picked, plain)}


def inner_model(
    plain: Rebuilds[DomainT, ModelT],
    domain: DomainT,
    facts: Mapping[str, object],
    tables: Mapping[str, Table],
) -> ModelT:
    """Return the model that was picked, of what ``picked_facts`` wrote."""
    own = cast("Mapping[str, object]", facts["model"])
    return plain[str(facts["kind"])](domain, own, tables)


def picked_facts(strategy: str, kind: str, own: PublicFacts) -> PublicFacts:
    """Return what the manifest says of a picked model, besides why it was picked."""
    return {"strategy": strategy, "kind": kind, "model": own}
