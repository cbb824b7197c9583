"""How many useful answers a cap buys: a thousand questions of ten study groups.

Run: ``python -m benchmarks.economy [--questions 1000] [--caps 1 3 10]``.
The records of ``../shared/data/diabetes130`` (``--data`` names another folder) are
loaded and served; drivers ask by HTTP, under pure caps and under the rho caps that
amount to the same epsilon at delta 0.000001. Prints, as Markdown, how many answers each
driver had that were useful (``usefulness.py`` says when), and what became of the
others; then the same by kind of question.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.economy import smartnoise
from benchmarks.economy.drivers import Driver, defaults, even
from benchmarks.economy.hospital import Cap, Hospital
from benchmarks.economy.questions import Kind, Question
from benchmarks.economy.releases import cube
from benchmarks.economy.runs import Account, Fate, account, run
from benchmarks.economy.tables import SOURCE, opened
from benchmarks.economy.usefulness import Truth, truths
from benchmarks.economy.workload import SEED, workload

DRIVERS: Final[Mapping[str, tuple[Driver, bool]]] = {
    "even": (even, False),
    "defaults": (defaults, False),
    "cube first": (defaults, True),
}
"""How each asks, and whether a cube is published first."""

SHARED: Final = Path(__file__).resolve().parents[3] / "shared" / "data"


@dataclass(frozen=True, slots=True)
class Line:
    """One driver under one cap."""

    cap: Cap
    driver: str
    account: Account


def main() -> None:
    """Run what is wanted, and print it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--questions", type=int, default=1_000)
    parser.add_argument("--caps", type=int, nargs="+", default=[1, 3, 10])
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--data", type=Path, default=SHARED)
    parser.add_argument("--words", nargs="+", default=["epsilon", "rho"])
    names = [*DRIVERS, "smartnoise"]
    parser.add_argument("--drivers", nargs="+", choices=names, default=names)
    told = parser.parse_args()
    if not (told.data / SOURCE).exists():
        sys.exit(f"no records at {told.data / SOURCE}: give --data")
    questions = workload(told.questions, told.seed)
    with tempfile.TemporaryDirectory(prefix="curator-economy-") as folder:
        show(questions, list(lines(Path(folder), told, questions)))


def lines(
    folder: Path, told: argparse.Namespace, questions: Sequence[Question]
) -> Iterator[Line]:
    """Run each driver under each cap."""
    for word in told.words:
        hospital = Hospital(folder / word, told.data, word)
        known = truths(opened(folder / word), questions)
        for cap in [Cap(epsilon, word) for epsilon in told.caps]:
            for name in told.drivers:
                yield from _line(hospital, cap, name, questions, known)


def _line(
    hospital: Hospital,
    cap: Cap,
    name: str,
    questions: Sequence[Question],
    known: Mapping[int, Truth],
) -> Iterator[Line]:
    print(f"{cap}, {name} ...", file=sys.stderr, flush=True)
    if name in DRIVERS:
        driver, is_published = DRIVERS[name]
        release = cube(cap) if is_published else None
        done = run(hospital, cap, questions, driver, release)
        yield Line(cap, name, account(done, cap, questions, known))
    elif cap.measure.is_pure:
        yield Line(cap, name, smartnoise.priced(cap.epsilon, questions, known))


def show(questions: Sequence[Question], found: Sequence[Line]) -> None:
    """Print both tables."""
    fit = found[0].account.number()
    print(f"{len(questions)} questions, {fit} of them not too small for anybody\n")
    print(
        "| cap | driver | useful | of them free | too noisy | refused | spent |"
        " on the noisy |"
    )
    print("|---" * 8 + "|")
    for line in found:
        number = line.account.number
        print(
            f"| {line.cap} | {line.driver} | {number(Fate.USEFUL)} |"
            f" {number(Fate.USEFUL, free=True)} | {number(Fate.NOISY)} |"
            f" {number(Fate.REFUSED)} | {line.account.spent:.0%} |"
            f" {line.account.on_noisy:.0%} |"
        )
    print(f"\n| cap | driver | {' | '.join(Kind)} | outside |")
    print("|---" * (len(Kind) + 3) + "|")
    for line in found:
        print(f"| {line.cap} | {line.driver} | {_by_kind(line.account)} |")


def _by_kind(done: Account) -> str:
    kinds = [
        f"{done.number(Fate.USEFUL, kind)}/{done.number(None, kind)}" for kind in Kind
    ]
    missed = "-" if done.outside is None else f"{done.outside:.1%}"
    return " | ".join([*kinds, missed])


if __name__ == "__main__":
    main()
