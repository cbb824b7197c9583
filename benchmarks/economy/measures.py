"""The tables of docs/measures.md: what a rho amounts to, and what shares of caps buy.

python -m benchmarks.economy.measures
"""

from fractions import Fraction

from mechanisms.scales.conversions.zcdp import epsilon_ceil
from mechanisms.scales.noises import noise_of_measure
from privacy.events import VectorSensitivity
from privacy.losses import NANO, Loss
from privacy.measures import PURE, zcdp

DELTA = Loss.parse("0.000001")
DELTAS = ("0.001", "0.000001", "0.000000001")
RHOS = ("0.02", "0.1", "0.2", "0.5", "1", "2")
CAPS = (1, 3, 10)
SHARES = (2, 10, 100, 1_000)
CONFIDENCE = Fraction(95, 100)


def rho_within(epsilon: int) -> Loss:
    """Return the greatest rho that amounts to at most an epsilon at ``DELTA``."""
    low, high = 0, 20 * NANO
    while high - low > 1:
        middle = (low + high) // 2
        within = epsilon_ceil(Loss(middle), DELTA.epsilon) <= Loss(epsilon * NANO)
        low, high = (middle, high) if within else (low, middle)
    return Loss(low)


def conversions() -> list[str]:
    """Return the rows of the first table."""
    rows = []
    for rho in RHOS:
        told = [epsilon_ceil(Loss.parse(rho), Loss.parse(d).epsilon) for d in DELTAS]
        shown = " | ".join(f"{float(loss.epsilon):.2f}" for loss in told)
        rows.append(f"| {rho} | {shown} |")
    return rows


def half_widths() -> list[str]:
    """Return the second table: Laplace and Gaussian, by caps and shares of them."""
    one = VectorSensitivity(Fraction(1), Fraction(1), Fraction(1))
    header = "| share of the cap | " + " | ".join(
        f"epsilon {cap} | rho {float(rho_within(cap).epsilon):.3f}" for cap in CAPS
    )
    rows = [header + " |", "|---" * (1 + 2 * len(CAPS)) + "|"]
    for share in SHARES:
        cells = []
        for cap in CAPS:
            for measure, whole in ((PURE, Loss(cap * NANO)), (_RHO, rho_within(cap))):
                noise = noise_of_measure(measure)
                scale = noise.scale(one, Loss(whole.nano_epsilon // share))
                cells.append(str(noise.half_width(scale, CONFIDENCE)))
        rows.append(f"| 1/{share} | " + " | ".join(cells) + " |")
    return rows


_RHO = zcdp(DELTA)

if __name__ == "__main__":
    print("\n".join([*conversions(), "", *half_widths()]))
