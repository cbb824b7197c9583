"""What patterns take over hostile texts, beside what is predicted.

    python -m benchmarks.costs.patterns

prints, for each pattern, the sizes of its reading, and the time that rows of 1,000
bytes take which lead it to as many states as they can (processor time of one thread,
the least of eight runs, an empty table's taken away), a byte and of what is told.
"""

import random
import time

import duckdb

from query_lang.costs.constants import (
    MATCH_STEPS,
    MATCHED_BYTE_STEPS,
    READ_ON_STEPS,
)
from query_lang.syntax.automata import reading_of
from query_lang.syntax.patterns import regular_pattern, written

BYTES = 1_000
RUNS = 8
PLAIN = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!#%&,;:"
LATIN = "".join(map(chr, range(0xC0, 0x17F)))
_DRAWN = random.Random(2)
HAN = "".join(map(chr, _DRAWN.sample(range(0x3400, 0x9FFF), 100)))
FAR = "".join(map(chr, _DRAWN.sample(range(0x10000, 0x10FFFF), 100)))
PATTERNS = {
    f"[{PLAIN[:40]}].{{5}}x": PLAIN,
    "^(a|b)*a(a|b){6}$": "ab",
    "(?i)diabetes|heart failure|copd": "diabetes heartfailure",
    f"[{FAR}]x": FAR,
    f"[{FAR[:10]}].x": FAR,
    f"[{HAN[:20]}].{{2}}x": HAN,
    "[äöüÄÖÜß].{4}x": LATIN,
    "(a?b?c?d?e?f?g?h?){4}x": "abcdefgh",
    "b.{0,4}c": "bac",
    "((.[^b]){0,12}|b)([^a]|.b)aaa$": "ab",
    "([b](bb)?){0,2}([^b].)?b$": "ab",
}


def main():
    connection = duckdb.connect(config={"threads": "1"})
    for rows in (1, 3, 20, 400):
        print(f"{rows} rows of {BYTES} bytes")
        for text, letters in PATTERNS.items():
            pattern = regular_pattern(text)
            reading = reading_of(pattern)
            spent = seconds(connection, written(pattern), letters, rows) * 1e9
            read = rows * BYTES
            made = min(read, reading.steps)
            told = MATCH_STEPS * rows + MATCHED_BYTE_STEPS * read + READ_ON_STEPS * made
            print(
                f"  {text[:24]!a:.40} {reading.states:6} states, "
                f"{reading.steps:6} steps: {spent / 1e6:8.2f} ms, "
                f"{spent / read:6.0f} ns a byte, "
                f"{spent / told:5.2f} of what is told"
            )


def seconds(connection, regular, letters, rows):
    asked = f"SELECT count(*) FROM notes WHERE regexp_full_match(note, '{regular}')"
    connection.execute("CREATE OR REPLACE TABLE notes (note VARCHAR)")
    empty = least(connection, asked)
    drawn = random.Random(rows)
    texts = ["".join(drawn.choices(letters, k=BYTES)) for _ in range(rows)]
    cut = [[text.encode()[:BYTES].decode(errors="ignore")] for text in texts]
    connection.executemany("INSERT INTO notes VALUES (?)", cut)
    return least(connection, asked) - empty


def least(connection, asked):
    found = []
    for _ in range(RUNS):
        start = time.process_time()
        connection.execute(asked).fetchall()
        found.append(time.process_time() - start)
    return min(found)


if __name__ == "__main__":
    main()
