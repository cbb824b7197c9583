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


def values_of(group):
    """Return the patients' values: each once of each of them; and who lacks which.

    Args:
        group: Pairs of a patient and a value, one a row.
    """
    pairs, patients = set(group), {patient for patient, _ in group}
    values = [value for _, value in pairs]
    lacking = {v: sum((one, v) not in pairs for one in patients) for v in set(values)}
    return values, lacking


def is_distinct_of_patients(group, number):
    _, lacking = values_of(group)
    return is_distinct([v for _, v in group], number) and all(
        count >= number - 1 for count in lacking.values()
    )


def has_entropy_of_patients(group, number):
    values, lacking = values_of(group)
    return (
        has_entropy([v for _, v in group], number)
        and has_entropy(values, number)
        and all(count >= number - 1 for count in lacking.values())
    )


def is_recursive_of_patients(group, c, number):
    values, lacking = values_of(group)
    (commonest, most), *_ = Counter(values).most_common()
    return (
        is_recursive([v for _, v in group], c, number)
        and is_recursive(values, c, number)
        and most < c * lacking[commonest]
    )


def is_close_of_patients(group, everybody, t, order=None):
    values, lacking = values_of(group)
    all_values, nobody_lacks = values_of(everybody)
    rows, all_rows = [v for _, v in group], [v for _, v in everybody]
    return (
        distance(rows, all_rows, order) <= t
        and distance(values, all_values, order) <= t
        and all(count or not nobody_lacks[v] for v, count in lacking.items())
    )


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
