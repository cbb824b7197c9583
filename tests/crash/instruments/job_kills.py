"""Workers that die, or jobs that are cancelled, at random points of a load."""

import random
import time
from dataclasses import dataclass, field

from tests.crash.instruments.job_submitter import JobSubmitter


@dataclass
class JobFindings:
    """What all rounds together showed; ``wrong`` must stay empty."""

    rounds: int = 0
    retried: int = 0
    states: dict = field(default_factory=dict)
    wrong: list = field(default_factory=list)

    def note(self, seen):
        self.rounds += 1
        self.retried += seen["attempts"] > 1
        self.states[seen["state"]] = self.states.get(seen["state"], 0) + 1


def run_job_kills(
    nursery, installation, count, *, seed=None, submitter_type=JobSubmitter
):
    """Kill the worker ``count`` times, each time at a random point of a job."""
    dice, findings = random.Random(seed), JobFindings()
    submitter = submitter_type(nursery, installation)
    worker = submitter.worker()
    jobs, seconds = [], _calm_seconds(submitter)
    for _ in range(count):
        jobs.append(submitter.submit())
        time.sleep(dice.uniform(0, seconds))
        worker.kill()
        worker = submitter.worker()
        seen, _ = submitter.wait(jobs[-1])
        findings.note(seen)
    worker.ask_to_end()
    findings.wrong += submitter.problems(jobs)
    return findings


def run_job_cancels(
    nursery, installation, count, *, seed=None, submitter_type=JobSubmitter
):
    """Cancel ``count`` jobs, each at a random point."""
    dice, findings = random.Random(seed), JobFindings()
    submitter = submitter_type(nursery, installation)
    worker = submitter.worker()
    jobs, seconds = [], _calm_seconds(submitter)
    for _ in range(count):
        jobs.append(submitter.submit())
        time.sleep(dice.uniform(0, seconds))
        submitter.cancel(jobs[-1])
        seen, _ = submitter.wait(jobs[-1])
        findings.note(seen)
    worker.ask_to_end()
    findings.wrong += submitter.problems(jobs)
    return findings


def _calm_seconds(submitter):
    """Return the seconds from a job's submission to its end, and a bit."""
    submitter.wait(submitter.submit())  # warm from here on
    start = time.monotonic()
    submitter.wait(submitter.submit())
    return (time.monotonic() - start) * 1.2
