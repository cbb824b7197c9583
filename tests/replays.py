"""A meter that answers one cube with the noisy values that another one drew."""

from tests.meters import Noisy, PlainMeter


class RecordingMeter(PlainMeter):
    """Keeps what it answered, part by part."""

    def __post_init__(self):
        super().__post_init__()
        self.answers = {}

    def counts(self, part, sealed, l1):
        self.answers[part] = super().counts(part, sealed, l1)
        return self.answers[part]


class ReplayMeter(PlainMeter):
    """Answers from a record, and keeps the exact vectors that it was handed."""

    def __init__(self, record):
        super().__init__(record.parts)
        self.record = record

    def counts(self, part, sealed, l1):
        self.spend(part, l1)
        self.seen.append((part, sealed.unseal().copy(), l1))
        told = self.record.answers[part]
        return Noisy(told.values.copy(), told.scale)
