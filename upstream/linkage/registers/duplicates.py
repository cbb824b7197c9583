"""How many patients have more than one id, and what that does to the promise.

If ids were the units of privacy, a patient of ``j`` ids would be ``j`` units: whoever
asks with loss epsilon learns up to ``j`` times epsilon about this patient.
"""

from dataclasses import dataclass

from upstream.linkage.registers.register import Register


@dataclass(frozen=True, slots=True)
class SourceIds:
    """The ids of one source, in the latest export.

    Attributes:
        source: Its name.
        ids: How many.
        patients: How many patients have one or more of them.
        several: How many of these have more than one.
        most: The most that one patient has.
    """

    source: str
    ids: int
    patients: int
    several: int
    most: int


@dataclass(frozen=True, slots=True)
class Duplicates:
    """Ids and patients, in the latest exports; for the custodian alone.

    Attributes:
        records: Ids of all sources.
        patients: Patients.
        several: Patients of more than one id within a source.
        most: The most ids within one source that a patient has.
        sources: By source.
        between: How many patients are in more than one source.
        missed: About how many links are missing: the sum of the probabilities of
            pairs that are not linked, of a weighted sum nothing.
        wrong: About how many links are wrong, likewise.
        factor: By how much the loss of one patient grows at most where ids are units.
    """

    records: int
    patients: int
    several: int
    most: int
    sources: list[SourceIds]
    between: int
    missed: float | None
    wrong: float | None
    factor: int


_IDS = (
    "SELECT source, key, count(*) AS ids FROM record JOIN standing USING (number) "
    "WHERE is_here GROUP BY source, key"
)


def duplicates_of(register: Register, *, has_probabilities: bool) -> Duplicates:
    """Count a register's ids and patients.

    Args:
        register: A settled one.
        has_probabilities: Whether scores are match probabilities.
    """
    sources = [
        SourceIds(str(name), int(ids), int(patients), int(several), int(most))
        for name, ids, patients, several, most in register.connection.execute(
            "SELECT source, sum(ids), count(*), count(*) FILTER (ids > 1), max(ids) "  # noqa: S608 - ours
            f"FROM ({_IDS}) GROUP BY source ORDER BY source"
        ).fetchall()
    ]
    several = register.count(f"(SELECT DISTINCT key FROM ({_IDS}) WHERE ids > 1)")  # noqa: S608 - ours
    most = max((one.most for one in sources), default=0)
    missed, wrong = _expected(register) if has_probabilities else (None, None)
    return Duplicates(
        records=sum(one.ids for one in sources),
        patients=register.count(f"(SELECT DISTINCT key FROM ({_IDS}))"),  # noqa: S608 - ours
        several=several,
        most=most,
        sources=sources,
        between=register.count(
            f"(SELECT key FROM ({_IDS}) GROUP BY key HAVING count(*) > 1)"  # noqa: S608 - ours
        ),
        missed=missed,
        wrong=wrong,
        factor=max(1, most),
    )


def _expected(register: Register) -> tuple[float, float]:
    """Return how many links are missing and wrong, by the pairs' probabilities.

    Of the pairs between two patients the surest counts, since one link joins them; of
    a patient of n records, the n - 1 surest pairs are its links.
    """
    row = register.connection.execute(
        "WITH told AS (SELECT score, l.key AS one, r.key AS other FROM pair "
        'JOIN standing AS l ON l.number = "left" '
        'JOIN standing AS r ON r.number = "right"), '
        "missed AS (SELECT max(score) AS score FROM told WHERE one <> other "
        "GROUP BY least(one, other), greatest(one, other)), "
        "linked AS (SELECT score, one, row_number() OVER "
        "(PARTITION BY one ORDER BY score DESC) AS place FROM told WHERE one = other), "
        "sizes AS (SELECT key, count(*) AS records FROM standing GROUP BY key) "
        "SELECT (SELECT coalesce(sum(score), 0) FROM missed), "
        "(SELECT coalesce(sum(1 - score), 0) FROM linked JOIN sizes ON key = one "
        "WHERE place < records)"
    ).fetchone()
    missed, wrong = row or (0.0, 0.0)
    return round(float(missed), 1), round(float(wrong), 1)
