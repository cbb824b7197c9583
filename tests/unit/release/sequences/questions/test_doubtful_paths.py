"""What noise alone may have lifted above a threshold has intervals that reach to 0."""

import numpy as np

from privacy.schema import ColumnType
from query_lang.reading.parse import parse_query
from release.contract.confidence import selected_confidence, widening
from release.contract.domain import Dimension
from release.contract.sequence_domain import SequenceDomain
from release.sequences.estimation.bands import Bands, band_starts
from release.sequences.models.drawn import DrawnLevel, DrawnTree
from release.sequences.models.prefix_tree import PrefixTreeModel
from release.sequences.models.uncounted import Sampled
from release.sequences.questions.answering import AskedSequences
from release.sequences.questions.browsing import branch
from release.sequences.questions.levels import LevelledTree
from release.sequences.questions.published import PublishedSequences
from release.store.listings import listed_paths

SYMBOLS, SCALE, THRESHOLD = 40, 10.0, 60
SURE, BARELY = 1_000, 65
"""Noisy counts: of symbols 0 and 1, and of symbols 2 and 3."""


def asked():
    """Open a tree of first symbols and of what follows the first of them."""
    alphabet = Dimension("symbol", ColumnType.INTEGER, tuple(range(SYMBOLS)))
    domain, firsts = SequenceDomain(alphabet, 2), band_starts(2)
    tops = _level([0, 0, 0, 0], [SURE, SURE, BARELY, BARELY], grown=[1, 0, 0, 0])
    nexts = _level([0, 0, 0, 0], [SURE // 2, BARELY, BARELY, BARELY], grown=[0] * 4)
    lengths = np.zeros((1, len(firsts)), dtype=np.int64)
    lengths[0, -1] = 2 * SURE + 2 * BARELY
    met = np.full((len(firsts), SYMBOLS), 50)
    drawn = DrawnTree(
        domain, (tops, nexts), Bands(2, lengths, SCALE), Sampled(met, SCALE)
    )
    published = PublishedSequences("rel_1", "r", domain, "unit")
    return AskedSequences(published, PrefixTreeModel(drawn))


def _level(parents, values, *, grown):
    return DrawnLevel(
        np.array(parents),
        np.arange(len(values)),
        np.array(values),
        np.array(grown) > 0,
        SCALE,
        THRESHOLD,
    )


def _ask(opened, sql):
    return opened.ask(parse_query(sql, sequences=True))


def test_a_child_that_barely_passed_the_threshold_may_be_nothing():
    children = branch(asked().tree, (), None).children
    sure, barely = children[0].count, children[2].count

    assert barely.half_width >= barely.value > 0
    assert sure.half_width < 5 * SCALE < sure.value


def test_what_is_left_beside_chosen_children_is_as_unsure_as_they_are():
    *kept, rest = branch(asked().tree, (0,), None).children

    assert rest.kind == "rest"
    doubted = sum(child.count.value for child in kept[1:])
    assert rest.count.half_width > doubted > 0


def test_a_step_that_one_group_alone_has_may_be_more_in_the_other():
    split = Dimension("arm", ColumnType.INTEGER, (0, 1), constant=True)
    alphabet = Dimension("symbol", ColumnType.INTEGER, tuple(range(SYMBOLS)))
    domain, firsts = SequenceDomain(alphabet, 2, split), band_starts(2)
    tops = _level([0, 0, 1], [SURE, SURE, SURE], grown=[0] * 3)
    lengths = np.full((2, len(firsts)), SURE)
    met = Sampled(np.full((len(firsts), SYMBOLS), 50), SCALE)
    drawn = DrawnTree(domain, (tops,), Bands(2, lengths, SCALE), met)
    model = PrefixTreeModel(drawn)
    tree = LevelledTree(domain, model.paths())
    rest = branch(tree, (), 1).children[-1]
    of_both, of_one = (branch(tree, (), group).children[1] for group in (None, 0))

    assert rest.kind == "rest"
    more = of_both.count.half_width - of_one.count.half_width
    assert more >= rest.count.value > 0


def test_the_list_of_paths_has_the_half_widths_of_branches():
    opened = asked()
    paths = opened.model.paths()
    listed = listed_paths(opened.model.domain, paths)
    for node in np.flatnonzero(paths.depths > 0).tolist():
        above = paths.parents[node]
        prefix = (int(paths.symbols[above]),) if paths.depths[above] else ()
        kinds = {SYMBOLS: "end", SYMBOLS + 1: "rest"}
        symbol = int(paths.symbols[node])
        (child,) = [
            each
            for each in branch(opened.tree, prefix, None).children
            if (each.kind, each.symbol) == (kinds.get(symbol, "symbol"), None)
            or (symbol < SYMBOLS and each.symbol == symbol)
        ]
        assert abs(child.count.half_width - listed["half_width_95"][node]) < 1e-9


def test_answers_of_paths_that_barely_passed_begin_at_nothing():
    opened = asked()
    for where, is_sure in (
        ("STARTS_WITH(0)", True),
        ("STARTS_WITH(2)", False),
        ("STARTS_WITH(0, 0)", True),
        ("STARTS_WITH(0, 1)", False),
        ("SYMBOL_AT(1) IN (2, 3)", False),
        ("SYMBOL_AT(1) IN (0, 2)", True),
    ):
        for number in ("COUNT(*)", "OCCURRENCES(2)"):
            answer = _ask(opened, f"SELECT {number} AS n FROM r WHERE {where}")
            (low, _), value = answer.intervals[0].rows[0], float(answer.rows[0][0])
            assert (float(low) > 0) <= is_sure
            if number == "COUNT(*)":
                assert (float(low) > 0) == is_sure
                assert value > 0


def test_rows_that_estimates_choose_have_wider_intervals():
    opened = asked()
    text = "SELECT SYMBOL_AT(1) AS k, COUNT(*) AS n FROM r GROUP BY SYMBOL_AT(1)"
    own = dict(zip(_keys(_ask(opened, text)), _widths(_ask(opened, text)), strict=True))

    for chosen in (f"{text} HAVING n > 500", f"{text} ORDER BY n DESC LIMIT 2"):
        answer = _ask(opened, chosen)
        factor = widening(selected_confidence(0.95, 2, SYMBOLS + 1))
        for key, width in zip(_keys(answer), _widths(answer), strict=True):
            assert abs(width - factor * own[key]) < 1e-4
        assert "rows_chosen" in [warning.code for warning in answer.warnings]
    for text_ in (text, f"{text} ORDER BY k LIMIT 3", f"{text} HAVING k < 3"):
        answer = _ask(opened, text_)
        assert _widths(answer) == [own[key] for key in _keys(answer)]
        assert "rows_chosen" not in [warning.code for warning in answer.warnings]


def test_frequent_runs_are_chosen_rows():
    opened = asked()
    answer = _ask(opened, "SELECT TOP_RUNS(1, 1, 1) FROM r")
    (run,) = _keys(answer)
    named = _ask(opened, f"SELECT OCCURRENCES({run}) AS n FROM r")

    factor = widening(selected_confidence(0.95, 1, SYMBOLS))
    assert abs(_widths(answer)[0] - factor * _widths(named)[0]) < 1e-4
    assert "rows_chosen" in [warning.code for warning in answer.warnings]
    assert "rows_chosen" not in [warning.code for warning in named.warnings]


def _keys(answer):
    return [row[0] for row in answer.rows]


def _widths(answer):
    (widths,) = answer.half_widths.values()
    return [float(width) for width in widths]
