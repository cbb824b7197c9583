"""One release, many coins: each decides whether a unit is there, alone in its cell.

Of a release that loses at most B, any guesser is right with probability at most
e^B / (1 + e^B) a coin, and the number of right guesses is at most binomial, whatever
the strategy does (Steinke, Nasr and Jagielski 2023, for pure epsilon).
"""

import secrets

import numpy as np

from tests.audit.subjects.releases import measure
from tests.support.noise.meters import cube_of

BUDGET = 1
COINS = 2_000
FEW = {"pthb": 500, "dawa": 400, "auto": 400}
PLANES = ("agrid", "privtree", "dawa", "auto")
STEP = 400  # rows by which neighbouring cells differ, so that none are merged


def play(strategy, sampler=None):
    """Toss, publish once, guess each coin; return the right guesses, and all."""
    shape = _shape(strategy)
    coins = np.array([secrets.randbits(1) for _ in range(np.prod(shape))])
    known = STEP * (np.arange(len(coins)) * 7 % 11)
    if strategy == "sparse_cells":
        known[:] = 0  # all are hidden among sampled cells
    cube = cube_of((known + coins).reshape(shape))
    parameters = {"false_cells": 10**6} if strategy == "sparse_cells" else {}
    model = measure(strategy, cube, str(BUDGET), parameters, sampler)
    guesses = model.estimates() - known > 0.5
    return int((guesses == coins).sum()), len(coins)


def _shape(strategy):
    coins = FEW.get(strategy, COINS)
    side = round(coins**0.5)
    return (side, side) if strategy in PLANES else (coins,)
