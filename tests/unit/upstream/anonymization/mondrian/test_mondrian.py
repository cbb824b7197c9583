"""Mondrian cuts while both sides have the principle, and publishes tight ranges."""

import numpy as np
import pytest

from tests.unit.upstream.anonymization.adult import adult_of
from upstream.anonymization.columns.columns import (
    category_column,
    hierarchy_column,
    number_column,
)
from upstream.anonymization.errors import UnreachableError
from upstream.anonymization.hierarchies.hierarchy import hierarchy_of
from upstream.anonymization.measures.loss import losses_of
from upstream.anonymization.mondrian.cuts import WHOLE, CutRules, best_cuts
from upstream.anonymization.mondrian.joining import CutClasses
from upstream.anonymization.mondrian.mondrian import mondrian
from upstream.anonymization.mondrian.partitions import Partitions
from upstream.anonymization.principles.anonymity import KAnonymity
from upstream.anonymization.principles.cells import patient_values_of
from upstream.anonymization.principles.diversity import DistinctDiversity
from upstream.anonymization.principles.principle import AllOf, sensitive_column

REGIONS = hierarchy_of(
    "place",
    [
        *(("Kiel", "north", "*"), ("Bremen", "north", "*"), ("Ulm", "south", "*")),
        *(("Augsburg", "south", "*"), ("Aachen", "west", "*")),
    ],
)


def by_rule(codes, domain, rule="median", least=1, *, is_relaxed=False):
    """Return where one partition is cut: after which code, its quota, its score."""
    codes = np.array(codes)
    cuts = best_cuts(
        np.zeros(len(codes), np.int64),
        np.array([len(codes)]),
        codes,
        domain,
        CutRules(rule, is_relaxed, least),
    )
    return int(cuts.after[0]), int(cuts.quota[0]), float(cuts.scores[0])


@pytest.mark.parametrize("rule", ["gain", "median"])
def test_the_dissertations_table_has_tight_ranges(rule):
    """HIDE, table 2.1: classes by sex. It prints [25-28] for women, who are 26 and 28.

    The text calls it table 2.3.1, and its column Diagnosis becomes Disease.
    """
    columns = [
        number_column("age", [25, 28, 28, 26]),
        category_column("sex", ["M", "F", "M", "F"]),
        number_column("zip", [53710, 53712, 53711, 53712]),
    ]
    diseases = ["Influenza", "Lymphoma", "Bronchitis", "Influenza"]
    disease = sensitive_column("diagnosis", diseases)
    principle = AllOf((KAnonymity(2), DistinctDiversity(disease, 2)))
    table = mondrian(columns[1:] + columns[:1], principle, rule=rule)
    assert table.values("sex") == ["M", "F", "M", "F"]
    assert table.values("age") == ["[25-28]", "[26-28]", "[25-28]", "[26-28]"]
    assert table.values("zip") == [
        *("[53710-53711]", "53712", "[53710-53711]", "53712")
    ]
    assert principle.holds(table.published_classes()).tolist() == [True, True]


def test_the_median_rule_cuts_in_the_middle_and_the_gain_rule_where_most_is_won():
    domain = number_column("age", [1, 2, 3, 4, 90]).domain
    codes = [0, 1, 2, 3, 3, 4]
    assert by_rule(codes, domain)[:2] == (2, WHOLE)
    assert by_rule(codes, domain, "gain")[:2] == (3, WHOLE)
    assert by_rule(codes, domain, "gain", least=2)[:2] == (2, WHOLE)


def test_nothing_is_cut_where_a_side_has_too_few_rows():
    domain = number_column("age", [1, 2]).domain
    assert by_rule([0, 0, 1], domain, least=2)[2] == -np.inf
    assert by_rule([0, 0], domain)[2] == -np.inf


def test_a_relaxed_cut_divides_rows_of_one_value():
    domain = number_column("age", [1, 2]).domain
    assert by_rule([0, 0, 0, 1], domain, least=2, is_relaxed=True)[:2] == (0, 2)
    after, quota, score = by_rule([0, 0, 0, 1], domain, "gain", 2, is_relaxed=True)
    assert (after, quota) == (0, 2)
    assert -np.inf < score < 0  # after all cuts between values


def test_hierarchies_are_cut_between_the_children_of_what_is_published():
    column = hierarchy_column("place", ["Ulm", "Kiel", "Bremen"], REGIONS)
    place = {label: code for code, label in enumerate(column.domain.labels[0])}
    codes = sorted(place[name] for name in ("Kiel", "Bremen", "Ulm", "Augsburg"))
    after, _, _ = by_rule(codes, column.domain, is_relaxed=True)
    north = {place["Kiel"], place["Bremen"]}
    assert {code for code in codes if code <= after} in (north, {*codes} - north)


def test_sides_keep_the_order_of_rows():
    whole = Partitions(np.arange(5), (np.array([1, 0, 1, 1, 0]),), np.array([2, 3]))
    right = np.array([True, False, False, True, False])
    parted = whole.split(right)
    assert parted.rows.tolist() == [1, 0, 2, 4, 3]
    assert parted.sizes.tolist() == [1, 1, 2, 1]
    assert parted.codes[0].tolist() == [0, 1, 1, 0, 1]
    assert whole.halves(right).codes.tolist() == [1, 0, 2, 3, 2]
    kept = whole.kept(np.array([False, True]))
    assert (kept.rows.tolist(), kept.sizes.tolist()) == ([2, 3, 4], [3])
    assert kept.numbers().tolist() == [0, 0, 0]


def test_missing_values_are_a_class_of_their_own_or_the_top():
    column = number_column("age", [20, 21, None, None, 22])
    assert mondrian([column], KAnonymity(2)).values("age") == [
        *("[20-22]", "[20-22]", None, None, "[20-22]")
    ]
    one = number_column("age", [20, None])
    assert mondrian([one], KAnonymity(2)).values("age") == ["*", "*"]


def test_missing_values_of_a_hierarchy_lie_under_nothing_but_the_top():
    values = ["Ulm", "Augsburg", None, "Kiel", "Kiel"]
    column = hierarchy_column("place", values, REGIONS)
    published = mondrian([column], KAnonymity(2)).values("place")
    assert published == ["*", "*", "*", "Kiel", "Kiel"]


def test_a_column_is_tried_after_another_that_cannot_be_cut():
    disease = sensitive_column("disease", ["a", "a", "b", "b"])
    columns = [number_column("age", [1, 1, 9, 9]), number_column("zip", [1, 2, 1, 2])]
    table = mondrian(columns, DistinctDiversity(disease, 2))
    assert table.values("zip") == ["1", "2", "1", "2"]
    assert table.values("age") == ["[1-9]"] * 4


def test_ranges_are_whole_where_a_cut_was_tried_in_vain():
    disease = sensitive_column("disease", ["a", "a", "b"])
    column = number_column("age", [1, 5, 9])
    table = mondrian([column], DistinctDiversity(disease, 2), rule="median")
    assert table.values("age") == ["[1-9]"] * 3


def test_classes_are_joined_to_the_smallest_partition_that_has_them():
    """0 is cut into 1 and 2, 1 into 3 and 4, 2 into 5 and 6: classes 3 to 6."""
    cut = CutClasses(
        np.array([0, 1, 2, 3, 3]),
        np.array([[0, 2, 4, 6]]),
        np.array([[1, 3, 5, 7]]),
        np.array([3, 4, 5, 6]),
        np.array([-1, 0, 0, 1, 1, 2, 2]),
    )
    near = cut.joined([np.array([2, 3])])
    assert near.nodes.tolist() == [2, 3, 4]
    assert near.classes.tolist() == [1, 2, 0, 0, 0]
    assert (near.low.tolist(), near.high.tolist()) == ([[4, 0, 2]], [[7, 1, 3]])
    far = cut.joined([np.array([1, 2])])
    assert (far.nodes.tolist(), far.classes.tolist()) == ([0], [0] * 5)
    assert (far.low.tolist(), far.high.tolist()) == ([[0]], [[7]])


def test_classes_that_publish_the_same_have_the_principle_as_one():
    """Of w and x p ended with a, q with b; of y and z the other way round."""
    tree = hierarchy_of("place", [(name, "*") for name in "wxyzv"])
    rows = ["wpa", "wpa", "xqb", "xqb", "ypb", "zqa", "vrc", "vsd"]

    def made(number):
        places, patients, ends = zip(*rows[:number], strict=True)
        disease = sensitive_column("end", ends)
        held = patient_values_of(sensitive_column("patient", patients), disease)
        principle = DistinctDiversity(disease, 2, held)
        column = hierarchy_column("place", places, tree)
        return mondrian([column], principle, rule="median"), principle

    with pytest.raises(UnreachableError, match="diversity of end"):
        made(6)  # w and x, y and z are classes, but both are the top of the tree
    table, principle = made(8)
    assert table.values("place") == ["*"] * 8  # with r and s, who had neither
    assert principle.holds(table.published_classes()).all()


def test_what_cannot_be_reached_is_refused():
    column = number_column("age", [1, 2])
    with pytest.raises(UnreachableError, match="3-anonymity"):
        mondrian([column], KAnonymity(3))


def test_a_principle_that_is_not_monotone_is_refused():
    class Even(KAnonymity):
        is_monotone = False

    with pytest.raises(ValueError, match="not monotone"):
        mondrian([number_column("age", [1, 2])], Even(1))


@pytest.mark.parametrize(
    "columns",
    [[], [number_column("age", [])], [number_column("a", [1]), number_column("b", [])]],
)
def test_tables_without_rows_or_columns_are_refused(columns):
    with pytest.raises(ValueError, match="at least one row"):
        mondrian(columns, KAnonymity(1))


def test_the_same_table_gives_the_same_classes(test_data):
    columns = adult_of(test_data).generalized
    one, other = mondrian(columns, KAnonymity(10)), mondrian(columns, KAnonymity(10))
    assert (one.classes == other.classes).all()
    assert one.texts == other.texts


@pytest.mark.parametrize(
    ("rule", "is_relaxed", "most"),
    [("median", False, 0.082), ("gain", False, 0.066), ("gain", True, 0.066)],
)
def test_adult_loses_less_than_the_figures_to_beat(test_data, rule, is_relaxed, most):
    columns = adult_of(test_data).listed
    table = mondrian(columns, KAnonymity(10), rule=rule, is_relaxed=is_relaxed)
    lost = losses_of(table, 10)
    assert lost.gcp < most
    assert lost.average_class < 1.48
    assert lost.discernibility < 488_556
    assert table.sizes.min() >= 10


def test_strict_median_cuts_are_those_of_the_plain_recursion(test_data):
    """Cut one partition after another, categories by their texts: 2,082 classes."""
    table = mondrian(adult_of(test_data).by_text, KAnonymity(10), rule="median")
    lost = losses_of(table, 10)
    assert (lost.classes, lost.discernibility) == (2_082, 468_704)
    assert round(lost.gcp, 4) == 0.0837


def test_adult_is_diverse_too(test_data):
    principle = AllOf(
        (KAnonymity(10), DistinctDiversity(adult_of(test_data).income, 2))
    )
    table = mondrian(adult_of(test_data).listed, principle)
    assert principle.holds(table.published_classes()).all()
    assert len(table.sizes) > 1_404
