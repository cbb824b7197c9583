"""From which score on pairs are linked, or asked about."""

from collections.abc import Sequence
from dataclasses import dataclass

from upstream.linkage.declared import LinkageSpec, Thresholds

ENOUGH = 20
"""Labelled matches, and labelled others, from which thresholds are chosen."""
_USUAL = {
    "fellegi_sunter": Thresholds(link=0.7, review=0.1),
    "weighted_sum": Thresholds(link=0.58, review=0.5),
}
_LOST = 0.01  # part of labelled matches that may lie below ``review``


@dataclass(frozen=True, slots=True)
class Chosen:
    """Thresholds, and how they were found."""

    thresholds: Thresholds
    how: str


def choose(spec: LinkageSpec, labelled: Sequence[tuple[float, bool]]) -> Chosen:
    """Return thresholds: those declared, of labelled pairs, or the usual ones.

    Args:
        spec: What is declared.
        labelled: Scores of labelled pairs, and whether each is a match.
    """
    if spec.thresholds is not None:
        return Chosen(spec.thresholds, "declared")
    matches = sorted(score for score, is_match in labelled if is_match)
    others = sorted(score for score, is_match in labelled if not is_match)
    if min(len(matches), len(others)) < ENOUGH:
        return Chosen(_USUAL[spec.method.kind], "usual")
    link = _best(labelled)
    review = min(link, matches[int(_LOST * len(matches))])
    how = f"of {len(matches)} labelled matches and {len(others)} others"
    return Chosen(Thresholds(link=link, review=review), how)


def _best(labelled: Sequence[tuple[float, bool]]) -> float:
    """Return the threshold with the most right decisions; of equals the highest.

    It lies in the middle between two scores, so that neither sits on the edge.
    """
    ranked = sorted(labelled, reverse=True)
    right = sum(not is_match for _, is_match in ranked)
    best, threshold = right, 1.0
    for place, (score, is_match) in enumerate(ranked):
        right += 1 if is_match else -1
        below = ranked[place + 1][0] if place + 1 < len(ranked) else 0.0
        if right > best and below < score:
            best, threshold = right, (score + below) / 2
    return threshold
