"""Many random plans on neighbouring source files, for ``make audit-long``.

    python -m tests.property.long [--pairs 400] [--questions 100] [--seed 0]

Pair n of a seed is drawn from Random(f"{seed} {n}"); ``--only n`` asks one again. Ends
at the first vector that moves too far, with its text and rows; exit code 1.
"""

import argparse
import random
import sys
from collections import Counter

from tests.property.plans import run_pair


def run(pairs, questions, seed, tell):
    """Ask of all pairs; return what was counted."""
    counts = Counter()
    for pair in pairs:
        counts += run_pair(random.Random(f"{seed} {pair}"), questions)
        tell(f"pair {pair}: {counts['asked']} asked, {counts['attained']} attained")
    return counts


def main():
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("--pairs", type=int, default=400)
    reader.add_argument("--questions", type=int, default=100, help="a pair")
    reader.add_argument("--seed", type=int, default=0)
    reader.add_argument("--only", type=int, help="this pair alone")
    asked = reader.parse_args()
    pairs = range(asked.pairs) if asked.only is None else [asked.only]
    try:
        counts = run(pairs, asked.questions, asked.seed, print)
    except AssertionError as error:
        print(f"FAIL\n{error}")
        return 1
    for name, count in sorted(counts.items()):
        print(f"{count:8d} {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
