"""The evaluator's answer to a question over the fixed hospital."""

from tests.semantics import hospital
from tests.semantics.meaning.evaluator import Prepared


def prepare(question, tables):
    """Return the question over rows: cells, exact vectors, presentation."""
    return Prepared(
        question.tree,
        tables,
        hospital.DATASET,
        question.bounds,
        hospital.HIERARCHIES,
    )
