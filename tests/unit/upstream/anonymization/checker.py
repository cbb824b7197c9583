"""An independent checker: it reads published rows, one after another, and counts."""

from collections import Counter, defaultdict
from fractions import Fraction
from math import log


def published(table):
    """Yield the number and the published quasi-identifiers of rows."""
    for row, number in enumerate(table.classes.tolist()):
        if number >= 0:
            yield row, tuple(texts[number] for texts in table.texts)


def groups_of(table, sensitive):
    """Return the sensitive values of each group of rows that look alike."""
    groups = defaultdict(list)
    for row, look in published(table):
        groups[look].append(sensitive[row])
    return list(groups.values())


def is_anonymous(group, k):
    return len(group) >= k


def is_distinct(group, number):
    return len(set(group)) >= number


def has_entropy(group, number):
    shares = [count / len(group) for count in Counter(group).values()]
    return -sum(share * log(share) for share in shares) >= log(number) - 1e-9


def is_recursive(group, c, number):
    counts = sorted(Counter(group).values(), reverse=True)
    return counts[0] < c * sum(counts[number - 1 :])


def distance(group, everybody, order=None):
    """Return the EMD between the values of a group and of all, exactly."""
    values = order or sorted(set(everybody), key=str)
    ours, all_ = Counter(group), Counter(everybody)
    moves = [
        Fraction(ours[v], len(group)) - Fraction(all_[v], len(everybody))
        for v in values
    ]
    if order is None:
        return sum(map(abs, moves)) / 2
    if len(values) == 1:
        return Fraction(0)
    carried = [sum(moves[: place + 1]) for place in range(len(moves))]
    return sum(map(abs, carried)) / (len(values) - 1)
