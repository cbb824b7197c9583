"""Made-up logs of sequences of many shapes; the same seed gives the same log.

Each breaks something that a model of sequences may believe: that sequences are short,
that what follows depends on the last symbols alone, that every place is alike, that
long sequences hold what short ones hold.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from privacy.schema import ColumnType
from privacy.sealed import Exact
from privacy.sequences import PHASES, SequenceCounts
from release.contract.domain import Dimension
from release.contract.sequence_domain import SequenceDomain
from release.sequences.sealed.sealed import SealedSequences

LONGEST = 1_000
_NOBODY = -1


@dataclass(frozen=True)
class MadeLog:
    """Whole sequences, one a unit.

    Attributes:
        rows: (units, longest): codes, -1 after the last symbol.
        lengths: Of each unit.
        groups: The place of each unit's value of the split.
        alphabet: How many symbols there are.
        splits: How many values the split has; 1: there is none.
    """

    rows: np.ndarray
    lengths: np.ndarray
    groups: np.ndarray
    alphabet: int
    splits: int

    def __len__(self):
        return len(self.lengths)

    def cut(self, most):
        """Return the first symbols of each unit: (units, most), -1 after the last."""
        if self.rows.shape[1] >= most:
            return self.rows[:, :most]
        wide = np.full((len(self), most), _NOBODY, dtype=self.rows.dtype)
        wide[:, : self.rows.shape[1]] = self.rows
        return wide

    def domain(self, most):
        symbols = tuple(range(self.alphabet))
        alphabet = Dimension("symbol", ColumnType.INTEGER, symbols, ordered=True)
        split = None
        if self.splits > 1:
            values = tuple(range(self.splits))
            split = Dimension("arm", ColumnType.INTEGER, values, constant=True)
        return SequenceDomain(alphabet, most, split)

    def sealed(self, most, keyed=0):
        """Return what an engine would hand over; ``keyed`` stands for the secret."""
        hashes = np.random.default_rng(keyed).integers(0, 2**62, len(self))
        phases = hashes % (PHASES * np.minimum(self.lengths, most))
        keys = np.column_stack([self.groups, phases, self.cut(most)])
        keys, counts = np.unique(keys, axis=0, return_counts=True)
        inside = keys[:, 2:] >= 0
        lengths = inside.sum(axis=1)
        raw = SequenceCounts(
            symbols=keys[:, 2:][inside].astype(np.int64),
            starts=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
            groups=keys[:, 0].astype(np.int64),
            counts=counts.astype(np.int64),
            phases=keys[:, 1].astype(np.int64),
        )
        return SealedSequences(self.domain(most), Exact(raw))


def _log(rows, lengths, alphabet, dice, splits=1):
    """Cut rows to their lengths, and deal units out among the values of the split."""
    width = int(lengths.max())
    rows = rows[:, :width].astype(np.int32)
    rows[np.arange(width) >= lengths[:, None]] = _NOBODY
    groups = dice.choice(splits, len(lengths), p=_uneven(splits))
    return MadeLog(rows, lengths, groups, alphabet, splits)


def _uneven(parts):
    weights = 0.5 ** np.arange(parts)
    return weights / weights.sum()


def _walks(ways, first, units, longest, dice):
    """Return walks of a Markov chain: (units, longest)."""
    sums = ways.cumsum(axis=1)
    rows = np.zeros((units, longest), dtype=np.int32)
    rows[:, 0] = dice.choice(len(ways), units, p=first)
    for place in range(1, longest):
        draws = dice.random(units)[:, None]
        rows[:, place] = (draws > sums[rows[:, place - 1]]).sum(axis=1)
    return np.minimum(rows, len(ways) - 1)


def _clipped(lengths, longest=LONGEST):
    return np.clip(lengths.astype(np.int64), 1, longest)


def long(units, dice):
    """A chain over eight symbols; 131 symbols a unit, on mean."""
    lengths = _clipped(dice.gamma(2.0, 65.5, units))
    ways = dice.dirichlet(np.full(8, 0.5), size=8)
    rows = _walks(ways, dice.dirichlet(np.ones(8)), units, lengths.max(), dice)
    return _log(rows, lengths, 8, dice)


def geometric(units, dice):
    """A chain over six symbols, its end equally probable after each; a split of two."""
    lengths = _clipped(dice.geometric(0.2, units))
    ways = dice.dirichlet(np.full(6, 0.7), size=6)
    rows = _walks(ways, dice.dirichlet(np.ones(6)), units, lengths.max(), dice)
    return _log(rows, lengths, 6, dice, splits=2)


def heavy(units, dice):
    """Most units have two or three symbols, some hundreds, mostly of one kind."""
    lengths = _clipped(1 + dice.pareto(0.9, units) * 2)
    favourites = dice.choice(12, units, p=dice.dirichlet(np.full(12, 0.6)))
    rows = np.repeat(favourites[:, None], lengths.max(), axis=1)
    other = dice.random(rows.shape) < 0.25
    rows[other] = dice.integers(0, 12, int(other.sum()))
    return _log(rows, lengths, 12, dice)


def late(units, dice):
    """Some symbols are rare, and none of them stands before the tenth place."""
    lengths = _clipped(dice.normal(20, 5, units), 40)
    ways = dice.dirichlet(np.full(7, 0.5), size=7)
    rows = _walks(ways, dice.dirichlet(np.ones(7)), units, lengths.max(), dice)
    places = np.arange(rows.shape[1])
    for symbol, first, probability in ((7, 9, 0.02), (8, 11, 0.01), (9, 13, 0.004)):
        met = (dice.random(rows.shape) < probability) & (places >= first)
        rows[met] = symbol
    return _log(rows, lengths, 10, dice)


def cyclic(units, dice):
    """Each unit goes round and round a few symbols, from anywhere."""
    lengths = _clipped(dice.gamma(3.0, 6.0, units))
    periods = dice.integers(2, 6, units)
    starts = dice.integers(0, 5, units)
    places = np.arange(lengths.max())
    rows = (starts[:, None] + places) % periods[:, None]
    slips = dice.random(rows.shape) < 0.03
    rows[slips] = dice.integers(0, 6, int(slips.sum()))
    return _log(rows, lengths, 6, dice)


def bursty(units, dice):
    """Each symbol comes many times on end, some units do little else."""
    lengths = _clipped(dice.gamma(1.5, 12.0, units))
    stays = dice.beta(4.0, 1.0, units)
    rows = dice.choice(9, (units, lengths.max()), p=dice.dirichlet(np.full(9, 0.8)))
    for place in range(1, rows.shape[1]):
        same = dice.random(units) < stays
        rows[same, place] = rows[same, place - 1]
    return _log(rows, lengths, 9, dice, splits=3)


def short(units, dice):
    """Many units of few symbols out of seventeen, who stay where they are."""
    lengths = _clipped(dice.geometric(0.3, units) * dice.integers(1, 3, units))
    shares = dice.dirichlet(np.full(17, 0.6))
    rows = dice.choice(17, (units, lengths.max()), p=shares)
    for place in range(1, rows.shape[1]):
        same = dice.random(units) < 0.6
        rows[same, place] = rows[same, place - 1]
    return _log(rows, lengths, 17, dice)


def drifting(units, dice):
    """What symbols there are changes from place to place; nothing else matters."""
    lengths = _clipped(dice.normal(15, 6, units), 30)
    width = int(lengths.max())
    early, end = dice.dirichlet(np.full(8, 0.4), size=2)
    rows = np.zeros((units, width), dtype=np.int32)
    for place in range(width):
        mix = place / width
        rows[:, place] = dice.choice(8, units, p=(1 - mix) * early + mix * end)
    return _log(rows, lengths, 8, dice)


def mixed(units, dice):
    """Short units have some symbols, long ones others."""
    is_long = dice.random(units) < 0.15
    lengths = _clipped(
        np.where(is_long, dice.normal(60, 20, units), dice.geometric(0.4, units)), 120
    )
    rows = dice.choice(10, (units, lengths.max()), p=_uneven(10))
    rows = np.where(is_long[:, None], 9 - rows, rows)
    return _log(rows, lengths, 10, dice)


def templates(units, dice):
    """Units follow one of a dozen fixed ways; steps are left out at times."""
    ways = dice.integers(0, 8, (12, 16))
    most = dice.integers(4, 17, 12)
    own = dice.choice(12, units, p=dice.dirichlet(np.full(12, 0.8)))
    rows, lengths = np.zeros((units, 16), dtype=np.int32), np.zeros(units, dtype=int)
    for place in range(16):
        kept = (dice.random(units) > 0.1) & (place < most[own])
        rows[kept, lengths[kept]] = ways[own[kept], place]
        lengths += kept
    return _log(rows, np.maximum(lengths, 1), 8, dice)


def tiny(units, dice):
    """Fifty units."""
    return geometric(min(units, 50), dice)


def absorbing(units, dice):
    """Careers: each state leads on to later ones, or stays for good."""
    lengths = _clipped(dice.gamma(2.0, 5.0, units))
    ways = np.triu(dice.dirichlet(np.full(9, 0.6), size=9)) + np.diag(np.full(9, 0.4))
    ways /= ways.sum(axis=1, keepdims=True)
    rows = _walks(ways, _uneven(9), units, lengths.max(), dice)
    return _log(rows, lengths, 9, dice)


def seasonal(units, dice):
    """Even places have other symbols than odd ones; a unit keeps to its own two."""
    lengths = _clipped(dice.negative_binomial(2, 0.15, units))
    own = dice.choice(5, (units, 2), p=dice.dirichlet(np.full(5, 0.8)))
    places = np.arange(lengths.max()) % 2
    rows = own[:, places] + 5 * places
    other = dice.random(rows.shape) < 0.15
    rows[other] = dice.integers(0, 10, int(other.sum()))
    return _log(rows, lengths, 10, dice, splits=2)


def many(units, dice):
    """Forty symbols, a few of which are most of all; each unit likes its own."""
    lengths = _clipped(1 + dice.poisson(dice.gamma(1.2, 6.0, units)), 80)
    shares = dice.dirichlet(0.02 + 40 * _uneven(40), units)
    sums = shares.cumsum(axis=1)
    draws = dice.random((units, lengths.max()))
    rows = (draws[:, :, None] > sums[:, None, :]).sum(axis=2)
    return _log(np.minimum(rows, 39), lengths, 40, dice)


def wide(units, dice, *, alphabet, first, falls=0.0, used=None):
    """Three symbols a unit out of many, each with a probability of 1 / rank**falls.

    Args:
        units: How many.
        dice: The randomness.
        alphabet: How many symbols there are.
        first: How many of them a sequence may begin with.
        falls: 0: all are alike.
        used: How many symbols stand at later places; None: all.
    """
    lengths = dice.choice((2, 3), units, p=(0.2, 0.8))
    own = (first, used or alphabet, used or alphabet)
    weights = [1 / np.arange(1, size + 1) ** falls for size in own]
    columns = [dice.choice(len(w), units, p=w / w.sum()) for w in weights]
    return _log(np.column_stack(columns), lengths, alphabet, dice)


WIDE: dict[str, tuple[Callable, int]] = {
    "flat 50": (partial(wide, alphabet=50, first=20), 3),
    "flat 95": (partial(wide, alphabet=95, first=40), 3),
    "half 95": (partial(wide, alphabet=95, first=40, used=45), 3),
    "flat 200": (partial(wide, alphabet=200, first=10), 3),
    "Zipf 50": (partial(wide, alphabet=50, first=50, falls=1.0), 3),
    "Zipf 95": (partial(wide, alphabet=95, first=95, falls=1.3), 3),
    "Zipf 200": (partial(wide, alphabet=200, first=200, falls=1.0), 3),
}
"""Shapes of many symbols: noise lifts some that nobody has above every threshold."""


def pathways(units, dice):
    """Twenty ways of six steps, which nobody leaves: prefixes have one way on."""
    ways, steps = 20, 6
    rows = (dice.integers(0, ways, units)[:, None] + np.arange(steps)) % ways
    return _log(rows, np.full(units, steps), ways, dice)


def half_pathways(units, dice):
    """Ten such ways, and as many units again that go any way through ten symbols."""
    ways, steps = 10, 6
    rows = (dice.integers(0, ways, units)[:, None] + np.arange(steps)) % ways
    wild = dice.random(units) < 1 / 2
    rows[wild] = dice.integers(ways, 2 * ways, (int(wild.sum()), steps))
    return _log(rows, np.full(units, steps), 2 * ways, dice)


def rare_ways(units, dice):
    """One way for nearly all; few come in by one of eight symbols and meet it again."""
    alphabet, longest = 11, 12
    places = np.arange(longest)
    rows = np.tile(np.where(places == 0, 0, 1 + (places + 1) % 2), (units, 1))
    rare = dice.random(units) < 1 / 25
    own = dice.integers(3, alphabet, units)[rare]
    rows[rare, 0] = rows[rare, 3] = own
    return _log(rows, np.clip(dice.poisson(8, units), 5, longest), alphabet, dice)


def small_arm(units, dice):
    """Two values go to and fro; one unit in fifty, of the other arm, goes any way."""
    alphabet, longest = 4, 20
    arms = (dice.random(units) < 1 / 50).astype(np.int64)
    swings = (np.arange(longest) + dice.integers(0, 2, units)[:, None]) % 2
    any_way = dice.integers(0, 3, (units, longest))
    rows = np.where(arms[:, None] == 1, any_way, swings)
    log = _log(rows, np.clip(dice.poisson(7, units), 3, longest), alphabet, dice, 2)
    return replace(log, groups=arms)


def successors(units, dice):
    """Sixty symbols, each mostly followed by the next: few contexts say much."""
    alphabet, longest = 60, 40
    rows = np.zeros((units, longest), dtype=np.int64)
    rows[:, 0] = 12 * dice.integers(0, 5, units)
    for place in range(1, longest):
        leaps = dice.random(units) < 1 / 10
        after = (rows[:, place - 1] + 1) % alphabet
        rows[:, place] = np.where(leaps, dice.integers(0, alphabet, units), after)
    lengths = np.clip(dice.geometric(1 / 5, units), 1, longest)
    return _log(rows, lengths, alphabet, dice)


def treated(units, dice, *, long=1 / 20):
    """Most have one to three visits; a few come for weeks, for what only they have."""
    longest, places = 40, np.arange(40)
    stays = dice.random(units) < long
    lengths = np.where(
        stays, dice.integers(12, longest, units), dice.integers(1, 4, units)
    )
    acute = (0.45, 0.25, 0.15, 0.1, 0.05)
    rows = dice.choice(5, (units, longest), p=acute)
    rows = np.where(stays[:, None], np.where(places % 3 < 2, 5, 6), rows)
    return _log(rows, lengths, 8, dice)


def looping(units, dice):
    """One in twenty goes round three symbols of its own; all others have one or two."""
    longest, places = 40, np.arange(40)
    loops = dice.random(units) < 1 / 20
    lengths = np.where(
        loops, dice.integers(15, longest, units), dice.integers(1, 3, units)
    )
    rows = dice.choice(4, (units, longest), p=(0.7, 0.2, 0.07, 0.03))
    rows = np.where(loops[:, None], 4 + places % 3, rows)
    return _log(rows, lengths, 9, dice)


def single(units, dice, *, alone=0.9, alphabet=40):
    """Most have one of many symbols and end: patients who stay on one ward."""
    longest = 6
    more = dice.integers(2, longest + 1, units)
    lengths = np.where(dice.random(units) < alone, 1, more)
    return _log(dice.integers(0, alphabet, (units, longest)), lengths, alphabet, dice)


def parted(units, dice):
    """Most of one arm go one way; those of the other, one in four, go anywhere."""
    alphabet, most = 5, 4
    arms = (dice.random(units) < 1 / 4).astype(np.int64)
    any_way = (arms == 1) | (dice.random(units) < 1 / 5)
    rows = np.tile(np.arange(most), (units, 1))
    rows[any_way] = dice.integers(0, alphabet, (int(any_way.sum()), most))
    log = _log(rows, dice.integers(1, most + 1, units), alphabet, dice, 2)
    return replace(log, groups=arms)


def one_way(units, dice):
    """Two arms go the same way; one has so few units that noise cuts it somewhere."""
    most = 4
    log = _log(np.tile(np.arange(most), (units, 1)), np.full(units, most), 12, dice, 2)
    return replace(log, groups=(np.arange(units) < units / 21).astype(np.int64))


def own_ways(units, dice, arms=15, alphabet=20, most=5):
    """Each value of the split has its own way, and a fifth go the common one."""
    groups = dice.integers(0, arms, units)
    rows = (groups[:, None] + np.arange(most)) % alphabet
    rows[dice.random(units) < 0.2] = np.arange(most)
    log = _log(rows, dice.choice([3, 5], units), alphabet, dice, arms)
    return replace(log, groups=groups)


def same_ways(units, dice, *, arms):
    """All go one way, dealt out evenly among many values of the split."""
    most = 4
    rows = np.tile(np.arange(most), (units, 1))
    log = _log(rows, np.full(units, most), 12, dice, arms)
    return replace(log, groups=dice.integers(0, arms, units))


def long_arm(units, dice, *, share=0.1, alphabet=12):
    """Nearly all have one symbol; those of the other arm, few, have four to eight."""
    arms = (dice.random(units) < share).astype(np.int64)
    lengths = np.where(arms == 1, dice.integers(4, 9, units), 1)
    rows = dice.integers(0, alphabet, (units, 8))
    return replace(_log(rows, lengths, alphabet, dice, 2), groups=arms)


def few_others(units, dice, *, share=0.1, alphabet=13):
    """Few begin with one of the symbols that end the sequences of all others."""
    is_other = dice.random(units) < share
    rows = dice.integers(1, alphabet, (units, 8))
    rows[~is_other, 0] = 0
    lengths = np.where(is_other, dice.integers(4, 9, units), 2)
    return _log(rows, lengths, alphabet, dice)


def light_firsts(units, dice):
    """Half of all units have one way; the others begin with any of nine symbols."""
    rows = dice.integers(0, 9, (units, 6))
    rows[: units // 2] = 3
    short = dice.integers(1, 7, units)
    lengths = np.where(np.arange(units) < units // 2, 6, short)
    return _log(rows, lengths, 9, dice, splits=3)


SHAPES: dict[str, tuple[Callable, int]] = {
    "long": (long, 12),
    "long, h 6": (long, 6),
    "geometric": (geometric, 10),
    "heavy": (heavy, 30),
    "late": (late, 24),
    "cyclic": (cyclic, 12),
    "bursty": (bursty, 16),
    "short": (short, 12),
    "drifting": (drifting, 20),
    "mixed": (mixed, 60),
    "templates": (templates, 10),
    "tiny": (tiny, 8),
}
"""How each is made, and the maximal length that it is published with."""


KEPT_ASIDE: dict[str, tuple[Callable, int]] = {
    "light firsts": (light_firsts, 6),
    "absorbing": (absorbing, 15),
    "seasonal": (seasonal, 18),
    "many": (many, 20),
}
"""Shapes on which nothing was tuned."""

UNBRANCHED: dict[str, tuple[Callable, int]] = {
    "pathways": (pathways, 8),
    "half pathways": (half_pathways, 8),
    "successors": (successors, 10),
    "rare ways": (rare_ways, 8),
    "small arm": (small_arm, 6),
}
"""Shapes of which many prefixes have one way on."""

FEW_LONG: dict[str, tuple[Callable, int]] = {
    "treated": (treated, 14),
    "rarely treated": (partial(treated, long=1 / 50), 14),
    "often treated": (partial(treated, long=3 / 20), 14),
    "looping": (looping, 14),
}
"""Shapes whose few long sequences have symbols of their own."""

SHORTEST: dict[str, tuple[Callable, int]] = {
    "single": (single, 6),
    "all single": (partial(single, alone=1.0, alphabet=20), 4),
}
"""Shapes of which nearly all end after their first symbol, of many."""

UNEVEN_ARMS: dict[str, tuple[Callable, int]] = {
    "parted": (parted, 4),
    "one way": (one_way, 4),
}
"""Shapes of which one value of the split has far fewer units on a way than others."""

MANY_ARMS: dict[str, tuple[Callable, int]] = {
    "ten arms": (partial(same_ways, arms=10), 4),
    "twenty arms": (partial(same_ways, arms=20), 4),
    "own ways": (own_ways, 6),
}
"""Shapes of which a path of all values of the split is the sum of many nodes."""

FEW_GO_ON: dict[str, tuple[Callable, int]] = {
    "long arm": (long_arm, 6),
    "few others": (few_others, 6),
}
"""Shapes of which few go on where most end: a chain of all takes them for ended."""

_SPLIT = UNEVEN_ARMS | MANY_ARMS | FEW_GO_ON

_EVERY = SHAPES | KEPT_ASIDE | WIDE | UNBRANCHED | FEW_LONG | SHORTEST | _SPLIT


def made(shape, units, seed=1):
    """Return a log of a shape, and its maximal length."""
    make, most = _EVERY[shape]
    number = list(_EVERY).index(shape)
    return make(units, np.random.default_rng([seed, number])), most
