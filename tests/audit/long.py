"""The long audits: ``python -m tests.audit.long`` (``make audit-long``).

Prints progress, ends with a table, and exits with 1 where anything failed. With
``--share 0.02`` all counts shrink: a rehearsal, whose verdicts on too much noise and
on times mean nothing and are not judged.
"""

import argparse
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from release.cubes.strategies.registry import STRATEGIES
from tests.audit.instruments.arms import Arms, make_arms
from tests.audit.instruments.bounds import (
    NOISE_ALPHA,
    REPORT_ALPHA,
    VERDICT_ALPHA,
    game_bound,
    game_p_value,
    noise_p_value,
    probability_of_bound_above,
)
from tests.audit.instruments.concentrated import least_bound, rho_lower_bound
from tests.audit.instruments.game import play
from tests.audit.instruments.timing import (
    HEAVY_PERMITS,
    HEAVY_QUESTION,
    HEAVY_SLOT_MS,
    area,
    noise_correlation,
    threshold_bound,
    time_arms,
)
from tests.audit.subjects import (
    canaries,
    cohorts,
    releases,
    rho_suites,
    structures,
    suites,
)
from tests.audit.subjects.sequence_plans import audit_sequences
from tests.property.long import run as run_plans
from tests.support.noise.samplers import ScaledSampler, ZeroSampler

SINGLE_SAMPLES = 20_000  # an arm
VECTOR_SAMPLES = 20_000
SMALL_SAMPLES = 60_000
RHO_SAMPLES = 400_000
CONTROL_SAMPLES = 10_000
PAIRS, PLANS = 200, 100  # of neighbouring files, and questions of each
TIMED = 2_000
REACH = 0.045  # of the area: beyond it by chance once in a million, at TIMED an arm
CORRELATION = 0.11  # of A4, likewise
UNITS = 20_000  # an arm, of releases
STRUCTURED = 4_000  # releases an arm
COINED = 10  # releases of canaries, each held to its bound
GAMES = 500
BUDGETS = (0.5, 1, 2)
TABLES = (suites.ONE, suites.STACKED, suites.SPREAD, suites.CLONED)


@dataclass
class Session:
    """What was asked for, and what was found so far."""

    folder: Path
    share: float
    lines: list[tuple[bool, str]] = field(default_factory=list)
    arms: Arms | None = None
    begun: float = field(default_factory=time.monotonic)

    @property
    def whole(self):
        return self.share >= 1

    def count(self, samples, least=20):
        return max(least, round(samples * self.share))

    def say(self, text):
        print(f"[{time.monotonic() - self.begun:6.0f} s] {text}", flush=True)

    def judge(self, good, text):
        self.lines.append((good, text))
        self.say(f"{'pass' if good else 'FAIL'}  {text}")

    def every_pair(self, text):
        """Speak of the pairs of files that have been asked."""
        if text.split(":")[0].endswith("0"):
            self.say(text)

    def every(self, step, text):
        """Return a progress function that speaks every so many rounds."""

        def tell(number):
            if number % step == 0:
                self.say(f"{text}: {number}")

        return tell


def audit_counts(session, arms):
    """Single numbers, grouped ones, clones, small losses."""
    plans = [
        *((suite, SINGLE_SAMPLES) for suite in suites.SINGLE_SUITES),
        *((suite, VECTOR_SAMPLES) for suite in suites.VECTOR_SUITES),
        *((suite, VECTOR_SAMPLES) for suite in suites.CLONED_SUITES),
        *((suite, SMALL_SAMPLES) for suite in suites.SMALL_SUITES),
    ]
    exact = exact_answers(arms, [suite for suite, _ in plans])
    with arms.served() as urls:
        for suite, samples in plans:
            session.say(f"{suite.name}: asking")
            answers = suite.answers_for(session.count(samples))
            bodies = arms.ask(urls, suite.question, answers)
            judge_suite(session, suite, exact[suite.name], bodies)


def audit_rho(session):
    """Grouped counts of a population that counts rho; then half noise."""
    arms = make_arms(session.folder / "rho", rho_suites.RHO_TABLES)
    exact = exact_answers(arms, rho_suites.RHO_SUITES)
    for sampler, samples in ((None, RHO_SAMPLES), (_half_noise, CONTROL_SAMPLES)):
        with arms.served(sampler) as urls:
            for suite in rho_suites.RHO_SUITES:
                session.say(f"{suite.name}: asking")
                answers = suite.answers_for(session.count(samples, 2_000))
                bodies = arms.ask(urls, suite.question, answers)
                statistics = suite.statistics(exact[suite.name][1], bodies)
                judge_rho(session, suite, statistics, is_halved=sampler is not None)


def _half_noise():
    return ScaledSampler(0.5)


def judge_rho(session, suite, statistics, *, is_halved):
    """At most the claim and at least 0.7 of it; half the noise above the claim."""
    bound, samples = rho_lower_bound(*statistics, VERDICT_ALPHA), len(statistics[0])
    floor = suites.LEAST * suite.claim
    shows = least_bound(suite.claim, samples, VERDICT_ALPHA) >= floor
    kept = bound <= suite.claim and (bound >= floor or not shows)
    caught = bound > suite.claim or not session.whole
    session.judge(
        caught if is_halved else kept,
        f"{'noise x 0.5 caught: ' if is_halved else ''}{suite.name}: {samples:,} an "
        f"arm, rho {bound:.3f} of {suite.claim}"
        f"{'' if shows or is_halved else ' (too few samples for 0.7)'}",
    )


def exact_answers(arms, asked):
    """Return exact answers by a suite's name, present arm first."""
    with arms.served(ZeroSampler) as urls:
        return {
            suite.name: [bodies[0] for bodies in arms.ask(urls, suite.question, 1)]
            for suite in asked
        }


def judge_suite(session, suite, exact, bodies):
    """At most the claim; at least 0.7 of it where so many samples can show that."""
    hits = suite.hits(exact[0], *bodies)
    bound = hits.lower_bound(VERDICT_ALPHA)
    p_value = noise_p_value(suite.noise_of_arms(exact, bodies), noise_scale(suite))
    floor = suites.LEAST * suite.claim
    shows = 1 - probability_of_bound_above(suite.event(), hits.samples, floor) < 1e-6
    good = differ(suite, *exact) and bound <= suite.claim and p_value > NOISE_ALPHA
    session.judge(
        good and (bound >= floor or not shows),
        f"{suites.describe(suite, hits)}, noise p {p_value:.3g}"
        f"{'' if shows else ' (too few samples for 0.7)'}",
    )


def differ(suite, present, absent):
    """Whether exact answers differ by the shift, in every cell that is looked at."""
    blocks = zip(suite.blocks_of(present), suite.blocks_of(absent), strict=True)
    return all(
        one - other == suite.shift
        for block in blocks
        for one, other in zip(*block, strict=True)
    )


def noise_scale(suite):
    return suite.l1 / float(suite.epsilon)


def audit_controls(session, arms):
    """Noise of a wrong scale must be caught."""
    exact = exact_answers(arms, suites.VECTOR_SUITES)
    for factor in (0.5, 1.5):
        with arms.served(lambda factor=factor: ScaledSampler(factor)) as urls:
            for suite in suites.VECTOR_SUITES:
                answers = suite.answers_for(session.count(CONTROL_SAMPLES, 2_000))
                bodies = arms.ask(urls, suite.question, answers)
                hits = suite.hits(exact[suite.name][0], *bodies)
                bound = hits.lower_bound(VERDICT_ALPHA)
                low = bound < suites.LEAST * suite.claim
                caught = bound > suite.claim if factor < 1 else low
                session.judge(
                    caught, f"noise x {factor} caught: {suites.describe(suite, hits)}"
                )


def audit_games(session, arms):
    """Play at several budgets."""
    with arms.served() as urls:
        for budget in BUDGETS:
            rounds = session.count(GAMES)
            tell = session.every(100, f"game at {budget}")
            right = play(arms, urls, budget, rounds, tell)
            p_value = game_p_value(right, rounds, budget)
            session.judge(
                p_value > VERDICT_ALPHA,
                f"game: budget {budget}, {right} of {rounds} right, "
                f"bound {game_bound(budget):.3f}, p {p_value:.3g}",
            )


def audit_times(session):
    """A3 with the sending moment swept over a slot; A4 on the same answers."""
    arms = make_arms(session.folder / "heavy", [suites.HEAVY], HEAVY_PERMITS)
    session.say("A3: asking")
    with arms.served(slot_ms=HEAVY_SLOT_MS) as urls:
        times = time_arms(
            arms,
            urls,
            HEAVY_QUESTION,
            session.count(TIMED, 40),
            sweep_seconds=HEAVY_SLOT_MS / 1000,
            tell=session.every(100, "A3"),
        )
    judge_times(session, times)
    judge_noise_times(session, arms, times)
    with arms.served() as urls:
        times = time_arms(arms, urls, HEAVY_QUESTION, session.count(TIMED // 5, 40))
    session.say(f"(without slots the area is {area(times):.3f}; not judged)")


def judge_times(session, times):
    found, bound = area(times), threshold_bound(times, REPORT_ALPHA)
    session.judge(
        abs(found - 0.5) <= REACH or not session.whole,
        f"A3: {len(times[0].seconds)} an arm, slot {HEAVY_SLOT_MS} ms, "
        f"area {found:.3f}, LB99.9 of the best threshold {bound:.3f}",
    )


def judge_noise_times(session, arms, times):
    with arms.served(ZeroSampler) as urls:
        exact = [bodies[0]["rows"] for bodies in arms.ask(urls, HEAVY_QUESTION, 1)]
    for side, timed, rows in zip(("present", "absent"), times, exact, strict=True):
        found = noise_correlation(timed, [row[-1] for row in rows])
        session.judge(
            abs(found) < CORRELATION or not session.whole,
            f"A4: {side}, {len(timed.seconds)} answers, time and size of noise "
            f"correlate by {found:.3f}",
        )


def audit_cohorts(session):
    """Joins, roll-ups, windows, EXISTS, sums, averages, quantiles; then half noise."""
    arms = make_arms(session.folder / "cohorts", [cohorts.FULL])
    with arms.served() as urls:
        for suite in cohorts.SUITES:
            session.say(f"{suite.name}: asking")
            judge_cohort(session, suite, arms, urls, VECTOR_SAMPLES)
    with arms.served(lambda: ScaledSampler(0.5)) as urls:
        for suite in cohorts.SUITES:
            judge_cohort(session, suite, arms, urls, CONTROL_SAMPLES, must_fail=True)


def judge_cohort(session, suite, arms, urls, samples, *, must_fail=False):
    """At most the claim and at least 0.7 of it; half the noise above the claim."""
    answers = suite.answers_for(session.count(samples, 2_000))
    hits = suite.hits(*arms.ask(urls, suite.question, answers))
    bound = hits.lower_bound(VERDICT_ALPHA)
    floor = suites.LEAST * suite.claim
    shows = 1 - probability_of_bound_above(suite.event(), hits.samples, floor) < 1e-6
    kept = bound <= suite.claim and (bound >= floor or not shows)
    caught = bound > suite.claim or not session.whole
    session.judge(
        caught if must_fail else kept,
        f"{'noise x 0.5 caught: ' if must_fail else ''}{suites.describe(suite, hits)}",
    )


def audit_plans(session):
    """Random plans on neighbouring source files: no vector moves too far."""
    pairs = session.count(PAIRS, 2)
    try:
        counts = run_plans(range(pairs), PLANS, "long", session.every_pair)
    except AssertionError as error:
        session.judge(False, f"a plan moved too far: {error}")
        return
    session.judge(
        counts["moved"] > 0,
        f"plans: {counts['asked']} on {pairs} pairs of files, {counts['moved']} moved, "
        f"{counts['attained']} attained their sensitivity",
    )


def audit_releases(session):
    """Every strategy: its sums, their noise, half of it, its shape, its canaries."""
    for suite in releases.SUITES:
        session.say(f"{suite.name}: measuring")
        judge_release(session, suite.run(session.count(UNITS, 500)))
        faulty = suite.run(session.count(UNITS // 4, suite.faulty), factor="1/2")
        caught = faulty.bound() > suite.claim
        session.judge(caught, f"noise x 0.5 caught: {faulty}")
    for structure in structures.STRUCTURES:
        samples = session.count(STRUCTURED)
        bounds = structure.bounds(samples)
        said = structures.describe(structure, samples, bounds)
        session.judge(bounds.max() <= float(structures.EPSILON), said)
    for strategy in STRATEGIES:
        judge_canaries(session, strategy)


def judge_release(session, seen):
    """At most the claim, at least 0.7 of it if shown, and noise as published."""
    bound, floor = seen.bound(), suites.LEAST * seen.suite.claim
    missed = probability_of_bound_above(seen.event(), seen.hits.samples, floor)
    shows = 1 - missed < 1e-6
    problems = seen.noise_problems()
    good = bound <= seen.suite.claim and (bound >= floor or not shows) and not problems
    few = "" if shows else " (too few samples for 0.7)"
    session.judge(good, f"{seen}{few}{''.join(f'; {text}' for text in problems)}")


def judge_canaries(session, strategy):
    played = [canaries.play(strategy) for _ in range(session.count(COINED, 2))]
    right, coins = (sum(column) for column in zip(*played, strict=True))
    least = min(game_p_value(*one, canaries.BUDGET) for one in played)
    session.judge(
        least > VERDICT_ALPHA / len(played),
        f"canaries, {strategy}: {len(played)} releases, {right} of {coins} right, "
        f"bound {game_bound(canaries.BUDGET):.3f}, least p {least:.3g}",
    )


PARTS = {
    "counts": lambda session: with_counts(session, audit_counts),
    "controls": lambda session: with_counts(session, audit_controls),
    "rho": audit_rho,
    "cohorts": audit_cohorts,
    "plans": audit_plans,
    "releases": audit_releases,
    "sequences": audit_sequences,
    "games": lambda session: with_counts(session, audit_games),
    "times": audit_times,
}


def with_counts(session, audit):
    if session.arms is None:
        session.arms = make_arms(session.folder / "counts", TABLES)
    audit(session, session.arms)


def main():
    """Run all, or some, and print the table; return the exit code."""
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("--share", type=float, default=1.0, help="of all counts")
    reader.add_argument("--only", choices=PARTS, action="append", help="a part")
    asked = reader.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        session = Session(Path(folder), asked.share)
        for part in asked.only or PARTS:
            PARTS[part](session)
    return print_table(session)


def print_table(session):
    failed = sum(not good for good, _ in session.lines)
    print("\nresult  audit")
    for good, text in session.lines:
        print(f"{'pass' if good else 'FAIL':6}  {text}")
    print(f"\n{len(session.lines)} audits, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
