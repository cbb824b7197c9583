"""No table that is made ever breaks its principle, whatever is in it.

A table of a seed is random: numbers, categories and hierarchies, missing values, skewed
sensitive values, any principle. What is published is read by the plain checker alone.
"""

import random
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from tests.unit.upstream.anonymization import checker
from upstream.anonymization.columns.columns import (
    category_column,
    hierarchy_column,
    number_column,
    ordered_column,
)
from upstream.anonymization.columns.tables import full_domain_table
from upstream.anonymization.errors import UnreachableError
from upstream.anonymization.hierarchies.hierarchy import hierarchy_of, paths_of
from upstream.anonymization.incognito.incognito import incognito
from upstream.anonymization.mondrian.mondrian import mondrian
from upstream.anonymization.principles.anonymity import KAnonymity, PatientAnonymity
from upstream.anonymization.principles.cells import patient_values_of
from upstream.anonymization.principles.closeness import TCloseness
from upstream.anonymization.principles.diversity import (
    DistinctDiversity,
    EntropyDiversity,
    RecursiveDiversity,
)
from upstream.anonymization.principles.principle import AllOf, sensitive_column

DISEASES = ["a", "b", "c", "d"]
TABLES = 10_000  # with ``long``
SAMPLE = 300


def tree_of(drawn):
    """Return a random hierarchy of up to seven leaves."""
    leaves = [f"leaf {number}" for number in range(drawn.randint(1, 7))]
    paths = [[leaf] for leaf in leaves]
    for level in range(drawn.randint(0, 2)):
        parents = {}
        for path in paths:
            chosen = f"value {level} {drawn.randint(0, 3)}"
            path.append(parents.setdefault(path[-1], chosen))
    return hierarchy_of("tree", [(*path, "*") for path in paths])


def values_of(drawn, known, rows):
    """Return values by row, skewed; some are missing."""
    missing = drawn.choice([0, 0, 0.2])
    weights = [drawn.random() ** 2 + 0.01 for _ in known]
    return [
        None if drawn.random() < missing else drawn.choices(known, weights)[0]
        for _ in range(rows)
    ]


def hierarchy_columns_of(drawn, rows, number):
    columns, texts = [], []
    for place in range(number):
        tree = tree_of(drawn)
        values = values_of(drawn, tree.labels[0], rows)
        columns.append(hierarchy_column(f"tree {place}", values, tree))
        texts.append(values)
    return columns, texts


def columns_of(drawn, rows):
    """Return columns of any kind, and what each published text may stand for."""
    columns, texts = hierarchy_columns_of(drawn, rows, drawn.randint(0, 2))
    for place in range(drawn.randint(1, 2)):
        numbers = [
            drawn.choice([1, 2, 3, 5, 8.5, 90]) for _ in range(drawn.randint(1, 6))
        ]
        values = values_of(drawn, numbers, rows)
        columns.append(number_column(f"number {place}", values))
        texts.append(values)
    words = ["w", "x", "y", "z"]
    values = values_of(drawn, words, rows)
    make = drawn.choice([category_column, lambda n, v: ordered_column(n, v, words)])
    columns.append(make("word", values))
    texts.append(values)
    return columns, texts


def principle_of(drawn, values):
    """Return a random principle, and the plain check of it."""
    column = sensitive_column("disease", values, DISEASES)
    order = [*DISEASES, *([None] if None in values else [])]
    k, number = drawn.randint(1, 6), drawn.randint(1, 3)
    c = Fraction(drawn.randint(1, 8), drawn.randint(1, 3))
    t = Fraction(drawn.randint(0, 10), 10)
    cases = [
        (KAnonymity(k), lambda g: checker.is_anonymous(g, k)),
        (DistinctDiversity(column, number), lambda g: checker.is_distinct(g, number)),
        (EntropyDiversity(column, number), lambda g: checker.has_entropy(g, number)),
        (
            RecursiveDiversity(column, c, number),
            lambda g: checker.is_recursive(g, c, number),
        ),
        (TCloseness(column, t), lambda g: checker.distance(g, values) <= t),
        (
            TCloseness(column, t, is_ordered=True),
            lambda g: checker.distance(g, values, order) <= t,
        ),
    ]
    chosen = drawn.sample(cases, drawn.randint(1, 2))
    both = AllOf(tuple(principle for principle, _ in chosen))
    return both, lambda group: all(check(group) for _, check in chosen)


def principle_of_patients(drawn, values, patients):
    """Return a random principle of patients with several rows, and its plain check."""
    column = sensitive_column("disease", values, DISEASES)
    people = sensitive_column("patient", patients)
    held = patient_values_of(people, column)
    order = [*DISEASES, *([None] if None in values else [])]
    k, number = drawn.randint(1, 4), drawn.randint(2, 3)
    c = Fraction(drawn.randint(1, 8), drawn.randint(1, 3))
    t = Fraction(drawn.randint(0, 10), 10)
    all_ = list(zip(patients, values, strict=True))
    cases = [
        (
            DistinctDiversity(column, number, held),
            lambda g: checker.is_distinct_of_patients(g, number),
        ),
        (
            EntropyDiversity(column, number, held),
            lambda g: checker.has_entropy_of_patients(g, number),
        ),
        (
            RecursiveDiversity(column, c, number, held),
            lambda g: checker.is_recursive_of_patients(g, c, number),
        ),
        (
            TCloseness(column, t, held=held),
            lambda g: checker.is_close_of_patients(g, all_, t),
        ),
        (
            TCloseness(column, t, is_ordered=True, held=held),
            lambda g: checker.is_close_of_patients(g, all_, t, order),
        ),
    ]
    principle, check = drawn.choice(cases)
    both = AllOf((PatientAnonymity(people, k), principle))
    return both, lambda g: len({who for who, _ in g}) >= k and check(g)


def check_patients(seed):
    """Check tables of patients of several rows: no class is other than was asked."""
    drawn = random.Random(f"patients {seed}")
    rows = drawn.randint(1, 40)
    columns, _ = hierarchy_columns_of(drawn, rows, drawn.randint(1, 3))
    values = values_of(drawn, DISEASES, rows)
    patients = [f"p{drawn.randrange(1 + rows // 2)}" for _ in range(rows)]
    principle, holds = principle_of_patients(drawn, values, patients)
    own = list(zip(patients, values, strict=True))
    share = drawn.choice([Fraction(0), Fraction(1, 10), Fraction(1, 3)])
    parted = 0
    for make in (
        lambda: mondrian(columns, principle),
        lambda: incognito(columns, principle, suppression=share).table,
    ):
        try:
            table = make()
        except UnreachableError:
            assert not holds(own)
            continue
        groups = checker.groups_of(table, own)
        assert (~table.is_published).sum() <= share * rows
        assert all(holds(group) for group in groups)
        parted += len(groups) > 1
    return parted


def check_all_nodes_of_patients(seed):
    """Check that no node is left out that counting all of them one by one finds."""
    drawn = random.Random(f"nodes {seed}")
    rows = drawn.randint(4, 24)
    columns, _ = hierarchy_columns_of(drawn, rows, drawn.randint(1, 2))
    values = values_of(drawn, DISEASES[:2], rows)
    patients = [f"p{drawn.randrange(rows // 2)}" for _ in range(rows)]
    principle, holds = principle_of_patients(drawn, values, patients)
    own = list(zip(patients, values, strict=True))
    share = drawn.choice([Fraction(0), Fraction(1, 3)])
    found = set()
    for node in product(*(range(c.domain.height + 1) for c in columns)):
        table = full_domain_table(columns, node, np.ones(rows, bool))
        groups = checker.groups_of(table, own)
        if sum(len(g) for g in groups if not holds(g)) <= int(share * rows):
            found.add(node)
    try:
        told = set(incognito(columns, principle, suppression=share).nodes)
    except UnreachableError:
        told = set()
    assert told == found
    return len(found)


def check_values(table, columns, texts):
    """Assert that each published text covers the value of its row."""
    for row, look in checker.published(table):
        for column, values, shown in zip(columns, texts, look, strict=True):
            assert covers(column, shown, values[row]), (column.name, shown)


def covers(column, shown, value):
    if shown is None or value is None or shown == "*":
        return shown in ("*", value)
    if hasattr(column.domain, "labels"):
        return shown in paths_of(column.domain)[value]
    if shown.startswith("{"):
        return value in shown[1:-1].split(", ")
    low, _, high = shown.strip("[]").partition("-")
    return _number(low) <= _number(value) <= _number(high or low)


def _number(text):
    return "wxyz".index(text) if text in list("wxyz") else float(text)


def check_mondrian(seed):
    drawn = random.Random(f"mondrian {seed}")
    rows = drawn.randint(1, 40)
    columns, texts = columns_of(drawn, rows)
    values = values_of(drawn, DISEASES, rows)
    principle, holds = principle_of(drawn, values)
    rule, is_relaxed = drawn.choice(["gain", "median"]), drawn.random() < 0.5
    try:
        table = mondrian(columns, principle, rule=rule, is_relaxed=is_relaxed)
    except UnreachableError:
        assert not holds(values)
        return False
    assert table.is_published.all()
    assert all(holds(group) for group in checker.groups_of(table, values))
    check_values(table, columns, texts)
    return len(table.sizes) > 1


def check_incognito(seed):
    drawn = random.Random(f"incognito {seed}")
    rows = drawn.randint(1, 40)
    columns, texts = hierarchy_columns_of(drawn, rows, drawn.randint(1, 3))
    values = values_of(drawn, DISEASES, rows)
    principle, holds = principle_of(drawn, values)
    share = drawn.choice([Fraction(0), Fraction(1, 10), Fraction(1, 3)])
    try:
        found = incognito(columns, principle, suppression=share)
    except UnreachableError:
        assert not holds(values)
        return False
    table = found.table
    assert (~table.is_published).sum() == found.suppressed <= share * rows
    assert all(holds(group) for group in checker.groups_of(table, values))
    check_values(table, columns, texts)
    return len(table.sizes) > 1


CHECKS = (check_mondrian, check_incognito, check_patients, check_all_nodes_of_patients)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("check", CHECKS)
def test_no_table_breaks_its_principle(check):
    parted = sum(check(seed) for seed in range(SAMPLE))
    assert parted > SAMPLE // 10  # not all in one class


@pytest.mark.long
@pytest.mark.parametrize("check", CHECKS)
def test_none_of_ten_thousand_tables_breaks_its_principle(check):
    for seed in range(TABLES):
        check(seed)
