"""Recovery in tests: by a clock and an executor of their own."""

from concurrent.futures import Executor, Future

from server.use_cases.recovery import Pace, Recovery


class Inline(Executor):
    """Runs what is submitted at once, here."""

    def submit(self, work, /, *arguments):
        future = Future()
        future.set_result(work(*arguments))
        return future


def recovery_at_once(services, compiler, desk):
    """Return a recovery that shows what it took up at its next run."""
    pace = Pace(lambda _: 0.0, starting_seconds=0, count_late=lambda: None)
    return Recovery(services, compiler, desk, pace, Inline())
