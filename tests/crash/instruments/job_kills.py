"""Workers that die, or jobs that are cancelled, at random points of a load."""

import random
import time
from dataclasses import dataclass, field

from tests.crash.instruments.job_desk import JobDesk


@dataclass
class JobTally:
    """What all rounds together showed; ``wrong`` must stay empty."""

    rounds: int = 0
    retried: int = 0
    states: dict = field(default_factory=dict)
    wrong: list = field(default_factory=list)

    def note(self, seen):
        self.rounds += 1
        self.retried += seen["attempts"] > 1
        self.states[seen["state"]] = self.states.get(seen["state"], 0) + 1


def run_job_kills(nursery, installation, count, *, seed=None, desk_type=JobDesk):
    """Kill the worker ``count`` times, each time at a random point of a job."""
    dice, tally = random.Random(seed), JobTally()
    desk = desk_type(nursery, installation)
    worker = desk.worker()
    jobs, seconds = [], _calm_seconds(desk)
    for _ in range(count):
        jobs.append(desk.submit())
        time.sleep(dice.uniform(0, seconds))
        worker.kill()
        worker = desk.worker()
        seen, _ = desk.wait(jobs[-1])
        tally.note(seen)
    worker.ask_to_end()
    tally.wrong += desk.problems(jobs)
    return tally


def run_job_cancels(nursery, installation, count, *, seed=None, desk_type=JobDesk):
    """Cancel ``count`` jobs, each at a random point."""
    dice, tally = random.Random(seed), JobTally()
    desk = desk_type(nursery, installation)
    worker = desk.worker()
    jobs, seconds = [], _calm_seconds(desk)
    for _ in range(count):
        jobs.append(desk.submit())
        time.sleep(dice.uniform(0, seconds))
        desk.cancel(jobs[-1])
        seen, _ = desk.wait(jobs[-1])
        tally.note(seen)
    worker.ask_to_end()
    tally.wrong += desk.problems(jobs)
    return tally


def _calm_seconds(desk):
    """Return the seconds from a job's submission to its end, and a bit."""
    desk.wait(desk.submit())  # warm from here on
    start = time.monotonic()
    desk.wait(desk.submit())
    return (time.monotonic() - start) * 1.2
