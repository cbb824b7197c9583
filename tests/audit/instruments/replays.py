"""Meters that keep what mechanisms returned, and that return it again."""

import numpy as np

from mechanisms.measuring.meter import Meter
from mechanisms.samplers.vectors import OsVectorSampler

METHODS = ("counts", "sparse_counts", "choose", "interval_costs", "biased_tests")

SPARSE = {"sparse_counts", "level"}
"""What keeps as many cells as noise lets it."""


class KeepingMeter(Meter):
    """Draws noise, and keeps what each mechanism returned, in order."""

    def __init__(self, charge, parts, sampler=None):
        super().__init__(charge, parts, sampler or OsVectorSampler())
        self.kept = []

    def _keep(self, method, part, returned):
        self.kept.append((method, part, returned))
        return returned

    def counts(self, part, sealed, l1, *, l2_squared=None):
        noisy = super().counts(part, sealed, l1, l2_squared=l2_squared)
        return self._keep("counts", part, noisy)

    def sparse_counts(self, part, *arguments, **more):
        noisy = super().sparse_counts(part, *arguments, **more)
        return self._keep("sparse_counts", part, noisy)

    def choose(self, part, *arguments):
        return self._keep("choose", part, super().choose(part, *arguments))

    def interval_costs(self, part, *arguments):
        noisy = super().interval_costs(part, *arguments)
        return self._keep("interval_costs", part, noisy)

    def biased_tests(self, part, fanout, l1):
        tests = super().biased_tests(part, fanout, l1)
        return _Tests(tests, lambda cuts: self._keep("cuts", part, cuts))

    def path_budget(self, part, l1):
        budget = super().path_budget(part, l1)
        return _Paths(budget, lambda level: self._keep("level", part, level))


class ReplayingMeter(KeepingMeter):
    """Returns what was kept, whatever the raw counts are, and checks who asks."""

    def __init__(self, charge, parts, kept):
        super().__init__(charge, parts)
        self.left_over = list(kept)

    def _keep(self, method, part, returned):
        known, of_part, replayed = self.left_over.pop(0)
        assert (known, of_part) == (method, part)
        assert _size(replayed) == _size(returned) or method in SPARSE
        return replayed


class _Paths:
    def __init__(self, budget, keep):
        self._budget, self._keep = budget, keep

    @property
    def left(self):
        return self._budget.left

    def measure(self, sealed, rule):
        after = self._budget._after(rule)
        level = self._keep(self._budget.measure(sealed, rule))
        self._budget._left = after[level.cells // rule.fanout]
        return level


class _Tests:
    def __init__(self, tests, keep):
        self._tests, self._keep = tests, keep
        self.delta, self.scale = tests.delta, tests.scale

    def cuts(self, sealed_counts, depths):
        return self._keep(self._tests.cuts(sealed_counts, depths))


def _size(returned):
    return np.shape(getattr(returned, "values", returned))
