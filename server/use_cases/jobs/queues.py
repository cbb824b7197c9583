"""The queues of jobs: each population has its own, and none waits for another's.

When a job begins is told to the custodians of its population, so it must not tell when
another population's ended, which depends on rows (PRIVACY 2 and 6).
"""

import logging
import threading
from dataclasses import dataclass, field

from sqlalchemy.exc import SQLAlchemyError

from privacy.errors import CuratorError
from server.use_cases.jobs.running import JobRunner

_log = logging.getLogger("curator.jobs")


@dataclass(slots=True)
class _Turn:
    """A job's turn in its queue, and its thread.

    Attributes:
        queue: Of the job.
        is_over: Set once the job only waits for a time, as a release does.
        thread: Ends with the job.
    """

    queue: str
    is_over: threading.Event = field(default_factory=threading.Event)
    thread: threading.Thread = field(default_factory=threading.Thread)


class JobQueues:
    """Works on every queue that holds jobs, in a thread of its own.

    How many there are at once is public: populations, people who ask for new ones, and
    releases that were submitted and have not appeared.
    """

    def __init__(self, runner: JobRunner) -> None:
        self._runner = runner
        self._turns: list[_Turn] = []

    def begin(self) -> None:
        """Begin on the queues that hold jobs and that no thread here works on.

        What may not wait for its turn is begun first, in all queues.
        """
        self._runner.begin_due()
        self._turns = [turn for turn in self._turns if turn.thread.is_alive()]
        busy = {turn.queue for turn in self._turns if not turn.is_over.is_set()}
        for queue in self._runner.waiting():
            if queue not in busy:
                self._turns.append(self._begun(queue))

    def _begun(self, queue: str) -> _Turn:
        turn = _Turn(queue)
        turn.thread = threading.Thread(target=self._work, args=(turn,))
        turn.thread.start()
        return turn

    def join(self) -> None:
        """Wait until the threads that are at work now have ended."""
        for turn in self._turns:
            turn.thread.join()

    def _work(self, turn: _Turn) -> None:
        """Run a queue's oldest job.

        The next one waits until all queues are looked at again: what is begun here was
        then begun before its turn, or at a time that no job's end decides.
        """
        try:
            self._runner.run_one(queue=turn.queue, at_rest=turn.is_over.set)
        except (SQLAlchemyError, CuratorError, OSError) as error:
            _log.error("a queue waits", extra={"error": type(error).__name__})
