"""Many random questions, for ``make audit-long``.

    python -m tests.semantics.long [--queries 50000] [--seed 0]

Question n of a seed is drawn from Random(f"{seed}:{n}"), so that one failing number can
be asked again with ``--only n``. Prints progress, then how often each construct was
answered; at the first failure the shrunk question, its rows and the two answers. Exit
code 1 on failure; ``--keep-going`` shows and counts every failure.
"""

import argparse
import random
import sys
import time
from collections import Counter

from tests.semantics import engine, hospital
from tests.semantics.grammar import constructs, random_question
from tests.semantics.test_fuzz import QUESTIONS_PER_DATABASE, report

PROGRESS = 1_000


def asked(seed, number, connection, loaded):
    """Ask question ``number``; return (outcome, question)."""
    block = number // QUESTIONS_PER_DATABASE
    if loaded.get("block") != block:
        tables = hospital.random_tables(random.Random(f"{seed}:tables:{block}"))
        engine.load(connection, tables)
        loaded.update(block=block, tables=tables)
    question = random_question(random.Random(f"{seed}:{number}"))
    try:
        outcome = engine.compare(connection, question, loaded["tables"])
    except Exception as error:  # noqa: BLE001 - any failure is reported
        print(f"\nquestion {number} of seed {seed}: {type(error).__name__}: {error}")
        print(report(question, loaded["tables"]))
        outcome = "failed"
    return outcome, question


def main(arguments):
    """Ask all questions, or one."""
    counts, loaded, started = Counter(), {}, time.monotonic()
    numbers = [arguments.only] if arguments.only is not None else None
    with engine.connect() as connection:
        for number in numbers or range(arguments.queries):
            outcome, question = asked(arguments.seed, number, connection, loaded)
            counts[outcome] += 1
            if outcome == "failed" and not arguments.keep_going:
                sys.exit(1)
            if outcome == "equal":
                counts.update(constructs(question.tree))
            if (number + 1) % PROGRESS == 0:
                pace = (number + 1) / (time.monotonic() - started)
                print(f"{number + 1} asked, {counts['refused']} refused, {pace:.0f}/s")
    failed = counts.pop("failed", 0)
    equal, refused = counts.pop("equal", 0), counts.pop("refused", 0)
    print(f"{equal} equal, {refused} refused by the compiler, {failed} failed")
    for name, count in sorted(counts.items()):
        print(f"{count:8d} {name}")
    sys.exit(int(failed > 0))


def parsed():
    parser = argparse.ArgumentParser(description="Compare compiler and evaluator.")
    parser.add_argument("--queries", type=int, default=50_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int, help="ask this question alone")
    parser.add_argument("--keep-going", action="store_true", help="show all failures")
    return parser.parse_args()


if __name__ == "__main__":
    main(parsed())
