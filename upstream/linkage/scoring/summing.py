"""Parameters of FRIL's weighted sum: nothing is learnt but thresholds."""

from collections.abc import Sequence

from upstream.linkage.comparing.levels import Comparison
from upstream.linkage.declared import LinkageSpec, WeightedSum
from upstream.linkage.scoring.parameters import (
    FieldParameters,
    LevelParameters,
    Parameters,
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
