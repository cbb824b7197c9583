"""What a release was paid, as it is told: in its measure, and as an epsilon."""

from collections.abc import Mapping

from privacy.losses import Loss
from privacy.measures import Measure
from server.use_cases.losses.amounts import Priced, priced, told


def paid_for(spec: Mapping[str, object], measure: Measure) -> Priced:
    """Return a release's loss as replies hold it.

    Args:
        spec: As it is stored. Releases that were paid in epsilon where rho is counted,
            by earlier versions, tell that epsilon, which they are pure for.
        measure: Of its population.
    """
    if "rho" not in spec:
        return {"epsilon": str(spec["epsilon"])}
    return priced(measure, Loss.parse(str(spec["rho"])))


def paid_in_words(spec: Mapping[str, object], measure: Measure) -> str:
    """Say a release's loss in words; where it is an epsilon, its number alone."""
    if "rho" not in spec:
        return str(spec["epsilon"])
    return told(measure, Loss.parse(str(spec["rho"])))
