"""1,000 questions of ten study groups, drawn from a seed: the same ones each time.

Run: ``python -m benchmarks.economy.workload [--questions 1000] [--seed 1]`` prints
them. The groups take turns, as on the days of a year. What a group asks later often
comes from what was asked before: the same in other words (also what another group
asked), sums over its tables, complements and differences of its counts.
"""

import argparse
import random
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import product
from typing import Final

from benchmarks.economy.draws import Draws
from benchmarks.economy.groups import GROUPS, Group
from benchmarks.economy.questions import Clause, Condition, Kind, Meaning, Question
from benchmarks.economy.tables import LISTS, NUMBERS
from benchmarks.economy.wordings import WORDINGS, worded

SEED: Final = 1
SHARES: Final[Mapping[Kind, int]] = {
    Kind.COUNT: 30,
    Kind.TABLE: 13,
    Kind.COHORT: 11,
    Kind.REPEAT: 14,
    Kind.ROLL_UP: 11,
    Kind.COMPLEMENT: 8,
    Kind.DIFFERENCE: 6,
    Kind.RATE: 4,
    Kind.AVERAGE: 3,
}
"""Of a hundred questions of each group."""

_OF_ANOTHER: Final = 0.4  # of repeats: those of what another group asked


def workload(questions: int = 1_000, seed: int = SEED) -> list[Question]:
    """Return the questions of all groups in the order in which they are asked.

    Raises:
        ValueError: They are fewer than 10 of each group.
    """
    if questions < 10 * len(GROUPS):
        message = f"ask at least {10 * len(GROUPS)} questions, not {questions}"
        raise ValueError(message)
    drawn = Workload(seed)
    each = questions // len(GROUPS)
    decks = {group.name: drawn.deck(each) for group in GROUPS}
    for turn, group in product(range(each), GROUPS):
        drawn.ask(group, decks[group.name][turn])
    return drawn.asked


def shares_of(questions: int) -> dict[Kind, int]:
    """Return how many of so many questions of a group are of each kind."""
    counts = {kind: share * questions // 100 for kind, share in SHARES.items()}
    cut = sorted(SHARES, key=lambda kind: -(SHARES[kind] * questions % 100))
    for kind in cut[: questions - sum(counts.values())]:
        counts[kind] += 1
    return counts


class Workload:
    """Draws questions one after the other, each with those before it in mind."""

    def __init__(self, seed: int) -> None:
        self.asked: list[Question] = []
        self._random = random.Random(seed)
        draws = Draws(self._random)
        self._meanings: Mapping[Kind, Callable[[Group], Meaning]] = {
            Kind.COUNT: draws.count,
            Kind.TABLE: draws.table,
            Kind.COHORT: draws.cohort,
            Kind.ROLL_UP: self._roll_up,
            Kind.COMPLEMENT: self._complement,
            Kind.DIFFERENCE: self._difference,
            Kind.RATE: draws.rate,
            Kind.AVERAGE: draws.average,
        }

    def deck(self, questions: int) -> list[Kind]:
        """Return a group's kinds in its order: a table and a count, then all."""
        counts = shares_of(questions)
        opening = [Kind.TABLE, Kind.COUNT]
        rest = [
            kind
            for kind, count in counts.items()
            for _ in range(count - opening.count(kind))
        ]
        self._random.shuffle(rest)
        return [*opening, *rest][:questions]

    def ask(self, group: Group, kind: Kind) -> None:
        """Draw a group's next question of a kind."""
        if kind is Kind.REPEAT:
            meaning, sql = self._repeat(group)
        else:
            meaning = self._meanings[kind](group)
            sql = worded(meaning, self._random.randrange(WORDINGS))
        self.asked.append(Question(len(self.asked), group.name, kind, meaning, sql))

    def _own(self, group: Group, fits: Callable[[Meaning], bool]) -> Meaning:
        """Return a count of the group that fits, newer ones rather than older ones."""
        found = [
            each.meaning
            for each in self.asked
            if each.group == group.name
            and each.meaning.measure.is_count
            and each.meaning.cohort is None
            and fits(each.meaning)
        ]
        return self._random.choices(found, range(1, len(found) + 1))[0]

    def _repeat(self, group: Group) -> tuple[Meaning, str]:
        another = self._random.random() < _OF_ANOTHER
        found = [q for q in self.asked if (q.group == group.name) != another]
        chosen = self._random.choice(found)
        told = {q.sql for q in self.asked if q.meaning == chosen.meaning}
        texts = [worded(chosen.meaning, each) for each in range(WORDINGS)]
        fresh = [sql for sql in texts if sql not in told]
        return chosen.meaning, self._random.choice(fresh or texts)

    def _roll_up(self, group: Group) -> Meaning:
        """Return a table without one of its keys: all of it, or some of its values."""
        table = self._own(group, lambda meaning: bool(meaning.keys))
        key = self._random.choice(table.keys)
        keys = tuple(each for each in table.keys if each != key)
        if keys and self._random.random() < 0.5:
            return replace(table, keys=keys)
        some = Clause((self._some(key),))
        return replace(table, keys=keys, where=(*table.where, some))

    def _some(self, key: str) -> Condition:
        if key in NUMBERS:
            least, most = NUMBERS[key]
            return Condition(key, (self._random.randint(least + 1, most - 1), most))
        values = LISTS[key]
        many = self._random.randint(1, len(values) - 1)
        chosen = set(self._random.sample(values, many))
        return Condition(key, tuple(v for v in values if v in chosen))

    def _complement(self, group: Group) -> Meaning:
        """Return a count with one of its conditions turned round."""
        count = self._own(group, lambda meaning: bool(_free(group, meaning)))
        turned = self._random.choice(_free(group, count))
        where = tuple(
            replace(each, negated=True) if each is turned else each
            for each in count.where
        )
        return replace(count, where=where)

    def _difference(self, group: Group) -> Meaning:
        """Return those of a count's first condition who do not meet all the others."""
        count = self._own(group, lambda meaning: bool(_free(group, meaning)))
        free = _free(group, count)
        kept = [each for each in count.where if each not in free] + free[1:][:1]
        rest = tuple(c for each in free if each not in kept for c in each.conditions)
        return replace(count, where=(*kept, Clause(rest, negated=True)))


def _free(group: Group, meaning: Meaning) -> list[Clause]:
    """Return the clauses beside what the group is about, where nothing is grouped."""
    if meaning.keys:
        return []
    return [
        each for each in meaning.where if not each.negated and each not in group.about
    ]


def main() -> None:
    """Print the questions."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--questions", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=SEED)
    told = parser.parse_args()
    for question in workload(told.questions, told.seed):
        print(f"{question.group:12} {question.kind:10} {question.sql}")


if __name__ == "__main__":
    main()
