"""One question answered from each output, and the attack that breaks all but one.

Run: ``python -m benchmarks.anonymization.one_question [--patients N] [--games N]``.
Prints Markdown. Patients are made up: age, sex, ward, and whether they have a rare
infection (6 in 100). The question: how many women of 60 and over have it?

The attack is that of whoever knows everybody but one: the infections of all other
patients, and of the last one only that he has it or has it not, as likely as not. Each
game draws a patient and his infection anew, publishes, and lets the attacker guess
from what is published: the class of the patient less those who are known, or the noisy
count less those. Under epsilon nobody guesses right more often than
e^epsilon / (1 + e^epsilon).
"""

import argparse
import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from mechanisms.samplers.vectors import OsVectorSampler
from mechanisms.scales.half_widths import half_width
from server.use_cases.anonymization.intersection import Members, intersection_of
from upstream.anonymization.columns.tables import AnonymizedTable
from upstream.anonymization.copies.given import (
    GivenTable,
    Method,
    given_table,
    made_table,
)
from upstream.anonymization.copies.measuring import measures_of
from upstream.anonymization.declared.columns import Category, Number
from upstream.anonymization.declared.principles import SensitiveSpec

K = 10
EPSILON = Fraction(1, 10)
OLD = 60
_RARE = 0.06
_NOISY = 100  # games of noise for one of classes: they take no time
_SEED = 18
_SPECS = {
    "age": Number(kind="number", widths=(10, 20, 40)),
    "sex": Category(kind="category"),
    "ward": Category(kind="category"),
}


@dataclass(frozen=True)
class People:
    """Made-up patients; all by patient."""

    age: np.ndarray
    sex: np.ndarray
    ward: np.ndarray
    has: np.ndarray

    @property
    def asked(self) -> np.ndarray:
        """Return whom the question means, infected or not."""
        return (self.age >= OLD) & (self.sex == "F")

    def table(self, columns: tuple[str, ...], method: Method, least: int) -> GivenTable:
        """Return them as a table; each class is to have so many values of ``has``."""
        values = {name: [str(v) for v in getattr(self, name)] for name in columns}
        values["has"] = ["yes" if one else "no" for one in self.has]
        specs = {name: _SPECS[name] for name in columns}
        asked = {"has": SensitiveSpec(distinct=least if least > 1 else None)}
        return given_table(values, (specs, asked), None, (method, None))


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--patients", type=int, default=5_000)
    parser.add_argument("--games", type=int, default=2_000)
    asked = parser.parse_args()
    random = np.random.default_rng(_SEED)
    people = drawn(asked.patients, random)
    print(
        f"{asked.patients:,} made-up patients; the true answer is {true_of(people)}.\n"
    )
    print(
        "| published | answer | a class shows one value | guessed of one whose others "
        "are all known |\n|---|---:|---:|---:|"
    )
    for name, columns, method, least in (
        ("k-anonymous, Mondrian", ("age", "sex", "ward"), Method(), 1),
        ("the same, 2 values a class", ("age", "sex", "ward"), Method(), 2),
        (
            "k-anonymous, Incognito",
            ("age", "sex", "ward"),
            Method("incognito", suppression=Fraction(5, 100)),
            1,
        ),
    ):
        given = people.table(columns, method, least)
        table = made_table(given, K, method).table
        shown = measures_of(given, table, K).homogeneous["has"]
        won = class_games(people, table, asked.games, random)
        answer = expected_answer(people, table)
        print(f"| {name}, k = {K} | {answer:.0f} | {shown:.0%} | {won:.1%} |")
    for name, cells in (("a question", 1), ("a cube of 4 cells", 2)):
        answer, width = noisy_answer(people, cells)
        won = noisy_games(_NOISY * asked.games)
        line = f"| {name}, epsilon {float(EPSILON):g} | {answer} ± {width} | none | "
        print(f"{line}{won:.1%} |")
    bound = 1 / (1 + math.exp(-float(EPSILON)))
    print(f"\nNobody guesses right more often than {bound:.1%} under this epsilon.")
    print_two_copies(people)


def drawn(count: int, random: np.random.Generator) -> People:
    """Return made-up patients."""
    return People(
        np.clip(random.normal(55, 18, count), 0, 99).astype(int),
        random.choice(["F", "M"], count),
        random.choice([f"ward {n:02}" for n in range(12)], count),
        random.random(count) < _RARE,
    )


def true_of(people: People) -> int:
    """Return the true answer."""
    return int((people.asked & people.has).sum())


def expected_answer(people: People, table: AnonymizedTable) -> float:
    """Return the answer from a table; values are as likely anywhere in a range."""
    total = 0.0
    shown = np.flatnonzero(table.is_published)
    places = {name: at for at, name in enumerate(table.columns)}
    for row in shown[people.has[shown]]:
        held = table.classes[row]
        low, high = (
            float(ends[places["age"], held]) for ends in (table.lower, table.upper)
        )
        years = np.arange(low, high + 1) if np.isfinite(low) else np.arange(100)
        sex = table.texts[places["sex"]][held] or ""
        share = 1.0 if sex == "F" else 0.0 if sex == "M" else 0.5
        total += share * float((years >= OLD).mean())
    return total


def class_games(
    people: People,
    table: AnonymizedTable,
    games: int,
    random: np.random.Generator,
) -> float:
    """Return how often the last patient's infection is read off his class.

    Classes are made of quasi-identifiers, which the attacker knows; of each the table
    publishes how many have the infection.
    """
    shown = np.flatnonzero(table.is_published)
    right = 0
    for row in random.choice(shown, games):
        has = people.has.copy()
        has[row] = random.random() < 0.5
        of_class = shown[table.classes[shown] == table.classes[row]]
        published = int(has[of_class].sum())
        known = int(has[of_class[of_class != row]].sum())
        right += (published > known) == has[row]
    return right / games


def noisy_answer(people: People, cells: int) -> tuple[int, int]:
    """Return an answer with noise, and its 95 % half-width."""
    scale = 1 / EPSILON
    noise = OsVectorSampler().discrete_laplace(cells, scale)
    width = half_width(float(scale) * math.sqrt(cells), Fraction(95, 100))
    return true_of(people) + int(noise.sum()), width


def noisy_games(games: int) -> float:
    """Return how often the last patient's infection is guessed from a noisy count."""
    noise = OsVectorSampler().discrete_laplace(games, 1 / EPSILON)
    has = np.random.default_rng(_SEED).random(games) < 0.5
    return float(((noise + has > 0) == has).mean())


def print_two_copies(people: People) -> None:
    """Print what two k-anonymous copies of the same patients tell together."""
    both = []
    for columns in (("age", "sex"), ("age", "ward")):
        given = people.table(columns, Method(), 1)
        table = made_table(given, K, Method()).table
        both.append(Members(np.arange(len(people.age), dtype=np.uint64), table.classes))
    found = intersection_of(*both)
    print(
        f"\nTwo copies with k = {K} each, one by age and sex, one by age and ward: "
        f"as few as {found.fewest_together} of {found.patients_in_both:,} patients fit "
        f"what both say of one, and who is matched at random is found with probability "
        f"{found.average_risk:.2f} (at most {1 / K:.2f} in each alone)."
    )


if __name__ == "__main__":
    main()
