"""Recovery in tests: by a clock of its own, executing at once."""

from server.use_cases.questions.recovery import Pace, Recovery


def execute_at_once(_compiled, execution):
    """Run what is queued here, now."""
    if execution is not None:
        execution()


def recovery_at_once(services, compiler, queries):
    """Return a recovery that shows what it took up at its next run."""
    pace = Pace(lambda _: 0.0, starting_seconds=0, count_late=lambda: None)
    return Recovery(services, compiler, queries, pace, execute_at_once)
