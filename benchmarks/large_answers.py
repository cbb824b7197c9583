"""What a large answer takes of the server, in processor time for each byte and value.

Run: ``python -m benchmarks.large_answers``. What ``server.api.routing.backlog`` rests
on for bytes. Prints, for answers of several shapes: nanoseconds a byte to hash an
answer and put a free one together, and microseconds a number to write a fresh one down;
nanoseconds a byte of its JSON, and microseconds a number, to write it in other forms;
then nanoseconds a byte to store and to read one in SQLite.
"""

import hashlib
import os
import sqlite3
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from fractions import Fraction
from pathlib import Path

from benchmarks.clinic import DATASET
from budget.charging.splices import Splice, joined
from mechanisms.scales.pricing import price
from privacy.contributions import NO_BOUNDS
from privacy.losses import Loss
from privacy.schema import ColumnType
from query_lang.binding.bind import bind_query
from query_lang.normalising.questions import NormalQuestion
from query_lang.reading.parse import parse_query
from server.api.forms.forms import Form, answer_in
from server.use_cases.questions.answers import answer_document, free_pieces
from server.use_cases.questions.questions import Question
from server.use_cases.questions.wishes.ranges import LossRange
from server.use_cases.services.documents import encode
from tests.support.data.answers import compiled, key, measure, number

SHAPES = ((100, 1), (1_000, 1), (1_000, 40), (10_000, 1), (10_000, 6))
LEFT = {"project": "4", "principal": None}
TIMES = 5
FORMED_ROWS = 10_000
FORMED_COLUMNS = 4
VALUES: dict[str, object] = {
    "integer": 12_345,
    "decimal": "12345.678901",
    "date": "2020-02-03",
    "timestamp": "2020-02-03T04:05:06",
}
STORED_BYTES = 3_200_000


def main() -> None:
    """Measure and print."""
    print("| cells | columns | bytes | splice, ns/byte | written down, us/number |")
    print("|---:|---:|---:|---:|---:|")
    for cells, columns in SHAPES:
        asked = _question(cells, columns)
        vectors = [[7_919 * cell % 100_003 for cell in range(cells)]] * columns
        body = _written(asked, vectors)
        written = _seconds(lambda a=asked, v=vectors: _written(a, v))
        spliced = _seconds(lambda a=asked, b=body: _repeated(a, b))
        print(
            f"| {cells} | {columns} | {len(body)} | {spliced / len(body) * 1e9:.1f} "
            f"| {written / (cells * columns) * 1e6:.2f} |"
        )
    _print_forms()
    with tempfile.TemporaryDirectory() as folder:
        stored, read = _in_sqlite(Path(folder) / "answers.sqlite")
    print(f"stored: {stored:.1f} ns/byte; read: {read:.1f} ns/byte")


def _print_forms() -> None:
    """Print what other forms take, of numbers whose ends are told or computed."""
    print("| numbers | ends | form | bytes of JSON | ns/byte | us/number |")
    print("|---|---|---|---:|---:|---:|")
    for kind, value in VALUES.items():
        for told in (True, False) if kind in {"integer", "decimal"} else (True,):
            body = encode(_answer(kind, value, told=told))
            for form in (Form.CSV, Form.ARROW):
                took = _seconds(lambda f=form, b=body: answer_in(f, b))
                numbers = FORMED_ROWS * (1 + FORMED_COLUMNS)
                print(
                    f"| {kind} | {'told' if told else 'computed'} | {form.name} "
                    f"| {len(body)} | {took / len(body) * 1e9:.0f} "
                    f"| {took / numbers * 1e6:.2f} |"
                )


def _answer(kind: str, value: object, *, told: bool) -> dict[str, object]:
    """Return an answer whose intervals are told, or follow from half-widths."""
    names = [f"m{place}" for place in range(FORMED_COLUMNS)]
    pairs = [[str(value), str(value)]] * FORMED_ROWS
    intervals = [{"column": n, "confidence": "0.95", "rows": pairs} for n in names]
    noise = [{"column": n, "half_width_95": "17"} for n in names]
    columns = [{"name": "k", "kind": "group", "type": "text"}]
    columns += [{"name": name, "kind": "measure", "type": kind} for name in names]
    return {
        "query_id": "q_1",
        "snapshot": "s_1",
        "columns": columns,
        "rows": [[f"key {n}", *([value] * FORMED_COLUMNS)] for n in range(FORMED_ROWS)],
        "noise": [] if told else noise,
        "intervals": intervals if told else [],
        "charge": {"epsilon": "1"},
        "derivation": "",
        "warnings": [],
    }


def _question(cells: int, columns: int) -> Question:
    query = compiled(
        [key(0, "dose", ColumnType.INTEGER), *map(number, range(columns))],
        [measure() for _ in range(columns)],
        tuple((cell,) for cell in range(cells)),
    )
    losses = LossRange(Loss.parse("0.001"), Loss.parse("5"))
    sensitivities = [one.sensitivity for one in query.measures]
    weights: list[Fraction] = [one.weight for one in query.measures]
    event = price(sensitivities, weights, Loss.parse("1"))
    bound = bind_query(parse_query("SELECT COUNT(*) FROM patients"), DATASET, NO_BOUNDS)
    normal = NormalQuestion("sources", (), ())
    known = ("identity", "former", "text")
    return Question(bound, query, event, losses, "s_1", "patient", normal, *known)


def _written(asked: Question, vectors: list[list[int]]) -> bytes:
    document = answer_document(
        asked, query_id="q_1", noisy_vectors=vectors, remaining=LEFT
    )
    return encode(document)


def _repeated(asked: Question, body: bytes) -> bytes:
    pieces = free_pieces(body, asked, query_id="q_2", remaining=LEFT)
    free = joined(pieces, body)
    return Splice.of(free, pieces).encode()


def _in_sqlite(path: Path) -> tuple[float, float]:
    body = os.urandom(STORED_BYTES)
    digest = hashlib.sha256(body).digest()
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE answer (digest BLOB, body BLOB)")
        row = (digest, body)
        stored = _seconds(
            lambda: connection.execute("INSERT INTO answer VALUES (?, ?)", row)
        )
        one = "SELECT body FROM answer LIMIT 1"
        read = _seconds(lambda: connection.execute(one).fetchall())
    return stored / STORED_BYTES * 1e9, read / STORED_BYTES * 1e9


def _seconds(work: Callable[[], object]) -> float:
    """Return the least processor time of some runs: others share the machine."""
    least = float("inf")
    for _ in range(TIMES):
        started = time.thread_time()
        work()
        least = min(least, time.thread_time() - started)
    return least


if __name__ == "__main__":
    main()
