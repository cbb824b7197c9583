"""Releases of earlier formats, stored before lengths were paid for, still answer.

"all_children" has lengths; each of its nodes is joined with its children by itself.

The files hold what releases of a made-up log published: facts, tables, and the paths
that stand beside them, which ``release verify`` compares with what the model says.
"""

import json
from pathlib import Path

import numpy as np
import pytest

from query_lang.reading.parse import parse_query
from release.sequences.models.registry import MODELS
from release.sequences.questions.answering import AskedSequences
from release.sequences.questions.published import PublishedSequences
from tests.support.data.sequences import log_domain, occurrences_of, random_log

STORED = Path(__file__).parent / "first_format"
STORED_NAMES = ["prefix_tree", "ngram", "picked", "all_children"]
LOG = random_log(600, 4, 12, seed=5)


def stored(name):
    told = json.loads((STORED / f"{name}.json").read_text(encoding="utf-8"))
    tables = {
        table: {column: np.array(values) for column, values in columns.items()}
        for table, columns in told["tables"].items()
    }
    domain = log_domain(4, told["max_length"])
    return MODELS[told["kind"]](domain, told["facts"], tables), told


@pytest.mark.parametrize("name", STORED_NAMES)
def test_a_stored_release_says_of_itself_what_it_said(name):
    model, told = stored(name)
    paths = model.paths()
    assert model.facts() == told["facts"]
    assert model.tables().keys() == told["tables"].keys()
    for column, values in told["paths"].items():
        # processors differ in the last bits of a sum
        assert np.allclose(getattr(paths, column), values, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", STORED_NAMES)
def test_a_stored_release_still_answers_and_its_intervals_hold(name):
    model, _ = stored(name)
    asked = AskedSequences(PublishedSequences("r", "r", model.domain, "unit"), model)
    first = [own[: model.domain.max_length] for own in LOG]
    for run in [(0,), (1,), (0, 0), (0, 1), (2, 2), (0, 0, 0)]:
        listed = ", ".join(map(str, run))
        tree = parse_query(f"SELECT OCCURRENCES({listed}) AS n FROM r", sequences=True)
        low, high = map(float, asked.ask(tree).intervals[0].rows[0])
        assert low <= occurrences_of(run, first) <= high
