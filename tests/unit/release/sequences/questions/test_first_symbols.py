"""What first symbols that were not kept hide, where a group holds many of them."""

import numpy as np
import pytest

from privacy.schema import ColumnType
from query_lang.reading.parse import parse_query
from query_lang.syntax.logic import All, AnyOf, Negation
from release.sequences.questions.counting import _tells_first
from release.sequences.questions.question import (
    KeyColumn,
    LengthIn,
    StartsWith,
    SymbolIn,
    SymbolKey,
)
from tests.statistical.sequence_coverage import released
from tests.statistical.sequence_logs import light_firsts

SYMBOLS = 9
FIRST, OTHERS = SymbolIn(1, frozenset({3})), SymbolIn(1, frozenset({0, 1, 2}))
LONG = LengthIn(frozenset({4, 5}))


@pytest.mark.parametrize(
    ("condition", "is_told"),
    [
        (None, False),
        (FIRST, True),
        (StartsWith((3, 4)), True),
        (OTHERS, False),
        (Negation(FIRST), False),
        (Negation(StartsWith((3,))), False),
        (All((FIRST, LONG)), True),
        (AnyOf((FIRST, LONG)), False),
        (Negation(AnyOf((Negation(FIRST), LONG))), True),
        (SymbolIn(2, frozenset({3})), False),
    ],
)
def test_one_first_symbol_in_each_group_tells_it(condition, is_told):
    assert _tells_first(SYMBOLS, condition, ()) is is_told


def test_a_key_tells_it():
    key = KeyColumn(SymbolKey(1), tuple(range(SYMBOLS)), ColumnType.INTEGER)
    assert _tells_first(SYMBOLS, Negation(FIRST), (key,))


def test_all_that_is_not_kept_may_lean_one_way():
    """Each of eight first symbols is below its threshold: 64 % held before."""
    log = light_firsts(800, np.random.default_rng(877))
    truth = int((log.rows[:, 0] != 3).sum())
    asked_for = parse_query(
        "SELECT COUNT(*) AS n FROM r WHERE SYMBOL_AT(1) <> 3", sequences=True
    )
    held = 0
    for seed in range(12):  # the same each time
        asked = released(log, 6, "prefix_tree", "0.7", seed)
        low, high = map(float, asked.ask(asked_for).intervals[0].rows[0])
        held += low <= truth <= high
    assert held >= 11
