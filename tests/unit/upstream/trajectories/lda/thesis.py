"""The six trajectories of figure 3a, with the trees of figures 5 and 6."""

from upstream.trajectories.codes.ages import age_tree
from upstream.trajectories.codes.tree import tree_of
from upstream.trajectories.lda.trajectories import Weights, cohort_of

AGES = age_tree(33, 40)
CODES = tree_of({"401.0": "401", "401.1": "401", "401.9": "401"})
"""Figure 6; 401 is its root, as the printed losses need."""
HALVES = Weights(0.5, 0.5)
FIGURE_3A = [
    [("401.1", 33), ("401.1", 34), ("401.1", 35)],
    [("401.1", 38), ("401.1", 40)],
    [("401.9", 38), ("401.1", 40)],
    [("401.9", 33), ("401.1", 33), ("401.1", 34), ("401.1", 35)],
    [("401.1", 39), ("401.9", 40)],
    [("401.1", 40), ("401.9", 40)],
]


def figure_3a(reading="printed", weights=HALVES, codes=CODES):
    return cohort_of(FIGURE_3A, codes, AGES, weights, reading)


def text(losses, trajectory):
    """Write a trajectory as the thesis does."""
    return " ".join(f"({code}, {age})" for code, age in losses.named(trajectory))
