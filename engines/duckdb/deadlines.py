"""Interrupts what runs too long: one lasting thread for all queries."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Condition, Thread
from typing import Final, Protocol

_TICK_SECONDS: Final = 0.05


class Interruptible(Protocol):
    """What may be running."""

    def interrupt(self) -> None:
        """End what runs now, if anything does."""
        ...


@dataclass(slots=True, eq=False)
class Watch:
    """One execution under a deadline."""

    _running: Interruptible
    _deadline: float  # on the monotonic clock
    passed: bool = False

    def interrupt_if_due(self) -> None:
        """Interrupt, each time, once the deadline has passed."""
        if time.monotonic() >= self._deadline:
            self.passed = True
            self._running.interrupt()


class Deadlines:
    """Interrupts what is still running at its deadline, at most a tick later.

    It interrupts again and again, since an interrupt before the query starts is lost.
    A thread for each query would cost a tenth of a millisecond each.
    """

    def __init__(self) -> None:
        self._watches: set[Watch] = set()
        self._changed = Condition()
        self._watcher: Thread | None = None
        self._asleep = False

    @contextmanager
    def within(self, running: Interruptible, seconds: float) -> Iterator[Watch]:
        """Interrupt ``running`` once ``seconds`` have passed inside this block."""
        watch = Watch(running, time.monotonic() + seconds)
        with self._changed:
            self._watches.add(watch)
            self._wake()
        try:
            yield watch
        finally:
            with self._changed:  # no interrupt meets what runs after this block
                self._watches.remove(watch)

    def _wake(self) -> None:
        if self._watcher is None:
            self._watcher = Thread(
                target=self._watch_forever, name="query deadlines", daemon=True
            )
            self._watcher.start()
        elif self._asleep:
            self._changed.notify()

    def _watch_forever(self) -> None:
        with self._changed:
            while True:
                self._asleep = not self._watches
                self._changed.wait(None if self._asleep else _TICK_SECONDS)
                self._asleep = False
                self._interrupt_due()

    def _interrupt_due(self) -> None:  # of its own, so that no local outlives a query
        for watch in self._watches:
            watch.interrupt_if_due()
