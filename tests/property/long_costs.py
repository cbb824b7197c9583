"""Two thousand costly plans on neighbouring snapshots, with their measured times.

Run: ``python -m tests.property.long_costs [--plans 2000]``. Prints how many plans were
refused, how long the rest took beside what is predicted, and how much longer with a
unit at every cap; exits 1 where one fails on a side or takes longer than predicted.
"""

import argparse
import random
import sys
import time

from tests.property.costly_plans import arms, costly, run
from tests.property.test_costs import GATE_PLANS

MARGIN = 2.0
NOISE_SECONDS, NOISE_SHARE = 0.02, 0.3
"""What a processor's clock and caches add to one run on a busy machine."""


def seconds(connection, statements, cost):
    """Return the end and the least processor time of two runs."""
    found = []
    for _ in range(2):
        start = time.process_time()
        end = run(connection, statements, cost)
        found.append(time.process_time() - start)
    return end, min(found)


def main():
    """Try plans, print, and exit."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--plans", type=int, default=2_000)
    plans = parser.parse_args().plans
    both, refused, wrong = arms(), 0, 0
    extra_ratio = time_ratio = 0.0
    for seed in range(GATE_PLANS, GATE_PLANS + plans):
        asked = costly(random.Random(seed))
        made = asked.compiled()
        if made is None:
            refused += 1
            continue
        cost, statements = made
        (end, full), (other, empty) = (seconds(each, statements, cost) for each in both)
        extra = max(0.0, full - empty * (1 + NOISE_SHARE) - NOISE_SECONDS)
        extra_ratio = max(extra_ratio, extra * 1e9 / max(1, cost.unit_steps))
        time_ratio = max(time_ratio, full * 1e9 / cost.steps)
        held = extra * 1e9 <= MARGIN * cost.unit_steps and full * 1e9 <= cost.steps
        if end != "answered" or other != "answered" or not held:
            wrong += 1
            print(f"seed {seed}: {end}, {other}, {full:.3f} s, {empty:.3f} s, {cost}")
            print(f"  {asked}"[:300], flush=True)
    print(
        f"{plans} plans: {refused} refused, {wrong} wrong; at most {time_ratio:.2f} of "
        f"the predicted time, {extra_ratio:.2f} of a unit's beyond the clock's noise"
    )
    sys.exit(int(wrong > 0))


if __name__ == "__main__":
    main()
