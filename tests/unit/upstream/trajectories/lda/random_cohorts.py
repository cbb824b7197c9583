"""Small made-up cohorts for random tests."""

from hypothesis import strategies as st

from tests.unit.upstream.trajectories.lda.thesis import AGES
from upstream.trajectories.codes.tree import tree_of
from upstream.trajectories.lda.trajectories import Weights, cohort_of

CODES = tree_of(
    {"A": "Any", "B": "Any", "a1": "A", "a2": "A", "b1": "B", "b2": "B", "b3": "B"}
)
PAIRS = st.tuples(st.sampled_from(["a1", "a2", "b1", "b2", "b3"]), st.integers(33, 40))


@st.composite
def cohorts(draw, least=1, most=14):
    """Draw a cohort and how its losses are read."""
    records = draw(st.lists(st.lists(PAIRS, max_size=5), min_size=least, max_size=most))
    reading = draw(st.sampled_from(["printed", "difference"]))
    weight = draw(st.sampled_from([0.1, 0.5, 0.9]))
    return cohort_of(records, CODES, AGES, Weights(weight, 1 - weight), reading)
