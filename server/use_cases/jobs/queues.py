"""The queues of jobs: each population has its own, and none waits for another's.

When a job begins is told to the custodians of its population, so it must not tell when
another population's ended, which depends on rows (PRIVACY 2 and 6).
"""

import logging
import threading

from sqlalchemy.exc import SQLAlchemyError

from privacy.errors import CuratorError
from server.use_cases.jobs.running import JobRunner

_log = logging.getLogger("curator.jobs")


class JobQueues:
    """Works on every queue that holds jobs, in a thread of its own.

    How many there are at once is public: populations, and people who ask for new ones.
    """

    def __init__(self, runner: JobRunner) -> None:
        self._runner = runner
        self._working: dict[str, threading.Thread] = {}

    def begin(self) -> None:
        """Begin on the queues that hold jobs and that no thread here works on.

        What may not wait for its turn is begun first, in all queues.
        """
        self._runner.begin_due()
        self._working = {
            queue: thread
            for queue, thread in self._working.items()
            if thread.is_alive()
        }
        fresh = [one for one in self._runner.waiting() if one not in self._working]
        for queue in fresh:
            thread = threading.Thread(target=self._work, args=(queue,))
            self._working[queue] = thread
            thread.start()

    def join(self) -> None:
        """Wait until the threads that are at work now have ended."""
        for thread in self._working.values():
            thread.join()

    def _work(self, queue: str) -> None:
        """Run a queue's oldest job.

        The next one waits until all queues are looked at again: what is begun here was
        then begun before its turn, or at a time that no job's end decides.
        """
        try:
            self._runner.run_one(queue=queue)
        except (SQLAlchemyError, CuratorError, OSError) as error:
            _log.error("a queue waits", extra={"error": type(error).__name__})
