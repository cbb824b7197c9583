"""Whose each record of a register is: settled of its pairs, and written down."""

import hashlib
import hmac
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from secrets import token_hex
from typing import Final

from upstream.linkage.declared import LinkageSpec
from upstream.linkage.patients.settled import (
    Known,
    NewKey,
    Rules,
    Settled,
)
from upstream.linkage.patients.settling import Score, settle
from upstream.linkage.records import Decision, ScoredPair
from upstream.linkage.registers.register import Register

_BATCH: Final = 50_000
_KEYED_BY: Final = "next_key"  # as earlier versions called what they counted from
_SECRET_BYTES: Final = 32
_LEAST, _MOST = 10**15, 9 * 10**15  # keys of 16 digits, exact in every format


def settle_register(
    register: Register,
    spec: LinkageSpec,
    thresholds: tuple[float, float],
    decisions: Sequence[Decision],
    score: Score,
) -> Settled:
    """Settle whose each record is, and write nothing.

    Args:
        register: Its records and pairs, and what they were before.
        spec: How records are linked.
        thresholds: Of links and of reviews, from 0 to 1.
        decisions: Of clerks, in their order.
        score: Scores any pairs.
    """
    rows = register.connection.execute(
        "SELECT source, id, standing.home, standing.key "
        "FROM record JOIN standing USING (number) "
        "ORDER BY number"
    ).fetchall()
    known = Known(
        ["", *(str(source) for source, _, _, _ in rows)],
        [0, *(int(home) for _, _, home, _ in rows)],
        [0, *(int(key) for _, _, _, key in rows)],
        _drawing(register, [(str(source), str(own)) for source, own, _, _ in rows]),
    )
    link, review = thresholds
    rules = Rules(link, review, frozenset(spec.once), spec.largest)
    return settle(known, pairs_of(register), rules, decisions, score)


def begin_keys(register: Register) -> None:
    """Draw the secret that unit keys follow from, unless an earlier run did.

    So no key is anybody's id, nor another linkage's key: loads compare the ids of
    populations, and what is public with them. What earlier versions counted from is a
    secret as well; the keys that they gave stay.
    """
    if register.fact(_KEYED_BY) is None:
        register.remember(_KEYED_BY, token_hex(_SECRET_BYTES))


def _drawing(register: Register, records: Sequence[tuple[str, str]]) -> NewKey:
    """Return what draws unit keys: a keyed hash of a record's source and id.

    A running number would move the keys of strangers, and with them which rows a bound
    keeps, when one patient leaves (docs/proofs/ingestion.md, step 3).
    """
    secret = str(register.fact(_KEYED_BY)).encode()

    def drawn(number: int, turn: int) -> int:
        source, own = records[number - 1]
        told = "\0".join((source, own, str(turn))).encode(errors="surrogatepass")
        digest = hmac.digest(secret, told, hashlib.sha256)
        return _LEAST + int.from_bytes(digest[:16], "big") % (_MOST - _LEAST)

    return drawn


def pairs_of(register: Register) -> Iterator[ScoredPair]:
    """Yield the pairs that score as high as ``review``."""
    found = register.connection.cursor().execute(
        'SELECT "left", "right", score, weight, coalesce(differs, FALSE) FROM pair'
    )
    while rows := found.fetchmany(_BATCH):
        for left, right, *scored in rows:
            score, weight, differs = scored
            yield ScoredPair(int(left), int(right), score, weight, differs=differs)


def write_settled(register: Register, settled: Settled) -> None:
    """Write whose each record is, what changed, and what a clerk has to decide."""
    connection = register.connection
    numbers = range(1, len(settled.keys))
    connection.execute(
        "CREATE OR REPLACE TEMP TABLE told (number INTEGER, home BIGINT, key BIGINT)"
    )
    register.insert(
        "told",
        {
            "number": ("INTEGER", numbers),
            "home": ("BIGINT", settled.homes[1:]),
            "key": ("BIGINT", settled.keys[1:]),
        },
    )
    connection.execute(
        "UPDATE standing SET home = told.home, key = told.key FROM told "
        "WHERE standing.number = told.number; DROP TABLE told"
    )
    connection.execute("DELETE FROM act")
    connection.execute("DELETE FROM doubt")
    acts = [[n, *asdict(act).values()] for n, act in enumerate(settled.acts, 1)]
    if acts:
        connection.executemany("INSERT INTO act VALUES (?, ?, ?, ?, ?)", acts)
    _write_doubts(register, settled)


def _write_doubts(register: Register, settled: Settled) -> None:
    if not settled.doubts:
        return
    pairs = [one.pair for one in settled.doubts]
    register.insert(
        "doubt",
        {
            "ordinal": ("INTEGER", range(1, 1 + len(pairs))),
            "left": ("INTEGER", [one.left for one in pairs]),
            "right": ("INTEGER", [one.right for one in pairs]),
            "score": ("DOUBLE", [one.score for one in pairs]),
            "weight": ("DOUBLE", [one.weight for one in pairs]),
            "reason": ("VARCHAR", [one.reason for one in settled.doubts]),
        },
    )


def keys_of(register: Register) -> list[int]:
    """Return the unit keys by record, as they are written; place 0 is unused."""
    rows = register.connection.execute(
        "SELECT key FROM standing ORDER BY number"
    ).fetchall()
    return [0, *(int(key) for (key,) in rows)]
