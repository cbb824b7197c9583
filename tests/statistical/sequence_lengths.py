"""How well questions about lengths are answered, with noisy lengths and without.

    python -m tests.statistical.sequence_lengths
    python -m tests.statistical.sequence_lengths --shapes "late;demo" --epsilons 2

The same releases are asked twice, the second time of their trees alone. "demo" is the
log of the demo's release ``pathways``.
"""

import argparse
import tempfile
from pathlib import Path
from zlib import crc32

import duckdb
import numpy as np

from query_lang.reading.parse import parse_query
from release.sequences.questions.answering import AskedSequences
from server.demo.hospital import DEPARTMENTS, write_hospital
from tests.statistical.sequence_coverage import Coverage, released
from tests.statistical.sequence_logs import KEPT_ASIDE, SHAPES, MadeLog, made

EPSILONS = ("0.3", "2")
DEMO, DEMO_LENGTH = "demo", 5


def demo_log():
    """Return the departments of each patient's stays, split by sex."""
    with tempfile.TemporaryDirectory() as folder:
        write_hospital(Path(folder))
        stays = (
            duckdb.connect()
            .sql(
                f"SELECT patient_id, department, sex = 'M' AS arm"
                f" FROM '{folder}/encounters.csv' JOIN '{folder}/patients.csv'"
                f" USING (patient_id) ORDER BY patient_id, admitted, encounter_id"
            )
            .fetchnumpy()
        )
    _, firsts, own, lengths = np.unique(
        stays["patient_id"], return_index=True, return_inverse=True, return_counts=True
    )
    departments = sorted(set(DEPARTMENTS.values()))
    rows = np.full((len(lengths), lengths.max()), -1, dtype=np.int32)
    places = np.arange(len(own)) - firsts[own]
    rows[own, places] = np.searchsorted(departments, stays["department"].astype(str))
    groups = stays["arm"][firsts].astype(np.int64)
    return MadeLog(rows, lengths, groups, len(departments) + 1, 2)


class Lengths:
    """Questions about lengths, with exact answers."""

    def __init__(self, log, most, seed=7):
        self.log, self.most = log, most
        self.lengths = np.minimum(log.lengths, most)
        self.asked = list(self._questions(np.random.default_rng(seed)))

    def _questions(self, dice):
        every = np.bincount(self.lengths, minlength=self.most + 1)
        yield self._groups("GROUP BY LENGTH()", "LENGTH()", every)
        if self.log.splits > 1:
            cells = self.lengths * self.log.splits + self.log.groups
            truth = np.bincount(cells, minlength=(self.most + 1) * self.log.splits)
            yield self._groups("GROUP BY LENGTH(), arm", "LENGTH(), arm", truth)
        for least in range(1, self.most + 1):
            own = self.lengths >= least
            yield self._count("LENGTH() >= n", f"LENGTH() >= {least}", own)
        for _ in range(10):
            low, high = sorted(dice.integers(1, self.most + 1, 2).tolist())
            own = (self.lengths >= low) & (self.lengths <= high)
            yield self._count("BETWEEN", f"LENGTH() BETWEEN {low} AND {high}", own)
        for _ in range(5):
            some = dice.choice(self.most, max(2, self.most // 3), replace=False) + 1
            own = np.isin(self.lengths, some)
            where = f"LENGTH() IN ({', '.join(map(str, some))})"
            yield self._count("IN", where, own)
            if self.log.splits > 1:
                own &= self.log.groups == 0
                yield self._count("IN, arm", f"{where} AND arm = 0", own)
        cut = int(np.median(every))
        sql = f"SELECT LENGTH(), COUNT(*) AS n FROM r GROUP BY 1 HAVING n > {cut}"
        yield "HAVING", parse_query(sql, sequences=True), every

    def _groups(self, kind, key, truth):
        sql = f"SELECT {key}, COUNT(*) AS n FROM r GROUP BY {key}"
        return kind, parse_query(sql, sequences=True), truth

    def _count(self, kind, where, own):
        sql = f"SELECT COUNT(*) AS n FROM r WHERE {where}"
        return kind, parse_query(sql, sequences=True), [int(own.sum())]

    def ask(self, asked, confidence="0.95"):
        """Yield (class, value, low, high, truth) of each number of a release."""
        for kind, tree, truth in self.asked:
            answer = asked.ask(tree, confidence)
            exact = truth
            if kind == "HAVING":
                exact = [truth[int(row[0])] for row in answer.rows]
            ends = answer.intervals[0].rows
            for row, (low, high), own in zip(answer.rows, ends, exact, strict=True):
                yield kind, float(row[-1]), float(low), float(high), int(own)


class TreeAlone:
    """A model as if it had no noisy lengths to answer with."""

    def __init__(self, model):
        self.domain, self.paths = model.domain, model.paths
        self.occurrences = model.occurrences

    def lengths(self):
        return None


class Accuracy(Coverage):
    """Coverage, with all widths and errors in units."""

    def __init__(self):
        super().__init__()
        self.own_widths, self.own_errors = [], []

    def add(self, value, low, high, exact):
        super().add(value, low, high, exact)
        self.own_widths.append(high - low)
        self.own_errors.append(abs(value - exact))

    def told(self):
        if not self.total:
            return "-"
        width, error = np.median(self.own_widths), np.mean(self.own_errors)
        return f"{self.share:.3f}, {width:.0f}, {error:.0f}"


def main(arguments=None):
    """Print a line a shape, strategy, epsilon and class."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--units", type=int, default=5_000)
    parser.add_argument("--releases", type=int, default=10)
    parser.add_argument("--strategies", default="prefix_tree")
    parser.add_argument("--epsilons", default=",".join(EPSILONS))
    parser.add_argument("--shapes", default=";".join([*SHAPES, *KEPT_ASIDE, DEMO]))
    parser.add_argument("--confidence", default="0.95")
    chosen = parser.parse_args(arguments)
    print("| shape | strategy | epsilon | questions | by the tree alone | now |")
    print("|---|---|---|---|---|---|")
    for shape in chosen.shapes.split(";"):
        log, most = demo_log(), DEMO_LENGTH
        if shape != DEMO:
            log, most = made(shape, chosen.units)
        questions = Lengths(log, most)
        for strategy in chosen.strategies.split(","):
            for epsilon in chosen.epsilons.split(","):
                for kind, (before, now) in _compared(
                    questions, strategy, epsilon, chosen
                ).items():
                    line = f"{before.told()} | {now.told()} |"
                    line += f" {now.impossible} impossible |" if now.impossible else ""
                    print(
                        f"| {shape} | {strategy} | {epsilon} | {kind} | {line}",
                        flush=True,
                    )


def _compared(questions, strategy, epsilon, chosen):
    found = {}
    for number in range(chosen.releases):
        seed = crc32(f"{strategy} {epsilon} {number}".encode())
        asked = released(questions.log, questions.most, strategy, epsilon, seed)
        alone = AskedSequences(asked.published, TreeAlone(asked.model))
        for place, release in enumerate((alone, asked)):
            for kind, *numbers in questions.ask(release, chosen.confidence):
                found.setdefault(kind, (Accuracy(), Accuracy()))[place].add(*numbers)
    return found


if __name__ == "__main__":
    main()
