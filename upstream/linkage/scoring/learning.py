"""Parameters of a linkage, learnt from its own records and from labelled pairs."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import log2

import duckdb
import numpy as np

from upstream.linkage.blocking.blocks import Blocked
from upstream.linkage.comparing.levels import Comparison, Level
from upstream.linkage.declared import FellegiSunter, LinkageSpec
from upstream.linkage.scoring.dependence import Parent, Shares, parents_of, shares_of
from upstream.linkage.scoring.expectation import (
    LOWEST_U,
    Field,
    Learning,
    Learnt,
    learn,
)
from upstream.linkage.scoring.families import guarded_fields, personal_fields
from upstream.linkage.scoring.parameters import (
    FieldParameters,
    LevelParameters,
    Parameters,
)
from upstream.linkage.scoring.preparing import values_of
from upstream.linkage.scoring.samples import (
    Codes,
    Sample,
    agreeing_sample,
    pass_sample,
    random_levels,
    share_of_exact,
)
from upstream.linkage.scoring.thresholds import choose
from upstream.linkage.scoring.unique import with_unique

_LEAST = 1e-9  # how often anything happens
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
    found = with_unique(learn(given), comparisons, values_of(connection, spec))
    parents = {
        place: parent
        for place, parent in parents_of(given, found).items()
        if not comparisons[place].is_unique
    }
    near = [each.near for each in comparisons]
    shares = shares_of(given, found, parents, near)
    parameters = _parameters(
        spec,
        _field_parameters(given, comparisons, found, parents),
        shares,
        _how(given, found),
    )
    return replace(parameters, guarded=guarded_fields(spec, comparisons, samples))


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
        fields.append(Field(np.maximum(by_accident, _LEAST), weighed))
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
    given: Learning,
    comparisons: Sequence[Comparison],
    found: Learnt,
    parents: Mapping[int, Parent],
) -> tuple[FieldParameters, ...]:
    """Return what each field weighs."""
    fields, personal = [], [each.is_personal for each in given.fields]
    for place, each in enumerate(comparisons):
        parent = parents.get(place)
        has_family = any(personal) and not personal[place]
        levels = tuple(
            _level(each.levels[at], found, (place, at), parent, has_family=has_family)
            for at in range(len(each.levels))
        )
        other = None if parent is None else comparisons[parent.place]
        fields.append(
            FieldParameters(
                each.field,
                levels,
                parent=other.field if other else None,
                near=other.near if other else 1,
                is_unique=each.is_unique,
            )
        )
    return tuple(fields)


def _level(
    level: Level,
    found: Learnt,
    at: tuple[int, int],
    parent: Parent | None,
    *,
    has_family: bool,
) -> LevelParameters:
    """Return what a level weighs, by the places of its field and its own."""
    field, place = at
    m, u = float(found.m[field][place]), float(found.u[field][place])
    given = None if parent is None else max(float(parent.u[place]), LOWEST_U)
    family = max(float(found.family[field][place]), LOWEST_U) if has_family else None

    def bits(one: float, other: float | None) -> float:
        return log2(one) - log2(other) if other and level.is_weighed else 0.0

    return LevelParameters(
        level.name,
        m,
        u,
        bits(m, u),
        given,
        bits(m, given),
        family,
        -bits(m, family),
    )


def _parameters(
    spec: LinkageSpec,
    fields: tuple[FieldParameters, ...],
    shares: Shares,
    how: Mapping[str, str],
) -> Parameters:
    chosen = choose(spec, ())
    rest = log2(1 - shares.matches - shares.families)
    has_families = any(level.family for field in fields for level in field.levels)
    return Parameters(
        "fellegi_sunter",
        fields,
        prior=shares.matches,
        prior_weight=log2(shares.matches) - rest,
        term_frequencies=isinstance(spec.method, FellegiSunter)
        and spec.method.term_frequencies,
        link=chosen.thresholds.link,
        review=chosen.thresholds.review,
        families=shares.families if has_families else None,
        families_weight=log2(shares.families) - rest if has_families else 0.0,
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
