"""Incognito finds all nodes that have a principle, and the best: Adult's are known."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from tests.unit.upstream.anonymization import checker
from tests.unit.upstream.anonymization.adult import adult_of
from upstream.anonymization.columns.columns import hierarchy_column
from upstream.anonymization.columns.tables import full_domain_table
from upstream.anonymization.errors import UnreachableError
from upstream.anonymization.hierarchies.hierarchy import hierarchy_of
from upstream.anonymization.incognito.frequencies import Frequencies
from upstream.anonymization.incognito.incognito import incognito
from upstream.anonymization.incognito.lattice import Search, minimal_nodes
from upstream.anonymization.measures.loss import losses_of
from upstream.anonymization.principles.anonymity import KAnonymity
from upstream.anonymization.principles.closeness import TCloseness
from upstream.anonymization.principles.diversity import (
    DistinctDiversity,
    EntropyDiversity,
)
from upstream.anonymization.principles.principle import AllOf, sensitive_column

FIVE_PERCENT = Fraction(5, 100)
TREE = hierarchy_of(
    "place",
    [
        *(("Kiel", "north", "*"), ("Bremen", "north", "*"), ("Ulm", "south", "*")),
        *(("Augsburg", "south", "*"), ("Aachen", "west", "*")),
    ],
)


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("k", "nodes", "best", "published"),
    [
        (2, 103, ((4, 2, 3, 1, 1, 0, 0, 2), 0.5900), (60, 78_718_228)),
        (5, 67, ((4, 2, 3, 2, 1, 0, 0, 2), 0.6608), (30, 136_199_108)),
        (10, 50, ((4, 2, 3, 2, 1, 0, 0, 2), 0.6608), (30, 136_199_108)),
        (50, 22, ((4, 2, 3, 1, 1, 1, 0, 2), 0.7150), (12, 102_352_340)),
    ],
)
def test_adult_has_the_nodes_that_counting_all_of_them_found(
    test_data, k, nodes, best, published
):
    found = incognito(adult_of(test_data).generalized, KAnonymity(k))
    assert len(found.nodes) == nodes
    assert (found.chosen, round(found.loss, 4)) == best
    assert found.suppressed == 0
    lost = losses_of(found.table, k)
    assert (lost.classes, lost.discernibility) == published
    assert lost.lm == pytest.approx(found.loss)
    assert found.table.sizes.min() >= k
    assert set(found.minimal) <= set(found.nodes)


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("k", "chosen", "loss", "share"),
    [
        (2, (3, 0, 2, 0, 1, 0, 0, 1), 0.1754, 0.0411),
        (5, (3, 1, 2, 1, 1, 0, 0, 1), 0.2618, 0.0414),
        (10, (3, 1, 1, 1, 2, 0, 0, 1), 0.3315, 0.0492),
        (50, (4, 0, 3, 1, 2, 0, 0, 1), 0.4869, 0.0433),
    ],
)
def test_adult_is_published_best_without_one_row_in_twenty(
    test_data, k, chosen, loss, share
):
    columns = adult_of(test_data).generalized
    found = incognito(columns, KAnonymity(k), suppression=FIVE_PERCENT)
    assert (found.chosen, round(found.loss, 4)) == (chosen, loss)
    assert round(found.suppressed / 30_162, 4) == share
    lost = losses_of(found.table, k)
    assert lost.suppressed == found.suppressed
    assert lost.lm == pytest.approx(found.loss)
    assert found.table.sizes.min() >= k


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("k", "none", "some"),
    [
        (2, 0.6608, 0.3563),
        (5, 0.6608, 0.3588),
        (10, 0.6608, 0.3877),
        (50, 0.7150, 0.4869),
    ],
)
def test_adult_with_two_incomes_in_each_class_is_as_arx_has_it(
    test_data, k, none, some
):
    columns = adult_of(test_data).generalized
    both = AllOf((KAnonymity(k), DistinctDiversity(adult_of(test_data).income, 2)))
    for share, loss in (Fraction(0), none), (FIVE_PERCENT, some):
        found = incognito(columns, both, suppression=share)
        assert round(found.loss, 4) == loss
        assert both.holds(found.table.published_classes()).all()


def small_columns(random, rows, number=3):
    labels = TREE.labels[0]
    return [
        hierarchy_column(
            f"place {place}",
            [(*labels, None)[at] for at in random.integers(len(labels) + 1, size=rows)],
            TREE,
        )
        for place in range(number)
    ]


def counted(columns, suppressed, holds, values):
    """Return the nodes that hold, each counted by itself from the published texts."""
    found = []
    for node in product(*(range(c.domain.height + 1) for c in columns)):
        everyone = np.ones(len(values), bool)
        groups = checker.groups_of(full_domain_table(columns, node, everyone), values)
        if sum(len(group) for group in groups if not holds(group)) <= suppressed:
            found.append(node)
    return tuple(found)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("share", [Fraction(0), Fraction(1, 5)])
@pytest.mark.parametrize("kind", ["k", "distinct", "entropy", "close"])
def test_all_nodes_are_found_that_a_plain_count_finds(seed, share, kind):
    random = np.random.default_rng(seed)
    columns = small_columns(random, 60)
    values = random.choice(["a", "b", "c"], size=60, p=[0.6, 0.3, 0.1]).tolist()
    column = sensitive_column("disease", values)
    principle, holds = {
        "k": (KAnonymity(3), lambda group: len(group) >= 3),
        "distinct": (
            DistinctDiversity(column, 2),
            lambda group: checker.is_distinct(group, 2),
        ),
        "entropy": (
            EntropyDiversity(column, 1.6),
            lambda group: checker.has_entropy(group, 1.6),
        ),
        "close": (
            TCloseness(column, Fraction(1, 4)),
            lambda group: checker.distance(group, values) <= Fraction(1, 4),
        ),
    }[kind]
    expected = counted(columns, int(share * 60), holds, values)
    found = incognito(columns, principle, suppression=share)
    assert found.nodes == expected
    assert set(found.minimal) == {
        node
        for node in expected
        if not any(
            other != node and all(a <= b for a, b in zip(other, node, strict=True))
            for other in expected
        )
    } or (share and not principle.is_absorbing)
    assert found.loss == pytest.approx(min(losses(columns, expected, holds, values)))


def losses(columns, nodes, holds, values):
    """Yield the loss of each node, suppressed rows counting 1."""
    for node in nodes:
        everyone = np.ones(len(values), bool)
        table = full_domain_table(columns, node, everyone)
        groups = {}
        for row, look in checker.published(table):
            groups.setdefault(look, []).append(row)
        total = 0.0
        for rows in groups.values():
            number = table.classes[rows[0]]
            whole = (
                table.losses[:, number].sum() if holds([values[r] for r in rows]) else 3
            )
            total += len(rows) * whole
        yield total / 3 / len(values)


def test_values_are_published_on_the_level_of_the_node():
    columns = [hierarchy_column("place", ["Aachen", "Ulm", None], TREE)]
    table = full_domain_table(columns, (1,), np.array([True, True, False]))
    assert table.values("place") == ["west", "south"]
    assert full_domain_table(columns, (1,), np.ones(3, bool)).values("place") == [
        *("west", "south", None)
    ]


def test_a_roll_up_counts_as_from_the_rows():
    columns = small_columns(np.random.default_rng(9), 80)
    column = sensitive_column("disease", list("abcd") * 20)
    frequencies = Frequencies(columns, [column])
    below = frequencies.at((0, 2), (1, 0))
    rolled, direct = (
        frequencies.at((0, 2), (2, 1), below).classes,
        frequencies.at((0, 2), (2, 1)).classes,
    )
    assert (rolled.codes == direct.codes).all()
    assert (rolled.sizes() == direct.sizes()).all()
    assert rolled.sizes().sum() == 80
    codes, count = frequencies.classes_at((0, 2), (2, 1))
    assert count == rolled.count
    assert len(codes) == len(frequencies.rows)


def test_rows_of_broken_classes_are_counted():
    columns = [hierarchy_column("place", ["Ulm", "Ulm", "Kiel"], TREE)]
    search = Search(Frequencies(columns, []), [3], KAnonymity(2), 0)
    assert search.broken_rows(search.frequencies.at((0,), (0,)).classes) == 1
    assert search.holding().tolist() == [False, False, True]


def test_minimal_nodes_have_no_neighbour_below_them():
    holding = np.zeros((3, 3), bool)
    holding[1:, 1:] = holding[2, :] = True
    assert minimal_nodes(holding) == [(1, 1), (2, 0)]


def test_what_cannot_be_reached_is_refused():
    columns = small_columns(np.random.default_rng(0), 5)
    with pytest.raises(UnreachableError, match="6-anonymity"):
        incognito(columns, KAnonymity(6))


@pytest.mark.parametrize(
    ("number", "rows", "share", "told"),
    [
        (0, 5, 0, "at least one row"),
        (2, 0, 0, "at least one row"),
        (2, 5, 1, "below 1"),
        (2, 5, -1, "below 1"),
        (14, 5, 0, "4,782,969 nodes"),
    ],
)
def test_what_cannot_be_searched_is_refused(number, rows, share, told):
    columns = small_columns(np.random.default_rng(0), rows, number)
    with pytest.raises(ValueError, match=told):
        incognito(columns, KAnonymity(1), suppression=Fraction(share))


def test_a_principle_that_is_not_monotone_is_refused():
    class Even(KAnonymity):
        is_monotone = False

    with pytest.raises(ValueError, match="not monotone"):
        incognito(small_columns(np.random.default_rng(0), 5), Even(1))
