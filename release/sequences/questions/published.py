"""A published release of sequences as its readers know it: public facts alone."""

from dataclasses import dataclass

from query_lang.plans.compiled import QueryWarning
from release.contract.sequence_domain import SequenceDomain


@dataclass(frozen=True, slots=True)
class PublishedSequences:
    """What a question to a release of sequences needs.

    Attributes:
        id: Of the release.
        name: As FROM names it; ``release`` does, too.
        domain: The symbols, the maximal length, the split.
        unit: The population's word for its privacy unit.
        strategy: As the manifest names it.
        epsilon: That was paid, as text; or that the rho that was paid amounts to.
        rho: That was paid, where losses are rho.
        warnings: Of what was counted, such as rows that bounds left out.
    """

    id: str
    name: str
    domain: SequenceDomain
    unit: str
    strategy: str = "prefix_tree"
    epsilon: str = "0"
    rho: str | None = None
    warnings: tuple[QueryWarning, ...] = ()

    @property
    def paid(self) -> str:
        """What was paid, in words."""
        return f"epsilon {self.epsilon}" if self.rho is None else f"rho {self.rho}"
