"""Questions to sequences against every sequence that a leaf may stand for."""

import operator
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privacy.errors import QueryError
from query_lang.reading.parse import parse_query
from release.contract.sequence_domain import SequenceDomain
from tests.effort import rounds
from tests.unit.release.sequences.asked_sequences import (
    LETTERS,
    LEVELS,
    REST,
    SEX,
    WITH_NULL,
    ask,
    asked,
    completions,
    number,
    runs_in,
    slope,
)

H = 4
LETTERED = SequenceDomain(LETTERS, H, SEX)
LEVELLED = SequenceDomain(LEVELS, H)
NULLED = SequenceDomain(WITH_NULL, H)
SIGNS = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def literal(domain, code):
    value = domain.alphabet.values[code]
    if value is None:
        return "NULL"
    return f"'{value}'" if isinstance(value, str) else str(value)


def listed(domain, codes):
    return ", ".join(literal(domain, code) for code in codes)


def leaves_of(domain):
    """Some leaves with whole numbers of units."""
    leaf = st.tuples(
        st.integers(0, domain.groups - 1),
        st.lists(st.integers(0, domain.symbols - 1), max_size=H).map(tuple),
        st.sampled_from(["", REST]),
    ).filter(lambda leaf: leaf[1] or leaf[2])
    return st.dictionaries(leaf, st.integers(1, 50), min_size=1, max_size=12)


def is_subsequence(run, symbols):
    left = iter(symbols)
    return all(symbol in left for symbol in run)


def compared(sign, one, other):
    return None if one is None else SIGNS[sign](one, other)


# Each atom is a text and its meaning: (group, symbols cut at h) -> bool, None for
# NULL, "unknown" where the cut hides it.


def run_atoms(domain):
    meanings = {
        "STARTS_WITH": lambda run, s: s[: len(run)] == run,
        "HAS_RUN": lambda run, s: run in runs_in(s, len(run)),
        "FIRST_THEN": is_subsequence,
    }

    def atom(name, run):
        run = tuple(run)
        text = f"{name}({listed(domain, run)})"
        return text, lambda _, s: meanings[name](run, s)

    symbols = st.integers(0, domain.symbols - 1)
    return st.builds(
        atom,
        st.sampled_from(sorted(meanings)),
        st.lists(symbols, min_size=2, max_size=3),
    )


def ends_atoms(domain):
    def atom(run):
        run = tuple(run)
        text = f"ENDS_WITH({listed(domain, run)})"
        return text, lambda _, s: "unknown" if len(s) == H else s[-len(run) :] == run

    symbols = st.integers(0, domain.symbols - 1)
    return st.lists(symbols, min_size=1, max_size=2).map(atom)


def place_atoms(domain):
    def value_at(s, place):
        return domain.alphabet.values[s[place - 1]] if len(s) >= place else None

    def is_in(place, codes):
        values = {domain.alphabet.values[code] for code in codes}
        text = f"SYMBOL_AT({place}) IN ({listed(domain, codes)})"

        def meaning(_, s):
            value = value_at(s, place)
            return None if value is None else value in values

        return text, meaning

    def is_null(place, negated):
        word = "IS NOT NULL" if negated else "IS NULL"
        return (
            f"SYMBOL_AT({place}) {word}",
            lambda _, s: (value_at(s, place) is None) != negated,
        )

    known = [n for n, value in enumerate(domain.alphabet.values) if value is not None]
    codes = st.lists(st.sampled_from(known), min_size=1, max_size=2)
    places = st.integers(1, H)
    return st.builds(is_in, places, codes) | st.builds(is_null, places, st.booleans())


def length_atoms(_):
    def atom(sign, bound):
        return f"LENGTH() {sign} {bound}", lambda _, s: SIGNS[sign](len(s), bound)

    return st.builds(
        atom, st.sampled_from(["=", "<>", "<", "<=", ">="]), st.integers(0, H)
    )


def slope_atoms(domain):
    def atom(sign, tenths):
        bound = Fraction(tenths, 10)
        text = f"SLOPE() {sign} {tenths / 10}"
        return text, lambda _, s: compared(sign, slope(domain, s), bound)

    signs = st.sampled_from(sorted(SIGNS))
    null = st.just(("SLOPE() IS NULL", lambda _, s: slope(domain, s) is None))
    return null | st.builds(atom, signs, st.integers(-30, 30))


def group_atoms(domain):
    values = domain.split.values

    def atom(wanted):
        text = "sex IN (" + ", ".join(f"'{value}'" for value in wanted) + ")"
        return text, lambda g, _: None if values[g] is None else values[g] in wanted

    null = st.just(("sex IS NULL", lambda g, _: values[g] is None))
    return null | st.lists(st.sampled_from(["F", "M"]), min_size=1).map(atom)


def plain(atom):
    """Return an atom whose meaning is the set of what it may be."""
    text, meaning = atom

    def several(g, s):
        found = meaning(g, s)
        return {True, False} if found == "unknown" else {found}

    return text, several


def negated(atom):
    text, meaning = atom
    turned = {True: False, False: True, None: None}
    return f"NOT ({text})", lambda g, s: {turned[each] for each in meaning(g, s)}


def joined(word, parts):
    deciding = word == "OR"

    def one(values):
        if deciding in values:
            return deciding
        return None if None in values else not deciding

    def meaning(g, s):
        return {one(values) for values in product(*(part[1](g, s) for part in parts))}

    return "(" + f" {word} ".join(part[0] for part in parts) + ")", meaning


def exact_atoms(domain):
    """Atoms that are settled at a node as soon as all sequences below agree."""
    kinds = run_atoms(domain) | place_atoms(domain) | length_atoms(domain)
    return kinds | ends_atoms(domain)


def conditions(domain):
    atoms = exact_atoms(domain)
    if domain.alphabet.ordered:
        atoms |= slope_atoms(domain)
    if domain.split is not None:
        atoms |= group_atoms(domain)
    return st.recursive(
        atoms.map(plain),
        lambda part: (
            st.builds(negated, part)
            | st.builds(
                joined,
                st.sampled_from(["AND", "OR"]),
                st.lists(part, min_size=2, max_size=3),
            )
        ),
        max_leaves=5,
    )


def possible_sets(domain, leaf, meaning):
    group, symbols, rest = leaf
    return [meaning(group, s) for s in completions(domain, symbols, rest)]


def possible(domain, leaf, meaning):
    group, symbols, rest = leaf
    return {meaning(group, s) for s in completions(domain, symbols, rest)}


@pytest.mark.sampled
@pytest.mark.parametrize("domain", [LETTERED, LEVELLED, NULLED])
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_a_single_condition_is_decided_where_all_sequences_of_a_leaf_agree(
    domain, data
):
    leaves = data.draw(leaves_of(domain))
    text, meaning = data.draw(exact_atoms(domain))

    value, undecided = number(asked(domain, leaves), text)

    sure = maybe = 0
    for leaf, units in leaves.items():
        found = possible(domain, leaf, meaning)
        if found == {True}:
            sure += units
        elif found & {True, "unknown"}:
            maybe += units
    assert (value, undecided) == (sure, maybe)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("domain", [LETTERED, LEVELLED, NULLED])
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_joined_conditions_count_what_is_sure_and_report_all_that_may_be(domain, data):
    leaves = data.draw(leaves_of(domain))
    text, meaning = data.draw(conditions(domain))

    value, undecided = number(asked(domain, leaves), text)

    complete = sure = maybe = 0
    for leaf, units in leaves.items():
        found = set().union(*possible_sets(domain, leaf, meaning))
        sure += units * (found == {True})
        complete += units * (found == {True} and not leaf[2])
        maybe += units * (True in found)
    assert complete <= value <= sure
    assert value + undecided >= maybe


def symbol_at(place):
    values = LETTERED.alphabet.values
    return lambda _, s: values[s[place - 1]] if len(s) >= place else None


KEYS = {
    "SYMBOL_AT(1)": symbol_at(1),
    "SYMBOL_AT(3)": symbol_at(3),
    "LENGTH()": lambda _, s: len(s),
    "sex": lambda g, _: LETTERED.split.values[g],
    "SLOPE_BAND(0.5)": lambda _, s: band(slope(LETTERED, s), Fraction(1, 2)),
}


def band(value, width):
    if value is None:
        return None
    place = (value / width + Fraction(1, 2)).__floor__()
    low, high = (2 * place - 1) * width / 2, (2 * place + 1) * width / 2
    return f"{float(low):g} to {float(high):g}"


@settings(max_examples=rounds(40), deadline=None)
@given(
    leaves=leaves_of(LETTERED),
    keys=st.lists(st.sampled_from(sorted(KEYS)), min_size=1, max_size=2, unique=True),
    condition=conditions(LETTERED),
)
def test_groups_hold_the_sequences_of_their_keys_and_what_may_be_theirs(
    leaves, keys, condition
):
    text, meaning = condition
    names = [f"{key} AS k{n}" for n, key in enumerate(keys)]
    sql = (
        f"SELECT {', '.join(names)}, COUNT(*) AS n FROM stays WHERE {text} "
        f"GROUP BY {', '.join(keys)}"
    )
    answer = ask(asked(LETTERED, leaves), sql)

    assert len({row[:-1] for row in answer.rows}) == len(answer.rows)
    for row, undecided in zip(answer.rows, answer.undecided["n"], strict=True):
        complete = sure = maybe = 0
        for (group, symbols, rest), units in leaves.items():
            found = {
                (verdict, tuple(KEYS[k](group, s) for k in keys))
                for s in completions(LETTERED, symbols, rest)
                for verdict in meaning(group, s)
            }
            here = {verdict for verdict, cell in found if cell == row[:-1]}
            sure += units * (found == {(True, row[:-1])})
            complete += units * (found == {(True, row[:-1])} and not rest)
            maybe += units * (True in here)
        assert complete <= float(row[-1]) <= sure
        assert float(row[-1]) + float(undecided) >= maybe


@settings(max_examples=30, deadline=None)
@given(leaves=leaves_of(LETTERED), key=st.sampled_from(sorted(KEYS)))
def test_groups_and_what_has_none_sum_to_all_sequences(leaves, key):
    sql = f"SELECT {key} AS k, COUNT(*) AS n FROM stays GROUP BY {key}"
    answer = ask(asked(LETTERED, leaves), sql)

    inside = sum(float(row[1]) for row in answer.rows)
    homeless = max(float(text) for text in answer.undecided["n"])
    assert inside + homeless == sum(leaves.values())


def test_what_goes_on_beyond_a_leaf_belongs_to_no_shorter_length():
    domain = SequenceDomain(LETTERS, 4)
    leaves = {(0, (0,), ""): 5, (0, (1, 1), REST): 7}
    sql = "SELECT LENGTH() AS l, COUNT(*) AS n FROM stays GROUP BY LENGTH()"
    answer = ask(asked(domain, leaves), sql)

    found = {
        length: (float(n), float(more))
        for (length, n), more in zip(answer.rows, answer.undecided["n"], strict=True)
    }
    assert found[1] == (5, 0)
    assert all(found[length] == (0, 7) for length in (2, 3, 4))


def test_a_settled_node_answers_for_all_below_it_with_its_own_error():
    domain = SequenceDomain(LETTERS, 4)
    leaves = {(0, (0, b, c, d), ""): 2 for b in (0, 1) for c in (0, 1) for d in (0, 1)}
    answer = ask(asked(domain, leaves), "SELECT COUNT(*) FROM stays WHERE HAS_RUN('a')")

    assert answer.rows == (("16.000000",),)
    assert answer.half_widths["count"] == ("4.240000",)  # 2.12 sqrt(4): one node


def test_intervals_are_widened_upwards_by_what_is_undecided():
    domain = SequenceDomain(LETTERS, 4)
    leaves = {(0, (0, 1), ""): 100, (0, (0,), REST): 30, (0, (2,), ""): 7}
    sql = "SELECT COUNT(*) AS n FROM stays WHERE HAS_RUN('a', 'b')"
    answer = ask(asked(domain, leaves), sql)

    assert answer.undecided == {"n": ("30.000000",)}
    assert answer.intervals[0].rows == (("95.760000", "135.996266"),)
    assert [warning.code for warning in answer.warnings] == ["undecided"]


@pytest.mark.parametrize(
    ("sql", "is_warned"),
    [
        ("SELECT TOP_RUNS(3, 1, 2) FROM stays", True),
        ("SELECT OCCURRENCES('a') AS n FROM stays", True),
        ("SELECT OCCURRENCES('a') AS n, COUNT(*) FROM stays", True),
        ("SELECT OCCURRENCES('a') AS n FROM stays WHERE LENGTH() > 0", False),
        ("SELECT COUNT(*) FROM stays", False),
        ("SELECT COUNT(*) FROM stays WHERE HAS_RUN('a', 'b')", False),
    ],
)
def test_estimates_beyond_what_is_sure_are_said(sql, is_warned):
    domain = SequenceDomain(LETTERS, 4)
    leaves = {(0, (0, 1), ""): 100, (0, (2,), ""): 7}
    codes = [warning.code for warning in ask(asked(domain, leaves), sql).warnings]
    assert [code for code in codes if code != "rows_chosen"] == [
        "estimated"
    ] * is_warned


def test_a_misspelt_symbol_is_refused_with_the_one_that_comes_near():
    domain = SequenceDomain(LETTERS, 4)
    with pytest.raises(QueryError) as refused:
        ask(
            asked(domain, {(0, (0,), ""): 1}),
            "SELECT COUNT(*) FROM stays WHERE HAS_RUN('A')",
        )
    assert refused.value.hint.startswith("did you mean 'a'? one of: a, ")


def test_rows_are_ordered_and_limited_by_their_counts():
    domain = SequenceDomain(LETTERS, 4)
    leaves = {(0, (0, 1), ""): 10, (0, (1,), ""): 30, (0, (2,), ""): 20}
    sql = (
        "SELECT SYMBOL_AT(1) AS first, COUNT(*) AS n FROM release "
        "GROUP BY first ORDER BY n DESC LIMIT 2"
    )
    answer = ask(asked(domain, leaves), sql)

    assert answer.rows == (("b", "30.000000"), ("c", "20.000000"))


def test_runs_are_counted_by_the_model_at_every_place():
    domain = SequenceDomain(LETTERS, 4)
    release = asked(domain, {(0, (0, 0, 0), ""): 10, (0, (1, 0, 0, 1), ""): 5})
    sql = "SELECT OCCURRENCES('a', 'a') AS twice, COUNT(*) AS n FROM stays"
    answer = ask(release, sql)

    assert answer.rows == (("25.000000", "15.000000"),)
    assert answer.half_widths["twice"] == ("3.000000",)


@settings(max_examples=25, deadline=None)
@given(leaves=leaves_of(LEVELLED), size=st.integers(1, 3))
def test_top_runs_are_those_that_occur_most(leaves, size):
    answer = ask(asked(LEVELLED, leaves), f"SELECT TOP_RUNS(5, 1, {size}) FROM stays")

    counted: dict[str, int] = {}
    for (_, symbols, _), units in leaves.items():
        for length in range(1, size + 1):
            for run in runs_in(symbols, length):
                shown = " > ".join(str(LEVELLED.alphabet.values[s]) for s in run)
                counted[shown] = counted.get(shown, 0) + units
    most = sorted(counted.values(), reverse=True)[:5]
    assert [float(row[1]) for row in answer.rows] == most
    assert all(counted[row[0]] == float(row[1]) for row in answer.rows)


REFUSED = [
    ("SELECT SUM(x) FROM stays", "sequence_counts"),
    ("SELECT LENGTH() FROM stays", "not_grouped"),
    ("SELECT COUNT(*) FROM stays WHERE LENGTH() + 1 = 3", "sequence_condition"),
    ("SELECT COUNT(*) FROM stays WHERE SYMBOL_AT(2) < 'b'", "sequence_condition"),
    ("SELECT COUNT(*) FROM stays WHERE HAS_RUN('a', LENGTH())", "symbols_listed"),
    ("SELECT COUNT(*) FROM stays WHERE HAS_RUN('a', 'z')", "unknown_symbol"),
    ("SELECT COUNT(*) FROM stays WHERE HAS_RUN('a', 1)", "literal_type"),
    ("SELECT COUNT(*) FROM stays WHERE LENGTH() > 4", "past_length"),
    ("SELECT COUNT(*) FROM stays WHERE SYMBOL_AT(5) = 'a'", "past_length"),
    ("SELECT COUNT(*) FROM stays WHERE SYMBOL_AT(0) = 'a'", "past_length"),
    ("SELECT COUNT(*) FROM stays WHERE SYMBOL_AT('x') = 'a'", "whole_number"),
    ("SELECT COUNT(*) FROM stays WHERE SLOPE() > 'a'", "slope_bound"),
    ("SELECT COUNT(*) FROM stays WHERE SLOPE() > 0.1234567", "slope_bound"),
    ("SELECT COUNT(*) FROM stays WHERE SLOPE() > 99999999999999999999", "slope_bound"),
    (
        "SELECT SLOPE_BAND(0) AS b, COUNT(*) FROM stays GROUP BY SLOPE_BAND(0)",
        "slope_bound",
    ),
    ("SELECT SLOPE_BAND(0.001) AS b, COUNT(*) FROM stays GROUP BY b", "many_bands"),
    ("SELECT TOP_RUNS(3, 1, 2) FROM stays HAVING COUNT(*) > 3", "top_runs_alone"),
    (
        "SELECT OCCURRENCES('a') FROM stays WHERE OCCURRENCES('a') > 1",
        "sequence_condition",
    ),
    ("SELECT TOP_RUNS(3, 1, 2), COUNT(*) FROM stays", "top_runs_alone"),
    ("SELECT TOP_RUNS(3, 1, 2) FROM stays WHERE LENGTH() > 1", "top_runs_alone"),
    ("SELECT TOP_RUNS(0, 1, 2) FROM stays", "top_runs_size"),
    ("SELECT TOP_RUNS(3, 2, 5) FROM stays", "past_length"),
    ("SELECT COUNT(*) FROM stays HAVING LENGTH() > 3", "sequence_order"),
    ("SELECT COUNT(*) FROM stays HAVING HAS_RUN('a')", "sequence_order"),
    ("SELECT COUNT(*) FROM stays HAVING COUNT(*) > 'a'", "literal_type"),
    ("SELECT COUNT(*) FROM stays HAVING COUNT(*)", "having_form"),
    ("SELECT COUNT(*) FROM stays HAVING 1 < 'a'", "literal_type"),
    ("SELECT COUNT(*) AS n FROM stays HAVING m > 2", "sequence_order"),
    ("SELECT COUNT(*) FROM stays ORDER BY 2", "group_by_form"),
    (
        "SELECT sex, COUNT(*) AS n FROM stays GROUP BY sex ORDER BY LENGTH()",
        "sequence_order",
    ),
    (
        "SELECT SLOPE() AS s, COUNT(*) FROM stays GROUP BY SLOPE()",
        "sequence_key",
    ),
    ("SELECT COUNT(*) FROM stays GROUP BY sex", "key_not_selected"),
    ("SELECT sex FROM stays GROUP BY sex", "aggregate_needed"),
    ("SELECT COUNT(*) FROM patients", "unknown_table"),
    ("SELECT COUNT(*) FROM stays JOIN stays AS b USING (sex)", "one_release"),
    ("WITH s AS (SELECT sex FROM stays) SELECT COUNT(*) FROM stays", "one_release"),
    ("SELECT COUNT(*) FROM (SELECT sex FROM stays) AS s", "one_release"),
    ("SELECT DISTINCT COUNT(*) FROM stays", "distinct"),
    ("SELECT COUNT(*) FROM stays WHERE age > 3", "unknown_column"),
    ("SELECT COUNT(*) FROM stays WHERE HAS_RUN()", "arguments"),
]


@pytest.mark.parametrize(("sql", "rule"), REFUSED)
def test_what_a_release_of_sequences_cannot_say_is_refused_with_its_rule(sql, rule):
    release = asked(LETTERED, {(0, (0, 1), ""): 5})
    with pytest.raises(QueryError) as refusal:
        ask(release, sql)
    assert refusal.value.rule == rule
    assert refusal.value.hint


def test_symbols_without_an_order_have_no_slope():
    release = asked(NULLED, {(0, (0, 1), ""): 5})
    with pytest.raises(QueryError) as refusal:
        ask(release, "SELECT COUNT(*) FROM stays WHERE SLOPE() > 1")
    assert refusal.value.rule == "slope_of_order"


def test_functions_of_sequences_are_no_words_of_ordinary_queries():
    ordinary = {"STARTS_WITH('a')", "LENGTH()"}  # words of texts, by other arguments
    for name in (*ordinary, "HAS_RUN('a')", "TOP_RUNS(1, 2, 3)"):
        with pytest.raises(QueryError) as refusal:
            parse_query(f"SELECT COUNT(*) FROM t WHERE {name} = 1")
        rule = "arguments" if name in ordinary else "function"
        assert refusal.value.rule == rule
