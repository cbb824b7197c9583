"""Parameters of a linkage, learnt from its own records and from labelled pairs."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import log2

import duckdb
import numpy as np

from upstream.linkage.blocking.blocks import Blocked
from upstream.linkage.comparing.levels import Comparison
from upstream.linkage.declared import FellegiSunter, LinkageSpec
from upstream.linkage.scoring.dependence import Parent, parents_of, prior_of
from upstream.linkage.scoring.expectation import (
    LOWEST_U,
    Field,
    Learning,
    Learnt,
    learn,
)
from upstream.linkage.scoring.families import personal_fields
from upstream.linkage.scoring.parameters import (
    FieldParameters,
    LevelParameters,
    Parameters,
)
from upstream.linkage.scoring.samples import (
    Codes,
    Sample,
    agreeing_sample,
    pass_sample,
    random_levels,
    share_of_exact,
)
from upstream.linkage.scoring.thresholds import choose

_OF_MANY = frozenset({"category", "number"})  # kinds on which strangers agree, too


def estimated(
    connection: duckdb.DuckDBPyConnection,
    spec: LinkageSpec,
    comparisons: Sequence[Comparison],
    blocked: Sequence[Blocked],
    labelled: Codes,
) -> Parameters:
    """Return match weights by EM, thresholds as declared or usual.

    Args:
        connection: It holds ``compared``.
        spec: The declaration.
        comparisons: Of the fields.
        blocked: What the passes bring together.
        labelled: Codes of pairs that are matches for certain.
    """
    samples = _samples(connection, spec, comparisons, blocked)
    fields = _fields(connection, spec, comparisons)
    personal = personal_fields(spec, comparisons, samples)
    fields = [
        replace(field, is_personal=each.field in personal)
        for field, each in zip(fields, comparisons, strict=True)
    ]
    pairs = _possible_pairs(connection, spec)
    given = Learning(fields, samples, pairs, labelled)
    found = learn(given)
    parents = parents_of(given, found)
    near = [each.near for each in comparisons]
    prior = prior_of(given, found, parents, near)
    return _parameters(
        spec, _field_parameters(comparisons, found, parents), prior, _how(given, found)
    )


def _fields(
    connection: duckdb.DuckDBPyConnection,
    spec: LinkageSpec,
    comparisons: Sequence[Comparison],
) -> list[Field]:
    """Return how often levels occur by accident."""
    drawn = random_levels(connection, spec, comparisons)
    exact = share_of_exact(connection, comparisons)
    fields = []
    for each, counts, same in zip(comparisons, drawn, exact, strict=True):
        known = counts[1:] + 0.5
        by_accident = known / known.sum()
        if not spec.once:
            by_accident[1:] *= (1 - same) / max(1e-9, by_accident[1:].sum())
            by_accident[0] = same
        weighed = np.array([level.is_weighed for level in each.levels])
        fields.append(Field(by_accident, weighed))
    return fields


def _possible_pairs(connection: duckdb.DuckDBPyConnection, spec: LinkageSpec) -> float:
    """Return how many pairs of records could be one patient's, by their sources."""
    found = connection.execute(
        "SELECT source, count(*) FROM compared GROUP BY source"
    ).fetchall()
    records = sum(count for _, count in found)
    apart = sum(n * (n - 1) / 2 for source, n in found if source in spec.once)
    return float(records * (records - 1) / 2 - apart)


def _samples(
    connection: duckdb.DuckDBPyConnection,
    spec: LinkageSpec,
    comparisons: Sequence[Comparison],
    blocked: Sequence[Blocked],
) -> list[Sample]:
    """Return samples of all passes, and of pairs that agree on one field."""
    of_passes = [
        pass_sample(connection, spec, comparisons, place, each)
        for place, each in enumerate(blocked)
        if each.pairs
    ]
    of_fields = [
        agreeing_sample(connection, spec, comparisons, place)
        for place, each in enumerate(comparisons)
        if spec.fields[each.field].kind not in _OF_MANY
    ]
    found = [*of_passes, *(each for each in of_fields if each is not None)]
    return [each for each in found if len(each.codes)]


def _field_parameters(
    comparisons: Sequence[Comparison], found: Learnt, parents: Mapping[int, Parent]
) -> tuple[FieldParameters, ...]:
    fields = []
    for place, each in enumerate(comparisons):
        parent = parents.get(place)
        levels = tuple(_levels(each, found.m[place], found.u[place], parent))
        if parent is None:
            fields.append(FieldParameters(each.field, levels))
        else:
            other = comparisons[parent.place]
            fields.append(
                FieldParameters(each.field, levels, parent=other.field, near=other.near)
            )
    return tuple(fields)


def _levels(
    comparison: Comparison, m: np.ndarray, u: np.ndarray, parent: Parent | None
) -> list[LevelParameters]:
    found = []
    for place, level in enumerate(comparison.levels):
        given = None if parent is None else max(float(parent.u[place]), LOWEST_U)
        bits = log2(m[place])
        found.append(
            LevelParameters(
                level.name,
                float(m[place]),
                float(u[place]),
                bits - log2(u[place]) if level.is_weighed else 0.0,
                given,
                bits - log2(given) if level.is_weighed and given else 0.0,
            )
        )
    return found


def _parameters(
    spec: LinkageSpec,
    fields: tuple[FieldParameters, ...],
    prior: float,
    how: Mapping[str, str],
) -> Parameters:
    chosen = choose(spec, ())
    return Parameters(
        "fellegi_sunter",
        fields,
        prior=prior,
        prior_weight=log2(prior) - log2(1 - prior),
        term_frequencies=isinstance(spec.method, FellegiSunter)
        and spec.method.term_frequencies,
        link=chosen.thresholds.link,
        review=chosen.thresholds.review,
        found={**how, "thresholds": chosen.how},
    )


def _how(given: Learning, found: Learnt) -> dict[str, str]:
    """Return how each was found, in words."""
    m = f"EM, {found.iterations} iterations"
    if labelled := len(given.labelled):
        m += f", and {labelled} labelled matches"
    return {
        "m": m,
        "u": "random pairs and frequencies of values, without the matches in them",
        "u_given": "pairs of a pass that are no matches",
        "prior": "expected matches of all passes",
    }
