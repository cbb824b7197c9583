"""How many patients have more than one id, and what that does to the promise.

If ids were the units of privacy, a patient of ``j`` ids would be ``j`` units: whoever
asks with loss epsilon learns up to ``j`` times epsilon about this patient.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from upstream.linkage.patients.groups import Groups
from upstream.linkage.records import Decision
from upstream.linkage.registers.patients import keys_of
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
        several: Patients of more than one id, of all sources whose records have ids.
        most: The most that one patient has.
        sources: By source.
        between: How many patients are in more than one source.
        missed: About how many links are missing: the sum of the probabilities of
            doubtful pairs that are not linked, and that nobody decided; pairs below
            ``review``, or that no pass compared, are not in it. Of a weighted sum
            nothing.
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


def duplicates_of(
    register: Register,
    *,
    has_probabilities: bool,
    without_ids: Collection[str] = (),
    decisions: Sequence[Decision] = (),
) -> Duplicates:
    """Count a register's ids and patients.

    Args:
        register: A settled one.
        has_probabilities: Whether scores are match probabilities.
        without_ids: Sources whose records have no id, such as documents.
        decisions: Of clerks: they are believed.
    """
    sources = [
        SourceIds(str(name), int(ids), int(patients), int(several), int(most))
        for name, ids, patients, several, most in register.connection.execute(
            "SELECT source, sum(ids), count(*), count(*) FILTER (ids > 1), max(ids) "  # noqa: S608 - ours
            f"FROM ({_IDS}) GROUP BY source ORDER BY source"
        ).fetchall()
    ]
    several, most = _several(register, without_ids)
    missed, wrong = None, None
    if has_probabilities:
        missed, wrong = _expected(register, decisions)
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


def _several(register: Register, without_ids: Collection[str]) -> tuple[int, int]:
    """Return how many patients have several ids, and the most that one has.

    One id that several sources have is one: hospitals' exports share their numbers.
    """
    row = register.connection.execute(
        "SELECT count(*) FILTER (ids > 1), max(ids) FROM (SELECT count(DISTINCT id) "
        "AS ids FROM record JOIN standing USING (number) "
        "WHERE is_here AND NOT list_contains(?::VARCHAR[], source) GROUP BY key)",
        [sorted(without_ids)],
    ).fetchone()
    several, most = row or (0, 0)
    return int(several), int(most or 0)


def _expected(register: Register, decisions: Sequence[Decision]) -> tuple[float, float]:
    """Return how many links are missing and wrong, by the pairs' probabilities.

    Of the pairs between two patients the surest counts, since one link joins them; a
    patient of n records is held together by the n - 1 surest links that join them all,
    and a record that no pair of them joins is in it wrongly.
    """
    rows = register.connection.execute(
        'SELECT "left", "right", score, l.key, r.key FROM pair '
        'JOIN standing AS l ON l.number = "left" '
        'JOIN standing AS r ON r.number = "right" '
        'ORDER BY score DESC, "left", "right"'
    ).fetchall()
    linked = [(a, b, score) for a, b, score, one, other in rows if one == other]
    between: dict[tuple[int, int], float] = {}
    for _, _, score, one, other in rows:
        if one != other:
            between.setdefault((min(one, other), max(one, other)), float(score))
    keys = keys_of(register)
    for said in decisions:
        one, other = keys[said.left], keys[said.right]
        if not said.is_match:
            between.pop((min(one, other), max(one, other)), None)
    decided = [
        (said.left, said.right, 1.0)
        for said in decisions
        if said.is_match and keys[said.left] == keys[said.right]
    ]
    wrong = _wrong(keys, [*decided, *linked])
    return round(sum(between.values()), 1), round(wrong, 1)


def _wrong(keys: Sequence[int], linked: Iterable[tuple[int, int, float]]) -> float:
    """Return about how many links are wrong: of the trees of the surest links.

    Args:
        keys: Of records; place 0 is unused.
        linked: Pairs within patients, the surest first.
    """
    groups = Groups(len(keys) - 1)
    joined, wrong = 0, 0.0
    for left, right, score in linked:
        if not groups.are_together(left, right):
            groups.join(left, right)
            joined += 1
            wrong += 1.0 - score
    return wrong + (len(keys) - 1 - len(set(keys[1:])) - joined)
