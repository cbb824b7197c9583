"""Releases for custodians: what one would cost, and how well it would answer."""

from collections.abc import Mapping, Sequence

from privacy.errors import InvalidOptionError
from server.use_cases.jobs.jobs import Viewer
from server.use_cases.losses.amounts import Priced, priced
from server.use_cases.losses.caps import cap_scopes, least_of
from server.use_cases.publishing.cost_settings import release_target
from server.use_cases.publishing.job import require_free_name, require_known_readers
from server.use_cases.publishing.plans import ReleasePlan
from server.use_cases.publishing.replies import (
    Affordability,
    BlocksTouched,
    ReleasePlanShape,
)
from server.use_cases.publishing.specs import (
    SpecRefusedError,
    plan_release,
    population_of,
    read_spec,
)
from server.use_cases.questions.answers import cost_document
from server.use_cases.services.errors import CommandRefusedError, NotFoundError
from server.use_cases.services.services import Services


class ReleasePlanner:
    """Prices releases about a viewer's populations; touches no data."""

    def __init__(self, services: Services) -> None:
        self._services = services

    def plan(self, viewer: Viewer, given: Mapping[str, object]) -> ReleasePlanShape:
        """Price a release and predict its error, by public facts alone.

        Raises:
            CuratorError: As ``planned``.
        """
        planned = self.planned(viewer, given)
        return _plan_document(planned, self._affordable(planned))

    def planned(self, viewer: Viewer, given: Mapping[str, object]) -> ReleasePlan:
        """Return the plan of a release about a population of the viewer's.

        Raises:
            SpecRefusedError: The spec does not fit; on the host, with its place.
            InvalidOptionError: The same, over HTTP.
            NotFoundError: It is about somebody else's dataset, or none.
        """
        try:
            spec = read_spec(given)
            with self._services.databases.reader.connect() as connection:
                self._check_population(viewer, population_of(connection, spec))
                target = release_target(self._services)
                planned = plan_release(connection, spec, target)
                require_known_readers(connection, planned)
        except CommandRefusedError as error:
            raise InvalidOptionError(str(error)) from None
        except SpecRefusedError as error:
            if viewer.populations is None:
                raise
            raise InvalidOptionError(str(error)) from None
        return planned

    def _affordable(self, planned: ReleasePlan) -> Affordability:
        blocks = planned.plan.blocks
        scopes = cap_scopes(planned.dataset.population, blocks)
        left = least_of(self._services.ledger.remaining(scopes).values())
        with self._services.databases.reader.connect() as connection:
            free = True
            try:
                require_free_name(connection, planned)
            except CommandRefusedError:
                free = False
        return {
            "population": planned.dataset.population,
            "affordable": left is not None and planned.price <= left,
            "remaining": None if left is None else str(left),
            "name_is_free": free,
            **_of_blocks(blocks),
        }

    def _check_population(self, viewer: Viewer, population: str | None) -> None:
        if viewer.populations is not None and population not in viewer.populations:
            raise NotFoundError


def _of_blocks(blocks: Sequence[str]) -> BlocksTouched:
    return {"blocks": list(blocks)} if blocks else {}


def _price(planned: ReleasePlan) -> Priced:
    """Return what a release costs, told as its population's losses are."""
    return priced(planned.measure, planned.price)


def _plan_document(planned: ReleasePlan, shown: Affordability) -> ReleasePlanShape:
    plan = planned.plan
    return {
        "name": planned.spec.name,
        "dataset": planned.spec.dataset,
        "snapshot": planned.snapshot,
        "strategy": planned.spec.strategy,
        **_price(planned),
        "parts": [
            {"name": part.name, **priced(planned.measure, part.loss)}
            for part in planned.parts
        ],
        **planned.work.described(),
        "cost": cost_document(plan.cost),
        "l1_sensitivity": plan.l1_sensitivity,
        "derivation": plan.derivation,
        "warnings": [warning.detail for warning in plan.warnings],
        "expected_errors": planned.expectations(),
        **shown,
    }
