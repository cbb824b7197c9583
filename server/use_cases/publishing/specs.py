"""Reading release specs, and planning them: everything before the charge."""

import json
from collections.abc import Mapping
from typing import Final, TypeVar

from pydantic import ValidationError
from sqlalchemy import Connection, select

from mechanisms.scales.conversions.pure import pure_rho_ceil
from privacy.errors import (
    CuratorError,
    InvalidOptionError,
    QueryError,
    SqlSyntaxError,
)
from privacy.measures import Measure
from privacy.schema import Dataset
from privacy.schema_json import dataset_from_json
from query_lang.plans.costs import UNLIMITED
from query_lang.reading.source_texts import place_in_source
from query_lang.rendering.dialect import Target
from query_lang.specs.axes import AxisRefusedError
from query_lang.specs.cubes import CubePlan, compile_cube
from query_lang.specs.sequences import (
    SequencePlan,
    SequencesRefusedError,
    compile_sequences,
)
from release.contract.errors import ReleaseRefusedError
from release.contract.plans import domain_of, sequences_of
from release.contract.spec import KINDS, CubeSpec, ReleaseSpec, SequenceSpec, SpecFile
from server.persistence import tables
from server.use_cases.losses.measures import measure_of
from server.use_cases.publishing.plans import (
    CubeWork,
    ReleasePlan,
    SequenceWork,
    Work,
    cube_strategies,
    sequence_strategies,
)
from server.use_cases.questions.questions import UNHELD_SIZES

T = TypeVar("T")
SpecPath = tuple[str | int, ...]
"""A path of keys and numbers in a spec."""


class SpecRefusedError(CuratorError):
    """A spec is wrong somewhere; ``place`` is the path of keys to it."""

    code = "refused"

    def __init__(self, place: SpecPath, message: str) -> None:
        self.place = place
        super().__init__(message)


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


def _first(error: ValidationError) -> tuple[SpecPath, str]:
    errors = error.errors(include_url=False, include_input=False)
    first = next((one for one in errors if one["type"] not in _OTHER_FORM), errors[0])
    loc = first["loc"]
    if len(loc) > 1 and loc[0] == "release" and loc[1] in KINDS:
        loc = (loc[0], *loc[2:])  # pydantic's name of the spec's form
    place = tuple(part for part in loc if not _is_form(part))
    said = first["msg"].removeprefix("Value error, ")
    if first["type"] == "extra_forbidden":
        said = "there is no such key"
    elif first["type"] in {"missing", "union_tag_not_found"}:
        said = "it is missing: add it"
    elif first["type"] == "too_short":
        said = "it is empty: give one at least"
    elif first["type"] == "union_tag_invalid":
        said = f"one of {', '.join(sorted(KINDS))}"
    if first["type"].startswith("union_tag"):
        place = (*place, "kind")
    return place, f"{_written(place) or 'release'}: {said}"


_OTHER_FORM = frozenset({"int_type", "tuple_type"})
"""Errors of the form that was not meant, where a key has several."""


def _is_form(part: str | int) -> bool:
    """Whether a part of a place names one of several forms, not a key."""
    return isinstance(part, str) and (
        "[" in part
        or part in {"tuple", "int", "str"}
        or part.startswith("constrained-")
    )


def _written(place: SpecPath) -> str:
    return ".".join(str(part) for part in place)


def plan_release(
    connection: Connection,
    spec: ReleaseSpec,
    target: Target,
    snapshot: str | None = None,
) -> ReleasePlan:
    """Compile a spec against a dataset's public schema, and divide its loss.

    Args:
        connection: To the catalogue.
        spec: What is asked for.
        target: Which engine will count it, and what that may cost; no limit where it
            was charged before.
        snapshot: Whose schema; None: the active one's.

    Raises:
        SpecRefusedError: The dataset, the cube or the strategy does not fit.
    """
    is_paid = snapshot is not None
    snapshot = snapshot or active_snapshot(connection, spec)
    written = connection.execute(
        select(tables.snapshot.c.schema).where(tables.snapshot.c.id == snapshot)
    ).scalar_one()
    dataset = dataset_from_json(json.loads(written))
    if target.limits != UNLIMITED and not dataset.sizes_are_held:
        message = f"{UNHELD_SIZES}: load it again"
        raise SpecRefusedError(("release", "dataset"), message)
    measure = measure_of(connection, dataset.population)
    _check_measure(spec, measure, is_paid=is_paid)
    work = work_of(spec, dataset, target)
    try:
        parts = work.parts(spec.loss, spec.parameters)
        expected = work.expectation(spec.strategy, spec.loss, spec.parameters)
    except ReleaseRefusedError as error:
        message = f"strategy {spec.strategy}: {error}"
        raise SpecRefusedError(("release", "strategy"), message) from None
    return ReleasePlan(spec, dataset, snapshot, work, parts, expected, measure)


def _check_measure(spec: ReleaseSpec, measure: Measure, *, is_paid: bool) -> None:
    """Refuse a loss that the population does not count, and say what to give.

    What earlier versions charged for an epsilon where rho is counted goes on.

    Raises:
        SpecRefusedError: It is of the other measure.
    """
    if spec.is_rho and measure.is_pure:
        message = "rho: this population counts epsilon: give epsilon instead of rho"
        raise SpecRefusedError(("release", "rho"), message)
    if not (spec.is_rho or measure.is_pure or is_paid):
        cost = pure_rho_ceil(spec.loss)
        message = (
            "epsilon: this population counts rho (zCDP): give rho instead of epsilon; "
            f"what an epsilon of {spec.loss} would cost is rho {cost}"
        )
        raise SpecRefusedError(("release", "epsilon"), message)


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


def work_of(
    spec: ReleaseSpec,
    dataset: Dataset,
    target: Target,
) -> Work:
    """Compile a spec, and return what its kind does with the plan.

    Raises:
        SpecRefusedError: With the place of what does not fit.
    """
    if isinstance(spec, SequenceSpec):
        sequences = _compiled_sequences(spec, dataset, target)
        own = _strategy(spec, sequence_strategies(spec))
        return SequenceWork(spec, sequences, sequences_of(sequences), own)
    cube = _compiled_cube(spec, dataset, target)
    domain = domain_of(cube, counts_units=spec.count == "units")
    return CubeWork(spec, cube, domain, _strategy(spec, cube_strategies(spec)))


def _compiled_cube(spec: CubeSpec, dataset: Dataset, target: Target) -> CubePlan:
    try:
        return compile_cube(spec.request(), dataset, target)
    except AxisRefusedError as error:
        at: SpecPath = ("release", "dimensions")
        place = at if error.place is None else (*at, error.place)
        raise SpecRefusedError(place, str(error)) from None
    except (QueryError, InvalidOptionError) as error:
        raise _refused_source(error, spec) from None


def _compiled_sequences(
    spec: SequenceSpec, dataset: Dataset, target: Target
) -> SequencePlan:
    try:
        return compile_sequences(spec.request(), dataset, target)
    except SequencesRefusedError as error:
        place = ("release", error.place)
        message = f"{error.place}: {error}"
        raise SpecRefusedError(place, message) from None
    except (QueryError, InvalidOptionError) as error:
        raise _refused_source(error, spec) from None


def _refused_source(
    error: QueryError | InvalidOptionError, spec: ReleaseSpec
) -> SpecRefusedError:
    """Say what is wrong with FROM, WHERE or bounds, by the key that holds it."""
    if not isinstance(error, QueryError):
        return SpecRefusedError(("release", "bounds"), str(error))
    key, line, column = place_in_source(error, spec.source)
    hint = _FORMS[key] if isinstance(error, SqlSyntaxError) else error.hint
    said = f"{key}: {error.detail} (line {line}, column {column} of it): {hint}"
    return SpecRefusedError(("release", key), said)


_FORMS: Final = {
    "from": "a table or a join, such as encounters",
    "where": "a condition, such as age >= 60",
}


def _strategy(spec: ReleaseSpec, known: Mapping[str, T]) -> T:
    if spec.strategy not in known:
        message = f"strategy: one of {', '.join(sorted(known))}"
        raise SpecRefusedError(("release", "strategy"), message)
    return known[spec.strategy]
