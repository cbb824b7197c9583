"""What finer noise takes beside fresh noise: ``python -m benchmarks.noise.refining``.

Prints microseconds a number for fresh discrete Laplace noise and for noise that goes on
from noise shown before, by how many numbers are drawn at once and by how much finer it
is. Of the processor, not of the clock: other work beside it changes little.
"""

import time
from collections.abc import Callable
from fractions import Fraction

from mechanisms.samplers.geometric_numbers import make_tables
from mechanisms.samplers.queries import QuerySampler

SIZES = (1, 100, 10_000)
GAINS = (Fraction(21, 20), Fraction(11, 10), Fraction(2), Fraction(10))
SCALE = 1_000.0
ROUNDS = 20


def microseconds(draw: Callable[[], object], size: int) -> float:
    """Return what one number takes, by the best of some rounds."""
    found = []
    for _ in range(ROUNDS):
        begun = time.process_time()
        draw()
        found.append(time.process_time() - begun)
    return min(found) / size * 1e6


def main() -> None:
    """Print the table."""
    make_tables()
    sampler = QuerySampler()
    names = ["fresh", *(f"{float(gain):g} times finer" for gain in GAINS)]
    print("| numbers | " + " | ".join(names) + " |")
    print("|---" * (len(names) + 1) + "|")
    for size in SIZES:
        values = [0] * size
        shown = sampler.discrete_laplace(values, SCALE)
        took = [microseconds(lambda: sampler.discrete_laplace(values, SCALE), size)]  # noqa: B023 - called at once
        for gain in GAINS:
            fine = SCALE / float(gain) * (1 - 1e-12)

            def draw(fine: float = fine) -> list[int]:
                return sampler.refined_laplace(values, shown, SCALE, fine)  # noqa: B023 - called at once

            took.append(microseconds(draw, size))
        print(f"| {size} | " + " | ".join(f"{each:.1f}" for each in took) + " |")


if __name__ == "__main__":
    main()
