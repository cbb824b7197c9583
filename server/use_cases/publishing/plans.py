"""What is planned, counted and measured for each kind of release."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from engines.contract import Engine, Interruptible
from mechanisms.measuring.meter import Meter, Part
from mechanisms.scales.conversions.pure import pure_ceil
from mechanisms.scales.noises import GAUSSIAN, LAPLACE, Noise
from privacy.losses import Loss
from privacy.measures import Measure
from privacy.schema import Dataset
from query_lang.plans.dimensions import CubeDimension
from query_lang.specs.cubes import CubePlan
from query_lang.specs.sequences import SequencePlan
from release.contract.domain import CubeDomain
from release.contract.errors import ReleaseRefusedError
from release.contract.sealed_cube import SealedCube
from release.contract.sequence_domain import SequenceDomain
from release.contract.spec import CubeSpec, ReleaseSpec, SequenceSpec
from release.contract.strategies import Expectation, Parameters
from release.cubes.strategies.contract import CubeStrategy
from release.cubes.strategies.registry import RHO_STRATEGIES, STRATEGIES
from release.sequences.contract import SequenceStrategy
from release.sequences.sealed.sealed import SealedSequences
from release.sequences.strategies.registry import (
    RHO_STRATEGIES as SEQUENCE_RHO_STRATEGIES,
)
from release.sequences.strategies.registry import (
    STRATEGIES as SEQUENCE_STRATEGIES,
)
from release.store.folders import Content
from release.store.listings import cube_listing, tree_listing
from release.store.manifests import ModelEntry
from server.use_cases.losses.amounts import Priced
from server.use_cases.losses.releases import paid_for
from server.use_cases.publishing.replies import (
    CountedDimension,
    ExpectedShape,
    ReleaseRange,
    Sizes,
)
from server.use_cases.releases.times import MOST_CELLS


class Work(Protocol):
    """What a kind of release does with its plan."""

    @property
    def plan(self) -> CubePlan | SequencePlan:
        """As it was compiled."""
        ...

    @property
    def strategies(self) -> tuple[str, ...]:
        """The names of all strategies of the kind."""
        ...

    def parts(self, loss: Loss, parameters: Parameters) -> tuple[Part, ...]:
        """Return how the loss divides.

        Raises:
            ReleaseRefusedError: Domain or parameters do not fit the strategy.
        """
        ...

    def expectation(
        self, strategy: str, loss: Loss, parameters: Parameters
    ) -> Expectation:
        """Return what public facts predict of a strategy.

        Raises:
            ReleaseRefusedError: As ``parts``.
        """
        ...

    def count(
        self, engine: Engine, snapshot: str, interruptible: Interruptible
    ) -> Callable[[Meter, Parameters], Content]:
        """Count under seal, and return what measures the counts.

        Raises:
            ExecutionError: Execution failed or was ended.
        """
        ...

    def sizes(self) -> Sizes:
        """Return how large the release is, by public facts."""
        ...

    def declared_cells(self) -> int:
        """Return what says from when on readers see the release: declared, public."""
        ...

    def described(self) -> ReleaseRange:
        """Return what a plan says of the release's range."""
        ...

    def question(self, unit: str) -> str:
        """Return what is asked of the data, for people; shown, never run."""
        ...


@dataclass(frozen=True, slots=True)
class CubeWork:
    """The work of a cube."""

    spec: CubeSpec
    plan: CubePlan
    domain: CubeDomain
    strategy: CubeStrategy

    @property
    def strategies(self) -> tuple[str, ...]:
        """The names of all strategies of cubes."""
        return tuple(sorted(STRATEGIES))

    def parts(self, loss: Loss, parameters: Parameters) -> tuple[Part, ...]:
        """Return how the loss divides; see ``Work``."""
        return self.strategy.parts(self.domain, loss, parameters)

    def expectation(
        self, strategy: str, loss: Loss, parameters: Parameters
    ) -> Expectation:
        """Return what public facts predict; see ``Work``."""
        own = cube_strategies(self.spec)[strategy]
        return own.expectation(self.domain, loss, parameters)

    def count(
        self, engine: Engine, snapshot: str, interruptible: Interruptible
    ) -> Callable[[Meter, Parameters], Content]:
        """Count cells; see ``Work``."""
        raw = engine.count_cube(snapshot, self.plan.statement, interruptible)
        cube = SealedCube(self.domain, raw)

        def measure(meter: Meter, parameters: Parameters) -> Content:
            model = self.strategy.measure(cube, meter, parameters)
            facts = ModelEntry(model.kind, model.facts())
            return Content(facts, model.tables(), cube_listing(model))

        return measure

    def sizes(self) -> Sizes:
        """Return the number of cells."""
        return {"cells": self.domain.size}

    def declared_cells(self) -> int:
        """Return the number of cells."""
        return self.domain.size

    def described(self) -> ReleaseRange:
        """Return cells and dimensions."""
        return {
            "kind": "cube",
            "cells": self.plan.size,
            "dimensions": [_described(one) for one in self.plan.dimensions],
        }

    def question(self, unit: str) -> str:
        """Return the query that the cube answers."""
        keys = ", ".join(dimension.expression for dimension in self.plan.dimensions)
        count = f"COUNT(DISTINCT {unit})" if self.spec.count == "units" else "COUNT(*)"
        return f"SELECT {keys}, {count} FROM {_source(self.spec)} GROUP BY {keys}"  # noqa: S608 - shown, never run


@dataclass(frozen=True, slots=True)
class SequenceWork:
    """The work of a release of sequences."""

    spec: SequenceSpec
    plan: SequencePlan
    domain: SequenceDomain
    strategy: SequenceStrategy

    @property
    def strategies(self) -> tuple[str, ...]:
        """The names of all strategies of sequences."""
        return tuple(sorted(SEQUENCE_STRATEGIES))

    def parts(self, loss: Loss, parameters: Parameters) -> tuple[Part, ...]:
        """Return how the loss divides; see ``Work``."""
        return self.strategy.parts(self.domain, loss, parameters)

    def expectation(
        self, strategy: str, loss: Loss, parameters: Parameters
    ) -> Expectation:
        """Return what public facts predict; see ``Work``."""
        own = sequence_strategies(self.spec)[strategy]
        return own.expectation(self.domain, loss, parameters)

    def count(
        self, engine: Engine, snapshot: str, interruptible: Interruptible
    ) -> Callable[[Meter, Parameters], Content]:
        """Count sequences; see ``Work``."""
        raw = engine.count_sequences(snapshot, self.plan.statement, interruptible)
        sequences = SealedSequences(self.domain, raw)

        def measure(meter: Meter, parameters: Parameters) -> Content:
            model = self.strategy.measure(sequences, meter, parameters)
            facts = ModelEntry(model.kind, model.facts())
            return Content(facts, model.tables(), tree_listing(model))

        return measure

    def sizes(self) -> Sizes:
        """Return symbols, the maximal length, and the number of trees."""
        domain = self.domain
        return {
            "symbols": domain.symbols,
            "max_length": domain.max_length,
            "trees": domain.groups,
        }

    def declared_cells(self) -> int:
        """Return the most: the work is that of rows, which no path predicts."""
        return MOST_CELLS

    def described(self) -> ReleaseRange:
        """Return sizes, alphabet and split."""
        split = self.plan.split
        return {
            "kind": "sequences",
            "symbols": self.domain.symbols,
            "max_length": self.domain.max_length,
            "trees": self.domain.groups,
            "alphabet": _described(self.plan.alphabet),
            "split": None if split is None else _described(split),
        }

    def question(self, unit: str) -> str:
        """Return what is asked of the data."""
        listed = f"LIST({self.plan.alphabet.expression} ORDER BY {self.spec.order})"
        split = "" if self.plan.split is None else f"{self.plan.split.expression}, "
        return f"SELECT {split}{listed} FROM {_source(self.spec)} GROUP BY {unit}"  # noqa: S608 - shown, never run


def cube_strategies(spec: CubeSpec) -> Mapping[str, CubeStrategy]:
    """Return the strategies that spend what a spec gives, epsilon or rho."""
    return RHO_STRATEGIES if spec.is_rho else STRATEGIES


def sequence_strategies(spec: SequenceSpec) -> Mapping[str, SequenceStrategy]:
    """Return the strategies that spend what a spec gives, epsilon or rho."""
    return SEQUENCE_RHO_STRATEGIES if spec.is_rho else SEQUENCE_STRATEGIES


def _source(spec: ReleaseSpec) -> str:
    return spec.source if spec.where is None else f"{spec.source} WHERE {spec.where}"


def _described(dimension: CubeDimension) -> CountedDimension:
    return {
        "name": dimension.name,
        "values": len(dimension.values),
        "expression": dimension.expression,
    }


@dataclass(frozen=True, slots=True)
class ReleasePlan:
    """A spec that was compiled and divided: no data was touched.

    Attributes:
        spec: As the custodian wrote it.
        dataset: The public schema.
        snapshot: Whose rows will be counted.
        work: What is counted, and how it is measured.
        parts: How the loss divides; their sum is the spec's loss.
        expected: What public facts say of the error.
        measure: Of the population.
    """

    spec: ReleaseSpec
    dataset: Dataset
    snapshot: str
    work: Work
    parts: tuple[Part, ...]
    expected: Expectation
    measure: Measure

    @property
    def price(self) -> Loss:
        """What it costs in the population's measure.

        What was paid in epsilon where rho is counted, by earlier versions, is
        epsilon-DP, and costs what that does (docs/proofs/zcdp.md).
        """
        if self.spec.is_rho:
            return self.spec.loss
        return pure_ceil(self.measure, self.spec.loss)

    @property
    def told(self) -> Priced:
        """Its loss as replies hold it."""
        return paid_for(json.loads(self.spec.canonical_json()), self.measure)

    @property
    def noise(self) -> Noise:
        """The kind of noise that its parts pay."""
        return GAUSSIAN if self.spec.is_rho else LAPLACE

    @property
    def plan(self) -> CubePlan | SequencePlan:
        """As it was compiled."""
        return self.work.plan

    def expectations(self) -> list[ExpectedShape]:
        """Return what public facts say of each strategy's error."""
        return [self._expected(name) for name in self.work.strategies]

    def _expected(self, name: str) -> ExpectedShape:
        is_chosen = name == self.spec.strategy
        parameters: Mapping[str, object] = self.spec.parameters if is_chosen else {}
        try:
            own = self.work.expectation(name, self.spec.loss, parameters)
        except ReleaseRefusedError as error:
            words = str(error)
            return {
                "strategy": name,
                "cell_rmse": None,
                "total_rmse": None,
                "words": words,
            }
        return {
            "strategy": name,
            "cell_rmse": own.cell_rmse,
            "total_rmse": own.total_rmse,
            "words": own.words,
        }
