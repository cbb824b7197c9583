"""How long a question to a published tree of 100,000 nodes takes.

Run: ``python -m benchmarks.releases.sequences.asking [--questions 100]``.
Prints median and 95th percentile in milliseconds of each kind of question: evaluated in
this process, and over loopback from a server that a release of the same tree was
published to (in a thread of this process, so each waits for the other's interpreter).
The tree is made up: 17 symbols, at most 12 of them, every other branch pruned.
"""

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from privacy.schema import ColumnType
from query_lang.reading.parse import parse_query
from release.contract.domain import Dimension
from release.contract.sequence_domain import SequenceDomain
from release.sequences.estimation.paths import PathTree
from release.sequences.models.registry import MODELS
from release.sequences.questions.answering import AskedSequences
from release.sequences.questions.published import PublishedSequences
from release.sequences.strategies.registry import STRATEGIES
from tests.support.data.whole_trees import Whole
from tests.support.installations.harness import Installation, client, serve_in_thread
from tests.support.installations.publishing import Press
from tests.unit.release.sequences.asked_sequences import PathModel

SYMBOLS, LONGEST, NODES = 17, 12, 100_000
CODES = [f"'s{n}'" for n in range(SYMBOLS)]
DOMAIN = SequenceDomain(
    Dimension(
        "code", ColumnType.TEXT, tuple(f"s{n}" for n in range(SYMBOLS)), ordered=True
    ),
    LONGEST,
)
KINDS = {
    "STARTS_WITH": "SELECT COUNT(*) FROM tree WHERE STARTS_WITH({0}, {1})",
    "HAS_RUN": "SELECT COUNT(*) FROM tree WHERE HAS_RUN({0}, {1})",
    "FIRST_THEN and NOT": "SELECT COUNT(*) FROM tree WHERE FIRST_THEN({0}, {1}) "
    "AND NOT SYMBOL_AT(3) = {2}",
    "SLOPE": "SELECT COUNT(*) FROM tree WHERE SLOPE() > 0.{3}",
    "by SYMBOL_AT": "SELECT SYMBOL_AT(2) AS k, COUNT(*) FROM tree "
    "WHERE STARTS_WITH({0}) GROUP BY k",
    "by LENGTH": "SELECT LENGTH() AS k, COUNT(*) FROM tree WHERE HAS_RUN({0}) "
    "GROUP BY k",
    "TOP_RUNS": "SELECT TOP_RUNS(1{4}, 2, 3) FROM tree",
}


def made_tree() -> PathTree:
    """Return a tree that forks at random until it is large enough."""
    random = np.random.default_rng(1)
    rows = [(-1, -1, 0)]
    level = [0]
    for depth in range(1, LONGEST + 1):
        following = []
        for parent in level:
            forks = SYMBOLS if depth < 3 else int(random.integers(1, 6))
            for symbol in sorted(random.choice(SYMBOLS, forks, replace=False)):
                following.append(len(rows))
                rows.append((parent, int(symbol), depth))
            rows.append((parent, SYMBOLS + int(random.integers(2)), depth))
        level = [node for node in following if random.random() < 0.6]
        if len(rows) > NODES:
            break
    parents, symbols, depths = (np.array(column) for column in zip(*rows, strict=True))
    size = len(rows)
    counts = random.random(size) * 100
    return PathTree(
        np.zeros(size, dtype=np.int64), parents, symbols, depths, counts, np.ones(size)
    )


class MadeModel(PathModel):
    """The made tree as what a release holds."""

    kind = "made"

    def __init__(self, domain: SequenceDomain) -> None:
        super().__init__(domain, made_tree())

    def _count(self, run):
        return float(len(run))

    def tables(self):
        """Return one small table, since a stored model must have one."""
        return {"nothing": {"value": np.zeros(1, dtype=np.int64)}}


class Made(Whole):
    """Measures as it must, and publishes the made tree."""

    name = "made"

    def measure(self, sequences, meter, parameters):
        """Measure one count, since a charge must be spent, and return the made tree."""
        small = SequenceDomain(sequences.domain.alphabet, 1)
        meter.counts(
            "sequences",
            sequences._raw.map(
                lambda raw: np.zeros(small.symbols, dtype=np.int64) + len(raw.counts)
            ),
            1,
        )
        return MadeModel(DOMAIN)


def measured(
    work: Callable[[object], object],
    questions: int,
    prepare: Callable[[str], object] = str,
) -> None:
    """Print a line a kind of question; most are new."""
    random = np.random.default_rng(2)
    for name, form in KINDS.items():
        taken = []
        for _ in range(questions):
            codes = [CODES[n] for n in random.integers(SYMBOLS, size=3)]
            sql = form.format(*codes, random.integers(1, 999_999), random.integers(9))
            prepared = prepare(sql)
            begun = time.perf_counter()
            work(prepared)
            taken.append((time.perf_counter() - begun) * 1_000)
        p95 = sorted(taken)[int(len(taken) * 0.95)]
        print(f"{name:20} {statistics.median(taken):7.1f} {p95:7.1f}", flush=True)


def main() -> None:
    """Measure both."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--questions", type=int, default=100)
    questions = parser.parse_args().questions
    model = MadeModel(DOMAIN)
    asked = AskedSequences(PublishedSequences("r", "tree", DOMAIN, "patient"), model)
    print(f"{len(asked.tree):,} nodes; milliseconds: median, 95th percentile")
    print("evaluated, parsed before:")
    measured(asked.ask, questions, lambda sql: parse_query(sql, sequences=True))
    print("over HTTP:")
    sys.setswitchinterval(0.0002)  # client and server share one interpreter here
    STRATEGIES["made"], MODELS["made"] = Made(), lambda *_: MadeModel(DOMAIN)
    with tempfile.TemporaryDirectory() as folder:
        over_http(Path(folder), questions)


def over_http(folder: Path, questions: int) -> None:
    """Publish the made tree, serve it and ask it."""
    made = Installation(folder).create()
    made.load()
    key = made.analyst()
    spec = {
        "name": "tree",
        "dataset": "clinic",
        "kind": "sequences",
        "strategy": "made",
        "from": "visits",
        "order": "day",
        "symbol": {"column": "ward"},
        "max_length": LONGEST,
        "epsilon": "1",
        "readers": [{"project": "study"}],
    }
    ended = Press(made).publish(spec)
    path = f"/v1/releases/{ended['result']['release']}/queries"
    with serve_in_thread(made) as url, client(url, key) as http:

        def ask(sql: str) -> None:
            reply = http.post(path, json={"sql": sql})
            if not reply.is_success:
                raise RuntimeError(reply.text)

        ask("SELECT COUNT(*) FROM tree")
        measured(ask, questions)


if __name__ == "__main__":
    main()
