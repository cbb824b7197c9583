"""k-safety by definition 4, in plain Python, and small random data."""

from itertools import product

from hypothesis import strategies as st


def is_safe(rows, k):
    """Whether k rows hold each profile of each row."""
    return all(
        sum(
            all(value in values for value, values in zip(profile, row, strict=True))
            for row in rows
        )
        >= k
        for own in rows
        for profile in product(*own)
    )


@st.composite
def clustered(draw, least=1):
    """Draw records of two or three attributes in clusters of a least size."""
    attributes = draw(st.integers(1, 3))
    k = draw(st.integers(least, 4))
    sizes = draw(st.lists(st.integers(k, k + 2), min_size=1, max_size=4))
    value = st.sampled_from("abcde")
    record = st.tuples(*[value] * attributes)
    count = sum(sizes)
    records = draw(st.lists(record, min_size=count, max_size=count))
    order = draw(st.permutations(range(count)))
    clusters, start = [], 0
    for size in sizes:
        clusters.append(tuple(sorted(order[start : start + size])))
        start += size
    return records, clusters, k
