"""What the manifest of a release says: what was published, how, for how much.

Everything in it is public or noisy. Its time is that of the charge (PRIVACY 7).
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from mechanisms.measuring.meter import Part
from mechanisms.scales.conversions.zcdp import epsilon_ceil
from privacy.charges import Charge
from privacy.measures import PURE, Measure
from privacy.schema import ColumnType, Dataset
from privacy.schema_json import scalar_from_json, scalar_to_json
from query_lang.plans.dimensions import CubeDimension
from query_lang.specs.cubes import CubePlan
from query_lang.specs.sequences import SequencePlan
from release.contract.domain import CubeDomain, Dimension
from release.contract.errors import BrokenReleaseError
from release.contract.models import PublicFacts
from release.contract.sequence_domain import SequenceDomain
from release.contract.spec import ReleaseSpec, SequenceSpec
from release.contract.strategies import Expectation
from release.store.manifest_files import FORMAT, Document


@dataclass(frozen=True, slots=True)
class Publication:
    """What is known of a release before its noise is drawn; public, all of it.

    Attributes:
        release_id: Random.
        spec: As the custodian wrote it.
        plan: The compiled plan of the text.
        dataset: The public schema that it was compiled against.
        snapshot: Whose rows are counted.
        parts: How the loss divides.
        expected: What public facts say of the error.
        charged: When the charge was made, UTC, ISO 8601.
        measure: What its charge counts.
        code_version: Of Curator.
    """

    release_id: str
    spec: ReleaseSpec
    plan: CubePlan | SequencePlan
    dataset: Dataset
    snapshot: str
    parts: tuple[Part, ...]
    expected: Expectation
    charged: str
    code_version: str
    measure: Measure = PURE


@dataclass(frozen=True, slots=True)
class ModelEntry:
    """What a manifest says of a model: what rebuilds it, and its public facts."""

    kind: str
    facts: PublicFacts


def _loss(publication: Publication, charge: Charge) -> Document:
    """Return a release's epsilon; beside it what was charged where that was a rho.

    A rho's epsilon is what it amounts to at the population's delta, rounded up.
    """
    spec, measure = publication.spec, publication.measure
    epsilon, delta = spec.loss, "0"
    if spec.is_rho:
        delta = str(measure.delta)
        epsilon = epsilon_ceil(spec.loss, measure.delta.epsilon)
    told: Document = {"epsilon": str(epsilon), "delta": delta}
    return told if measure.is_pure else {**told, "rho": str(charge.loss)}


def manifest_of(
    publication: Publication,
    charge: Charge,
    model: ModelEntry,
    files: Mapping[str, Document],
) -> Document:
    """Return the manifest, not yet signed."""
    spec, plan, dataset = publication.spec, publication.plan, publication.dataset
    expected, word = publication.expected, "rho" if spec.is_rho else "epsilon"
    return {
        "format": FORMAT,
        "id": publication.release_id,
        "name": spec.name,
        "kind": spec.kind,
        "dataset": dataset.name,
        "population": dataset.population,
        "snapshot": publication.snapshot,
        "snapshot_date": dataset.snapshot_date.isoformat(),
        "charged": publication.charged,
        "code_version": publication.code_version,
        "loss": _loss(publication, charge),
        "unit": dataset.unit,
        "neighbours": f"add or remove all rows of one {dataset.unit}",
        "counts": spec.counts,
        "l1_sensitivity": plan.l1_sensitivity,
        "derivation": plan.derivation.splitlines(),
        "warnings": [warning.detail for warning in plan.warnings],
        "question": _question(spec),
        "plan_sha256": hashlib.sha256(plan.canonical.encode()).hexdigest(),
        **_range_of(spec, plan),
        "strategy": spec.strategy,
        "parameters": dict(spec.parameters),
        "parts": [
            {"name": part.name, word: str(part.loss)} for part in publication.parts
        ],
        "expected_error": {
            "cell_rmse": expected.cell_rmse,
            "total_rmse": expected.total_rmse,
            "words": expected.words,
        },
        "model": {"kind": model.kind, "facts": model.facts},
        "files": dict(sorted(files.items())),
    }


def _range_of(spec: ReleaseSpec, plan: CubePlan | SequencePlan) -> Document:
    """Return what a release ranges over."""
    if isinstance(plan, CubePlan):
        return {
            "cells": plan.size,
            "dimensions": [_told(dimension) for dimension in plan.dimensions],
        }
    periods = spec.periods if isinstance(spec, SequenceSpec) else None
    return {
        "order": spec.order if isinstance(spec, SequenceSpec) else None,
        "periods": None
        if periods is None
        else periods.model_dump(mode="json", exclude_none=True),
        "alphabet": _told(plan.alphabet),
        "max_length": plan.max_length,
        "split": None if plan.split is None else _told(plan.split),
    }


def _told(dimension: CubeDimension) -> Document:
    return {
        "name": dimension.name,
        "type": dimension.type.value,
        "expression": dimension.expression,
        "ordered": dimension.ordered,
        "constant_in_unit": dimension.constant,
        "scale": dimension.scale,
        "values": [
            None if value is None else scalar_to_json(value)
            for value in dimension.values
        ],
    }


def _question(spec: ReleaseSpec) -> Document:
    bounds = None if spec.bounds is None else spec.bounds.model_dump(exclude_none=True)
    return {"from": spec.source, "where": spec.where, "bounds": bounds}


def domain_in(manifest: Mapping[str, object]) -> CubeDomain:
    """Return the domain that a manifest describes.

    Raises:
        BrokenReleaseError: It describes none.
    """
    bound, listed = manifest.get("l1_sensitivity"), manifest.get("dimensions")
    if not isinstance(bound, int) or not isinstance(listed, list):
        message = "the manifest has no dimensions"
        raise BrokenReleaseError(message)
    in_cell = 1 if manifest.get("counts") == "units" else None
    return CubeDomain(tuple(_dimension(one) for one in listed), bound, in_cell)


def sequences_in(manifest: Mapping[str, object]) -> SequenceDomain:
    """Return the domain that a manifest of sequences describes.

    Raises:
        BrokenReleaseError: It describes none.
    """
    most, alphabet = manifest.get("max_length"), manifest.get("alphabet")
    split = manifest.get("split")
    if not isinstance(most, int) or not isinstance(alphabet, dict):
        message = "the manifest has no alphabet"
        raise BrokenReleaseError(message)
    own = _dimension(split) if isinstance(split, dict) else None
    return SequenceDomain(_dimension(alphabet), most, own)


def _dimension(written: Mapping[str, object]) -> Dimension:
    kind, values, scale = (
        ColumnType(str(written["type"])),
        written["values"],
        written["scale"],
    )
    if not isinstance(values, list) or not isinstance(scale, int):
        message = "a dimension of the manifest has no values"
        raise BrokenReleaseError(message)
    return Dimension(
        name=str(written["name"]),
        type=kind,
        values=tuple(
            None if value is None else scalar_from_json(value, kind) for value in values
        ),
        ordered=written["ordered"] is True,
        constant=written["constant_in_unit"] is True,
        scale=scale,
    )
