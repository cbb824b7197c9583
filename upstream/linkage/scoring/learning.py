"""Parameters of a linkage, learnt from its own records and from labelled pairs."""

from collections.abc import Sequence
from math import log2

import duckdb
import numpy as np

from upstream.linkage.blocking.blocks import Blocked
from upstream.linkage.comparing.levels import Comparison
from upstream.linkage.declared import FellegiSunter, LinkageSpec, WeightedSum
from upstream.linkage.scoring.expectation import (
    Field,
    Learning,
    Learnt,
    learn,
)
from upstream.linkage.scoring.parameters import (
    FieldParameters,
    LevelParameters,
    Parameters,
)
from upstream.linkage.scoring.samples import (
    Codes,
    pass_sample,
    random_levels,
    share_of_exact,
)
from upstream.linkage.scoring.thresholds import choose


def summed(spec: LinkageSpec, comparisons: Sequence[Comparison]) -> Parameters:
    """Return the parameters of a weighted sum, thresholds as declared or usual."""
    method = spec.method
    declared = method.weights if isinstance(method, WeightedSum) else {}
    weights = [declared.get(each.field, 1.0) for each in comparisons]
    whole = sum(weights) or 1.0
    fields = tuple(
        FieldParameters(
            each.field,
            tuple(LevelParameters(level.name) for level in each.levels),
            weight / whole,
        )
        for each, weight in zip(comparisons, weights, strict=True)
    )
    chosen = choose(spec, ())
    return Parameters(
        "weighted_sum",
        fields,
        prior=None,
        prior_weight=0.0,
        term_frequencies=False,
        link=chosen.thresholds.link,
        review=chosen.thresholds.review,
        found={"weights": "declared", "thresholds": chosen.how},
    )


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
    samples = [
        pass_sample(connection, spec, comparisons, place, each)
        for place, each in enumerate(blocked)
        if each.pairs
    ]
    silent = [
        np.array([c.field in blocked[s.rule].rule.fields for c in comparisons])
        for s in samples
    ]
    fields = _fields(connection, spec, comparisons)
    pairs = _possible_pairs(connection, spec)
    found = learn(Learning(fields, samples, silent, pairs, labelled))
    return _parameters(spec, comparisons, found, len(labelled))


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
        if not spec.once and each.levels[0].name == "exact":
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


def _parameters(
    spec: LinkageSpec, comparisons: Sequence[Comparison], found: Learnt, labelled: int
) -> Parameters:
    chosen = choose(spec, ())
    fields = tuple(
        FieldParameters(each.field, tuple(_levels(each, m, u)))
        for each, m, u in zip(comparisons, found.m, found.u, strict=True)
    )
    how = f"EM, {found.iterations} iterations"
    return Parameters(
        "fellegi_sunter",
        fields,
        prior=found.prior,
        prior_weight=log2(found.prior) - log2(1 - found.prior),
        term_frequencies=isinstance(spec.method, FellegiSunter)
        and spec.method.term_frequencies,
        link=chosen.thresholds.link,
        review=chosen.thresholds.review,
        found={
            "m": f"{how}, and {labelled} labelled matches" if labelled else how,
            "u": "random pairs and frequencies of values, without the matches in them",
            "prior": "expected matches of all passes",
            "thresholds": chosen.how,
        },
    )


def _levels(
    comparison: Comparison, m: np.ndarray, u: np.ndarray
) -> list[LevelParameters]:
    return [
        LevelParameters(
            level.name,
            float(m[place]),
            float(u[place]),
            log2(m[place]) - log2(u[place]) if level.is_weighed else 0.0,
        )
        for place, level in enumerate(comparison.levels)
    ]
