"""Questions written differently: by rules of logic, or with one thing changed.

``reworded`` keeps the meaning: each step is a rule that holds in three-valued logic,
applied wherever the expression stands, so that keys and what shows them stay equal.
``changed`` may keep it or not. Neither knows how ``query_lang`` compares questions.
"""

from dataclasses import fields, is_dataclass, replace

from tests.semantics.grammar import Question
from tests.semantics.meaning import tree
from tests.semantics.meaning.tree import (
    And,
    Between,
    Case,
    Coalesce,
    Compare,
    Derived,
    InList,
    Item,
    Lit,
    Not,
    Or,
    Select,
)

FLIPPED = {"=": "=", "<>": "<>", "<": ">", ">": "<", "<=": ">=", ">=": "<="}
OPPOSITE = {"=": "<>", "<>": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
CONDITIONS = (Compare, Between, InList, Not, And, Or, tree.IsNull, tree.Like)


def substituted(node, old, new):
    """Return a tree with every expression that equals ``old`` replaced."""
    if isinstance(node, tuple):
        return tuple(substituted(part, old, new) for part in node)
    if not is_dataclass(node):
        return node
    if type(node) is type(old) and node == old:
        return new
    parts = {f.name: substituted(getattr(node, f.name), old, new) for f in fields(node)}
    return replace(node, **parts)


def reworded(rng, question, steps=4):
    """Return the same question after some rules, each at a random place."""
    query = question.tree
    for _ in range(steps):
        found = [each for each in tree.walk(query) if isinstance(each, CONDITIONS)]
        if found:
            old = rng.choice(found)
            options = list(alike(rng, old))
            if options:
                query = substituted(query, old, rng.choice(options))
    return Question(shuffled(rng, query), question.bounds)


def alike(rng, node):
    """Yield expressions that have the same value for every row, NULL too."""
    yield Not(Not(node))
    match node:
        case Compare(operator, left, right):
            yield Compare(FLIPPED[operator], right, left)
            yield Not(Compare(OPPOSITE[operator], left, right))
        case Between(value, low, high, negated):
            both = And((Compare(">=", value, low), Compare("<=", value, high)))
            yield Not(both) if negated else both
        case InList(value, items, negated):
            yield InList(value, (*items[1:], items[0]), negated)
            yield InList(value, (*items, items[-1]), negated)
            yield Not(InList(value, items, not negated))
            if len(items) > 1:
                any_of = Or(tuple(Compare("=", value, item) for item in items))
                yield Not(any_of) if negated else any_of
        case And(items) | Or(items):
            mixed = list(items)
            rng.shuffle(mixed)
            yield replace(node, items=tuple(mixed))
            yield replace(node, items=(*items, items[0]))
            dual = Or if isinstance(node, And) else And
            yield Not(dual(tuple(Not(item) for item in items)))
            yield replace(node, items=(*items, dual((items[0], items[-1], items[0]))))
            if len(items) > 2:
                yield replace(node, items=(items[0], replace(node, items=items[1:])))


def shuffled(rng, query):
    """Return a query whose keys, columns and measures are named and ordered anew."""
    select = query.select
    if any(isinstance(key, int) for key in select.group_by) or select.order_by:
        return query
    keys = list(select.group_by)
    rng.shuffle(keys)
    select = replace(select, group_by=tuple(keys))
    if select.having is None and rng.random() < 0.5:
        select = replace(select, limit=rng.choice((None, 1, 10_000)))
    return replace(query, select=select)


def changed(rng, question):
    """Return a question in which one thing is changed: often it means another."""
    query = question.tree
    nodes = [n for n in tree.walk(query) if list(_others(n))]
    if not nodes:
        return question
    old = rng.choice(nodes)
    return Question(
        substituted(query, old, rng.choice(list(_others(old)))), question.bounds
    )


def _others(node):  # noqa: C901, PLR0912, PLR0915 - one branch a kind
    match node:
        case Compare(operator, left, right):
            for other in OPPOSITE:
                if other != operator:
                    yield Compare(other, left, right)
        case And(items):
            yield Or(items)
            yield from items
        case Or(items):
            yield And(items)
            yield from items
        case Not(item):
            yield item
        case Between() | tree.InQuery():
            yield replace(node, negated=not node.negated)
        case InList(value, items, negated):
            yield InList(value, items, not negated)
            yield InList(value, items[1:] or items, negated)
        case tree.IsNull(value, negated):
            yield tree.IsNull(value, not negated)
        case Lit(int() as value) if not isinstance(value, bool):
            yield Lit(value + 1)
            yield Lit(value - 1)
        case Lit(bool() as value):
            yield Lit(not value)
        case Case(operand, branches, otherwise) if len(branches) > 1:
            yield Case(operand, branches[::-1], otherwise)
            yield Case(operand, branches[1:], otherwise)
        case Coalesce(items):
            yield Coalesce(items[::-1])
        case tree.OrderItem(expression, descending, nulls_first):
            yield tree.OrderItem(expression, not descending, nulls_first)
        case tree.Frame(start, end):
            yield tree.Frame(None, end)
            yield tree.Frame(start, None)
        case tree.Join(kind) if kind == "left":
            yield replace(node, kind="inner")
        case tree.Arith(operator, left, right) if operator in "+-":
            yield tree.Arith("-" if operator == "+" else "+", left, right)
        case Select(where=where) if where is not None:
            yield replace(node, where=None)
            yield replace(node, where=Not(where))
        case tree.UnionAll(parts):
            yield tree.UnionAll(parts[::-1])
            yield tree.UnionAll((parts[0], *parts))
        case _:
            return


def wrapped(question, columns):
    """Return a question over one table, read through a derived table.

    Args:
        question: Whose FROM names one table without an alias.
        columns: Of that table.
    """
    select = question.tree.select
    inner = Select(tuple(Item(tree.Col(name)) for name in columns), select.source)
    outer = replace(select, source=Derived(inner, select.source.name))
    return Question(replace(question.tree, select=outer), question.bounds)
