"""Logs of sequences, questions to them, exact answers, and errors of estimates.

MSNBC: page categories of 989,818 visitors of a day (UCI, D. Heckerman). Sepsis: the
activities of 1,050 hospital pathways (F. Mannhardt, TU Eindhoven), in order of time.
"""

import csv
import gzip
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from privacy.schema import ColumnType
from privacy.sealed import Exact
from privacy.sequences import PHASES, SequenceCounts
from release.contract.domain import Dimension
from release.contract.sequence_domain import SequenceDomain
from release.sequences.sealed.sealed import SealedSequences

LEAST_SHARE = 0.001  # of the units: what a relative error is divided by at the least
QUESTIONS = 2_000
LONGEST = (2, 4, 6, 8)
TOPS = (50, 100, 200)


@dataclass(frozen=True)
class Log:
    """Whole sequences, one a unit, end to end.

    Attributes:
        symbols: Of all, one after the other, codes from 0.
        starts: Where each begins, and where the last ends.
        alphabet: How many symbols there are.
    """

    symbols: np.ndarray
    starts: np.ndarray
    alphabet: int

    def __len__(self):
        return len(self.starts) - 1

    def sealed(self, max_length):
        """Cut to a public length, distinct sequences with their counts, sealed."""
        return sealed_of(self, max_length)

    def first(self, most):
        """Return the log of each unit's first symbols, ``most`` at the most."""
        lengths = np.diff(self.starts)
        places = np.arange(len(self.symbols)) - np.repeat(self.starts[:-1], lengths)
        starts = np.concatenate([[0], np.cumsum(np.minimum(lengths, most))])
        return Log(self.symbols[places < most], starts.astype(np.int64), self.alphabet)

    def occurrences(self, length):
        """Return how often each run of a length occurs: codes of base |alphabet|."""
        ends = np.repeat(self.starts[1:], np.diff(self.starts))
        first = np.flatnonzero(np.arange(len(self.symbols)) + length <= ends)
        codes = np.zeros(len(first), dtype=np.int64)
        for step in range(length):
            codes = codes * self.alphabet + self.symbols[first + step]
        return Counter(dict(zip(*map(np.ndarray.tolist, _unique(codes)), strict=True)))


def _unique(codes):
    return np.unique(codes, return_counts=True)


def log_of(sequences, alphabet):
    """Return a log of lists of codes."""
    lengths = [len(sequence) for sequence in sequences]
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    symbols = np.fromiter(
        (code for sequence in sequences for code in sequence), np.int64, starts[-1]
    )
    return Log(symbols, starts, alphabet)


def msnbc(folder):
    """Return MSNBC's log, or None where it is not at hand."""
    path = Path(folder) / "msnbc/msnbc.seq.gz"
    if not path.exists():
        return None
    lines = gzip.decompress(path.read_bytes()).splitlines()
    lengths = np.array([line.count(b" ") for line in map(bytes.strip, lines)]) + 1
    symbols = np.array(b" ".join(lines).split(), dtype=np.int64) - 1
    return Log(symbols, np.concatenate([[0], np.cumsum(lengths)]), 17)


def domain_of(alphabet, max_length, split=None):
    """Return the domain of sequences over the symbols 0 to ``alphabet`` less 1."""
    codes = tuple(range(alphabet))
    symbols = Dimension("symbol", ColumnType.INTEGER, codes)
    return SequenceDomain(symbols, max_length, split)


def sealed_of(log, max_length):
    """Return a log as releases read it, cut to ``max_length`` symbols of each unit."""
    lengths = np.minimum(np.diff(log.starts), max_length)
    rows = np.full((len(log), max_length), log.alphabet, dtype=np.int16)
    for place in range(max_length):
        longer = np.flatnonzero(lengths > place)
        rows[longer, place] = log.symbols[log.starts[longer] + place]
    hashes = np.random.default_rng(6).integers(0, 2**62, len(log))
    phases = hashes % (PHASES * np.maximum(lengths, 1))
    order = np.lexsort([phases, *rows.T[::-1]])
    rows, phases = rows[order], phases[order]
    new = (rows[1:] != rows[:-1]).any(axis=1) | (phases[1:] != phases[:-1])
    new = np.concatenate([[True], new])
    first = np.flatnonzero(new)
    counts = np.diff(first, append=len(rows))
    kept = lengths[order][first]
    inside = np.arange(max_length) < kept[:, None]
    raw = SequenceCounts(
        symbols=rows[first][inside].astype(np.int64),
        starts=np.concatenate([[0], np.cumsum(kept)]),
        groups=np.zeros(len(first), dtype=np.int64),
        counts=counts,
        phases=phases[first],
    )
    return SealedSequences(domain_of(log.alphabet, max_length), Exact(raw))


def random_runs(alphabet, longest, seed=4):
    """Return runs of 1 to ``longest`` symbols, all lengths and symbols alike."""
    dice = np.random.default_rng([seed, longest])
    lengths = dice.integers(1, longest + 1, QUESTIONS)
    return [tuple(dice.integers(0, alphabet, n).tolist()) for n in lengths]


class Truth:
    """Exact answers, counted once a length."""

    def __init__(self, log):
        self._log, self._counts = log, {}

    def counts(self, length):
        """Return how often each run of this many symbols occurs, by its code."""
        if length not in self._counts:
            self._counts[length] = self._log.occurrences(length)
        return self._counts[length]

    def of(self, runs):
        """Return how often each of these runs occurs."""
        return np.array([self.counts(len(run))[self._code(run)] for run in runs])

    def top(self, most, lengths=range(2, 6)):
        """Return the most frequent runs of these lengths, the most frequent first."""
        found = []
        for length in lengths:
            for code, count in self.counts(length).most_common(most):
                found.append((count, self._run(code, length)))
        found.sort(key=lambda pair: (-pair[0], pair[1]))
        return [run for _, run in found[:most]]

    def _code(self, run):
        code = 0
        for symbol in run:
            code = code * self._log.alphabet + symbol
        return code

    def _run(self, code, length):
        run = []
        for _ in range(length):
            code, symbol = divmod(code, self._log.alphabet)
            run.append(symbol)
        return tuple(reversed(run))


def relative_error(estimates, truth, units):
    """Return the mean of the errors, each divided by its true count.

    A true count below a thousandth of the units is taken as that many.
    """
    apart = np.abs(np.asarray(estimates) - truth)
    return float((apart / np.maximum(truth, LEAST_SHARE * units)).mean())


@dataclass(frozen=True)
class Scores:
    """How far a release is off.

    Attributes:
        by_length: Mean relative error of random runs, by the longest of them.
        hits: Share of the true top runs among those that are estimated as the top.
        top_error: Mean relative error of the true top runs, of as many as are asked.
        covered: Share of all random runs whose true count lies in the interval.
        top_covered: The same of the true top runs.
    """

    by_length: dict
    hits: dict
    top_error: float
    covered: float
    top_covered: float


def scores(model, truth, units, tops=TOPS):
    """Ask a model everything; ``truth`` is that of the log."""
    alphabet = model.domain.symbols
    by_length, inside = {}, []
    for longest in LONGEST:
        runs = random_runs(alphabet, longest)
        exact, told = truth.of(runs), model.occurrences(runs)
        values = np.array([estimate.value for estimate in told])
        by_length[longest] = relative_error(values, exact, units)
        inside.append(_inside(told, exact))
    top = truth.top(max(tops))
    exact, told = truth.of(top), model.occurrences(top)
    values = np.array([estimate.value for estimate in told])
    return Scores(
        by_length,
        _hits(model, truth, tops),
        float((abs(values - exact) / exact).mean()),
        float(np.mean(inside)),
        float(_inside(told, exact).mean()),
    )


def _inside(told, exact):
    values = np.array([estimate.value for estimate in told])
    return np.abs(values - exact) <= [estimate.half_width for estimate in told]


def _hits(model, truth, tops):
    """Compare with the model's own top among all runs that extend its frequent ones."""
    found, runs = {}, [(code,) for code in range(model.domain.symbols)]
    for length in range(1, 6):
        values = [estimate.value for estimate in model.occurrences(runs)]
        ranked = sorted(zip(values, runs, strict=True), reverse=True)[: 2 * max(tops)]
        if length > 1:
            found |= {run: value for value, run in ranked}
        codes = range(model.domain.symbols)
        runs = [(*run, code) for _, run in ranked for code in codes]
    own = sorted(found, key=found.get, reverse=True)
    return {
        top: len(set(own[:top]) & set(truth.top(top))) / top for top in tops
    }  # fmt: skip


def sepsis(folder):
    """Return the log of Sepsis pathways, or None where it is not at hand."""
    path = Path(folder) / "sepsis/sepsis.csv.gz"
    if not path.exists():
        return None
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines, delimiter=";"))
    names = sorted({row["Activity"] for row in rows})
    cases = {}
    for row in sorted(rows, key=lambda row: row["Complete Timestamp"]):
        cases.setdefault(row["Case ID"], []).append(names.index(row["Activity"]))
    return log_of(list(cases.values()), len(names))
