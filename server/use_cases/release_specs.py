"""Reading release specs, and planning them: everything before the charge."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import ValidationError
from sqlalchemy import Connection, select

from mechanisms.meter import Part
from privacy.errors import CuratorError, InvalidOptionError, QueryError
from privacy.schema import Dataset
from privacy.schema_json import dataset_from_json
from query_lang.axes import AxisRefusedError
from query_lang.cubes import CubePlan, compile_cube
from release.cubes import domain_of
from release.domain import CubeDomain
from release.errors import ReleaseRefusedError
from release.spec import ReleaseSpec, SpecFile
from release.strategies.contract import Expectation, Strategy
from release.strategies.registry import STRATEGIES
from server.persistence import tables

Place = tuple[str | int, ...]
"""A path of keys and numbers in a spec."""


class SpecRefusedError(CuratorError):
    """A spec is wrong somewhere; ``place`` is the path of keys to it."""

    code = "refused"

    def __init__(self, place: Place, message: str) -> None:
        self.place = place
        super().__init__(message)


@dataclass(frozen=True, slots=True)
class ReleasePlan:
    """A spec that was compiled and divided: no data was touched.

    Attributes:
        spec: As the custodian wrote it.
        dataset: The public schema.
        snapshot: Whose rows will be counted.
        plan: The cube.
        domain: As strategies see it.
        strategy: By which it is measured.
        parts: How the loss divides; their sum is the whole charge.
        expected: What public facts say of the error.
    """

    spec: ReleaseSpec
    dataset: Dataset
    snapshot: str
    plan: CubePlan
    domain: CubeDomain
    strategy: Strategy
    parts: tuple[Part, ...]
    expected: Expectation


def read_spec(given: Mapping[str, object]) -> ReleaseSpec:
    """Return the spec that a request holds: the member ``release`` of a file.

    Raises:
        SpecRefusedError: It has another form.
    """
    try:
        return SpecFile.model_validate(given).release
    except ValidationError as error:
        place, message = _first(error)
        raise SpecRefusedError(place, message) from None


def _first(error: ValidationError) -> tuple[Place, str]:
    first = error.errors(include_url=False, include_input=False)[0]
    place = tuple(part for part in first["loc"] if not _is_form(part))
    said = first["msg"].removeprefix("Value error, ")
    if first["type"] == "extra_forbidden":
        said = "there is no such key"
    elif first["type"] == "missing":
        said = "it is missing: add it"
    return place, f"{_written(place) or 'release'}: {said}"


def _is_form(part: str | int) -> bool:
    """Whether a part of a place names one of several forms, not a key."""
    return isinstance(part, str) and ("[" in part or part in {"tuple", "int", "str"})


def _written(place: Place) -> str:
    return ".".join(str(part) for part in place)


def plan_release(
    connection: Connection, spec: ReleaseSpec, snapshot: str | None = None
) -> ReleasePlan:
    """Compile a spec against a dataset's public schema, and divide its loss.

    Args:
        connection: To the catalogue.
        spec: What is asked for.
        snapshot: Whose schema; None: the active one's.

    Raises:
        SpecRefusedError: The dataset, the cube or the strategy does not fit.
    """
    snapshot = snapshot or active_snapshot(connection, spec)
    written = connection.execute(
        select(tables.snapshot.c.schema).where(tables.snapshot.c.id == snapshot)
    ).scalar_one()
    dataset = dataset_from_json(json.loads(written))
    plan = compiled(spec, dataset)
    domain = domain_of(plan)
    strategy = strategy_of(spec)
    try:
        parts = strategy.parts(domain, spec.epsilon, spec.parameters)
        expected = strategy.expectation(domain, spec.epsilon, spec.parameters)
    except ReleaseRefusedError as error:
        message = f"strategy {spec.strategy}: {error}"
        raise SpecRefusedError(("release", "strategy"), message) from None
    return ReleasePlan(spec, dataset, snapshot, plan, domain, strategy, parts, expected)


def active_snapshot(connection: Connection, spec: ReleaseSpec) -> str:
    """Return the active snapshot of a spec's dataset.

    Raises:
        SpecRefusedError: There is no such dataset.
    """
    row = connection.execute(
        select(tables.dataset.c.active_snapshot).where(
            tables.dataset.c.name == spec.dataset
        )
    ).scalar_one_or_none()
    if row is None:
        message = f"there is no dataset {spec.dataset!r}"
        raise SpecRefusedError(("release", "dataset"), message)
    return str(row)


def population_of(connection: Connection, spec: ReleaseSpec) -> str | None:
    """Return the population of a spec's dataset; None where there is none."""
    found: str | None = connection.execute(
        select(tables.dataset.c.population).where(tables.dataset.c.name == spec.dataset)
    ).scalar_one_or_none()
    return found


def compiled(spec: ReleaseSpec, dataset: Dataset) -> CubePlan:
    """Return the cube of a spec.

    Raises:
        SpecRefusedError: With the place of what does not fit.
    """
    try:
        return compile_cube(spec.request(), dataset)
    except AxisRefusedError as error:
        at: Place = ("release", "dimensions")
        place = at if error.place is None else (*at, error.place)
        raise SpecRefusedError(place, str(error)) from None
    except QueryError as error:
        raise SpecRefusedError(("release", "from"), str(error)) from None
    except InvalidOptionError as error:
        raise SpecRefusedError(("release", "bounds"), str(error)) from None


def strategy_of(spec: ReleaseSpec) -> Strategy:
    """Return the strategy that a spec names.

    Raises:
        SpecRefusedError: There is none of that name.
    """
    strategy = STRATEGIES.get(spec.strategy)
    if strategy is None:
        message = f"strategy: one of {', '.join(sorted(STRATEGIES))}"
        raise SpecRefusedError(("release", "strategy"), message)
    return strategy
