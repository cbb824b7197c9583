"""What the gate leaves to the audits: repetitions of what is random, cases, databases.

The gate has a sample of every kind of check; ``make audit-long`` has all of each.
"""

import os
import random

import pytest

IS_LONG = os.environ.get("CURATOR_LONG") == "1"
"""Whether ``make audit-long`` runs."""

_SEED = 14


def rounds(number, gate=None):
    """Return ``number`` in the long audits, ``gate`` of it in the gate, or a quarter.

    For repetitions whose number no bound rests on: a smaller one finds less, and never
    finds anything wrongly.
    """
    return number if IS_LONG else gate or number // 4


def gate_first(number, cases):
    """Return cases for ``parametrize``: all but the first ``number`` are ``long``."""
    cases = list(cases)
    return [*cases[:number], *map(in_the_audits, cases[number:])]


def gate_sample(number, cases):
    """Return cases for ``parametrize``: all but ``number`` of them are ``long``.

    Which ones is drawn by a fixed seed.
    """
    cases = list(cases)
    kept = random.Random(_SEED).sample(range(len(cases)), number)
    return [
        case if place in kept else in_the_audits(case)
        for place, case in enumerate(cases)
    ]


def in_the_audits(case):
    """Return a case for ``parametrize`` that is ``long``."""
    values = case if isinstance(case, tuple) else (case,)
    return pytest.param(*values, marks=pytest.mark.long)
