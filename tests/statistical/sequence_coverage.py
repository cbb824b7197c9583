"""How many numbers of sequence releases lie in their intervals, by class and shape.

    python -m tests.statistical.sequence_coverage
    python -m tests.statistical.sequence_coverage --units 20000 --releases 20
    python -m tests.statistical.sequence_coverage --aside
    python -m tests.statistical.sequence_coverage --chosen --units 20000
    python -m tests.statistical.sequence_coverage --tree --units 4000

Every number is asked for in SQL or of the tree, as a researcher does, and compared with
the exact count of the made-up sequences, of which a release looks at the first h
symbols.
"""

import argparse
import math
import sys
from collections import Counter
from dataclasses import dataclass
from zlib import crc32

import numpy as np

from mechanisms.measuring.meter import Meter
from privacy.charges import Charge
from privacy.losses import Loss
from query_lang.reading.parse import parse_query
from release.sequences.questions.answering import AskedSequences
from release.sequences.questions.published import PublishedSequences
from release.sequences.strategies.registry import STRATEGIES
from tests.statistical.sequence_branches import Branches
from tests.statistical.sequence_choices import Choices
from tests.statistical.sequence_logs import (
    KEPT_ASIDE,
    MANY_ARMS,
    SHAPES,
    UNBRANCHED,
    UNEVEN_ARMS,
    WIDE,
    made,
)
from tests.support.noise.meters import SeededSampler

EPSILONS = ("0.1", "0.5", "1", "3")
PROMISED = 0.93
EASE = 1e-6
FALSE_ALARM = 1e-6


@dataclass(frozen=True)
class Asked:
    """A question.

    Attributes:
        kind: Its class.
        tree: Parsed.
        truth: Of each row, in declared order; None where the answer names the runs.
    """

    kind: str
    tree: object
    truth: list | None


class Questions:
    """All questions to logs of one shape, with exact answers."""

    def __init__(self, log, most, seed=5, *, whole=False, each=None):
        """Take runs in the first ``most`` symbols, or in whole sequences.

        Args:
            log: Of sequences.
            most: h.
            seed: Of the runs that are asked for.
            whole: Whether runs past the h-th symbol count.
            each: How many questions of each class are asked; None: all.
        """
        self.log, self.most = log, most
        self.rows = log.cut(most)
        self.lengths = np.minimum(log.lengths, most)
        self._runs_in = log.rows if whole else self.rows
        self._dice = np.random.default_rng(seed)
        self.asked = _thinned(list(self._all()), each)

    # -- exact answers -----------------------------------------------------------

    def places(self, run, rows=None):
        """Return whether a run starts at each place: (units, places)."""
        rows = self.rows if rows is None else rows
        last = rows.shape[1] - len(run) + 1
        found = np.ones((len(rows), max(last, 0)), dtype=bool)
        for step, symbol in enumerate(run):
            found &= rows[:, step : step + last] == symbol
        return found

    def occurrences(self, run):
        return int(self.places(run, self._runs_in).sum())

    def starts(self, run):
        return (self.rows[:, : len(run)] == run).all(axis=1)

    def has(self, run):
        return self.places(run).any(axis=1)

    def ends(self, run):
        last = self.lengths - len(run)
        found = (last >= 0) & (self.lengths < self.most)
        for step, symbol in enumerate(run):
            place = np.clip(last + step, 0, self.most - 1)
            found &= self.rows[np.arange(len(self.rows)), place] == symbol
        return found

    def slopes(self):
        places = np.arange(1, self.most + 1)
        inside, n = self.rows >= 0, self.lengths
        symbols = np.where(inside, self.rows, 0)
        rise = 6 * (2 * (symbols * places).sum(axis=1) - (n + 1) * symbols.sum(axis=1))
        run = n * (n * n - 1)
        return np.where(run > 0, rise / np.maximum(run, 1), np.nan)

    # -- questions ---------------------------------------------------------------

    def runs(self, sizes, top, met, drawn):
        """Return frequent runs, some that somebody has, and some that nobody may."""
        found = {"top": [], "met": [], "drawn": []}
        for size in sizes:
            counts = Counter()
            for place in range(self.most - size + 1):
                window = self.rows[:, place : place + size]
                own = window[(window >= 0).all(axis=1)]
                counts.update(map(tuple, own.tolist()))
            found["top"] += [run for run, _ in counts.most_common(top)]
            known = sorted(counts)
            weights = np.array([counts[run] for run in known], dtype=float)
            if known:
                places = (
                    self._dice.choice(
                        len(known), met, p=weights / weights.sum()
                    ).tolist()
                    + self._dice.choice(len(known), met).tolist()
                )
                found["met"] += [known[place] for place in places]
            runs = self._dice.integers(0, self.log.alphabet, (drawn, size)).tolist()
            found["drawn"] += list(map(tuple, runs))
        return found

    def _all(self):
        runs = self.runs((1, 2, 3), top=5, met=3, drawn=3)
        every = [*runs["top"], *runs["met"], *runs["drawn"]]
        yield from self._of_runs(runs)
        yield from self._of_units(every)
        yield from self._of_places()
        yield from self._of_slopes()
        yield self._one("everybody", "COUNT(*)", len(self.log))
        yield from self._of_others()
        if self.log.splits > 1:
            yield from self._of_splits(runs["top"])

    def _of_runs(self, runs):
        for kind, own in runs.items():
            for run in own:
                number = f"OCCURRENCES{_of(run)}"
                yield self._one(f"runs, {kind}", number, self.occurrences(run))
        half = self.most // 2
        for run in runs["top"]:
            where, own = f"STARTS_WITH{_of(run[:1])}", self.starts(run[:1])
            yield self._where("runs, WHERE", run[-2:], where, own)
            own = self.lengths >= half
            yield self._where("runs, WHERE", run, f"LENGTH() >= {half}", own)
        for sizes in ("10, 1, 3", "20, 2, 4"):
            yield Asked("TOP_RUNS", _parsed(f"SELECT TOP_RUNS({sizes}) FROM r"), None)

    def _of_units(self, runs):
        for run in runs:
            yield self._count("STARTS_WITH", f"STARTS_WITH{_of(run)}", self.starts(run))
            yield self._count("HAS_RUN", f"HAS_RUN{_of(run)}", self.has(run))
        for run in runs[::3]:
            yield self._count("NOT HAS_RUN", f"NOT HAS_RUN{_of(run)}", ~self.has(run))
            yield self._count("ENDS_WITH", f"ENDS_WITH{_of(run)}", self.ends(run))

    def _of_places(self):
        for place in sorted({1, 2, 3, self.most // 2, self.most}):
            codes = self.rows[:, place - 1]
            codes = np.where(codes < 0, self.log.alphabet, codes)
            counts = np.bincount(codes, minlength=self.log.alphabet + 1).tolist()
            yield self._groups("SYMBOL_AT", f"SYMBOL_AT({place})", counts)
        lengths = np.bincount(self.lengths, minlength=self.most + 1).tolist()
        yield self._groups("LENGTH", "LENGTH()", lengths)
        for least in (2, self.most // 2, self.most):
            own = self.lengths >= least
            yield self._count("LENGTH", f"LENGTH() >= {least}", own)

    def _of_slopes(self):
        slopes = self.slopes()
        for bound in ("-0.5", "0.25", "1"):
            yield self._count("SLOPE", f"SLOPE() > {bound}", slopes > float(bound))
        yield self._count("SLOPE", "SLOPE() IS NULL", np.isnan(slopes))

    def _of_others(self):
        firsts = self.rows[:, 0]
        most = int(np.bincount(firsts).argmax())
        own, half = firsts != most, self.most // 2
        yield self._count("first is another", f"SYMBOL_AT(1) <> {most}", own)
        where = f"SYMBOL_AT(1) <> {most} AND LENGTH() >= {half}"
        yield self._count("first is another", where, own & (self.lengths >= half))

    def _of_values(self):
        half = self.most // 2
        for arm in range(self.log.splits):
            own = self.log.groups == arm
            yield self._count("value of a split", f"arm = {arm}", own)
            where = f"arm = {arm} AND LENGTH() >= {half}"
            own = own & (self.lengths >= half)
            yield self._count("value of a split", where, own)

    def _of_splits(self, runs):
        yield self._groups("split", "arm", self._by_arm(None))
        yield from self._of_values()
        for run in runs:
            arms = self._by_arm(self.has(run))
            yield self._groups("split", "arm", arms, where=f"HAS_RUN{_of(run)}")
            arms = self._by_arm(self.places(run).sum(axis=1))
            number = f"OCCURRENCES{_of(run)}"
            yield self._groups("runs, split", "arm", arms, number=number)

    def _by_arm(self, own):
        return np.bincount(self.log.groups, own, self.log.splits).tolist()

    def _one(self, kind, number, truth):
        return Asked(kind, _parsed(f"SELECT {number} AS n FROM r"), [truth])

    def _count(self, kind, where, own):
        sql = f"SELECT COUNT(*) AS n FROM r WHERE {where}"
        return Asked(kind, _parsed(sql), [int(own.sum())])

    def _where(self, kind, run, where, own):
        sql = f"SELECT OCCURRENCES{_of(run)} AS n FROM r WHERE {where}"
        return Asked(kind, _parsed(sql), [int(self.places(run)[own].sum())])

    def _groups(self, kind, key, truth, *, number="COUNT(*)", where=""):
        sql = f"SELECT {key} AS k, {number} AS n FROM r"
        sql += f" WHERE {where}" if where else ""
        return Asked(kind, _parsed(f"{sql} GROUP BY {key}"), truth)

    def ask(self, asked):
        """Yield (class, value, low, high, truth) of each number of a release."""
        for question in self.asked:
            answer = asked.ask(question.tree)
            truth = question.truth
            if truth is None:
                truth = [self.occurrences(_read(row[0])) for row in answer.rows]
            ends = answer.intervals[0].rows
            for row, (low, high), exact in zip(answer.rows, ends, truth, strict=True):
                yield question.kind, float(row[-1]), float(low), float(high), exact


def _thinned(asked, each):
    """Return some questions of each class, from first to last."""
    if each is None:
        return asked
    kinds = {}
    for question in asked:
        kinds.setdefault(question.kind, []).append(question)
    return [
        own[place]
        for own in kinds.values()
        for place in sorted({int(n) for n in np.linspace(0, len(own) - 1, each)})
    ]


def _parsed(sql):
    return parse_query(sql, sequences=True)


def _of(run):
    return f"({', '.join(map(str, run))})"


def _read(shown):
    return tuple(int(symbol) for symbol in shown.split(" > "))


def released(log, most, strategy, epsilon, seed):
    """Publish a log, and open it for questions."""
    sealed, loss = log.sealed(most, seed), Loss.parse(epsilon)
    own = STRATEGIES[strategy]
    parts = own.parts(sealed.domain, loss, {})
    meter = Meter(Charge("test", loss), parts, SeededSampler(seed))
    model = own.measure(sealed, meter, {})
    published = PublishedSequences("rel_1", "r", sealed.domain, "unit")
    return AskedSequences(published, model)


@dataclass
class Coverage:
    """Numbers of one class: how many held, and how wide and how far off they were.

    ``missed`` is the sum over ``releases`` of the share that did not hold in each.
    """

    missed: float = 0.0
    releases: int = 0
    held: int = 0
    total: int = 0
    widths: float = 0.0
    errors: float = 0.0
    impossible: int = 0

    def add(self, value, low, high, exact):
        self.held += low - EASE <= exact <= high + EASE
        self.total += 1
        self.impossible += not 0 <= low <= value <= high
        self.widths += (high - low) / max(exact, 1)
        self.errors += abs(value - exact)

    def join(self, other):
        for name in self.__dataclass_fields__:
            setattr(self, name, getattr(self, name) + getattr(other, name))

    def closed(self):
        """Count what was added as one release."""
        self.releases, self.missed = 1, 1 - self.share
        return self

    @property
    def share(self):
        return self.held / max(self.total, 1)

    def is_short(self, tests):
        """Whether less than was promised holds, and not by chance.

        The share that is missed in a release has a mean of 1 - PROMISED at most, and is
        between 0 and 1; so by Chernoff's bound all of so many tests together fail by
        probability once in a million, whatever the numbers of one release have in
        common.
        """
        mean, most = self.missed / max(self.releases, 1), 1 - PROMISED
        if mean <= most:
            return False
        return self.releases * _divergence(mean, most) > math.log(tests / FALSE_ALARM)


def _divergence(found, most):
    """Return the Kullback-Leibler divergence of two probabilities."""
    rest = 1 - found
    other = rest * math.log(rest / (1 - most)) if rest else 0.0
    return found * math.log(found / most) + other


def coverage(questions, strategy, epsilon, seeds):
    """Return the coverage of each class, over some releases."""
    found = {}
    for number in seeds:
        text = f"{questions.most} {len(questions.log)} {strategy} {epsilon} {number}"
        seed = crc32(text.encode())
        asked = released(questions.log, questions.most, strategy, epsilon, seed)
        own = {}
        for kind, *numbers in questions.ask(asked):
            own.setdefault(kind, Coverage()).add(*numbers)
        for kind, each in own.items():
            found.setdefault(kind, Coverage()).join(each.closed())
    return found


def main(arguments=None):
    """Print a line a shape, strategy and epsilon: the share that held, by class."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--units", type=int, default=1_500)
    parser.add_argument("--releases", type=int, default=4)
    parser.add_argument("--strategies", default="prefix_tree,ngram")
    parser.add_argument("--epsilons", default=",".join(EPSILONS))
    parser.add_argument("--shapes")
    parser.add_argument("--kinds", help="these classes alone, with commas between")
    parser.add_argument("--chosen", action="store_true", help="what noise chooses")
    parser.add_argument("--tree", action="store_true", help="the tree's own route")
    parser.add_argument("--aside", action="store_true", help="shapes not tuned on")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--whole", action="store_true", help="runs in whole sequences")
    parser.add_argument("--all", action="store_true", help="classes that hold, too")
    chosen = parser.parse_args(arguments)
    fails = 0
    for shape in _shapes(chosen):
        log, most = made(shape, chosen.units, chosen.seed)
        questions = Questions(log, most, whole=chosen.whole)
        if chosen.kinds:
            own = chosen.kinds.split(",")
            questions.asked = [one for one in questions.asked if one.kind in own]
        if chosen.chosen:
            questions = Choices(log, most)
        if chosen.tree:
            questions = Branches(log, most)
        for strategy in chosen.strategies.split(","):
            for epsilon in chosen.epsilons.split(","):
                found = coverage(questions, strategy, epsilon, range(chosen.releases))
                cells = [
                    f"{kind} {each.share:.3f} ({each.widths / each.total:.2g})"
                    for kind, each in found.items()
                    if chosen.all or each.share < PROMISED
                ]
                fails += sum(each.share < PROMISED for each in found.values())
                print(
                    f"{shape} | {strategy} | {epsilon} | {'; '.join(cells)}", flush=True
                )
    print(f"{fails} classes below {PROMISED}")
    return fails


def _shapes(arguments):
    if arguments.shapes:
        return arguments.shapes.split(";")
    if arguments.aside:
        return list(KEPT_ASIDE)
    if arguments.tree:
        return [*UNEVEN_ARMS, *MANY_ARMS, *UNBRANCHED, *SHAPES]
    return [*WIDE, *SHAPES] if arguments.chosen else list(SHAPES)


if __name__ == "__main__":
    sys.exit(main() > 0)
