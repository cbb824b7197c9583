"""How far rows of chosen values walk in a hash table that is keyed, at worst.

Run: ``python -m benchmarks.costs.hash_runs``. For families of 3,000 numbers whose
hashes are related, in a table of 8,192 places, prints the places that a row walks on
average, the worst of several keys: without the key, and with it. Random values walk
about 0.27.
"""

import sys
from collections.abc import Iterator

import duckdb

from engines.duckdb.snapshots import new_hash_key, set_hash_key

ROWS, PLACES, KEYS = 3_000, 2**13, 12
PRIME, MASK = 0xD6E8FEB86659FD93, 2**64 - 1
PLAIN = "hash(7::BIGINT, x)"
KEYED = "hash(7::BIGINT, x, hash(xor(hash(x), getvariable('hash_key'))))"


def main() -> int:
    """Print a line for each family of which rows walk the furthest."""
    connection = duckdb.connect()
    found = []
    for name, values in families():
        connection.execute(
            "CREATE OR REPLACE TABLE v AS SELECT unnest(?) AS x", [values]
        )
        plain = walked(connection, PLAIN)
        keyed = 0.0
        for _ in range(KEYS):
            set_hash_key(connection, new_hash_key())
            keyed = max(keyed, walked(connection, KEYED))
        found.append((keyed, plain, name))
    print(f"{len(found)} families; the worst:")
    for keyed, plain, name in sorted(found, reverse=True)[:5]:
        print(f"{name}: {plain:,.2f} without, {keyed:.2f} with a key")
    furthest = max(found, key=lambda each: each[1])
    print(f"without a key the worst is {furthest[2]}: {furthest[1]:,.0f}")
    return 0


def walked(connection: duckdb.DuckDBPyConnection, place: str) -> float:
    """Return the places that a row passes on average, until one is free."""
    sql = f"SELECT ({place} % {PLACES})::BIGINT AS p FROM v ORDER BY p"
    last, passed = -1, 0
    for (own,) in connection.execute(sql).fetchall():
        last = max(last + 1, own)
        passed += last - own
    return passed / ROWS


def families() -> Iterator[tuple[str, list[int]]]:
    """Yield names and values: what the steps of the hash keep alike, or undo."""
    rows = range(1, ROWS + 1)
    for wrong in (0, 0x123456789ABCDEF0, MASK):
        values = [inverted(row << 33, 2) ^ wrong for row in rows]
        yield f"inverted for the key {wrong:x}", signed(values)
    for shift in range(53):
        yield f"consecutive at bit {shift}", signed(row << shift for row in rows)
    for shift in range(21):
        values = [row << shift + 32 ^ row << shift for row in rows]
        yield f"both halves at bit {shift}", signed(values)
    for shift in range(0, 53, 4):
        for rounds in (1, 2, 3, 4):
            values = [inverted(row << shift, rounds) for row in rows]
            yield f"{rounds} rounds inverted at bit {shift}", signed(values)


def inverted(number: int, rounds: int) -> int:
    """Return what so many rounds of the hash make this number of."""
    found = number & MASK
    for _ in range(rounds):
        found ^= found >> 32
        found = found * pow(PRIME, -1, MASK + 1) & MASK
    return found ^ found >> 32


def collided(many: int, shift: int = 24, *, first: bool = False) -> list[int]:
    """Return numbers whose hashes end, and begin, alike.

    Args:
        many: How many.
        shift: Where the hashes differ: pairs of those of two shifts end alike too.
        first: Whether they are the first of a pair, whose hash the engine multiplies.
    """
    rows = [0x1234 << 48 | row << shift | 0x15151 for row in range(1, many + 1)]
    if first:
        rows = [row * pow(PRIME, -1, MASK + 1) & MASK for row in rows]
        rows = [row ^ row >> 32 for row in rows]
    return signed([inverted(row, 2) for row in rows])


def signed(values: Iterator[int] | list[int]) -> list[int]:
    """Return numbers of 64 bits as they are stored."""
    return [(value & MASK) - ((value >> 63 & 1) << 64) for value in values]


if __name__ == "__main__":
    sys.exit(main())
