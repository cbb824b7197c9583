"""Raw sequences under seal, and the exact sums that strategies measure."""

from privacy.sealed import Exact
from privacy.sequences import SequenceCounts
from release.sequences.domain import SequenceDomain


class SealedSequences:
    """Gives sums over raw sequences for public or noisy choices, each under seal.

    Every method is a function of the public domain and of its own arguments; what it
    returns is opened by a mechanism alone.
    """

    def __init__(self, domain: SequenceDomain, raw: Exact[SequenceCounts]) -> None:
        self.domain = domain
        self._raw = raw
