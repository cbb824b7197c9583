"""A meter that answers one cube with the noisy values that another one drew."""

from mechanisms.measuring.meter import Meter
from privacy.charges import Charge
from tests.support.noise.meters import SeededSampler


class KeepingMeter(Meter):
    """Keeps what it answered, part by part, and what it was handed."""

    def __init__(self, loss, parts, seed=0):
        self.charge = Charge("test", loss)
        self.parts = parts
        self.answers, self.seen = {}, []
        super().__init__(self.charge, parts, SeededSampler(seed))

    def counts(self, part, sealed, l1, *, l2_squared=None):
        self.seen.append((part, sealed.unseal().copy(), l1))
        self.answers[part] = super().counts(part, sealed, l1, l2_squared=l2_squared)
        return self.answers[part]

    def biased_tests(self, part, fanout, l1):
        tests = super().biased_tests(part, fanout, l1)
        self.answers[part] = []
        return TestsKept(tests, self.answers[part])


class ReplayMeter(KeepingMeter):
    """Answers from a record, whatever the exact vectors that it is handed."""

    def __init__(self, record):
        super().__init__(record.charge.loss, record.parts)
        self.record = record

    def counts(self, part, sealed, l1, *, l2_squared=None):
        super().counts(part, sealed, l1, l2_squared=l2_squared)
        return self.record.answers[part]

    def biased_tests(self, part, fanout, l1):
        Meter.biased_tests(self, part, fanout, l1)
        return TestsReplayed(list(self.record.answers[part]))


class TestsKept:
    """PrivTree's tests, whose answers are kept."""

    __test__ = False

    def __init__(self, tests, kept):
        self.tests, self.kept = tests, kept

    def cuts(self, sealed, depths):
        self.kept.append(self.tests.cuts(sealed, depths))
        return self.kept[-1]


class TestsReplayed:
    """PrivTree's tests as they went before."""

    __test__ = False

    def __init__(self, answers):
        self.answers = answers

    def cuts(self, sealed, depths):
        return self.answers.pop(0)
